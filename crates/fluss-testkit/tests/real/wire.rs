//! A client of a few lines, over any stream.

use bytes::BytesMut;
use fluss_codec::frame::{FrameReader, ResponseFrame, decode_response, encode_request};
use fluss_codec::messages::{self, ApiVersionsRequest, MetadataRequest, MetadataResponse, Request};
use fluss_codec::server_type::ServerType;
use fluss_codec::versions::ApiVersionTable;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Asks a question; `None` if the stream ends before the answer, or the answer is an error.
async fn call<R: Request>(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    request: &R,
) -> Option<R::Response> {
    stream.write_all(&encode_request(0, 7, request).unwrap()).await.ok()?;
    let mut buffer = BytesMut::new();
    let mut frames = FrameReader::new(1 << 20);
    loop {
        if let Some(frame) = frames.feed(&mut buffer).unwrap() {
            return match decode_response(frame).unwrap() {
                ResponseFrame::Success { request_id: 7, body } => Some(messages::decode(body).unwrap()),
                _ => None,
            };
        }
        if stream.read_buf(&mut buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// Returns what the server at the other end is.
pub(crate) async fn server_type(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<ServerType> {
    let request = ApiVersionsRequest {
        client_software_name: "test".to_owned(),
        client_software_version: "1".to_owned(),
    };
    ApiVersionTable::from_response(&call(stream, &request).await?).unwrap().server_type()
}

/// Returns the `host:port` of all servers in metadata, the coordinator's first.
pub(crate) async fn addresses(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<Vec<String>> {
    let request = MetadataRequest { table_path: vec![], partitions_path: vec![], partitions_id: vec![] };
    let metadata: MetadataResponse = call(stream, &request).await?;
    let mut tablet_servers = metadata.tablet_servers;
    tablet_servers.sort_by_key(|server| server.node_id);
    Some(
        metadata
            .coordinator_server
            .iter()
            .chain(&tablet_servers)
            .map(|server| format!("{}:{}", server.host, server.port))
            .collect(),
    )
}
