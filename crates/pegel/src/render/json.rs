//! JSON for programs: one document, keys in a fixed order, safe to look at in a terminal.

use std::fmt::Write;

use serde::Serialize;

use crate::render::escape::is_unsafe;
use pegel_service::failure::Failure;

/// Renders one document, indented, with a line end.
///
/// # Errors
/// `internal` when the value has no JSON form, which no answer should lack.
pub(crate) fn document<T: Serialize>(value: &T) -> Result<String, Failure> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::internal("the answer has no JSON form").with_cause(&error))?;
    let mut text = escape_in_strings(&json);
    text.push('\n');
    Ok(text)
}

/// Escapes what serde leaves as it is although a terminal would act on it.
///
/// Outside of strings JSON has ASCII only, so every such character is inside one.
fn escape_in_strings(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_unsafe(c) {
            safe.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(safe, "\\u{unit:04x}").expect("writing to a string cannot fail");
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_is_left_and_the_value_is_the_same() {
        let value = "\x1b[31m\u{9b}0m\u{7f}\u{202e}\u{e0041}\n\"ä";
        let text = document(&value).unwrap();
        assert_eq!(text, "\"\\u001b[31m\\u009b0m\\u007f\\u202e\\udb40\\udc41\\n\\\"ä\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }
}
