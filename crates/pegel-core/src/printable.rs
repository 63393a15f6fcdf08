//! Which characters appear as themselves, so that two names that differ also look different.

/// Returns whether a character appears and does nothing else.
///
/// Not printable are control characters, which could repaint a terminal, and the directions and invisible joiners
/// that let a text look like another one.
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_all_scripts_appear_and_what_hides_or_turns_them_does_not() {
        assert!("Bücher 北京 аб עברית ١٢٣ – 🚀".chars().all(is_printable));
        assert!(!"\0\n\u{7f}\u{9b}\u{200b}\u{202e}\u{2066}\u{feff}\u{e0041}".chars().any(is_printable));
    }
}
