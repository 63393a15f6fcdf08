//! The scripted Fluss cluster, seen through raw frames on real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod answers;
mod scale;
mod scripts;
mod security;
mod servers;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fluss_codec::frame::{FrameReader, ResponseFrame, decode_response, encode_request};
use fluss_codec::messages::{
    ApiVersionsRequest, ApiVersionsResponse, ErrorResponse, PbTablePath, Request, decode,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time;

/// Within this everything that should happen does; a test that needs it has failed.
const BOUND: Duration = Duration::from_secs(10);

/// Long enough that an answer which is not held back would have come.
const MOMENT: Duration = Duration::from_millis(50);

/// A client that speaks frames and nothing more.
struct Peer {
    stream: TcpStream,
    reader: FrameReader,
    buffer: BytesMut,
    next_id: i32,
}

impl Peer {
    async fn connect(address: SocketAddr) -> Self {
        let stream = time::timeout(BOUND, TcpStream::connect(address)).await.unwrap().unwrap();
        Self { stream, reader: FrameReader::new(1 << 26), buffer: BytesMut::new(), next_id: 100 }
    }

    /// Sends a request and returns its id.
    async fn send<R: Request>(&mut self, request: &R) -> i32 {
        let id = self.next_id;
        self.next_id += 1;
        self.write(&encode_request(0, id, request).unwrap()).await;
        id
    }

    async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    async fn receive(&mut self) -> ResponseFrame {
        time::timeout(BOUND, self.next_frame()).await.unwrap()
    }

    async fn next_frame(&mut self) -> ResponseFrame {
        loop {
            if let Some(frame) = self.reader.feed(&mut self.buffer).unwrap() {
                return decode_response(frame).unwrap();
            }
            assert!(self.stream.read_buf(&mut self.buffer).await.unwrap() > 0, "the server closed");
        }
    }

    /// Returns the id of the next answer, whatever it says.
    async fn next_id_answered(&mut self) -> i32 {
        match self.receive().await {
            ResponseFrame::Success { request_id, .. } | ResponseFrame::Error { request_id, .. } => request_id,
            ResponseFrame::ServerFailure { error } => panic!("{error:?}"),
        }
    }

    /// Asks and returns the answer, or the code and message of the error.
    async fn ask<R: Request>(&mut self, request: &R) -> Result<R::Response, (i32, String)> {
        let id = self.send(request).await;
        match self.receive().await {
            ResponseFrame::Success { request_id, body } => {
                assert_eq!(request_id, id);
                Ok(decode(body).unwrap())
            }
            ResponseFrame::Error { request_id, error } => {
                assert_eq!(request_id, id);
                Err(code_and_message(error))
            }
            ResponseFrame::ServerFailure { error } => panic!("{error:?}"),
        }
    }

    async fn versions(&mut self) -> ApiVersionsResponse {
        self.ask(&hello()).await.unwrap()
    }

    /// Checks that the request sent before is not answered: the worker takes requests in order, so an answer
    /// would be there before the one to this request.
    async fn expect_silence(&mut self) {
        let id = self.send(&hello()).await;
        assert_eq!(self.next_id_answered().await, id);
    }

    /// Returns all bytes until the server closes.
    async fn rest(&mut self) -> io::Result<Bytes> {
        let mut rest = self.buffer.split().to_vec();
        time::timeout(BOUND, self.stream.read_to_end(&mut rest)).await.unwrap()?;
        Ok(Bytes::from(rest))
    }
}

fn hello() -> ApiVersionsRequest {
    ApiVersionsRequest { client_software_name: "test".to_owned(), client_software_version: "1".to_owned() }
}

fn path(database: &str, table: &str) -> PbTablePath {
    PbTablePath { database_name: database.to_owned(), table_name: table.to_owned() }
}

fn code_and_message(error: ErrorResponse) -> (i32, String) {
    (error.error_code, error.error_message.unwrap_or_default())
}
