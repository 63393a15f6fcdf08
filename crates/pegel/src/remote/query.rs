//! Queries of addresses.

use std::fmt::Write;

/// Returns a query with what is given, with its question mark, or nothing.
pub(crate) fn query(pairs: &[(&str, Option<String>)]) -> String {
    let mut text = String::new();
    for (name, value) in pairs {
        let Some(value) = value else { continue };
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(name);
        text.push('=');
        for byte in value.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                    text.push(char::from(byte));
                }
                other => write!(text, "%{other:02X}").expect("writing to a string cannot fail"),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_written_so_that_it_comes_back_as_it_was() {
        assert_eq!(query(&[("a", None)]), "");
        let pairs = [("a", Some("x y&z=ä".to_owned())), ("b", None), ("c", Some("1-_.~".to_owned()))];
        assert_eq!(query(&pairs), "?a=x%20y%26z%3D%C3%A4&c=1-_.~");
    }
}
