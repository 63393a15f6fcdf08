//! Values in the form in which the Java program `Codec` takes and gives them; its documentation tells the form.

use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::row::{Decimal, Timestamp, Value};
use serde_json::{Value as Json, json};

/// Makes bytes of their hexadecimal form.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let byte = |start: usize| u8::from_str_radix(&text[start..start + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// Writes bytes in hexadecimal form.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the values of a row.
pub(crate) fn row(types: &[&DataType], values: &Json) -> Vec<Value> {
    let values = values.as_array().unwrap();
    assert_eq!(types.len(), values.len());
    types.iter().zip(values).map(|(data_type, value)| self::value(data_type, value)).collect()
}

/// Reads one value.
pub(crate) fn value(data_type: &DataType, json: &Json) -> Value {
    if json.is_null() {
        return Value::Null;
    }
    let number = || json.as_i64().unwrap();
    let text = || json.as_str().unwrap();
    let timestamp = || {
        let (millis, nanos) = text().split_once(':').unwrap();
        Timestamp::new(millis.parse().unwrap(), nanos.parse().unwrap()).unwrap()
    };
    match data_type.kind() {
        TypeKind::Boolean => Value::Boolean(json.as_bool().unwrap()),
        TypeKind::TinyInt => Value::TinyInt(number().try_into().unwrap()),
        TypeKind::SmallInt => Value::SmallInt(number().try_into().unwrap()),
        TypeKind::Int => Value::Int(number().try_into().unwrap()),
        TypeKind::BigInt => Value::BigInt(number()),
        TypeKind::Float => Value::Float(f32::from_bits(i32::try_from(number()).unwrap().cast_unsigned())),
        TypeKind::Double => Value::Double(f64::from_bits(number().cast_unsigned())),
        TypeKind::Char { .. } | TypeKind::String => Value::String(text().to_owned()),
        TypeKind::Binary { .. } | TypeKind::Bytes => Value::Bytes(unhex(text()).into()),
        TypeKind::Decimal { precision, scale } => {
            Value::Decimal(Decimal::new(text().parse().unwrap(), *precision, *scale).unwrap())
        }
        TypeKind::Date => Value::Date(number().try_into().unwrap()),
        TypeKind::Time { .. } => Value::Time(number().try_into().unwrap()),
        TypeKind::Timestamp { .. } => Value::Timestamp(timestamp()),
        TypeKind::TimestampLtz { .. } => Value::TimestampLtz(timestamp()),
        TypeKind::Array(element) => {
            Value::Array(json.as_array().unwrap().iter().map(|item| value(element, item)).collect())
        }
        TypeKind::Map(key, of) => {
            let entries = json.as_array().unwrap().iter();
            Value::Map(entries.map(|entry| (value(key, &entry[0]), value(of, &entry[1]))).collect())
        }
        TypeKind::Row(fields) => {
            let types: Vec<&DataType> = fields.iter().map(|field| &field.data_type).collect();
            Value::Row(row(&types, json))
        }
    }
}

/// Writes one value.
pub(crate) fn json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Boolean(value) => json!(value),
        Value::TinyInt(value) => json!(value),
        Value::SmallInt(value) => json!(value),
        Value::Int(value) | Value::Date(value) | Value::Time(value) => json!(value),
        Value::BigInt(value) => json!(value),
        Value::Float(value) => json!(value.to_bits().cast_signed()),
        Value::Double(value) => json!(value.to_bits().cast_signed()),
        Value::String(text) => json!(text),
        Value::Bytes(bytes) => json!(hex(bytes)),
        Value::Decimal(decimal) => json!(decimal.unscaled.to_string()),
        Value::Timestamp(value) | Value::TimestampLtz(value) => {
            json!(format!("{}:{}", value.millis, value.nanos_of_milli))
        }
        Value::Array(values) | Value::Row(values) => values.iter().map(json).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| json!([json(key), json(value)])).collect(),
    }
}
