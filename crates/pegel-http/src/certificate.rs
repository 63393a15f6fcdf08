//! What a target's certificates say.

use aws_lc_rs::digest::{SHA256, digest};
use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, GeneralName, X509Certificate};

use crate::error::TlsFault;

/// The most names of one certificate that are told.
pub const MAX_NAMES: usize = 100;

/// The longest name that is told, in characters.
pub const MAX_NAME_CHARS: usize = 256;

/// What one certificate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    /// Whose it is.
    pub subject: String,
    /// Who signed it.
    pub issuer: String,
    /// Which names it is for, up to 100.
    pub names: Vec<String>,
    /// From when on it is valid.
    pub not_before: Timestamp,
    /// Until when it is valid.
    pub not_after: Timestamp,
    /// SHA-256 over the whole of it, in hexadecimal.
    pub fingerprint: String,
}

/// What was seen of a TLS session, also if it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFacts {
    /// The protocol's version, if the handshake came so far.
    pub version: Option<String>,
    /// The target's own certificate, if it can be read.
    pub leaf: Option<CertificateFacts>,
    /// What is wrong with it; `None` if nothing is.
    pub fault: Option<TlsFault>,
    /// The earliest end of validity in the chain that was verified, the root's left out: spare certificates
    /// that a target sends beside it do not count.
    pub chain_not_after: Option<Timestamp>,
    /// Whether it was accepted without regard to what is wrong.
    pub is_insecure: bool,
}

/// Returns how many whole days are left until an instant, rounded down, so that -1 is less than a day over.
pub fn days_left(not_after: Timestamp, now: Timestamp) -> i64 {
    const DAY_MS: i64 = 24 * 3_600_000;
    not_after.as_millisecond().saturating_sub(now.as_millisecond()).div_euclid(DAY_MS)
}

/// Reads a certificate; `None` if it cannot be read.
pub(crate) fn read(der: &CertificateDer<'_>) -> Option<CertificateFacts> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let validity = certificate.validity();
    let names = certificate.subject_alternative_name().ok().flatten();
    let names = names.map(|extension| extension.value.general_names.iter().filter_map(name).take(MAX_NAMES));
    Some(CertificateFacts {
        subject: cut(&certificate.subject().to_string()),
        issuer: cut(&certificate.issuer().to_string()),
        names: names.map(Iterator::collect).unwrap_or_default(),
        not_before: Timestamp::from_second(validity.not_before.timestamp()).ok()?,
        not_after: Timestamp::from_second(validity.not_after.timestamp()).ok()?,
        fingerprint: hex(digest(&SHA256, der).as_ref()),
    })
}

/// Returns until when a certificate is valid.
pub(crate) fn not_after(der: &CertificateDer<'_>) -> Option<Timestamp> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    Timestamp::from_second(certificate.validity().not_after.timestamp()).ok()
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some(cut(name)),
        GeneralName::IPAddress(octets) => match <[u8; 4]>::try_from(*octets) {
            Ok(v4) => Some(std::net::Ipv4Addr::from(v4).to_string()),
            Err(_) => <[u8; 16]>::try_from(*octets).ok().map(|v6| std::net::Ipv6Addr::from(v6).to_string()),
        },
        _ => None,
    }
}

/// Cuts a text that a target wrote, and takes out what a terminal would obey.
fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_rounded_down() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        let left = |text: &str| days_left(text.parse().unwrap(), now);
        assert_eq!(left("2026-03-31T12:00:00Z"), 30);
        assert_eq!(left("2026-03-31T11:59:59Z"), 29);
        assert_eq!(left("2026-03-01T11:59:59Z"), -1);
    }

    #[test]
    fn what_is_no_certificate_says_nothing() {
        assert_eq!(read(&CertificateDer::from(vec![0x30, 0x82, 0xff, 0xff, 1])), None);
        assert_eq!(read(&CertificateDer::from(Vec::new())), None);
    }
}
