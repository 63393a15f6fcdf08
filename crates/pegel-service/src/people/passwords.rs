//! Hashes and checks passwords on threads of their own, a bounded number at once.
//!
//! A check is always exactly one run of argon2id, also where there is no password to check against, so that
//! neither time nor load tells whether a user exists. The permit of a run is held by the run itself:
//! a client that hangs up does not free a place that is still in use. After a change of the settings, a user
//! who has not signed in since still has a hash of the old costs, which the dummy does not imitate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use aws_lc_rs::rand;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task;

use crate::error::Error;

/// What a password's hash costs, and how many may be computed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashSettings {
    /// Memory of one run, in KiB.
    pub memory_kib: u32,
    /// Passes over that memory.
    pub iterations: u32,
    /// Lanes of one run.
    pub lanes: u32,
    /// Runs at once.
    pub parallel: usize,
    /// Logins that may wait for a run; more are refused.
    pub waiting: usize,
}

impl Default for HashSettings {
    /// The least that OWASP's password storage cheat sheet asks of argon2id: 19 MiB, 2 passes, 1 lane.
    fn default() -> Self {
        Self { memory_kib: 19_456, iterations: 2, lanes: 1, parallel: 2, waiting: 64 }
    }
}

/// Letters and digits that are not mistaken for each other: 32, so that 5 random bits choose one.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// 24 characters of 5 bits are 120 random bits.
const GENERATED_CHARS: usize = 24;

/// Characters between two hyphens of a generated password.
const GROUP_CHARS: usize = 6;

/// A place in the line for a run, and then the run's own.
#[derive(Debug)]
pub(crate) struct Slot {
    _line: OwnedSemaphorePermit,
    _run: OwnedSemaphorePermit,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) is_match: bool,
    /// The hash was made with other settings than those in force.
    pub(crate) is_outdated: bool,
}

/// The hasher, with its bounds.
#[derive(Debug)]
pub(crate) struct Passwords {
    params: Params,
    line: Arc<Semaphore>,
    runs: Arc<Semaphore>,
    /// Of a password nobody knows; checked where there is nothing else to check.
    dummy: SecretString,
    verifications: Arc<AtomicU64>,
}

impl Passwords {
    /// Makes the hasher. Runs argon2id once, for the dummy.
    pub(crate) fn new(settings: HashSettings) -> Result<Self, Error> {
        let params = Params::new(settings.memory_kib, settings.iterations, settings.lanes, None)
            .map_err(|error| cryptography(&error))?;
        let parallel = settings.parallel.clamp(1, 64);
        let dummy = hash(&params, &generate()?)?;
        Ok(Self {
            params,
            line: Arc::new(Semaphore::new(parallel.saturating_add(settings.waiting.min(10_000)))),
            runs: Arc::new(Semaphore::new(parallel)),
            dummy,
            verifications: Arc::default(),
        })
    }

    /// Waits for a place, unless too many are waiting already.
    pub(crate) async fn slot(&self) -> Result<Slot, Error> {
        let line = Arc::clone(&self.line).try_acquire_owned().map_err(|_| Error::LoginBusy)?;
        let run = Arc::clone(&self.runs).acquire_owned().await.map_err(|_| Error::LoginBusy)?;
        Ok(Slot { _line: line, _run: run })
    }

    /// Checks a password. Without a hash it checks against the dummy and never matches.
    pub(crate) async fn verify(
        &self,
        slot: Slot,
        password: SecretString,
        stored: Option<SecretString>,
    ) -> Result<(Slot, Verdict), Error> {
        let (dummy, params) = (self.dummy.clone(), self.params.clone());
        let verifications = Arc::clone(&self.verifications);
        on_thread(move || {
            let verdict = verify(&params, &password, stored.as_ref(), &dummy, &verifications);
            verdict.map(|verdict| (slot, verdict))
        })
        .await
    }

    /// Hashes a password with a new salt.
    pub(crate) async fn hash(
        &self,
        slot: Slot,
        password: SecretString,
    ) -> Result<(Slot, SecretString), Error> {
        let params = self.params.clone();
        on_thread(move || hash(&params, &password).map(|hash| (slot, hash))).await
    }

    /// Returns how many checks have been run.
    pub(crate) fn verifications(&self) -> u64 {
        self.verifications.load(Ordering::SeqCst)
    }
}

/// Makes a password nobody has to think of: four groups of six characters, 120 random bits.
pub(crate) fn generate() -> Result<SecretString, Error> {
    let mut bytes = [0; GENERATED_CHARS];
    rand::fill(&mut bytes).map_err(|_| Error::Cryptography { reason: "no random bytes".to_owned() })?;
    let mut password = String::with_capacity(GENERATED_CHARS + GENERATED_CHARS / GROUP_CHARS);
    for (place, byte) in bytes.into_iter().enumerate() {
        if place > 0 && place % GROUP_CHARS == 0 {
            password.push('-');
        }
        let letter = ALPHABET.get(usize::from(byte & 31)).expect("five bits choose one of 32");
        password.push(char::from(*letter));
    }
    Ok(SecretString::from(password))
}

async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    task::spawn_blocking(work).await.map_err(|error| cryptography(&error))?
}

fn verify(
    params: &Params,
    password: &SecretString,
    stored: Option<&SecretString>,
    dummy: &SecretString,
    verifications: &AtomicU64,
) -> Result<Verdict, Error> {
    let known = stored.and_then(|stored| PasswordHash::new(stored.expose_secret()).ok());
    let is_known = known.is_some();
    let hash = match known {
        Some(hash) => hash,
        None => PasswordHash::new(dummy.expose_secret()).map_err(|error| cryptography(&error))?,
    };
    verifications.fetch_add(1, Ordering::SeqCst);
    let is_equal = hasher(params).verify_password(password.expose_secret().as_bytes(), &hash).is_ok();
    let is_outdated = !Params::try_from(&hash).is_ok_and(|used| {
        let costs = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
        costs(&used) == costs(params)
    });
    Ok(Verdict { is_match: is_known && is_equal, is_outdated })
}

fn hash(params: &Params, password: &SecretString) -> Result<SecretString, Error> {
    let mut salt = [0; 16];
    rand::fill(&mut salt).map_err(|_| Error::Cryptography { reason: "no random bytes".to_owned() })?;
    let hash = hasher(params).hash_password_with_salt(password.expose_secret().as_bytes(), &salt);
    Ok(SecretString::from(hash.map_err(|error| cryptography(&error))?.to_string()))
}

fn hasher(params: &Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone())
}

fn cryptography(error: &impl std::fmt::Display) -> Error {
    Error::Cryptography { reason: error.to_string() }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const CHEAP: HashSettings =
        HashSettings { memory_kib: 8, iterations: 1, lanes: 1, parallel: 1, waiting: 1 };

    #[test]
    fn generated_passwords_are_long_and_differ() {
        let made: BTreeSet<String> =
            (0..100).map(|_| generate().unwrap().expose_secret().to_owned()).collect();
        assert_eq!(made.len(), 100);
        assert!(made.iter().all(|password| password.len() == 27 && password.split('-').count() == 4));
    }

    #[tokio::test]
    async fn a_hash_names_its_costs_and_is_outdated_under_others() {
        let cheap = Passwords::new(CHEAP).unwrap();
        let password = SecretString::from("correct horse");
        let (slot, stored) = cheap.hash(cheap.slot().await.unwrap(), password.clone()).await.unwrap();
        assert!(stored.expose_secret().starts_with("$argon2id$v=19$m=8,t=1,p=1$"));
        let (_, verdict) = cheap.verify(slot, password.clone(), Some(stored.clone())).await.unwrap();
        assert_eq!(verdict, Verdict { is_match: true, is_outdated: false });
        let dearer = Passwords::new(HashSettings { iterations: 2, ..CHEAP }).unwrap();
        let slot = dearer.slot().await.unwrap();
        let (slot, verdict) = dearer.verify(slot, password, Some(stored.clone())).await.unwrap();
        assert_eq!(verdict, Verdict { is_match: true, is_outdated: true });
        let (_, verdict) = dearer.verify(slot, SecretString::from("wrong"), Some(stored)).await.unwrap();
        assert!(!verdict.is_match);
    }

    #[tokio::test]
    async fn without_a_hash_one_check_is_run_and_fails() {
        let passwords = Passwords::new(CHEAP).unwrap();
        for stored in [None, Some(SecretString::from("no hash at all"))] {
            let before = passwords.verifications();
            let slot = passwords.slot().await.unwrap();
            let (_, verdict) = passwords.verify(slot, SecretString::from("any"), stored).await.unwrap();
            assert!(!verdict.is_match);
            assert_eq!(passwords.verifications(), before + 1);
        }
    }

    #[tokio::test]
    async fn more_than_may_wait_are_refused() {
        let passwords = Arc::new(Passwords::new(CHEAP).unwrap());
        let running = passwords.slot().await.unwrap();
        let waiting = tokio::spawn({
            let passwords = Arc::clone(&passwords);
            async move { passwords.slot().await.is_ok() }
        });
        while passwords.line.available_permits() > 0 {
            task::yield_now().await;
        }
        assert!(matches!(passwords.slot().await, Err(Error::LoginBusy)));
        drop(running);
        assert!(waiting.await.unwrap());
        assert!(passwords.slot().await.is_ok());
    }

    #[test]
    fn the_default_costs_are_those_of_owasp() {
        let settings = HashSettings::default();
        assert_eq!((settings.memory_kib, settings.iterations, settings.lanes), (19 * 1_024, 2, 1));
    }
}
