//! Where an answer's text is collected.

use pegel_core::envelope::Status;

use crate::render::Style;
use crate::render::escape::escape;
use crate::render::grid::{Grid, Mark};

const BOLD: &str = "\x1b[1m";
const RESET: &str = "\x1b[0m";

/// Text for people, as it grows.
pub(crate) struct Paper {
    style: Style,
    text: String,
}

impl Paper {
    /// Starts with nothing.
    pub(crate) fn new(style: Style) -> Self {
        Self { style, text: String::new() }
    }

    /// Writes what the answer is about and what it is worth.
    pub(crate) fn heading(&mut self, text: &str, status: Status) {
        self.bold(&escape(text));
        let mark = match status {
            Status::Ok | Status::Empty => None,
            Status::Partial => Some(Mark::Half("partial")),
            other => Some(Mark::Bad(other.as_str())),
        };
        if let Some(mark) = mark {
            self.text.push_str(" · ");
            self.text.push_str(&mark.text());
        }
        self.text.push('\n');
    }

    /// Writes a title within the answer.
    pub(crate) fn title(&mut self, text: &str) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.blank();
        }
        self.bold(&escape(text));
        self.text.push('\n');
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: &str) {
        self.text.push_str(&escape(text));
        self.text.push('\n');
    }

    /// Writes an empty line.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes names with their values, the values under each other.
    pub(crate) fn facts(&mut self, facts: &[(&str, Option<String>)]) {
        let width = facts.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in facts {
            let value = value.as_deref().unwrap_or("–");
            self.text.push_str(&format!("{name:width$}  {}\n", escape(value)));
        }
    }

    /// Writes rows under headings.
    pub(crate) fn grid(&mut self, grid: &Grid) {
        self.text.push_str(&grid.render(self.style));
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.text
    }

    fn bold(&mut self, text: &str) {
        if self.style.has_color {
            self.text.push_str(BOLD);
            self.text.push_str(text);
            self.text.push_str(RESET);
        } else {
            self.text.push_str(text);
        }
    }
}
