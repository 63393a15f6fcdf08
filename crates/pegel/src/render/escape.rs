//! Makes text from elsewhere harmless for a terminal.
//!
//! Names and values of a cluster may hold control characters: an escape
//! sequence could repaint the screen, change the window title or hide a row.

use std::borrow::Cow;
use std::fmt::Write;

use pegel_core::printable::is_printable;

/// Returns whether a character does something else than appear.
pub(crate) fn is_unsafe(c: char) -> bool {
    !is_printable(c)
}

/// Writes every unsafe character as `\u{…}`, and a line end as `\n`.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            c if is_unsafe(c) => {
                write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string cannot fail");
            }
            c => safe.push(c),
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
    }

    #[test]
    fn escape_sequences_become_visible() {
        check("\x1b[2J\x1b]0;title\x07", "\\u{1b}[2J\\u{1b}]0;title\\u{7}");
        check("a\nb\r\tc", "a\\nb\\r\\tc");
        check("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}");
    }

    #[test]
    fn text_that_reads_backwards_or_not_at_all_becomes_visible() {
        check("a\u{202e}gpj.exe", "a\\u{202e}gpj.exe");
        check("pay\u{200b}pal\u{feff}", "pay\\u{200b}pal\\u{feff}");
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["Bestellungen_2026", "größe", "注文", "a$b/c", "🙂", ""] {
            assert!(matches!(escape(text), Cow::Borrowed(same) if same == text));
        }
    }
}
