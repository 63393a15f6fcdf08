//! Encrypts what is secret before it is stored: AES-256-GCM with a key that lies outside the database.
//!
//! Whose secret it is and which field are bound into the ciphertext, so that one cannot be put in
//! another's place. The key itself never leaves this module, and never prints.

use std::fmt;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::digest::{SHA256, digest};
use secrecy::{ExposeSecret, SecretString};

use crate::error::Error;
use crate::random;

/// The length of a key, in bytes; as text it is twice as many hexadecimal digits.
const KEY_BYTES: usize = 32;

/// The longest secret, in bytes.
pub const MAX_SECRET_BYTES: usize = 64 * 1024;

/// The format of a ciphertext: this byte, the nonce, the encrypted bytes with their tag.
const FORMAT: u8 = 1;

/// Encrypts and decrypts with one key.
pub struct SecretBox {
    key: LessSafeKey,
    key_id: String,
}

impl fmt::Debug for SecretBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretBox").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl SecretBox {
    /// Takes the key from a file, which is made with a new key and access for its owner only if there is none.
    ///
    /// # Errors
    /// `key_file_unusable` if others may read the file, or it holds no key; `cryptography_unavailable`.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let unusable = |reason: String| Error::KeyFile { path: path.to_owned(), reason };
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                create(path).map_err(|error| unusable(error.to_string()))?;
                fs::metadata(path).map_err(|error| unusable(error.to_string()))?
            }
            Err(error) => return Err(unusable(error.to_string())),
        };
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(unusable(format!("its mode is {mode:o}, others may use it: set it to 600")));
        }
        let text = fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        Self::from_text(&SecretString::from(text)).map_err(|error| match error {
            Error::InvalidSetting { reason } => unusable(reason),
            error => error,
        })
    }

    /// Takes the key from a text of 64 hexadecimal digits, as an environment variable may hold it.
    ///
    /// # Errors
    /// `invalid_setting`, which does not quote the text.
    pub fn from_text(text: &SecretString) -> Result<Self, Error> {
        let invalid = || Error::InvalidSetting { reason: "a secret key is 64 hexadecimal digits".to_owned() };
        let bytes = parse_hex(text.expose_secret().trim()).ok_or_else(invalid)?;
        let key = UnboundKey::new(&AES_256_GCM, &bytes).map_err(|_| Error::Cryptography)?;
        let mut named = b"pegel secret key".to_vec();
        named.extend_from_slice(&bytes);
        let fingerprint = digest(&SHA256, &named);
        let key_id = hex(fingerprint.as_ref().get(..8).unwrap_or_default());
        Ok(Self { key: LessSafeKey::new(key), key_id })
    }

    /// Returns the name of the key, which tells nothing about it.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Encrypts a secret for its owner and field.
    ///
    /// # Errors
    /// `too_large`, `cryptography_unavailable`.
    pub fn seal(&self, owner: &str, field: &str, secret: &SecretString) -> Result<Vec<u8>, Error> {
        let plain = secret.expose_secret().as_bytes();
        if plain.len() > MAX_SECRET_BYTES {
            return Err(Error::TooLarge { what: "the size of a secret in bytes", limit: MAX_SECRET_BYTES });
        }
        // 96 random bits: safe for billions of secrets under one key.
        let nonce: [u8; NONCE_LEN] = random::bytes()?;
        let mut sealed = plain.to_vec();
        self.key
            .seal_in_place_append_tag(
                Nonce::assume_unique_for_key(nonce),
                bound_to(owner, field),
                &mut sealed,
            )
            .map_err(|_| Error::Cryptography)?;
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(&nonce);
        bytes.append(&mut sealed);
        Ok(bytes)
    }

    /// Decrypts a secret of this owner and field that was sealed with the key named `key_id`.
    ///
    /// # Errors
    /// `secret_unreadable`, saying whether the key is another or the bytes were changed.
    pub fn open(&self, owner: &str, field: &str, key_id: &str, bytes: &[u8]) -> Result<SecretString, Error> {
        let unreadable = |reason: String| Error::SecretUnreadable {
            owner: owner.to_owned(),
            field: field.to_owned(),
            reason,
        };
        if key_id != self.key_id {
            return Err(unreadable(format!(
                "it was encrypted with key {key_id}, the key at hand is {}",
                self.key_id
            )));
        }
        let changed = || unreadable("its bytes were changed, or belong to another owner or field".to_owned());
        let (format, rest) = bytes.split_first().ok_or_else(changed)?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN).ok_or_else(changed)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| changed())?;
        if *format != FORMAT {
            return Err(changed());
        }
        let mut sealed = sealed.to_vec();
        let plain =
            self.key.open_in_place(nonce, bound_to(owner, field), &mut sealed).map_err(|_| changed())?;
        String::from_utf8(plain.to_vec()).map(SecretString::from).map_err(|_| changed())
    }
}

/// Returns what a ciphertext is bound to: both texts with their lengths, so that no two pairs are alike.
fn bound_to(owner: &str, field: &str) -> Aad<Vec<u8>> {
    let mut bytes = Vec::new();
    for text in [owner, field] {
        bytes.extend_from_slice(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    Aad::from(bytes)
}

/// Writes a new key to a file that does not exist yet, so that it is whole or not there.
fn create(path: &Path) -> std::io::Result<()> {
    let key: [u8; KEY_BYTES] = random::bytes().map_err(std::io::Error::other)?;
    let half: [u8; 8] = random::bytes().map_err(std::io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}", hex(&half)));
    let beside = path.with_file_name(name);
    let written =
        File::options().create_new(true).write(true).mode(0o600).open(&beside).and_then(|mut file| {
            file.write_all(format!("{}\n", hex(&key)).as_bytes())?;
            file.sync_all()
        });
    // A link fails where a rename would silently replace the key of another process that was faster.
    let linked = written.and_then(|()| fs::hard_link(&beside, path));
    fs::remove_file(&beside)?;
    match linked {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
        Ok(()) => sync_folder(path),
    }
}

fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    text
}

fn parse_hex(text: &str) -> Option<[u8; KEY_BYTES]> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    let bytes: Vec<u8> = match digits.as_chunks::<2>() {
        (pairs, []) => pairs.iter().map(|[high, low]| high << 4 | low).collect(),
        _ => return None,
    };
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxed(digit: &str) -> SecretBox {
        SecretBox::from_text(&SecretString::from(digit.repeat(64))).unwrap()
    }

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    #[test]
    fn what_was_sealed_opens_for_its_owner_and_field_only() {
        let secrets = boxed("a");
        let sealed = secrets.seal("cluster/eu", "sasl_password", &secret("hunter2")).unwrap();
        assert!(!sealed.windows(7).any(|part| part == b"hunter2"));
        let open = |owner, field, bytes: &[u8]| secrets.open(owner, field, secrets.key_id(), bytes);
        assert_eq!(open("cluster/eu", "sasl_password", &sealed).unwrap().expose_secret(), "hunter2");
        for (owner, field) in [
            ("cluster/us", "sasl_password"),
            ("cluster/eu", "tls_client_key"),
            ("cluster/e", "usasl_password"),
        ] {
            assert_eq!(open(owner, field, &sealed).unwrap_err().code(), "secret_unreadable");
        }
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(open("cluster/eu", "sasl_password", &changed).is_err(), "byte {place}");
        }
        for length in 0..sealed.len() {
            assert!(open("cluster/eu", "sasl_password", &sealed[..length]).is_err());
        }
        assert_ne!(secrets.seal("cluster/eu", "sasl_password", &secret("hunter2")).unwrap(), sealed);
    }

    #[test]
    fn another_key_is_named_in_the_error() {
        let (one, two) = (boxed("a"), boxed("b"));
        let sealed = one.seal("o", "f", &secret("x")).unwrap();
        let error = two.open("o", "f", one.key_id(), &sealed).unwrap_err();
        assert_eq!(error.code(), "secret_unreadable");
        assert!(error.to_string().contains(one.key_id()) && error.to_string().contains(two.key_id()));
        // Even with the key's name forged it does not open.
        assert!(two.open("o", "f", two.key_id(), &sealed).is_err());
    }

    #[test]
    fn a_key_file_is_made_once_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.key");
        let first = SecretBox::from_file(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(SecretBox::from_file(&path).unwrap().key_id(), first.key_id());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let error = SecretBox::from_file(&path).unwrap_err();
        assert_eq!(error.code(), "key_file_unusable");
        assert!(error.to_string().contains("640"), "{error}");
    }

    #[test]
    fn a_text_that_is_no_key_is_refused_without_quoting_it() {
        for text in ["", "hunter2", &"a".repeat(63), &"a".repeat(66), &"g".repeat(64)] {
            let error = SecretBox::from_text(&SecretString::from(text)).unwrap_err();
            assert_eq!(error.code(), "invalid_setting");
            assert!(!error.to_string().contains("hunter2"));
        }
        assert!(!format!("{:?}", boxed("a")).contains("aaaa"));
    }

    #[test]
    fn a_secret_may_not_be_endless() {
        let long = secret(&"x".repeat(MAX_SECRET_BYTES + 1));
        assert_eq!(boxed("a").seal("o", "f", &long).unwrap_err().code(), "too_large");
    }
}
