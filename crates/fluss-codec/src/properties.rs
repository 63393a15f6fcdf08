//! String properties of tables, databases and aggregation functions.
//!
//! Fluss keeps every property value as a string. Keys unknown here are kept as they are, in their order, so
//! that a form read and written again loses nothing.

use serde_json::{Map, Value};

use crate::json::{JsonError, Node};

/// An ordered set of string properties with unique keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    entries: Vec<(String, String)>,
}

impl Properties {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Sets a key, in its old place if it has one, and returns the value it had.
    pub fn insert(&mut self, key: impl Into<String>, value: impl Into<String>) -> Option<String> {
        let (key, value) = (key.into(), value.into());
        match self.entries.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.entries.push((key, value));
                None
            }
        }
    }

    /// Returns the properties in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn from_node(node: &Node<'_>) -> Result<Self, JsonError> {
        let mut entries = Vec::new();
        for key in node.object()?.keys() {
            entries.push((key.clone(), node.required(key)?.text()?.to_owned()));
        }
        Ok(Self { entries })
    }

    pub(crate) fn to_value(&self) -> Value {
        let map: Map<String, Value> =
            self.entries.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect();
        Value::Object(map)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Properties {
    /// Collects properties; the last value of a key counts.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        let mut properties = Self::new();
        for (key, value) in iter {
            properties.insert(key, value);
        }
        properties
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::parse;

    #[test]
    fn order_and_unknown_keys_survive() {
        let text = r#"{"z":"1","a":"","table.future":"x"}"#;
        let value = parse(text.as_bytes()).unwrap();
        let mut properties = Properties::from_node(&Node::root(&value)).unwrap();
        assert_eq!(properties.to_value().to_string(), text);
        assert_eq!(properties.insert("a", "2"), Some(String::new()));
        assert_eq!(properties.get("a"), Some("2"));
        assert_eq!(properties.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["z", "a", "table.future"]);
    }

    #[test]
    fn values_must_be_strings() {
        for (text, code) in [
            (r#"{"a":1}"#, "json_value_type"),
            (r#"{"a":null}"#, "json_value_missing"),
            ("[]", "json_value_type"),
        ] {
            let value = parse(text.as_bytes()).unwrap();
            assert_eq!(Properties::from_node(&Node::root(&value)).unwrap_err().code(), code, "{text}");
        }
    }
}
