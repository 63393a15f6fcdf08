//! Hashes and checks passwords on threads of their own, a bounded number at once.
//!
//! A check is always exactly one run of argon2id, also where there is no password to check against, so that
//! neither time nor load tells whether a user exists. The permit of a run is held by the run itself:
//! a client that hangs up does not free a place that is still in use. After a change of the settings, a user
//! who has not signed in since still has a hash of the old costs, which the dummy does not imitate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
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

/// The blocks of 1 KiB to ask for at least, so that their memory goes back to the system after a run.
///
/// An allocator such as glibc's keeps what it took for smaller pieces, for each of its arenas: some 60 MiB for every
/// thread that ever hashed. What is larger than 32 MiB it maps, and unmaps when it is freed. The part that a run does
/// not use is never touched, so it takes no memory.
const MAPPED_BLOCKS: usize = 33 * 1_024;

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
    let known = stored.and_then(|stored| Stored::read(stored.expose_secret()));
    let is_known = known.is_some();
    let unreadable = || Error::Cryptography { reason: "the dummy hash cannot be read".to_owned() };
    let hash = known.or_else(|| Stored::read(dummy.expose_secret())).ok_or_else(unreadable)?;
    verifications.fetch_add(1, Ordering::SeqCst);
    // The comparison takes the same time wherever the first difference is.
    let is_equal = run(&hash.params, password, &hash.salt)? == hash.output;
    let costs = |params: &Params| (params.m_cost(), params.t_cost(), params.p_cost());
    Ok(Verdict { is_match: is_known && is_equal, is_outdated: costs(&hash.params) != costs(params) })
}

/// A hash of argon2id as it is kept.
struct Stored {
    params: Params,
    salt: Salt,
    output: Output,
}

impl Stored {
    /// Reads a hash in the usual text; nothing if it is none that is made here.
    fn read(text: &str) -> Option<Self> {
        let hash = PasswordHash::new(text).ok()?;
        let is_ours =
            hash.algorithm == Algorithm::Argon2id.ident() && hash.version == Some(Version::V0x13.into());
        let params = Params::try_from(&hash).ok().filter(|_| is_ours)?;
        Some(Self { params, salt: hash.salt?, output: hash.hash? })
    }
}

fn hash(params: &Params, password: &SecretString) -> Result<SecretString, Error> {
    let mut salt = [0; 16];
    rand::fill(&mut salt).map_err(|_| Error::Cryptography { reason: "no random bytes".to_owned() })?;
    let salt = Salt::new(&salt).map_err(|error| cryptography(&error))?;
    let hash = PasswordHash {
        algorithm: Algorithm::Argon2id.ident(),
        version: Some(Version::V0x13.into()),
        params: ParamsString::try_from(params).map_err(|error| cryptography(&error))?,
        hash: Some(run(params, password, &salt)?),
        salt: Some(salt),
    };
    Ok(SecretString::from(hash.to_string()))
}

/// Runs argon2id once.
fn run(params: &Params, password: &SecretString, salt: &Salt) -> Result<Output, Error> {
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params.clone());
    let count = params.block_count();
    let mut memory: Vec<Block> = Vec::with_capacity(count.max(MAPPED_BLOCKS));
    memory.resize(count, Block::new());
    let mut output = [0; Output::MAX_LENGTH];
    let length = params.output_len().unwrap_or(Params::DEFAULT_OUTPUT_LEN);
    let output = output.get_mut(..length).ok_or_else(|| cryptography(&"the hash is too long"))?;
    argon2
        .hash_password_into_with_memory(password.expose_secret().as_bytes(), salt, output, &mut memory)
        .map_err(|error| cryptography(&error))?;
    Output::new(output).map_err(|error| cryptography(&error))
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
    async fn hashes_of_another_program_are_checked() {
        // By the reference implementation: `printf password | argon2 somesalt -id -t 2 -m 8 -p 1`.
        let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
        let passwords = Passwords::new(CHEAP).unwrap();
        for (password, is_match) in [("password", true), ("passwort", false)] {
            let slot = passwords.slot().await.unwrap();
            let stored = Some(SecretString::from(hash));
            let (_, verdict) = passwords.verify(slot, SecretString::from(password), stored).await.unwrap();
            assert_eq!(verdict, Verdict { is_match, is_outdated: true });
        }
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
    #[cfg(target_os = "linux")]
    fn memory_of_a_run_goes_back_to_the_system() {
        // The second field: pages in memory.
        let resident_bytes = || {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4_096
        };
        let params = Params::new(HashSettings::default().memory_kib, 1, 1, None).unwrap();
        let before = resident_bytes();
        // All alive at once, so that each has memory of its own; allocators treat the first pieces differently.
        let done = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..3 {
                        hash(&params, &SecretString::from("correct horse")).unwrap();
                    }
                    done.wait();
                });
            }
        });
        let kept = resident_bytes().saturating_sub(before);
        assert!(kept < 19 * 1_024 * 1_024, "{kept} bytes are kept");
    }

    #[test]
    fn the_default_costs_are_those_of_owasp() {
        let settings = HashSettings::default();
        assert_eq!((settings.memory_kib, settings.iterations, settings.lanes), (19 * 1_024, 2, 1));
    }
}
