//! What a channel's answer means.

use serde::{Deserialize, Serialize};

use crate::monitor::delivery::ChannelKind;

/// The longest time a target may ask us to wait: an hour.
pub const MAX_RETRY_AFTER_MS: u64 = 3_600_000;

/// The least PagerDuty is left alone after it said "too many".
pub const PAGERDUTY_PAUSE_MS: u64 = 60_000;

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer<'a> {
    /// An HTTP answer.
    Http {
        /// Its status.
        status: u16,
        /// The beginning of its body.
        body: &'a str,
        /// How long it asks us to wait, if it does.
        retry_after_ms: Option<u64>,
    },
    /// The last answer of a mail server that mattered, for one recipient.
    Smtp {
        /// Its code.
        code: u16,
    },
    /// No answer, and nothing of the notice had been written.
    NotSent,
    /// No answer, and the notice may have arrived.
    Ambiguous,
}

/// What an answer means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// It has arrived.
    Delivered,
    /// Try again, but not sooner than so.
    Retry {
        /// How long to wait at least.
        not_before_ms: u64,
    },
    /// Try again, slowly, and give up after a day.
    RetrySlowly,
    /// It will never arrive so; the channel is broken and another route is to be told.
    Broken,
    /// It will never arrive so, for this recipient only.
    RecipientRefused,
}

/// Returns what an answer means, by the table of the targets.
pub fn meaning(kind: ChannelKind, answer: Answer<'_>) -> Meaning {
    const RETRY: Meaning = Meaning::Retry { not_before_ms: 0 };
    let (status, body, asked_ms) = match answer {
        Answer::NotSent | Answer::Ambiguous => return RETRY,
        Answer::Smtp { code } => return smtp(code),
        Answer::Http { status, body, retry_after_ms } => {
            (status, body, retry_after_ms.unwrap_or(0).min(MAX_RETRY_AFTER_MS))
        }
    };
    let retry = Meaning::Retry { not_before_ms: asked_ms };
    match (kind, status) {
        (_, 500..=599) => retry,
        (ChannelKind::Pagerduty, 202) => Meaning::Delivered,
        (ChannelKind::Pagerduty, 429) => Meaning::Retry { not_before_ms: asked_ms.max(PAGERDUTY_PAUSE_MS) },
        // A proxy's login page says 200 too.
        (ChannelKind::Slack, 200) if body.trim() == "ok" => Meaning::Delivered,
        (ChannelKind::Slack, 200..=299) => retry,
        (ChannelKind::Alertmanager, 200) | (ChannelKind::Opsgenie | ChannelKind::Teams, 200..=299) => {
            Meaning::Delivered
        }
        (ChannelKind::Webhook, 200..=299) => Meaning::Delivered,
        (ChannelKind::Webhook, 408 | 429) | (_, 429) => retry,
        (ChannelKind::Webhook, 300..=399) => retry,
        (ChannelKind::Webhook, 410) => Meaning::Broken,
        (ChannelKind::Webhook, 400..=499) => Meaning::RetrySlowly,
        _ => Meaning::Broken,
    }
}

fn smtp(code: u16) -> Meaning {
    match code {
        200..=299 => Meaning::Delivered,
        500..=599 => Meaning::RecipientRefused,
        _ => Meaning::Retry { not_before_ms: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRY: Meaning = Meaning::Retry { not_before_ms: 0 };

    fn http(kind: ChannelKind, status: u16) -> Meaning {
        meaning(kind, Answer::Http { status, body: "", retry_after_ms: None })
    }

    #[test]
    fn each_target_has_its_own_word_for_delivered() {
        assert_eq!(http(ChannelKind::Pagerduty, 202), Meaning::Delivered);
        assert_eq!(http(ChannelKind::Pagerduty, 200), Meaning::Broken);
        assert_eq!(http(ChannelKind::Webhook, 204), Meaning::Delivered);
        assert_eq!(http(ChannelKind::Alertmanager, 200), Meaning::Delivered);
        assert_eq!(meaning(ChannelKind::Smtp, Answer::Smtp { code: 250 }), Meaning::Delivered);
        let slack =
            |body| meaning(ChannelKind::Slack, Answer::Http { status: 200, body, retry_after_ms: None });
        assert_eq!(
            (slack("ok"), slack("ok\n"), slack("<html>")),
            (Meaning::Delivered, Meaning::Delivered, RETRY)
        );
    }

    #[test]
    fn what_passes_is_tried_again() {
        for kind in ChannelKind::ALL {
            assert_eq!(meaning(kind, Answer::NotSent), RETRY);
            assert_eq!(meaning(kind, Answer::Ambiguous), RETRY);
            if kind != ChannelKind::Smtp {
                assert_eq!(http(kind, 503), RETRY);
                assert!(matches!(http(kind, 429), Meaning::Retry { .. }), "{kind}");
            }
        }
        assert_eq!(http(ChannelKind::Webhook, 408), RETRY);
        assert_eq!(http(ChannelKind::Webhook, 302), RETRY);
        assert_eq!(meaning(ChannelKind::Smtp, Answer::Smtp { code: 451 }), RETRY);
    }

    #[test]
    fn what_never_passes_breaks_the_channel_and_not_the_other_recipients() {
        for status in [400, 403, 404, 410] {
            assert_eq!(http(ChannelKind::Slack, status), Meaning::Broken);
            assert_eq!(http(ChannelKind::Pagerduty, status), Meaning::Broken);
        }
        assert_eq!(http(ChannelKind::Alertmanager, 400), Meaning::Broken);
        assert_eq!(http(ChannelKind::Webhook, 410), Meaning::Broken);
        assert_eq!(http(ChannelKind::Webhook, 404), Meaning::RetrySlowly);
        assert_eq!(meaning(ChannelKind::Smtp, Answer::Smtp { code: 550 }), Meaning::RecipientRefused);
    }

    #[test]
    fn a_target_may_ask_for_an_hour_and_pagerduty_gets_its_minute() {
        let asked = |kind, retry_after_ms| {
            meaning(kind, Answer::Http { status: 429, body: "", retry_after_ms: Some(retry_after_ms) })
        };
        assert_eq!(asked(ChannelKind::Slack, 30_000), Meaning::Retry { not_before_ms: 30_000 });
        assert_eq!(asked(ChannelKind::Slack, 99_000_000), Meaning::Retry { not_before_ms: 3_600_000 });
        assert_eq!(asked(ChannelKind::Pagerduty, 1_000), Meaning::Retry { not_before_ms: 60_000 });
    }
}
