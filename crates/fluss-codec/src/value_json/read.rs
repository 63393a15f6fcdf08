//! Reads values from JSON, guided by their types.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::number::{Exact, NumberFault};
use super::{BytesEncoding, JsonRow, Missing, ValueJsonError, ValueJsonFault, range, time};
use crate::data_type::{DataType, RowField, TypeKind};
use crate::row::{Decimal, Timestamp, Value};
use crate::schema::Column;

const NANOS_PER_MILLI: i64 = 1_000_000;

/// A JSON value of which only the outermost level has been looked at.
enum Json<'a> {
    Null,
    Boolean(bool),
    Number(&'a str),
    Text(String),
    List(Vec<&'a RawValue>),
    Object(Vec<(String, &'a RawValue)>),
}

/// Members of an object in their order; names may be there twice.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

pub(super) fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ValueJsonError> {
    let malformed = |fault: serde_json::Error| ValueJsonFault::Syntax { reason: fault.to_string() };
    serde_json::from_str(text).map_err(|fault| ValueJsonError::new(malformed(fault)))
}

fn open(raw: &RawValue) -> Result<Json<'_>, ValueJsonError> {
    let text = raw.get();
    Ok(match text.as_bytes().first() {
        Some(b'n') => Json::Null,
        Some(b't') => Json::Boolean(true),
        Some(b'f') => Json::Boolean(false),
        Some(b'"') => Json::Text(parse(text)?),
        Some(b'[') => Json::List(parse(text)?),
        Some(b'{') => Json::Object(parse::<Members<'_>>(text)?.0),
        _ => Json::Number(text),
    })
}

impl Json<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a truth value",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }

    fn unlike(&self, expected: impl Into<String>) -> ValueJsonError {
        ValueJsonError::new(ValueJsonFault::Kind { expected: expected.into(), found: self.name() })
    }
}

pub(super) fn rows(
    columns: &[Column],
    raw: &RawValue,
    missing: Missing,
    limit: usize,
) -> Result<Vec<JsonRow>, ValueJsonError> {
    let list = match open(raw)? {
        Json::List(list) => list,
        other => return Err(other.unlike("a list of rows")),
    };
    if list.len() > limit {
        return Err(ValueJsonError::new(ValueJsonFault::Kind {
            expected: format!("a list of at most {limit} rows"),
            found: "a longer one",
        }));
    }
    let read = |(index, raw): (usize, &&RawValue)| {
        row(columns, raw, missing).map_err(|error| error.within(index.to_string()))
    };
    list.iter().enumerate().map(read).collect()
}

pub(super) fn row(columns: &[Column], raw: &RawValue, missing: Missing) -> Result<JsonRow, ValueJsonError> {
    let members = match open(raw)? {
        Json::Object(members) => members,
        other => return Err(other.unlike("an object of columns")),
    };
    let mut values = vec![Value::Null; columns.len()];
    let mut present = vec![false; columns.len()];
    for (name, raw) in members {
        let Some(position) = columns.iter().position(|column| column.name == name) else {
            return Err(ValueJsonError::new(ValueJsonFault::Unknown).within(name));
        };
        let (Some(column), Some(place), Some(seen)) =
            (columns.get(position), values.get_mut(position), present.get_mut(position))
        else {
            continue;
        };
        let at = |error: ValueJsonError| ValueJsonError {
            column: Some(name.clone()),
            ..error.within(name.clone())
        };
        if std::mem::replace(seen, true) {
            return Err(at(ValueJsonError::new(ValueJsonFault::Duplicate)));
        }
        *place = value(&column.data_type, raw).map_err(at)?;
    }
    let lacks = |(column, present): &(&Column, &bool)| !**present && !column.data_type.is_nullable();
    if missing == Missing::Nullable
        && let Some((column, _)) = columns.iter().zip(&present).find(lacks)
    {
        let error = ValueJsonError::new(ValueJsonFault::Null).within(column.name.clone());
        return Err(ValueJsonError { column: Some(column.name.clone()), ..error });
    }
    Ok(JsonRow { values, present })
}

pub(super) fn value(data_type: &DataType, raw: &RawValue) -> Result<Value, ValueJsonError> {
    let json = open(raw)?;
    if matches!(json, Json::Null) {
        let missing = || ValueJsonError::new(ValueJsonFault::Null);
        return if data_type.is_nullable() { Ok(Value::Null) } else { Err(missing()) };
    }
    match data_type.kind() {
        TypeKind::Boolean => match json {
            Json::Boolean(value) => Ok(Value::Boolean(value)),
            other => Err(other.unlike("true or false")),
        },
        TypeKind::TinyInt => integer(data_type, &json).map(Value::TinyInt),
        TypeKind::SmallInt => integer(data_type, &json).map(Value::SmallInt),
        TypeKind::Int => integer(data_type, &json).map(Value::Int),
        TypeKind::BigInt => integer(data_type, &json).map(Value::BigInt),
        TypeKind::Float => float(data_type, &json, f32::is_finite).map(Value::Float),
        TypeKind::Double => float(data_type, &json, f64::is_finite).map(Value::Double),
        TypeKind::Char { length } => match json {
            Json::Text(text) if u32::try_from(text.chars().count()).is_ok_and(|count| count <= *length) => {
                Ok(Value::String(text))
            }
            Json::Text(_) => Err(range(data_type, "it has more characters")),
            other => Err(other.unlike("a string")),
        },
        TypeKind::String => match json {
            Json::Text(text) => Ok(Value::String(text)),
            other => Err(other.unlike("a string")),
        },
        TypeKind::Binary { .. } | TypeKind::Bytes => bytes(data_type, json),
        TypeKind::Decimal { precision, scale } => {
            let unscaled = exact(data_type, &json)?.unscaled(*scale);
            let decimal = unscaled.and_then(|unscaled| Decimal::new(unscaled, *precision, *scale));
            decimal.map(Value::Decimal).ok_or_else(|| range(data_type, "it has more digits"))
        }
        TypeKind::Date
        | TypeKind::Time { .. }
        | TypeKind::Timestamp { .. }
        | TypeKind::TimestampLtz { .. } => match json {
            Json::Text(text) => moment(data_type, &text),
            other => Err(other.unlike(format!("the string of a {data_type}"))),
        },
        TypeKind::Array(element) => match json {
            Json::List(list) => {
                let read = |(index, raw): (usize, &&RawValue)| {
                    value(element, raw).map_err(|error| error.within(index.to_string()))
                };
                list.iter().enumerate().map(read).collect::<Result<_, _>>().map(Value::Array)
            }
            other => Err(other.unlike("a list")),
        },
        TypeKind::Map(of_key, of_value) => map(of_key, of_value, json),
        TypeKind::Row(fields) => fields_of(fields, json),
    }
}

/// Reads a number, which may stand in quotes.
fn exact(data_type: &DataType, json: &Json<'_>) -> Result<Exact, ValueJsonError> {
    let text = match json {
        Json::Number(text) => *text,
        Json::Text(text) => text.as_str(),
        other => return Err(other.unlike("a number or the string of one")),
    };
    Exact::parse(text).map_err(|fault| match fault {
        NumberFault::Malformed => json.unlike("a number or the string of one"),
        NumberFault::TooManyDigits => range(data_type, "it has more digits"),
    })
}

fn integer<T: TryFrom<i128>>(data_type: &DataType, json: &Json<'_>) -> Result<T, ValueJsonError> {
    let whole = exact(data_type, json)?.unscaled(0);
    let whole = whole.ok_or_else(|| range(data_type, "it is not a whole number within bounds"))?;
    T::try_from(whole).map_err(|_| range(data_type, "it is out of bounds"))
}

fn float<T: FromStr + Copy>(
    data_type: &DataType,
    json: &Json<'_>,
    is_finite: impl Fn(T) -> bool,
) -> Result<T, ValueJsonError> {
    let text = match json {
        Json::Number(text) => *text,
        Json::Text(text) => text.as_str(),
        other => return Err(other.unlike("a number or the string of one")),
    };
    let is_special = matches!(json, Json::Text(_)) && matches!(text, "NaN" | "Infinity" | "-Infinity");
    if !is_special && Exact::parse(text) == Err(NumberFault::Malformed) {
        return Err(json.unlike("a number, the string of one, \"NaN\", \"Infinity\" or \"-Infinity\""));
    }
    let value: T = text.parse().map_err(|_| range(data_type, "it cannot be read"))?;
    if is_special || is_finite(value) { Ok(value) } else { Err(range(data_type, "it is out of bounds")) }
}

fn bytes(data_type: &DataType, json: Json<'_>) -> Result<Value, ValueJsonError> {
    const EXPECTED: &str = "an object with one of base64, hex and utf8";
    let members = match json {
        Json::Object(members) => members,
        other => return Err(other.unlike(EXPECTED)),
    };
    let [(name, raw)] = members.as_slice() else { return Err(Json::Object(members).unlike(EXPECTED)) };
    let Some(encoding) = BytesEncoding::of_name(name) else {
        return Err(Json::Object(members).unlike(EXPECTED));
    };
    let text = match open(raw)? {
        Json::Text(text) => text,
        other => return Err(other.unlike("a string").within(name.clone())),
    };
    let bytes = encoding.decode(&text);
    let bytes = bytes.ok_or_else(|| range(data_type, "it is not in that encoding").within(name.clone()))?;
    match data_type.kind() {
        TypeKind::Binary { length } if !u32::try_from(bytes.len()).is_ok_and(|count| count <= *length) => {
            Err(range(data_type, "it has more bytes").within(name.clone()))
        }
        _ => Ok(Value::Bytes(bytes)),
    }
}

fn moment(data_type: &DataType, text: &str) -> Result<Value, ValueJsonError> {
    let malformed = || range(data_type, "it is not in the form of ISO 8601, or there is no such time");
    let finer = || range(data_type, "it is finer than the unit in which the type is kept");
    match data_type.kind() {
        TypeKind::Date => {
            let days = time::read_date(text).ok_or_else(malformed)?;
            i32::try_from(days).map(Value::Date).map_err(|_| range(data_type, "it is out of bounds"))
        }
        TypeKind::Time { precision } => match time::read_millis_of_day(text).ok_or_else(malformed)? {
            Err(millis) => Ok(Value::Time(millis)),
            Ok(nanos) if nanos % NANOS_PER_MILLI != 0 => {
                Err(range(data_type, "it is finer than a millisecond, which Fluss does not keep"))
            }
            Ok(nanos) if time::digits_needed(nanos) > time::unit_digits(*precision) => Err(finer()),
            Ok(nanos) => i32::try_from(nanos / NANOS_PER_MILLI).map(Value::Time).map_err(|_| malformed()),
        },
        TypeKind::Timestamp { precision } => {
            let (timestamp, zoned) = time::read_timestamp(text).ok_or_else(malformed)?;
            if zoned {
                return Err(range(data_type, "it has a zone, which the type has not"));
            }
            if is_finer(timestamp, *precision) { Err(finer()) } else { Ok(Value::Timestamp(timestamp)) }
        }
        _ => {
            let TypeKind::TimestampLtz { precision } = data_type.kind() else { return Err(malformed()) };
            let (timestamp, zoned) = time::read_timestamp(text).ok_or_else(malformed)?;
            if !zoned {
                return Err(range(data_type, "it has no zone, such as Z or +02:00"));
            }
            if is_finer(timestamp, *precision) { Err(finer()) } else { Ok(Value::TimestampLtz(timestamp)) }
        }
    }
}

fn is_finer(timestamp: Timestamp, precision: u8) -> bool {
    let nanos = timestamp.millis.rem_euclid(1000) * NANOS_PER_MILLI + i64::from(timestamp.nanos_of_milli);
    time::digits_needed(nanos) > time::unit_digits(precision)
}

fn map(of_key: &DataType, of_value: &DataType, json: Json<'_>) -> Result<Value, ValueJsonError> {
    let mut entries = Vec::new();
    let mut seen = HashSet::new();
    match json {
        Json::List(list) => {
            for (index, raw) in list.into_iter().enumerate() {
                let entry = entry(of_key, of_value, raw).map_err(|error| error.within(index.to_string()))?;
                // Keys are compared as they would be written, since floats have no equality of their own.
                if !seen.insert(format!("{:?}", entry.0)) {
                    return Err(ValueJsonError::new(ValueJsonFault::Duplicate).within(index.to_string()));
                }
                entries.push(entry);
            }
        }
        Json::Object(members) if matches!(of_key.kind(), TypeKind::Char { .. } | TypeKind::String) => {
            for (name, raw) in members {
                if !seen.insert(name.clone()) {
                    return Err(ValueJsonError::new(ValueJsonFault::Duplicate).within(name));
                }
                if let TypeKind::Char { length } = of_key.kind()
                    && !u32::try_from(name.chars().count()).is_ok_and(|count| count <= *length)
                {
                    return Err(range(of_key, "the key has more characters").within(name));
                }
                let value = value(of_value, raw).map_err(|error| error.within(name.clone()))?;
                entries.push((Value::String(name), value));
            }
        }
        other => return Err(other.unlike("a list of objects with key and value")),
    }
    Ok(Value::Map(entries))
}

fn entry(of_key: &DataType, of_value: &DataType, raw: &RawValue) -> Result<(Value, Value), ValueJsonError> {
    const EXPECTED: &str = "an object with key and value";
    let members = match open(raw)? {
        Json::Object(members) => members,
        other => return Err(other.unlike(EXPECTED)),
    };
    let (key, of) = match members.as_slice() {
        [(first, key), (second, of)] if first == "key" && second == "value" => (key, of),
        [(first, of), (second, key)] if first == "value" && second == "key" => (key, of),
        _ => return Err(Json::Object(members).unlike(EXPECTED)),
    };
    let key = value(of_key, key).map_err(|error| error.within("key"))?;
    Ok((key, value(of_value, of).map_err(|error| error.within("value"))?))
}

fn fields_of(fields: &[RowField], json: Json<'_>) -> Result<Value, ValueJsonError> {
    let members = match json {
        Json::Object(members) => members,
        other => return Err(other.unlike("an object of fields")),
    };
    let mut values: Vec<Option<Value>> = vec![None; fields.len()];
    for (name, raw) in members {
        let position = fields.iter().position(|field| field.name == name);
        let Some((field, place)) = position.and_then(|at| Some((fields.get(at)?, values.get_mut(at)?)))
        else {
            return Err(ValueJsonError::new(ValueJsonFault::Unknown).within(name));
        };
        let read = value(&field.data_type, raw).map_err(|error| error.within(name.clone()))?;
        if place.replace(read).is_some() {
            return Err(ValueJsonError::new(ValueJsonFault::Duplicate).within(name));
        }
    }
    let value = |(field, value): (&RowField, Option<Value>)| match value {
        None if !field.data_type.is_nullable() => {
            Err(ValueJsonError::new(ValueJsonFault::Null).within(field.name.clone()))
        }
        value => Ok(value.unwrap_or(Value::Null)),
    };
    fields.iter().zip(values).map(value).collect::<Result<_, _>>().map(Value::Row)
}
