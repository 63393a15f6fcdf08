//! The clock: sessions, tokens and audit rows are dated by it.

use jiff::Timestamp;
use pegel_store::{Db, audit};

use crate::clock;
use crate::doctor::{Finding, State};

/// No clock that is right shows an earlier time than the year this was written in.
const EARLIEST: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// How far the newest row may be ahead: two machines are never quite in step.
const TOLERANCE_MS: i64 = 60_000;

const CHECK: &str = "clock";

/// Compares the clock with what is known to be past.
pub(super) async fn look(db: Option<&Db>) -> Finding {
    judge(clock::now(), newest(db).await)
}

async fn newest(db: Option<&Db>) -> Option<Timestamp> {
    let rows =
        db?.read(|tx| Box::pin(async move { audit::list(tx, &audit::Filter::default(), None, 1).await }));
    rows.await.ok()?.first().map(|row| row.at)
}

fn judge(now: Timestamp, newest: Option<Timestamp>) -> Finding {
    let set_it = "set the clock, and keep it right with NTP";
    if now < EARLIEST {
        return Finding::new(CHECK, State::Failed, format!("it shows {now}, which is long past"))
            .with_hint(set_it);
    }
    match newest {
        Some(newest) if newest.as_millisecond() - now.as_millisecond() > TOLERANCE_MS => {
            let message = format!("it shows {now}, but the store has a row of {newest}");
            Finding::new(CHECK, State::Failed, message).with_hint(set_it)
        }
        _ => Finding::new(CHECK, State::Ok, format!("it shows {now}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_shows_a_past_time_is_wrong() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert_eq!(EARLIEST.to_string(), "2026-01-01T00:00:00Z");
        let state = |now: &str, newest: Option<&str>| judge(at(now), newest.map(at)).state;
        assert_eq!(state("1970-01-01T00:00:00Z", None), State::Failed);
        assert_eq!(state("2026-12-01T00:00:00Z", None), State::Ok);
        assert_eq!(state("2026-12-01T00:00:00Z", Some("2026-12-01T00:01:00Z")), State::Ok);
        assert_eq!(state("2026-12-01T00:00:00Z", Some("2026-12-01T00:01:01Z")), State::Failed);
    }
}
