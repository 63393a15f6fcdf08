//! Partitions: specifications, names, and the strings that values turn into.
//!
//! A partition is named by the values of its keys, joined by `$` in the order of the partition keys. Sources:
//! `PartitionUtils`, `PartitionNameConverters` and `ResolvedPartitionSpec`, 0.9.1.

use std::collections::BTreeSet;
use std::fmt;

use crate::calendar::civil_from_days;
use crate::messages::{PbKeyValue, PbPartitionSpec};
use crate::name::{NameError, validate_partition_value};
use crate::row::Value;

mod java_float;

/// Separator of the values in a partition name; no value can hold it.
pub const PARTITION_SEPARATOR: char = '$';

const MILLIS_PER_DAY: i64 = 86_400_000;
const NANOS_PER_MILLI: u32 = 1_000_000;

/// Why a partition specification, name or value is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionError {
    /// The specification does not have exactly the partition keys of the table.
    #[error("the partition keys are {expected:?}, not {found:?}")]
    Keys {
        /// Keys of the table.
        expected: Vec<String>,
        /// Keys of the specification.
        found: Vec<String>,
    },
    /// The name has another number of values than the table has partition keys.
    #[error("the partition name has {found} values instead of {expected}")]
    ValueCount {
        /// Partition keys of the table.
        expected: usize,
        /// Values in the name.
        found: usize,
    },
    /// A value breaks the rules for names.
    #[error("the value of partition key {key:?} is not valid")]
    Value {
        /// The partition key.
        key: String,
        /// The rule that is broken.
        #[source]
        source: NameError,
    },
    /// A value has no string, such as a timestamp after the year 9999.
    #[error("the {data_type} value cannot name a partition")]
    Unrepresentable {
        /// The type of the value.
        data_type: &'static str,
    },
}

impl PartitionError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Keys { .. } => "partition_keys",
            Self::ValueCount { .. } => "partition_name",
            Self::Value { .. } | Self::Unrepresentable { .. } => "partition_value",
        }
    }
}

/// Keys and values of a partition, or of a part of it when used as a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionSpec {
    entries: Vec<(String, String)>,
}

impl PartitionSpec {
    /// Creates a specification from keys and values in any order.
    ///
    /// # Errors
    /// [`PartitionError::Value`] for a value that breaks the rules for names, [`PartitionError::Keys`] for a
    /// key that occurs twice.
    pub fn new<K: Into<String>, V: Into<String>>(
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<Self, PartitionError> {
        let entries: Vec<(String, String)> =
            entries.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        let mut seen = BTreeSet::new();
        for (key, value) in &entries {
            validate_partition_value(value)
                .map_err(|source| PartitionError::Value { key: key.clone(), source })?;
            if !seen.insert(key.as_str()) {
                let expected = seen.iter().map(|key| (*key).to_owned()).collect();
                let found = entries.iter().map(|(key, _)| key.clone()).collect();
                return Err(PartitionError::Keys { expected, found });
            }
        }
        Ok(Self { entries })
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns keys and values in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Returns the name of the partition, given the partition keys of the table.
    ///
    /// # Errors
    /// [`PartitionError::Keys`] unless the specification has exactly those keys.
    pub fn to_name(&self, partition_keys: &[String]) -> Result<PartitionName, PartitionError> {
        let values: Option<Vec<String>> =
            partition_keys.iter().map(|key| self.get(key).map(str::to_owned)).collect();
        match values {
            Some(values) if values.len() == self.entries.len() => Ok(PartitionName { values }),
            _ => Err(PartitionError::Keys {
                expected: partition_keys.to_vec(),
                found: self.entries.iter().map(|(key, _)| key.clone()).collect(),
            }),
        }
    }
}

impl From<&PartitionSpec> for PbPartitionSpec {
    fn from(spec: &PartitionSpec) -> Self {
        let pairs = spec.entries.iter();
        Self {
            partition_key_values: pairs
                .map(|(key, value)| PbKeyValue { key: key.clone(), value: value.clone() })
                .collect(),
        }
    }
}

impl TryFrom<&PbPartitionSpec> for PartitionSpec {
    type Error = PartitionError;

    fn try_from(spec: &PbPartitionSpec) -> Result<Self, PartitionError> {
        Self::new(spec.partition_key_values.iter().map(|pair| (pair.key.as_str(), pair.value.as_str())))
    }
}

/// Name of a partition: its values in the order of the partition keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartitionName {
    values: Vec<String>,
}

impl PartitionName {
    /// Reads a name such as `2024$eu`, given the partition keys of the table.
    ///
    /// # Errors
    /// [`PartitionError::ValueCount`] or [`PartitionError::Value`].
    pub fn parse(name: &str, partition_keys: &[String]) -> Result<Self, PartitionError> {
        let found = name.split(PARTITION_SEPARATOR).count();
        if found != partition_keys.len() {
            return Err(PartitionError::ValueCount { expected: partition_keys.len(), found });
        }
        let values: Vec<String> = name.split(PARTITION_SEPARATOR).map(str::to_owned).collect();
        for (key, value) in partition_keys.iter().zip(&values) {
            validate_partition_value(value)
                .map_err(|source| PartitionError::Value { key: key.clone(), source })?;
        }
        Ok(Self { values })
    }

    /// Returns the values in the order of the partition keys.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Returns keys and values, given the partition keys of the table.
    ///
    /// # Errors
    /// [`PartitionError::ValueCount`].
    pub fn to_spec(&self, partition_keys: &[String]) -> Result<PartitionSpec, PartitionError> {
        if partition_keys.len() != self.values.len() {
            return Err(PartitionError::ValueCount {
                expected: partition_keys.len(),
                found: self.values.len(),
            });
        }
        PartitionSpec::new(
            partition_keys.iter().zip(&self.values).map(|(key, value)| (key.as_str(), value.as_str())),
        )
    }

    /// Returns the form people read, such as `year=2024/region=eu`.
    ///
    /// # Errors
    /// [`PartitionError::ValueCount`].
    pub fn qualified(&self, partition_keys: &[String]) -> Result<String, PartitionError> {
        let spec = self.to_spec(partition_keys)?;
        let parts: Vec<String> = spec.iter().map(|(key, value)| format!("{key}={value}")).collect();
        Ok(parts.join("/"))
    }
}

impl fmt::Display for PartitionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                write!(f, "{PARTITION_SEPARATOR}")?;
            }
            f.write_str(value)?;
        }
        Ok(())
    }
}

/// A value of a partition key before it becomes part of a name; null, DECIMAL and nested types cannot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartitionValue<'a> {
    /// CHAR or STRING.
    Text(&'a str),
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT, SMALLINT, INT or BIGINT.
    Integer(i64),
    /// BINARY or BYTES.
    Bytes(&'a [u8]),
    /// DATE: days since 1970-01-01.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// TIMESTAMP, or TIMESTAMP_LTZ in UTC.
    Timestamp {
        /// Milliseconds since 1970-01-01.
        millis: i64,
        /// Nanoseconds of the millisecond, to 999 999.
        nanos_of_milli: u32,
    },
}

impl<'a> PartitionValue<'a> {
    /// Takes a value of a partition column; nothing for what cannot be one: null, DECIMAL and nested values.
    pub fn of(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Boolean(value) => Self::Boolean(*value),
            Value::TinyInt(value) => Self::Integer(i64::from(*value)),
            Value::SmallInt(value) => Self::Integer(i64::from(*value)),
            Value::Int(value) => Self::Integer(i64::from(*value)),
            Value::BigInt(value) => Self::Integer(*value),
            Value::Float(value) => Self::Float(*value),
            Value::Double(value) => Self::Double(*value),
            Value::String(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
            Value::Date(days) => Self::Date(*days),
            Value::Time(millis) => Self::Time(*millis),
            Value::Timestamp(value) | Value::TimestampLtz(value) => {
                Self::Timestamp { millis: value.millis, nanos_of_milli: value.nanos_of_milli }
            }
            Value::Null | Value::Decimal(_) | Value::Array(_) | Value::Map(_) | Value::Row(_) => return None,
        })
    }
}

impl PartitionValue<'_> {
    /// Returns the string that stands for the value in a partition name.
    ///
    /// Floating point numbers are written as Java 19 and later do, with `_` for the point. Older Java
    /// sometimes writes digits that are not needed to tell the number; a partition made so by an older
    /// client has another name.
    ///
    /// # Errors
    /// [`PartitionError::Unrepresentable`], or [`PartitionError::Value`] for a text that breaks the rules for
    /// names.
    pub fn to_name_value(&self) -> Result<String, PartitionError> {
        let text = match *self {
            Self::Text(text) => text.to_owned(),
            Self::Boolean(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            Self::Date(days) => {
                let (year, month, day) = civil_from_days(i64::from(days));
                format!("{year:04}-{month:02}-{day:02}")
            }
            Self::Time(millis) => time_text(millis)?,
            Self::Float(value) => java_float::float(value).replace('.', "_"),
            Self::Double(value) => java_float::double(value).replace('.', "_"),
            Self::Timestamp { millis, nanos_of_milli } => timestamp_text(millis, nanos_of_milli)?,
        };
        validate_partition_value(&text)
            .map_err(|source| PartitionError::Value { key: String::new(), source })?;
        Ok(text)
    }
}

fn time_text(millis: i32) -> Result<String, PartitionError> {
    if !(0..MILLIS_PER_DAY).contains(&i64::from(millis)) {
        return Err(PartitionError::Unrepresentable { data_type: "TIME" });
    }
    let (seconds, fraction) = (millis / 1000, millis % 1000);
    Ok(format!("{:02}-{:02}-{:02}_{fraction:03}", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

fn timestamp_text(millis: i64, nanos_of_milli: u32) -> Result<String, PartitionError> {
    let unrepresentable = PartitionError::Unrepresentable { data_type: "TIMESTAMP" };
    let (year, month, day) = civil_from_days(millis.div_euclid(MILLIS_PER_DAY));
    // Java writes years before 1 and after 9999 ambiguously or with a plus sign, which no name can hold.
    if !(1..=9999).contains(&year) || nanos_of_milli >= NANOS_PER_MILLI {
        return Err(unrepresentable);
    }
    let of_day = millis.rem_euclid(MILLIS_PER_DAY);
    let seconds = of_day / 1000;
    let nanos = of_day % 1000 * i64::from(NANOS_PER_MILLI) + i64::from(nanos_of_milli);
    let fraction = format!("{nanos:09}");
    Ok(format!(
        "{year:04}-{month:02}-{day:02}-{:02}-{:02}-{:02}_{}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        fraction.trim_end_matches('0')
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn specification_and_name_turn_into_each_other() {
        let keys = keys(&["year", "region"]);
        let spec = PartitionSpec::new([("region", "eu"), ("year", "2024")]).unwrap();
        let name = spec.to_name(&keys).unwrap();
        assert_eq!(name.to_string(), "2024$eu");
        assert_eq!(name.qualified(&keys).unwrap(), "year=2024/region=eu");
        assert_eq!(PartitionName::parse("2024$eu", &keys).unwrap(), name);
        assert_eq!(name.to_spec(&keys).unwrap().to_name(&keys).unwrap(), name);
        assert_eq!(PartitionSpec::try_from(&PbPartitionSpec::from(&spec)).unwrap(), spec);
    }

    #[test]
    fn wrong_specifications_and_names_are_refused() {
        let two = keys(&["a", "b"]);
        let code = |entries: &[(&str, &str)]| {
            let spec = PartitionSpec::new(entries.iter().copied());
            spec.and_then(|spec| spec.to_name(&two)).unwrap_err().code()
        };
        assert_eq!(code(&[("a", "1")]), "partition_keys");
        assert_eq!(code(&[("a", "1"), ("c", "1")]), "partition_keys");
        assert_eq!(code(&[("a", "1"), ("b", "1"), ("c", "1")]), "partition_keys");
        assert_eq!(code(&[("a", "1"), ("a", "1")]), "partition_keys");
        assert_eq!(code(&[("a", "1"), ("b", "")]), "partition_value");
        assert_eq!(code(&[("a", "1"), ("b", "x$y")]), "partition_value");
        let code = |name: &str| PartitionName::parse(name, &two).unwrap_err().code();
        assert_eq!(code("1"), "partition_name");
        assert_eq!(code("1$2$3"), "partition_name");
        assert_eq!(code("1$"), "partition_value");
        assert_eq!(code("1$."), "partition_value");
    }

    #[test]
    fn values_out_of_range_have_no_string() {
        for value in [
            PartitionValue::Time(-1),
            PartitionValue::Time(86_400_000),
            PartitionValue::Timestamp { millis: i64::MAX, nanos_of_milli: 0 },
            PartitionValue::Timestamp { millis: i64::MIN, nanos_of_milli: 0 },
            PartitionValue::Timestamp { millis: 0, nanos_of_milli: 1_000_000 },
            PartitionValue::Text("a.b"),
            PartitionValue::Text(""),
            PartitionValue::Bytes(&[]),
        ] {
            assert_eq!(value.to_name_value().unwrap_err().code(), "partition_value", "{value:?}");
        }
    }

    #[test]
    fn days_follow_the_gregorian_calendar() {
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (11_016, "2000-02-29"),
            (-719_162, "0001-01-01"),
            (2_932_896, "9999-12-31"),
            (-25_509, "1900-02-28"),
            (-25_508, "1900-03-01"),
        ] {
            assert_eq!(PartitionValue::Date(days).to_name_value().unwrap(), text);
        }
    }
}
