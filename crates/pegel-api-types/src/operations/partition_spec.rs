//! Which partitions are meant: values of partition keys, in JSON or as JSON in a text.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, OneOfBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The most keys that a filter may give; no table has as many.
pub const MAX_KEYS: usize = 32;

/// Partition keys with their values, such as `{"region":"kr"}`: no key twice, in the order given.
///
/// It is read from a JSON object or from a text that holds one, and written as an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartitionFilter(Vec<(String, String)>);

impl PartitionFilter {
    /// Makes a filter of pairs.
    ///
    /// # Errors
    /// What is wrong with them: a key is given twice, or there are more than [`MAX_KEYS`].
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, String> {
        if pairs.len() > MAX_KEYS {
            return Err(format!("a partition filter has at most {MAX_KEYS} keys"));
        }
        for (index, (key, _)) in pairs.iter().enumerate() {
            if pairs.iter().skip(index + 1).any(|(other, _)| other == key) {
                return Err(format!("the partition filter gives {key:?} twice"));
            }
        }
        Ok(Self(pairs))
    }

    /// Returns the pairs in the order given.
    pub fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

impl Serialize for PartitionFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for PartitionFilter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FilterVisitor { takes_text: true })
    }
}

impl PartialSchema for PartitionFilter {
    fn schema() -> RefOr<Schema> {
        let text = || ObjectBuilder::new().schema_type(SchemaType::new(Type::String));
        let object = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Object))
            .additional_properties(Some(AdditionalProperties::RefOr(text().build().into())));
        OneOfBuilder::new()
            .item(object)
            .item(text())
            .description(Some("Partition keys with their values, such as {\"region\":\"kr\"}, or a text that holds such JSON."))
            .into()
    }
}

impl ToSchema for PartitionFilter {}

/// Reads a [`PartitionFilter`]. A text within a text is not taken.
struct FilterVisitor {
    takes_text: bool,
}

impl<'de> Visitor<'de> for FilterVisitor {
    type Value = PartitionFilter;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON object with a text for each partition key, such as {\"region\":\"kr\"}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PartitionFilter, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry::<String, String>()? {
            if pairs.len() == MAX_KEYS {
                return Err(A::Error::custom(format!("a partition filter has at most {MAX_KEYS} keys")));
            }
            pairs.push(pair);
        }
        PartitionFilter::new(pairs).map_err(A::Error::custom)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<PartitionFilter, E> {
        if !self.takes_text {
            return Err(E::invalid_type(serde::de::Unexpected::Str(text), &self));
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let filter = Deserializer::deserialize_any(&mut json, FilterVisitor { takes_text: false })
            .map_err(E::custom)?;
        json.end().map_err(E::custom)?;
        Ok(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<(String, String)>, String> {
        serde_json::from_str::<PartitionFilter>(json)
            .map(|filter| filter.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn an_object_and_a_text_that_holds_one_are_the_same() {
        let expected = vec![("region".to_owned(), "kr".to_owned()), ("day".to_owned(), "1".to_owned())];
        assert_eq!(read(r#"{"region":"kr","day":"1"}"#), Ok(expected.clone()));
        assert_eq!(read(r#""{\"region\":\"kr\",\"day\":\"1\"}""#), Ok(expected.clone()));
        let filter = PartitionFilter::new(expected).unwrap();
        assert_eq!(serde_json::to_string(&filter).unwrap(), r#"{"region":"kr","day":"1"}"#);
    }

    #[test]
    fn what_is_no_map_of_texts_is_refused() {
        for (json, part) in [
            (r#"{"a":1}"#, "expected a string"),
            (r#"["a"]"#, "expected a JSON object"),
            (r#""""#, "EOF"),
            (r#""region=kr""#, "expected value"),
            (r#""\"{}\"""#, "invalid type: string"),
            (r#""{} {}""#, "trailing"),
            (r#"{"a":"1","a":"2"}"#, "twice"),
        ] {
            let error = read(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
        let many: Vec<String> = (0..=MAX_KEYS).map(|n| format!("\"k{n}\":\"\"")).collect();
        assert!(read(&format!("{{{}}}", many.join(","))).unwrap_err().contains("at most"));
    }
}
