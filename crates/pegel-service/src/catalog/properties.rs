//! Properties as they may be shown.

use pegel_api_types::operations::properties::Property;
use pegel_core::redaction::redact;

/// Hides the secrets in a set of properties and sorts it by key.
pub(super) fn shown<'a>(properties: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Property> {
    let mut shown: Vec<Property> = properties
        .map(|(key, value)| {
            let safe = redact(key, value);
            Property { key: key.to_owned(), value: safe.value, is_redacted: safe.is_redacted }
        })
        .collect();
    shown.sort_by(|a, b| a.key.cmp(&b.key));
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_hidden_and_keys_sorted() {
        let shown = shown([("s3.secret-key", "hunter2"), ("owner", "shop")].into_iter());
        let view: Vec<_> = shown.iter().map(|p| (p.key.as_str(), p.value.as_str(), p.is_redacted)).collect();
        assert_eq!(view, [("owner", "shop", false), ("s3.secret-key", "***", true)]);
    }
}
