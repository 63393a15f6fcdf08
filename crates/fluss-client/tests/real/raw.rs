//! Requests that the client does not have yet (creating things), sent as bare frames
//! over a server's internal listener.

use std::net::SocketAddr;

use bytes::BytesMut;
use fluss_codec::frame::{self, FrameReader, ResponseFrame};
use fluss_codec::messages::{self, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends one request and returns its answer; any error fails the test.
pub(crate) async fn call<R: Request>(address: SocketAddr, request: &R) -> R::Response {
    let mut stream = TcpStream::connect(address).await.expect("internal listener accepts");
    stream.write_all(&frame::encode_request(0, 0, request).expect("frame")).await.expect("write");
    let mut reader = FrameReader::new(frame::DEFAULT_MAX_FRAME_BYTES);
    let mut buffer = BytesMut::new();
    let whole = loop {
        if let Some(whole) = reader.feed(&mut buffer).expect("legal frame") {
            break whole;
        }
        assert_ne!(stream.read_buf(&mut buffer).await.expect("read"), 0, "closed without an answer");
    };
    match frame::decode_response(whole).expect("legal answer") {
        ResponseFrame::Success { body, .. } => messages::decode(body).expect("legal body"),
        other => panic!("{} was refused: {other:?}", R::KEY.name()),
    }
}
