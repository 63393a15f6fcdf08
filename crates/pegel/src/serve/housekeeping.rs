//! Removes what is too old, about every hour.

use std::time::Duration;

use pegel_store::Db;
use pegel_store::retention::{self, Policy};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// From one run to the next, without the part that chance adds.
const EVERY: Duration = Duration::from_secs(3_600);

/// What chance adds at most, so that several servers on one database do not work in step.
const JITTER: Duration = Duration::from_secs(300);

/// Runs until `end` is cancelled. A run that fails is told and tried again the next time.
pub(super) async fn run(db: Db, policy: Policy, end: CancellationToken) {
    // A server that was just started has better things to do than to tidy up.
    let mut pause = jitter();
    loop {
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = end.cancelled() => return,
        }
        tokio::select! {
            removed = retention::run(&db, &policy) => tell(removed),
            () = end.cancelled() => return,
        }
        pause = EVERY + jitter();
    }
}

fn tell(removed: Result<retention::Report, pegel_store::Error>) {
    match removed {
        Ok(report) => tracing::info!(
            retention.session_count = report.session_count,
            retention.api_token_count = report.api_token_count,
            retention.failed_login_count = report.login_throttle_count,
            retention.change_count = report.change_count,
            retention.audit_count = report.audit_count,
            "removed what is too old"
        ),
        Err(error) => tracing::error!(
            error = &error as &dyn std::error::Error,
            error.code = error.code(),
            "what is too old could not be removed"
        ),
    }
}

/// Returns a random part of [`JITTER`].
fn jitter() -> Duration {
    // The lower half of such an id is random but for two bits, which is plenty for a pause.
    let (_, low) = Uuid::now_v7().as_u64_pair();
    let part = u32::try_from(low & 0xffff).unwrap_or(0);
    JITTER * part / 0x1_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_adds_up_to_five_minutes() {
        let drawn: Vec<Duration> = (0..200).map(|_| jitter()).collect();
        assert!(drawn.iter().all(|pause| *pause < JITTER));
        assert!(
            drawn.iter().any(|pause| *pause > JITTER / 2) && drawn.iter().any(|pause| *pause < JITTER / 2)
        );
    }
}
