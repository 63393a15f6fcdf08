//! Certificates and TLS ends for tests and the demo.
//!
//! Fluss has no TLS of its own, so it ends in front of each server: [`TlsTerminator`] takes TLS from the
//! first byte and forwards plain TCP. [`TestCa`] makes good and bad certificates. Nothing here is for
//! production: keys live in memory and in files of the test.

mod terminator;

use std::fmt;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::{Span, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::clock;
use crate::error::Error;
use crate::paths;

pub use terminator::{Handshakes, TlsTerminator};

/// A certificate with its private key.
pub struct Identity {
    certificate: CertificateDer<'static>,
    certificate_pem: String,
    key: KeyPair,
}

impl Identity {
    /// Returns the certificate in PEM.
    pub fn certificate_pem(&self) -> &str {
        &self.certificate_pem
    }

    /// Returns the private key in PEM (PKCS #8).
    pub fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// Writes `<name>.pem` and `<name>.key.pem` with mode 0600 and returns both paths.
    ///
    /// # Errors
    /// `io_failed`.
    pub fn write(&self, folder: &Path, name: &str) -> Result<(PathBuf, PathBuf), Error> {
        let certificate = folder.join(format!("{name}.pem"));
        let key = folder.join(format!("{name}.key.pem"));
        paths::write_private(&certificate, self.certificate_pem.as_bytes())?;
        paths::write_private(&key, self.key_pem().as_bytes())?;
        Ok((certificate, key))
    }

    fn chain(&self) -> Vec<CertificateDer<'static>> {
        vec![self.certificate.clone()]
    }

    fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(self.key.serialize_der()))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

/// A certificate authority made for one test or one demo.
pub struct TestCa {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl fmt::Debug for TestCa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestCa")
    }
}

impl TestCa {
    /// Makes an authority with a fresh key, good for a year.
    ///
    /// # Errors
    /// `certificate_failed`.
    pub fn new(name: &str) -> Result<Self, Error> {
        let failed = |source| Error::CertificateFailed { subject: name.to_owned(), source };
        let mut params = parameters(name, &[], Validity::Now).map_err(failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let issuer =
            KeyPair::generate().and_then(|key| CertifiedIssuer::self_signed(params, key)).map_err(failed)?;
        Ok(Self { issuer })
    }

    /// Returns the authority's certificate in PEM.
    pub fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// Writes the authority's certificate with mode 0600.
    ///
    /// # Errors
    /// `io_failed`.
    pub fn write_certificate(&self, path: &Path) -> Result<(), Error> {
        paths::write_private(path, self.certificate_pem().as_bytes())
    }

    /// Issues a server certificate for host names and IP addresses.
    ///
    /// # Errors
    /// `certificate_failed`, also for a name that no certificate can carry.
    pub fn server(&self, names: &[&str]) -> Result<Identity, Error> {
        self.issue("server", names, Validity::Now, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues a server certificate that ended yesterday.
    ///
    /// # Errors
    /// `certificate_failed`.
    pub fn expired_server(&self, names: &[&str]) -> Result<Identity, Error> {
        self.issue("expired server", names, Validity::Past, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues a server certificate that begins only in some days.
    ///
    /// # Errors
    /// `certificate_failed`.
    pub fn future_server(&self, names: &[&str]) -> Result<Identity, Error> {
        self.issue("future server", names, Validity::Future, ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Issues a client certificate.
    ///
    /// # Errors
    /// `certificate_failed`.
    pub fn client(&self, name: &str) -> Result<Identity, Error> {
        self.issue(name, &[], Validity::Now, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(
        &self,
        common_name: &str,
        names: &[&str],
        validity: Validity,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Identity, Error> {
        let subject = if names.is_empty() { common_name.to_owned() } else { names.join(", ") };
        let failed = |source| Error::CertificateFailed { subject, source };
        let make = || -> Result<Identity, rcgen::Error> {
            let mut params = parameters(common_name, names, validity)?;
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![usage];
            params.use_authority_key_identifier_extension = true;
            let key = KeyPair::generate()?;
            let certificate = params.signed_by(&key, &self.issuer)?;
            Ok(Identity { certificate: certificate.der().clone(), certificate_pem: certificate.pem(), key })
        };
        make().map_err(failed)
    }

    fn der(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }
}

/// When a certificate is good, in whole days around today.
#[derive(Debug, Clone, Copy)]
enum Validity {
    /// From yesterday on for a year.
    Now,
    /// Until yesterday.
    Past,
    /// From next week on.
    Future,
}

impl Validity {
    fn days(self) -> (i64, i64) {
        match self {
            Self::Now => (-1, 365),
            Self::Past => (-30, -1),
            Self::Future => (7, 365),
        }
    }
}

fn parameters(name: &str, hosts: &[&str], validity: Validity) -> Result<CertificateParams, rcgen::Error> {
    let names: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name.push(DnType::CommonName, name);
    let today = clock::wall().to_zoned(TimeZone::UTC).date();
    let (from, to) = validity.days();
    let midnight = |days: i64| {
        let (year, month, day) = in_days(today, days);
        rcgen::date_time_ymd(year, month, day)
    };
    params.not_before = midnight(from);
    params.not_after = midnight(to);
    Ok(params)
}

fn in_days(today: Date, days: i64) -> (i32, u8, u8) {
    let date = today.saturating_add(Span::new().days(days));
    let part = |number: i8| u8::try_from(number).expect("months and days of a date are positive");
    (i32::from(date.year()), part(date.month()), part(date.day()))
}
