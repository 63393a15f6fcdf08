//! What is wrong with a request's fields.

use serde::Serialize;

/// One field that is not as it has to be. Never holds the field's value, which may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldProblem {
    /// Where, as a JSON pointer such as `/password`.
    pub pointer: &'static str,
    /// Stable word for what is wrong: `length`, `characters`, `range`, `missing` or `secret`.
    pub code: &'static str,
    /// The rule that is broken, for people.
    pub detail: String,
}

impl FieldProblem {
    /// Names a field and the rule it breaks.
    pub fn new(pointer: &'static str, code: &'static str, detail: impl Into<String>) -> Self {
        Self { pointer, code, detail: detail.into() }
    }
}

/// Gathers the problems of one request.
#[derive(Debug, Default)]
pub struct Problems(Vec<FieldProblem>);

impl Problems {
    /// Notes a problem unless the rule is kept.
    pub fn check(&mut self, is_kept: bool, pointer: &'static str, code: &'static str, detail: &str) {
        if !is_kept {
            self.0.push(FieldProblem::new(pointer, code, detail));
        }
    }

    /// Returns success if no rule was broken.
    ///
    /// # Errors
    /// Every problem that was noted.
    pub fn finish(self) -> Result<(), Vec<FieldProblem>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }
}
