//! Description of a database and its JSON form.
//!
//! Source: `DatabaseDescriptorJsonSerde`, 0.9.1.

use serde_json::Value;

use crate::json::{JsonError, Node, parse, versioned};
use crate::properties::Properties;

/// What a database carries besides its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatabaseDescriptor {
    /// Comment of the database.
    pub comment: Option<String>,
    /// Properties that users give a meaning.
    pub custom_properties: Properties,
}

impl DatabaseDescriptor {
    /// Reads the JSON form.
    ///
    /// # Errors
    /// [`JsonError`] names the place and the fault.
    pub fn from_json(text: &[u8]) -> Result<Self, JsonError> {
        let value = parse(text)?;
        let node = Node::root(&value);
        node.check_version()?;
        let comment = match node.optional("comment")? {
            Some(comment) => Some(comment.text()?.to_owned()),
            None => None,
        };
        let custom_properties = match node.optional("custom_properties")? {
            Some(properties) => Properties::from_node(&properties)?,
            None => Properties::new(),
        };
        Ok(Self { comment, custom_properties })
    }

    /// Writes the JSON form with the keys in Fluss's order.
    pub fn to_json(&self) -> String {
        let mut map = versioned();
        if let Some(comment) = &self.comment {
            map.insert("comment".to_owned(), Value::from(comment.as_str()));
        }
        map.insert("custom_properties".to_owned(), self.custom_properties.to_value());
        Value::Object(map).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::DatabaseDescriptor;

    #[test]
    fn json_round_trips() {
        for text in [
            r#"{"version":1,"custom_properties":{}}"#,
            r#"{"version":1,"comment":"Läden","custom_properties":{"owner":"a","b":""}}"#,
        ] {
            assert_eq!(DatabaseDescriptor::from_json(text.as_bytes()).unwrap().to_json(), text);
        }
        assert_eq!(DatabaseDescriptor::from_json(b"{}").unwrap(), DatabaseDescriptor::default());
    }

    #[test]
    fn wrong_types_are_refused_with_their_place() {
        for (text, message) in [
            (r#"{"comment":1}"#, "comment is a number but must be a string"),
            (r#"{"custom_properties":{"a":{}}}"#, "custom_properties.a is an object but must be a string"),
            (r#"{"version":"1"}"#, "version is a string but must be an integer"),
            ("3", "$ is a number but must be an object"),
        ] {
            assert_eq!(DatabaseDescriptor::from_json(text.as_bytes()).unwrap_err().to_string(), message);
        }
    }
}
