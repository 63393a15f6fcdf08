//! The TLS handshake, and what it tells about the target's certificates.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use pegel_core::clock::Clock;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::time_provider::TimeProvider;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error as RustlsError,
    RootCertStore, SignatureScheme,
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::certificate::{self, TlsFacts};
use crate::error::{Error, Phase, TlsFault};
use crate::trust::Trust;

/// The most certificates of a chain that are looked at for facts.
const MAX_CHAIN: usize = 10;

/// How a session is made.
pub(crate) struct Session<'a> {
    pub(crate) trust: &'a Trust,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) is_insecure: bool,
    /// The protocols to offer inside, as ALPN names them.
    pub(crate) protocols: &'a [&'a [u8]],
}

/// Makes the handshake. What was seen of the certificate is put into `facts`, also if it fails.
///
/// # Errors
/// `tls_…` by what is wrong, `connection_lost`, `invalid` if the host is no name a certificate can have.
pub(crate) async fn handshake(
    session: &Session<'_>,
    stream: TcpStream,
    host: &str,
    facts: &mut Option<TlsFacts>,
) -> Result<TlsStream<TcpStream>, Error> {
    let name = ServerName::try_from(host.trim_start_matches('[').trim_end_matches(']').to_owned())
        .map_err(|_| Error::invalid(format!("{host} is no name that a certificate can have")))?;
    let recorder = Arc::new(Recorder {
        inner: Arc::clone(&session.trust.verifier),
        is_insecure: session.is_insecure,
        seen: Mutex::new(None),
    });
    let config = config(session, Arc::clone(&recorder))?;
    let result = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
    let seen = recorder.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(seen) = seen {
        let version = result.as_ref().ok().and_then(|stream| stream.get_ref().1.protocol_version());
        let mut told = seen.facts(&session.trust.roots, session.is_insecure);
        told.version = version.map(|version| format!("{version:?}"));
        *facts = Some(told);
    }
    result.map_err(|error| failure(host, error))
}

fn config(session: &Session<'_>, recorder: Arc<Recorder>) -> Result<ClientConfig, Error> {
    let time = Arc::new(WallTime(Arc::clone(session.clock)));
    let builder = ClientConfig::builder_with_details(Arc::clone(&session.trust.provider), time);
    let builder =
        builder.with_safe_default_protocol_versions().map_err(|error| Error::invalid(error.to_string()))?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(recorder).with_no_client_auth();
    config.alpn_protocols = session.protocols.iter().map(|protocol| protocol.to_vec()).collect();
    // Each exchange stands for itself: a resumed session would show no certificate.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// Tells TLS the time of our clock.
#[derive(Clone)]
struct WallTime(Arc<dyn Clock>);

impl std::fmt::Debug for WallTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WallTime")
    }
}

impl TimeProvider for WallTime {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = u64::try_from(self.0.now().as_second()).ok()?;
        Some(UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds)))
    }
}

/// Verifies as rustls does, and remembers what it saw.
#[derive(Debug)]
struct Recorder {
    inner: Arc<WebPkiServerVerifier>,
    is_insecure: bool,
    seen: Mutex<Option<Seen>>,
}

#[derive(Debug)]
struct Seen {
    leaf: CertificateDer<'static>,
    intermediates: Vec<CertificateDer<'static>>,
    now: UnixTime,
    fault: Option<TlsFault>,
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        let verified =
            self.inner.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        let seen = Seen {
            leaf: end_entity.clone().into_owned(),
            intermediates: intermediates.iter().take(MAX_CHAIN).map(|one| one.clone().into_owned()).collect(),
            now,
            fault: verified.as_ref().err().map(fault),
        };
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        if self.is_insecure { Ok(ServerCertVerified::assertion()) } else { verified }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.inner.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        self.inner.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}

impl Seen {
    fn facts(&self, roots: &RootCertStore, is_insecure: bool) -> TlsFacts {
        TlsFacts {
            version: None,
            leaf: certificate::read(&self.leaf),
            fault: self.fault,
            chain_not_after: self.chain_not_after(roots),
            is_insecure,
        }
    }

    /// Walks the chain once more to know which one it was. Whether it is to be believed has been decided.
    fn chain_not_after(&self, roots: &RootCertStore) -> Option<Timestamp> {
        let leaf = webpki::EndEntityCert::try_from(&self.leaf).ok()?;
        let path = leaf.verify_for_usage(
            webpki::ALL_VERIFICATION_ALGS,
            &roots.roots,
            &self.intermediates,
            self.now,
            webpki::KeyUsage::server_auth(),
            None,
            None,
        );
        let path = path.ok()?;
        let intermediates = path.intermediate_certificates().map(|one| certificate::not_after(&one.der()));
        let ends = intermediates.chain([certificate::not_after(&self.leaf)]);
        ends.collect::<Option<Vec<_>>>()?.into_iter().min()
    }
}

fn failure(host: &str, error: std::io::Error) -> Error {
    let told = error.get_ref().and_then(|inner| inner.downcast_ref::<RustlsError>());
    if let Some(told) = told {
        return Error::Tls { host: host.to_owned(), fault: fault(told), reason: told.to_string() };
    }
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        let reason = "the target ended the handshake".to_owned();
        return Error::Tls { host: host.to_owned(), fault: TlsFault::Other, reason };
    }
    Error::ConnectionLost { phase: Phase::Tls, source: Some(Box::new(error)) }
}

fn fault(error: &RustlsError) -> TlsFault {
    match error {
        RustlsError::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsFault::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsFault::NameMismatch
            }
            _ => TlsFault::BadCertificate,
        },
        RustlsError::InvalidMessage(_) => TlsFault::NotSpoken,
        RustlsError::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => TlsFault::ClientCertificate,
        _ => TlsFault::Other,
    }
}
