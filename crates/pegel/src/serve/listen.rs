//! Opens the port, or says who is in the way.

use std::io::ErrorKind;
use std::net::SocketAddr;

use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use tokio::net::TcpListener;

/// Listens on an address.
///
/// # Errors
/// `listen_failed`.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| failure(address, &error))
}

fn failure(address: SocketAddr, error: &std::io::Error) -> Failure {
    let failure =
        Failure::new(ErrorCode::ListenFailed, format!("cannot listen on {address}")).with_cause(error);
    match error.kind() {
        ErrorKind::AddrInUse => failure.with_hint(format!(
            "another program has port {0}; `ss -ltnp 'sport = :{0}'` shows which; choose another with --listen {1}",
            address.port(),
            SocketAddr::new(address.ip(), 0)
        )),
        ErrorKind::PermissionDenied => {
            failure.with_hint("ports below 1024 need a right of their own; choose another with --listen")
        }
        ErrorKind::AddrNotAvailable => {
            failure.with_hint("this machine has no such address; 0.0.0.0 or [::] stand for all that it has")
        }
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn taken_port_and_foreign_address_are_told_apart() {
        let first = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = first.local_addr().unwrap();
        let taken = bind(address).await.unwrap_err();
        assert_eq!(taken.code, ErrorCode::ListenFailed);
        assert!(taken.hint.unwrap().contains(&format!("another program has port {}", address.port())));
        // An address for documentation is nobody's.
        let foreign = bind("192.0.2.1:0".parse().unwrap()).await.unwrap_err();
        assert!(foreign.hint.unwrap().contains("no such address"));
    }
}
