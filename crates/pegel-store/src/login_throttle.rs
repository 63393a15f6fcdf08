//! Failed attempts to sign in, by name and by source, and how long each has to wait.

use std::time::Duration;

use jiff::Timestamp;

use crate::error::Error;
use crate::tx::Tx;

/// The longest stored name or source, in characters; the rest is cut.
const MAX_SUBJECT_CHARS: usize = 256;

/// The key under which a lock is announced; single failures are not.
pub const RESOURCE_KEY: &str = "login_throttle";

/// Who is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// A name that someone tries, whether or not there is such a user; case does not matter.
    Name(&'a str),
    /// The address that someone tries from.
    Source(&'a str),
}

impl Subject<'_> {
    fn key(&self) -> (&'static str, String) {
        let cut = |text: &str| text.chars().take(MAX_SUBJECT_CHARS).collect();
        match self {
            Self::Name(name) => ("name", cut(&name.to_lowercase())),
            Self::Source(source) => ("source", cut(source)),
        }
    }
}

/// When attempts are locked, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// So many failures are free.
    pub free_failures: u32,
    /// The lock after the first failure beyond; each further one doubles it.
    pub first_lock: Duration,
    /// The longest lock.
    pub longest_lock: Duration,
    /// Failures are forgotten when there was none for so long.
    pub forget_after: Duration,
}

impl Policy {
    /// Returns how long the `failures`-th failure locks, zero if it is free.
    fn lock_ms(&self, failures: i64) -> i64 {
        let beyond = failures.saturating_sub(i64::from(self.free_failures));
        if beyond <= 0 {
            return 0;
        }
        let doublings = u32::try_from(beyond - 1).unwrap_or(u32::MAX).min(32);
        let lock = self.first_lock.checked_mul(2_u32.saturating_pow(doublings)).unwrap_or(Duration::MAX);
        i64::try_from(lock.min(self.longest_lock).as_millis()).unwrap_or(i64::MAX)
    }
}

/// Makes others who call this for the subject wait until this transaction has ended, so that of attempts
/// at once each sees what the one before it counted.
///
/// # Errors
/// As any statement.
pub async fn hold(tx: &mut Tx<'_>, subject: Subject<'_>) -> Result<(), Error> {
    let (kind, key) = subject.key();
    let sql =
        "INSERT INTO login_throttle (kind, subject, failure_count, last_failure_at) VALUES ($1, $2, 0, $3)
               ON CONFLICT (kind, subject) DO UPDATE SET failure_count = login_throttle.failure_count";
    tx.execute(sql, &[kind.into(), key.into(), tx.now().into()]).await?;
    Ok(())
}

/// Returns until when the subject is locked, if it is now.
///
/// # Errors
/// As any statement.
pub async fn locked_until(tx: &mut Tx<'_>, subject: Subject<'_>) -> Result<Option<Timestamp>, Error> {
    let (kind, key) = subject.key();
    let sql =
        "SELECT locked_until FROM login_throttle WHERE kind = $1 AND subject = $2 AND locked_until > $3";
    let row = tx.fetch_optional(sql, &[kind.into(), key.into(), tx.now().into()]).await?;
    row.map_or(Ok(None), |row| row.optional_time("locked_until"))
}

/// Counts a failure and returns until when the subject is locked by it, if it is.
///
/// # Errors
/// As any statement.
pub async fn record_failure(
    tx: &mut Tx<'_>,
    subject: Subject<'_>,
    policy: &Policy,
) -> Result<Option<Timestamp>, Error> {
    let (kind, key) = subject.key();
    let count = "INSERT INTO login_throttle (kind, subject, failure_count, last_failure_at) VALUES ($1, $2, 1, $3)
                 ON CONFLICT (kind, subject) DO UPDATE SET failure_count =
                 CASE WHEN login_throttle.last_failure_at < $4 THEN 1 ELSE login_throttle.failure_count + 1 END,
                 last_failure_at = $3 RETURNING failure_count";
    let now_ms = tx.now().as_millisecond();
    let forget_ms = i64::try_from(policy.forget_after.as_millis()).unwrap_or(i64::MAX);
    let values = [kind.into(), key.as_str().into(), now_ms.into(), now_ms.saturating_sub(forget_ms).into()];
    let failures = tx.fetch_one(count, &values).await?.int("failure_count")?;
    let lock_ms = policy.lock_ms(failures);
    if lock_ms == 0 {
        return Ok(None);
    }
    let until_ms = now_ms.saturating_add(lock_ms);
    let lock = "UPDATE login_throttle SET locked_until = $3 WHERE kind = $1 AND subject = $2";
    tx.execute(lock, &[kind.into(), key.into(), until_ms.into()]).await?;
    tx.announce(RESOURCE_KEY);
    Ok(Some(Timestamp::from_millisecond(until_ms).unwrap_or(Timestamp::MAX)))
}

/// Forgets a subject's failures, as after it signed in.
///
/// # Errors
/// As any statement.
pub async fn clear(tx: &mut Tx<'_>, subject: Subject<'_>) -> Result<(), Error> {
    let (kind, key) = subject.key();
    let sql = "DELETE FROM login_throttle WHERE kind = $1 AND subject = $2";
    if tx.execute(sql, &[kind.into(), key.into()]).await? > 0 {
        tx.announce(RESOURCE_KEY);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_double_up_to_the_longest() {
        let policy = Policy {
            free_failures: 3,
            first_lock: Duration::from_secs(1),
            longest_lock: Duration::from_secs(60),
            forget_after: Duration::from_secs(3_600),
        };
        let locks: Vec<_> = (1..=11).map(|failures| policy.lock_ms(failures) / 1_000).collect();
        assert_eq!(locks, [0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(policy.lock_ms(i64::MAX), 60_000);
    }
}
