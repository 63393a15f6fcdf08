//! `[retention]`: how long things are kept.

use std::time::Duration;

use pegel_store::retention::Policy;

use crate::settings::problem::{Key, Problems};
use crate::settings::section::section;

section! {
    /// How long things are kept.
    RetentionSection as "retention" {
        session_days: u64 = PEGEL_RETENTION_SESSION_DAYS,
        api_token_days: u64 = PEGEL_RETENTION_API_TOKEN_DAYS,
        failed_login_days: u64 = PEGEL_RETENTION_FAILED_LOGIN_DAYS,
        change_days: u64 = PEGEL_RETENTION_CHANGE_DAYS,
        max_changes: u64 = PEGEL_RETENTION_MAX_CHANGES,
        audit_days: u64 = PEGEL_RETENTION_AUDIT_DAYS,
    }
}

impl RetentionSection {
    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> Policy {
        let key = |name: &'static str| -> Key { (Self::TABLE, name) };
        let days = |count: u64| Duration::from_secs(count * 24 * 3_600);
        let max_changes = problems.number(key("max_changes"), self.max_changes, 100_000, 1_000..=10_000_000);
        Policy {
            sessions: days(problems.number(key("session_days"), self.session_days, 30, 1..=3_650)),
            api_tokens: days(problems.number(key("api_token_days"), self.api_token_days, 365, 1..=3_650)),
            login_throttle: days(problems.number(
                key("failed_login_days"),
                self.failed_login_days,
                1,
                1..=365,
            )),
            changes: days(problems.number(key("change_days"), self.change_days, 3, 1..=365)),
            max_changes: i64::try_from(max_changes).unwrap_or(i64::MAX),
            // What is not kept for ever is kept for a month at least: an audit log of a day proves nothing.
            audit: self
                .audit_days
                .map(|count| days(problems.number(key("audit_days"), Some(count), 365, 30..=36_500))),
            // Monitors cannot be made yet; what they leave has no setting of its own.
            ..Policy::default()
        }
    }
}
