//! Whose certificates are believed.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use crate::error::Error;

/// The roots, and what verifies with them. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Trust {
    pub(crate) roots: Arc<RootCertStore>,
    pub(crate) verifier: Arc<WebPkiServerVerifier>,
    pub(crate) provider: Arc<CryptoProvider>,
}

impl Trust {
    /// Believes whom the system believes, and the certificates of a PEM text beside them.
    ///
    /// # Errors
    /// `invalid` if there is no root at all, or the text holds none.
    pub fn system(extra_pem: Option<&str>) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if let Some(pem) = extra_pem {
            add(&mut roots, pem)?;
        }
        Self::new(roots)
    }

    /// Believes the certificates of a PEM text only.
    ///
    /// # Errors
    /// `invalid` if the text holds none.
    pub fn only(pem: &str) -> Result<Self, Error> {
        let mut roots = RootCertStore::empty();
        add(&mut roots, pem)?;
        Self::new(roots)
    }

    fn new(roots: RootCertStore) -> Result<Self, Error> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let roots = Arc::new(roots);
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|_| Error::invalid("there is no root certificate to trust"))?;
        Ok(Self { roots, verifier, provider })
    }
}

fn add(roots: &mut RootCertStore, pem: &str) -> Result<(), Error> {
    let not_pem = || Error::invalid("not certificates in pem form");
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.map_err(|_| not_pem())?).map_err(|_| not_pem())?;
    }
    if roots.is_empty() { Err(not_pem()) } else { Ok(()) }
}
