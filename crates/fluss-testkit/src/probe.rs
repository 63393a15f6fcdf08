//! Asks one server two questions: what it is, and which servers it knows.
//!
//! Deliberately not the product's client: the kit that judges the client must not stand on it.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::BytesMut;
use fluss_codec::frame::{self, FrameReader, ResponseFrame};
use fluss_codec::messages::{self, ApiVersionsRequest, MetadataRequest, MetadataResponse, Request};
use fluss_codec::server_type::ServerType;
use fluss_codec::versions::ApiVersionTable;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time;

/// How long one connection with both questions may take.
const BOUND: Duration = Duration::from_secs(2);

/// The longest answer that is accepted; a metadata answer without tables is far below it.
const ANSWER_BYTES: usize = 1024 * 1024;

/// What a server said of itself and its cluster.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) server_type: Option<ServerType>,
    /// Whether metadata names a coordinator.
    pub(crate) coordinator_known: bool,
    /// The numbers of the tablet servers in metadata.
    pub(crate) tablet_servers: Vec<i32>,
}

/// Returns what a server is; `None` if it does not answer properly in time.
pub(crate) async fn server_type(address: SocketAddr) -> Option<ServerType> {
    time::timeout(BOUND, async { Connection::open(address).await?.versions().await?.server_type() })
        .await
        .ok()
        .flatten()
}

/// Asks for a server's type and its view of the cluster; `None` if it does not answer properly in time.
pub(crate) async fn ask(address: SocketAddr) -> Option<Answer> {
    time::timeout(BOUND, async {
        let mut connection = Connection::open(address).await?;
        let versions = connection.versions().await?;
        let request = MetadataRequest { table_path: vec![], partitions_path: vec![], partitions_id: vec![] };
        let version = versions.negotiate(MetadataRequest::KEY).ok()?;
        let metadata: MetadataResponse = connection.call(version, &request).await?;
        Some(Answer {
            server_type: versions.server_type(),
            coordinator_known: metadata.coordinator_server.is_some(),
            tablet_servers: metadata.tablet_servers.iter().map(|server| server.node_id).collect(),
        })
    })
    .await
    .ok()
    .flatten()
}

struct Connection {
    stream: TcpStream,
    buffer: BytesMut,
    last_id: i32,
}

impl Connection {
    async fn open(address: SocketAddr) -> Option<Self> {
        let stream = TcpStream::connect(address).await.ok()?;
        Some(Self { stream, buffer: BytesMut::new(), last_id: 0 })
    }

    async fn versions(&mut self) -> Option<ApiVersionTable> {
        let request = ApiVersionsRequest {
            client_software_name: "fluss-testkit".to_owned(),
            client_software_version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        ApiVersionTable::from_response(&self.call(0, &request).await?).ok()
    }

    async fn call<R: Request>(&mut self, version: i16, request: &R) -> Option<R::Response> {
        self.last_id = self.last_id.wrapping_add(1);
        let frame = frame::encode_request(version, self.last_id, request).ok()?;
        self.stream.write_all(&frame).await.ok()?;
        let mut reader = FrameReader::new(ANSWER_BYTES);
        loop {
            if let Some(frame) = reader.feed(&mut self.buffer).ok()? {
                return match frame::decode_response(frame).ok()? {
                    ResponseFrame::Success { request_id, body } if request_id == self.last_id => {
                        messages::decode(body).ok()
                    }
                    _ => None,
                };
            }
            if self.stream.read_buf(&mut self.buffer).await.ok()? == 0 {
                return None;
            }
        }
    }
}
