//! What is wrong with the settings, and where each value came from.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

/// A key: its section and its name.
pub(super) type Key = (&'static str, &'static str);

/// One thing that is wrong or dubious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Where the value was given: a variable, an option, or a line of the file; empty for a default.
    pub(crate) place: String,
    /// The key, as `server.listen`.
    pub(crate) key: String,
    /// What is wrong; never the value of a secret.
    pub(crate) message: String,
}

impl Finding {
    /// Returns the finding as one line.
    pub(crate) fn line(&self) -> String {
        let place = if self.place.is_empty() { String::new() } else { format!("{}: ", self.place) };
        format!("{place}{}: {}", self.key, self.message)
    }
}

/// Gathers all problems and warnings, so that they are told at once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    file: Option<PathBuf>,
    lines: BTreeMap<(String, String), usize>,
    origins: BTreeMap<Key, &'static str>,
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
}

impl Problems {
    /// Takes note of the file's lines.
    pub(super) fn read_lines(&mut self, path: &Path, text: &str) {
        self.file = Some(path.to_owned());
        let Ok(root) = DeTable::parse(text) else { return };
        let line_at = |place: usize| text.bytes().take(place).filter(|byte| *byte == b'\n').count() + 1;
        for (section, table) in root.get_ref() {
            let DeValue::Table(keys) = table.get_ref() else { continue };
            for key in keys.keys() {
                let name = (section.get_ref().to_string(), key.get_ref().to_string());
                self.lines.insert(name, line_at(key.span().start));
            }
        }
    }

    /// Notes that a key's value came from a variable or an option.
    pub(super) fn comes_from(&mut self, key: Key, origin: &'static str) {
        self.origins.insert(key, origin);
    }

    /// Notes what is wrong with a key.
    pub(super) fn add(&mut self, key: Key, message: impl Into<String>) {
        let finding = self.finding(key, message.into());
        self.errors.push(finding);
    }

    /// Notes what is allowed and yet dubious.
    pub(super) fn warn(&mut self, key: Key, message: impl Into<String>) {
        let finding = self.finding(key, message.into());
        self.warnings.push(finding);
    }

    /// Returns a number if it is in its range, else the default, and a problem.
    pub(super) fn number(
        &mut self,
        key: Key,
        given: Option<u64>,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> u64 {
        let value = given.unwrap_or(default);
        if range.contains(&value) {
            return value;
        }
        self.add(key, format!("{value} is not within {} to {}", range.start(), range.end()));
        default
    }

    /// Returns the warnings, or the problems if there are any.
    pub(super) fn finish(self) -> Result<Vec<Finding>, Findings> {
        if self.errors.is_empty() {
            Ok(self.warnings)
        } else {
            Err(Findings { errors: self.errors, warnings: self.warnings })
        }
    }

    fn finding(&self, key: Key, message: String) -> Finding {
        let (section, name) = key;
        let line = self.lines.get(&(section.to_owned(), name.to_owned()));
        let place = match (self.origins.get(&key), &self.file, line) {
            (Some(origin), _, _) => (*origin).to_owned(),
            (None, Some(file), Some(line)) => format!("{}:{line}", file.display()),
            _ => String::new(),
        };
        Finding { place, key: format!("{section}.{name}"), message }
    }
}

/// Everything that was found where at least one thing is wrong.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<Finding>,
    pub(crate) warnings: Vec<Finding>,
}
