//! What the command line trusts when it talks to a server by TLS.

use std::path::Path;
use std::sync::Arc;

use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::private_file;

/// Returns the client's side of TLS: the authorities of a file, or those of the system.
///
/// # Errors
/// `invalid_config` when the file holds no certificates, or the system has none.
pub(super) fn client_config(ca: Option<&Path>) -> Result<Arc<ClientConfig>, Failure> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::internal("no version of TLS can be used").with_cause(&error))?;
    let builder = match ca {
        Some(path) => builder.with_root_certificates(roots(path)?),
        None => builder.with_platform_verifier().map_err(|error| {
            Failure::new(ErrorCode::InvalidConfig, "the system's authorities cannot be used")
                .with_cause(&error)
        })?,
    };
    Ok(Arc::new(builder.with_no_client_auth()))
}

fn roots(path: &Path) -> Result<RootCertStore, Failure> {
    let failed = || {
        let message = format!("{} cannot be used as the authorities of the server", path.display());
        Failure::new(ErrorCode::InvalidConfig, message)
    };
    let text = private_file::read_text(path).map_err(|error| failed().with_cause(&error))?;
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
        let certificate = certificate.map_err(|error| failed().with_cause(&error))?;
        store.add(certificate).map_err(|error| failed().with_cause(&error))?;
    }
    if store.is_empty() {
        return Err(failed().with_hint("the file has to hold certificates in PEM form"));
    }
    Ok(store)
}
