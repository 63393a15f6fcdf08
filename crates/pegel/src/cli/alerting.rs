//! Commands about who is told, and what there was to tell.

use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use pegel_core::monitor::labels::{Matcher, Operator};
use uuid::Uuid;

use super::values::time_with_zone;

/// What can be done about silences.
#[derive(Debug, Subcommand)]
pub(crate) enum SilenceCommand {
    /// List the silences that are not over.
    List,
    /// Keep people from being told for a while; what happens meanwhile is still recorded.
    Add(SilenceAddArgs),
    /// Remove a silence, which ends it at once.
    Remove {
        /// Id of the silence, as listed.
        id: Uuid,
    },
}

/// What to keep quiet about, and for how long.
#[derive(Debug, Args)]
pub(crate) struct SilenceAddArgs {
    /// Which monitors by a label: LABEL=VALUE, LABEL!=VALUE or LABEL^=BEGINNING, several values with commas. Given more
    /// than once, all must match.
    #[arg(long = "match", value_name = "LABEL=VALUE", required = true, value_parser = matcher)]
    pub(crate) matchers: Vec<Matcher>,
    /// For how long, as in 2h or 30m.
    #[arg(long = "for", value_name = "DURATION", value_parser = duration, required_unless_present = "until", conflicts_with = "until")]
    pub(crate) duration: Option<SignedDuration>,
    /// Until when; RFC 3339 with a zone.
    #[arg(long, value_name = "TIME", value_parser = time_with_zone)]
    pub(crate) until: Option<Timestamp>,
    /// From when instead of now; RFC 3339 with a zone.
    #[arg(long, value_name = "TIME", value_parser = time_with_zone)]
    pub(crate) from: Option<Timestamp>,
    /// Why, for those who wonder.
    #[arg(long, value_name = "TEXT")]
    pub(crate) comment: String,
}

/// What can be asked about incidents.
#[derive(Debug, Subcommand)]
pub(crate) enum IncidentCommand {
    /// List incidents, the newest first; of one cluster with --cluster.
    List(IncidentListArgs),
    /// Show an incident and what happened in it.
    Show {
        /// Id of the incident, as listed.
        id: Uuid,
    },
    /// Write something down in an incident.
    Comment {
        /// Id of the incident, as listed.
        id: Uuid,
        /// What.
        text: String,
    },
}

/// Which incidents to list.
#[derive(Debug, Args)]
pub(crate) struct IncidentListArgs {
    /// Show only those that are still open.
    #[arg(long)]
    pub(crate) open: bool,
    /// Show only incidents before those of an earlier answer, which says how.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
    /// Show at most this many incidents, 1 to 1000.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) limit: u32,
}

fn matcher(text: &str) -> Result<Matcher, String> {
    let wrong = || "write LABEL=VALUE, LABEL!=VALUE or LABEL^=BEGINNING, as in cluster=eu,us".to_owned();
    let (label, values) = text.split_once('=').ok_or_else(wrong)?;
    let (label, operator) = match (label.strip_suffix('!'), label.strip_suffix('^')) {
        (Some(label), _) => (label, Operator::NotIn),
        (_, Some(label)) => (label, Operator::Prefix),
        _ => (label, Operator::In),
    };
    if label.is_empty() {
        return Err(wrong());
    }
    let values = values.split(',').map(str::to_owned).collect();
    Ok(Matcher { label: label.to_owned(), operator, values })
}

fn duration(text: &str) -> Result<SignedDuration, String> {
    let read = text.parse::<SignedDuration>().ok().filter(SignedDuration::is_positive);
    read.ok_or_else(|| "write a duration as in 2h, 30m or 1h 30m".to_owned())
}

/// Writes a matcher as it is given.
pub(crate) fn matcher_text(matcher: &Matcher) -> String {
    let sign = match matcher.operator {
        Operator::In => "=",
        Operator::NotIn => "!=",
        Operator::Prefix => "^=",
    };
    format!("{}{sign}{}", matcher.label, matcher.values.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_read_as_they_are_written() {
        for text in ["cluster=eu", "cluster=eu,us", "kind!=http", "name^=nightly", "team="] {
            assert_eq!(matcher_text(&matcher(text).unwrap()), text);
        }
        assert_eq!(matcher("cluster=eu,us").unwrap().values, ["eu", "us"]);
        for wrong in ["cluster", "=eu", "!=eu", ""] {
            assert!(matcher(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_silence_takes_some_time() {
        assert_eq!(duration("1h 30m").unwrap(), SignedDuration::from_mins(90));
        for wrong in ["0s", "-1h", "soon", "5"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
