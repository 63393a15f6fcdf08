//! `[login]`: how long people stay signed in, what guessing costs, and what a password's hash costs.

use std::time::Duration;

use pegel_service::people;
use pegel_store::login_throttle;

use crate::settings::problem::{Key, Problems};
use crate::settings::section::section;

section! {
    /// Signing in.
    LoginSection as "login" {
        session_idle_minutes: u64 = PEGEL_LOGIN_SESSION_IDLE_MINUTES,
        session_absolute_hours: u64 = PEGEL_LOGIN_SESSION_ABSOLUTE_HOURS,
        name_free_failures: u64 = PEGEL_LOGIN_NAME_FREE_FAILURES,
        source_free_failures: u64 = PEGEL_LOGIN_SOURCE_FREE_FAILURES,
        first_lock_seconds: u64 = PEGEL_LOGIN_FIRST_LOCK_SECONDS,
        longest_lock_seconds: u64 = PEGEL_LOGIN_LONGEST_LOCK_SECONDS,
        hash_memory_kib: u64 = PEGEL_LOGIN_HASH_MEMORY_KIB,
        hash_iterations: u64 = PEGEL_LOGIN_HASH_ITERATIONS,
        hash_parallel: u64 = PEGEL_LOGIN_HASH_PARALLEL,
    }
}

impl LoginSection {
    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> people::Settings {
        let key = |name: &'static str| -> Key { (Self::TABLE, name) };
        let idle = problems.number(key("session_idle_minutes"), self.session_idle_minutes, 720, 5..=43_200);
        let absolute =
            problems.number(key("session_absolute_hours"), self.session_absolute_hours, 168, 1..=2_160);
        if idle > absolute * 60 {
            problems.add(key("session_idle_minutes"), "is longer than session_absolute_hours allows");
        }
        let by_name = problems.number(key("name_free_failures"), self.name_free_failures, 5, 1..=100);
        let by_source =
            problems.number(key("source_free_failures"), self.source_free_failures, 30, 1..=10_000);
        let first = problems.number(key("first_lock_seconds"), self.first_lock_seconds, 5, 1..=3_600);
        let longest =
            problems.number(key("longest_lock_seconds"), self.longest_lock_seconds, 900, 1..=86_400);
        if first > longest {
            problems.add(key("first_lock_seconds"), "is longer than longest_lock_seconds");
        }
        let throttle = |free_failures: u64| login_throttle::Policy {
            free_failures: u32::try_from(free_failures).unwrap_or(u32::MAX),
            first_lock: Duration::from_secs(first),
            longest_lock: Duration::from_secs(longest),
            ..people::Settings::default().name_throttle
        };
        let settings = people::Settings {
            session_idle: Duration::from_secs(idle * 60),
            session_absolute: Duration::from_secs(absolute * 3_600),
            name_throttle: throttle(by_name),
            source_throttle: throttle(by_source),
            ..people::Settings::default()
        };
        people::Settings { hash: self.hash_settings(problems), ..settings }
    }

    fn hash_settings(&self, problems: &mut Problems) -> people::HashSettings {
        let key = |name: &'static str| -> Key { (Self::TABLE, name) };
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        // Less memory or fewer passes than the default would be weaker than OWASP's advice.
        let memory =
            problems.number(key("hash_memory_kib"), self.hash_memory_kib, 19_456, 19_456..=1_048_576);
        let iterations = problems.number(key("hash_iterations"), self.hash_iterations, 2, 2..=20);
        let parallel = problems.number(key("hash_parallel"), self.hash_parallel, 2, 1..=64);
        people::HashSettings {
            memory_kib: narrow(memory),
            iterations: narrow(iterations),
            parallel: usize::try_from(parallel).unwrap_or(usize::MAX),
            ..people::HashSettings::default()
        }
    }
}
