//! Turns answers into text for people or JSON for programs.
//!
//! Nothing is read, judged or hidden here: what arrives may be shown. Everything
//! that a cluster named is escaped, so that no name can move the cursor.

pub(crate) mod answers;
pub(crate) mod escape;
pub(crate) mod failure;
pub(crate) mod grid;
pub(crate) mod json;
pub(crate) mod paper;

use jiff::Timestamp;
use pegel_core::envelope::{Envelope, Evidence, EvidenceState, SourceKind, Status};
use serde::Serialize;

use crate::render::escape::escape;
use crate::render::paper::Paper;

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    /// Whether to colour.
    pub(crate) has_color: bool,
    /// Columns of the terminal, absent when the output is no terminal: then lines are never broken.
    pub(crate) width: Option<u16>,
    /// Whether to print the answer alone.
    pub(crate) is_quiet: bool,
}

/// An answer that can be shown to a person.
pub(crate) trait Show: Serialize {
    /// Returns what the answer is about, for the heading.
    fn title(&self) -> String;

    /// Writes the answer.
    fn body(&self, envelope: &Evidences<'_>, paper: &mut Paper);

    /// Returns what an empty answer means and what to do next.
    fn empty(&self) -> String;

    /// Returns what follows the answer, such as how to see the next page.
    fn note(&self) -> Option<String> {
        None
    }

    /// Returns whether the body shows the evidence itself.
    fn shows_evidence(&self) -> bool {
        false
    }
}

/// What a body may need from the envelope around it.
pub(crate) struct Evidences<'a> {
    /// What was tried.
    pub(crate) evidence: &'a [Evidence],
}

/// Text for both streams.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Printed {
    /// The answer.
    pub(crate) stdout: String,
    /// Everything else.
    pub(crate) stderr: String,
}

/// Renders an answer for people.
pub(crate) fn answer<T: Show>(envelope: &Envelope<T>, style: Style) -> Printed {
    let mut paper = Paper::new(style);
    let Some(data) = &envelope.data else { return Printed::default() };
    if !style.is_quiet {
        paper.heading(&data.title(), envelope.status);
        paper.line(&origin(envelope));
        paper.blank();
    }
    if envelope.status == Status::Empty {
        if !style.is_quiet {
            paper.line(&data.empty());
        }
    } else {
        data.body(&Evidences { evidence: &envelope.evidence }, &mut paper);
    }
    let stderr = if style.is_quiet { String::new() } else { notes(envelope, data) };
    Printed { stdout: paper.into_text(), stderr }
}

/// Returns where the answer is from, how old it is and how long it took.
fn origin<T>(envelope: &Envelope<T>) -> String {
    let source = &envelope.source;
    let age = match source.kind {
        SourceKind::Live => String::new(),
        SourceKind::Cache => format!(", {} s ago", source.age_ms / 1_000),
    };
    let (cluster, as_of) = (cluster(&source.cluster), time(envelope.observed_at));
    format!("{cluster} · as of {as_of}{age} · {} ms", source.duration_ms)
}

/// Shortens a long list of addresses.
fn cluster(addresses: &str) -> String {
    let mut list = addresses.split(',');
    match (list.next(), list.count()) {
        (Some(first), more @ 2..) => format!("{first} and {more} more"),
        _ => addresses.replace(',', ", "),
    }
}

/// Writes what is missing and what to keep in mind.
fn notes<T: Show>(envelope: &Envelope<T>, data: &T) -> String {
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    if !data.shows_evidence() {
        for evidence in envelope.evidence.iter().filter(|found| found.state == EvidenceState::Failed) {
            line(&missing(evidence));
            if let Some(hint) = &evidence.hint {
                line(&format!("  hint: {}", escape(hint)));
            }
        }
    }
    for warning in &envelope.warnings {
        line(&format!("warning: {}", escape(warning)));
    }
    if let Some(note) = data.note() {
        line(&format!("note: {}", escape(&note)));
    }
    text
}

fn missing(evidence: &Evidence) -> String {
    let code = evidence.code.map_or_else(String::new, |code| format!("[{code}]"));
    let subject =
        evidence.subject.as_deref().map_or_else(String::new, |subject| format!("{}: ", escape(subject)));
    let word = if evidence.check == "retry" { "repeated" } else { "missing" };
    format!("{word}{code}: {subject}{}", escape(&evidence.message))
}

/// Writes a time as people read it, in UTC.
pub(crate) fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// Writes the day of a time, in UTC.
pub(crate) fn day(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d").to_string()
}

#[cfg(test)]
mod tests;
