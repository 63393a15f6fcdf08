//! A TLS end on loopback: TLS from the first byte on one side, plain TCP on the other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::time;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use crate::error::Error;
use crate::tls::{Identity, TestCa};

/// How long a handshake may take before the connection is dropped.
const HANDSHAKE_BOUND: Duration = Duration::from_secs(10);

/// Handshakes since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Handshakes {
    /// Those that succeeded.
    pub succeeded_count: u64,
    /// Those that failed: plain bytes, a refused certificate, a missing client certificate.
    pub failed_count: u64,
}

/// A TLS end before one address. Dropping it closes the listener and all connections.
#[derive(Debug)]
pub struct TlsTerminator {
    address: SocketAddr,
    shared: Arc<Shared>,
    client_roots: Option<Arc<RootCertStore>>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct Shared {
    server: SocketAddr,
    config: RwLock<Arc<ServerConfig>>,
    succeeded: AtomicU64,
    failed: AtomicU64,
}

impl TlsTerminator {
    /// Listens on `bind` (port 0 for any) with a certificate and forwards to `server`.
    ///
    /// With `client_ca`, clients must show a certificate of that authority.
    ///
    /// # Errors
    /// `io_failed` if the port cannot be listened on, `tls_failed`.
    pub async fn start(
        bind: SocketAddr,
        server: SocketAddr,
        identity: &Identity,
        client_ca: Option<&TestCa>,
    ) -> Result<Self, Error> {
        let client_roots = client_ca.map(roots).transpose()?;
        let config = RwLock::new(config(identity, client_roots.as_ref())?);
        let listen_error = |source| Error::Io { action: "listen on", subject: bind.to_string(), source };
        let listener = TcpListener::bind(bind).await.map_err(listen_error)?;
        let address = listener.local_addr().map_err(listen_error)?;
        let shared =
            Arc::new(Shared { server, config, succeeded: AtomicU64::new(0), failed: AtomicU64::new(0) });
        let ended = CancellationToken::new();
        tokio::spawn(accept(listener, Arc::clone(&shared), ended.clone()));
        Ok(Self { address, shared, client_roots, ended })
    }

    /// Returns the address that clients use.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Shows another certificate to connections from now on.
    ///
    /// # Errors
    /// `tls_failed`.
    pub fn set_identity(&self, identity: &Identity) -> Result<(), Error> {
        let config = config(identity, self.client_roots.as_ref())?;
        *self.shared.config.write().unwrap_or_else(std::sync::PoisonError::into_inner) = config;
        Ok(())
    }

    /// Returns how many handshakes succeeded and failed.
    pub fn handshakes(&self) -> Handshakes {
        Handshakes {
            succeeded_count: self.shared.succeeded.load(Ordering::Relaxed),
            failed_count: self.shared.failed.load(Ordering::Relaxed),
        }
    }
}

impl Drop for TlsTerminator {
    fn drop(&mut self) {
        self.ended.cancel();
    }
}

fn roots(ca: &TestCa) -> Result<Arc<RootCertStore>, Error> {
    let mut roots = RootCertStore::empty();
    roots.add(ca.der()).map_err(failed)?;
    Ok(Arc::new(roots))
}

fn config(
    identity: &Identity,
    client_roots: Option<&Arc<RootCertStore>>,
) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    let builder = match client_roots {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(Arc::clone(roots), provider)
                .build()
                .map_err(failed)?,
        ),
    };
    let config = builder.with_single_cert(identity.chain(), identity.key_der()).map_err(failed)?;
    Ok(Arc::new(config))
}

fn failed(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::TlsFailed { subject: "a TLS end".to_owned(), source: Box::new(source) }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, ended: CancellationToken) {
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            accepted = listener.accept() => {
                let Ok((client, _)) = accepted else { continue };
                let shared = Arc::clone(&shared);
                let ended = ended.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        () = ended.cancelled() => {}
                        () = forward(client, &shared) => {}
                    }
                });
            }
        }
    }
}

async fn forward(client: TcpStream, shared: &Shared) {
    let config = Arc::clone(&shared.config.read().unwrap_or_else(std::sync::PoisonError::into_inner));
    let handshake = time::timeout(HANDSHAKE_BOUND, TlsAcceptor::from(config).accept(client));
    let Ok(Ok(mut client)) = handshake.await else {
        shared.failed.fetch_add(1, Ordering::Relaxed);
        return;
    };
    shared.succeeded.fetch_add(1, Ordering::Relaxed);
    let Ok(mut server) = TcpStream::connect(shared.server).await else { return };
    if server.set_nodelay(true).is_err() || client.get_ref().0.set_nodelay(true).is_err() {
        return;
    }
    // A broken connection on either side ends both; there is nobody to tell.
    drop(tokio::io::copy_bidirectional(&mut client, &mut server).await);
}
