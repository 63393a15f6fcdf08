//! What an answer should be like.

use http::Method;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::json::JsonCheck;
use crate::report::Answer;
use crate::status::Statuses;

/// The most texts that are looked for.
pub const MAX_TEXTS: usize = 16;

/// The longest text that is looked for, in bytes.
pub const MAX_TEXT_BYTES: usize = 4 * 1024;

/// The most values that are looked at.
pub const MAX_JSON_CHECKS: usize = 16;

/// How a text is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It stands in the body: byte by byte, or as text in the body's own charset, or in the body without the
    /// space that JSON does not need.
    Contains,
    /// It stands in the body byte by byte.
    ContainsRaw,
    /// It does not stand in the body in any of these ways.
    NotContains,
}

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextCheck {
    /// The text, 1 byte to 4 KiB.
    pub text: String,
    /// How.
    pub how: How,
}

/// In which way a text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// Byte by byte.
    Raw,
    /// In the body as text, both in Unicode's composed form.
    Text,
    /// In the body as compact JSON.
    JsonCompact,
}

/// What an answer should be like. All of it must be so.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expect {
    /// Its status; 200 to 299 by default.
    pub statuses: Statuses,
    /// Texts in its body.
    pub texts: Vec<TextCheck>,
    /// Values in its body.
    pub json: Vec<JsonCheck>,
}

impl Expect {
    /// Expects nothing of an answer but that it comes, as channels do, which judge by themselves.
    pub fn anything() -> Self {
        Self { statuses: Statuses::any(), ..Self::default() }
    }

    /// Checks what the types cannot say, for a request with this method.
    ///
    /// # Errors
    /// `invalid`, naming what.
    pub fn check(&self, method: &Method) -> Result<(), Error> {
        if self.texts.len() > MAX_TEXTS || self.json.len() > MAX_JSON_CHECKS {
            return Err(Error::invalid(format!(
                "at most {MAX_TEXTS} texts and {MAX_JSON_CHECKS} values are checked"
            )));
        }
        if self.texts.iter().any(|check| check.text.is_empty() || check.text.len() > MAX_TEXT_BYTES) {
            return Err(Error::invalid(format!("a text to look for has 1 to {MAX_TEXT_BYTES} bytes")));
        }
        if *method == Method::HEAD && !(self.texts.is_empty() && self.json.is_empty()) {
            return Err(Error::invalid("the answer to a HEAD has no body to look into"));
        }
        Ok(())
    }

    /// Judges an answer.
    ///
    /// # Errors
    /// The first that is not as expected: `status_unexpected`, `text_missing`, `text_missing_within_limit`,
    /// `text_present`, `json_invalid`, `json_missing`, `json_unexpected`.
    pub fn judge(&self, answer: &Answer) -> Result<(), Error> {
        if !self.statuses.contains(answer.status) {
            return Err(Error::StatusUnexpected { status: answer.status });
        }
        for (check, found) in self.texts.iter().zip(&answer.found) {
            let text = check.text.clone();
            match (check.how, found) {
                (How::NotContains, Some(_)) => return Err(Error::TextPresent { text }),
                (How::NotContains, None) | (_, Some(_)) => {}
                (_, None) if answer.is_body_whole => return Err(Error::TextMissing { text }),
                (_, None) => {
                    return Err(Error::TextMissingWithinLimit { text, limit_bytes: answer.body_bytes });
                }
            }
        }
        if self.json.is_empty() {
            return Ok(());
        }
        let is_kept = answer.is_body_whole && u64::try_from(answer.body.len()) == Ok(answer.body_bytes);
        if !is_kept {
            let reason = format!("only its first {} bytes were kept", answer.body.len());
            return Err(Error::JsonInvalid { reason });
        }
        self.json.iter().try_for_each(|check| check.judge(&answer.body))
    }
}
