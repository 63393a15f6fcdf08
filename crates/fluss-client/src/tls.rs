//! TLS: building the session configuration and naming what went wrong.
//!
//! One provider (aws-lc-rs) for all; names are checked per dialled host, since
//! each advertised server has its own certificate. TLS starts with the first
//! byte; there is no upgrade and no fall-back to plaintext.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ClientConfig, DigitallySignedStruct, Error as RustlsError,
    RootCertStore, SignatureScheme,
};
use rustls_platform_verifier::BuilderVerifierExt;
use secrecy::ExposeSecret;

use crate::bootstrap::HostPort;
use crate::error::{Error, SharedSource, TlsFault};
use crate::settings::TlsSettings;

/// Builds the client side of every TLS session of one cluster.
///
/// # Errors
/// `invalid_setting` when a PEM text cannot be read or a key does not fit its
/// certificate, or when the system has no usable roots.
pub(crate) fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid("security_protocol", &error))?;
    let builder = if settings.skip_verify {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
    } else if let Some(pem) = &settings.ca_cert {
        builder.with_root_certificates(roots(pem)?)
    } else {
        builder.with_platform_verifier().map_err(|error| invalid("tls_ca_cert", &error))?
    };
    let config = match &settings.client_identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let chain = certificates("tls_client_cert", &identity.certificate)?;
            // The parser's own error could quote the key, so its text is left out.
            let key =
                PrivateKeyDer::from_pem_slice(identity.key.expose_secret().as_bytes()).map_err(|_| {
                    Error::InvalidSetting {
                        field: "tls_client_key",
                        reason: "not an unencrypted private key in PEM form".to_owned(),
                    }
                })?;
            builder.with_client_auth_cert(chain, key).map_err(|error| invalid("tls_client_key", &error))?
        }
    };
    Ok(Arc::new(config))
}

/// Returns a configuration that verifies nothing, to find out whether a port speaks TLS at all.
pub(crate) fn sniffing_config() -> Result<Arc<ClientConfig>, Error> {
    client_config(&TlsSettings { skip_verify: true, ..TlsSettings::default() })
}

/// Returns the name to ask for and to check at `address`.
pub(crate) fn server_name(settings: &TlsSettings, address: &HostPort) -> Result<ServerName<'static>, Error> {
    let (field, name) = match &settings.server_name {
        Some(name) => ("tls_server_name", name.as_str()),
        None => ("endpoint", address.host()),
    };
    ServerName::try_from(name.to_owned()).map_err(|_| Error::InvalidSetting {
        field,
        reason: format!("`{name}` is no name that a certificate can hold"),
    })
}

/// Turns a failed handshake or a TLS alert on a running connection into a named fault.
pub(crate) fn fault_of(error: &io::Error) -> Option<TlsFault> {
    if let Some(inner) = error.get_ref().and_then(|inner| inner.downcast_ref::<RustlsError>()) {
        return Some(classify(inner));
    }
    None
}

/// Builds the error for a handshake that failed with `error`.
pub(crate) fn handshake_error(address: &HostPort, error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::ConnectionReset {
        return Error::Connect { address: address.clone(), source: Arc::new(error) };
    }
    let closed = error.kind() == io::ErrorKind::UnexpectedEof;
    let fault =
        fault_of(&error).unwrap_or(if closed { TlsFault::ClosedInHandshake } else { TlsFault::Other });
    let source: SharedSource = Arc::new(error);
    Error::Tls { address: address.clone(), fault, source: Some(source) }
}

fn classify(error: &RustlsError) -> TlsFault {
    match error {
        RustlsError::InvalidCertificate(certificate) => match certificate {
            CertificateError::UnknownIssuer => TlsFault::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsFault::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsFault::NotYetValid
            }
            CertificateError::NotValidForNameContext { expected, presented } => TlsFault::NameMismatch {
                expected: expected.to_str().into_owned(),
                presented: presented_names(presented),
            },
            CertificateError::NotValidForName => {
                TlsFault::NameMismatch { expected: "this host".to_owned(), presented: "others".to_owned() }
            }
            _ => TlsFault::BadCertificate,
        },
        RustlsError::InvalidMessage(_) => TlsFault::NotTls,
        RustlsError::AlertReceived(
            AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => TlsFault::ClientCertificate,
        _ => TlsFault::Other,
    }
}

/// Shows at most a few names, in the form people know (`DNS:a`, not `DnsName("a")`).
fn presented_names(presented: &[String]) -> String {
    const SHOWN: usize = 5;
    if presented.is_empty() {
        return "no name".to_owned();
    }
    let mut names: Vec<String> = presented
        .iter()
        .take(SHOWN)
        .map(|name| {
            name.trim_start_matches("DnsName(")
                .trim_start_matches("IpAddress(")
                .trim_end_matches(')')
                .trim_matches('"')
                .to_owned()
        })
        .collect();
    if presented.len() > SHOWN {
        names.push(format!("{} more", presented.len() - SHOWN));
    }
    names.join(", ")
}

fn roots(pem: &str) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    for certificate in certificates("tls_ca_cert", pem)? {
        store.add(certificate).map_err(|error| invalid("tls_ca_cert", &error))?;
    }
    Ok(store)
}

fn certificates(field: &'static str, pem: &str) -> Result<Vec<CertificateDer<'static>>, Error> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(field, &error))?;
    if certificates.is_empty() {
        return Err(Error::InvalidSetting { field, reason: "holds no PEM certificate".to_owned() });
    }
    Ok(certificates)
}

fn invalid(field: &'static str, error: &dyn StdError) -> Error {
    Error::InvalidSetting { field, reason: error.to_string() }
}

/// Accepts every certificate but still checks that the server holds its key.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        rustls::crypto::verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        rustls::crypto::verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_no_certificate_is_refused_by_field() {
        let settings = TlsSettings { ca_cert: Some("hello".to_owned()), ..TlsSettings::default() };
        let error = client_config(&settings).unwrap_err();
        assert!(matches!(error, Error::InvalidSetting { field: "tls_ca_cert", .. }), "{error}");
    }

    #[test]
    fn names_are_shown_without_the_librarys_wrapping() {
        assert_eq!(presented_names(&[]), "no name");
        assert_eq!(
            presented_names(&["DnsName(\"a.example\")".to_owned(), "IpAddress(127.0.0.1)".to_owned()]),
            "a.example, 127.0.0.1"
        );
    }
}
