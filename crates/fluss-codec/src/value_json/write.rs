//! Writes values as JSON.

use base64::Engine as _;

use super::time;
use crate::data_type::TypeKind;
use crate::row::{Field, RowError, Value};
use crate::schema::Column;

pub(super) fn row(columns: &[Column], values: &[Value], output: &mut Vec<u8>) -> Result<(), RowError> {
    output.push(b'{');
    for (position, (column, value)) in columns.iter().zip(values).enumerate() {
        if position > 0 {
            output.push(b',');
        }
        text(&column.name, output);
        output.push(b':');
        self::value(Field { position, data_type: &column.data_type }, value, output)?;
    }
    output.push(b'}');
    Ok(())
}

pub(super) fn value(field: Field<'_>, value: &Value, output: &mut Vec<u8>) -> Result<(), RowError> {
    match (field.kind(), value) {
        (_, Value::Null) => output.extend_from_slice(b"null"),
        (TypeKind::Boolean, Value::Boolean(true)) => output.extend_from_slice(b"true"),
        (TypeKind::Boolean, Value::Boolean(false)) => output.extend_from_slice(b"false"),
        (TypeKind::TinyInt, Value::TinyInt(value)) => plain(value, output),
        (TypeKind::SmallInt, Value::SmallInt(value)) => plain(value, output),
        (TypeKind::Int, Value::Int(value)) => plain(value, output),
        (TypeKind::BigInt, Value::BigInt(value)) => quoted(value, output),
        (TypeKind::Float, Value::Float(value)) => match special(f64::from(*value)) {
            Some(name) => text(name, output),
            None => plain(&format!("{value:?}"), output),
        },
        (TypeKind::Double, Value::Double(value)) => match special(*value) {
            Some(name) => text(name, output),
            None => plain(&format!("{value:?}"), output),
        },
        (TypeKind::Char { .. } | TypeKind::String, Value::String(value)) => text(value, output),
        (TypeKind::Binary { .. } | TypeKind::Bytes, Value::Bytes(bytes)) => {
            output.extend_from_slice(br#"{"base64":""#);
            output.extend_from_slice(base64::engine::general_purpose::STANDARD.encode(bytes).as_bytes());
            output.extend_from_slice(br#""}"#);
        }
        (TypeKind::Decimal { .. }, Value::Decimal(value)) => quoted(value, output),
        (TypeKind::Date, Value::Date(days)) => {
            timed(output, |shown| time::write_date(i64::from(*days), shown));
        }
        (TypeKind::Time { precision }, Value::Time(millis)) => {
            timed(output, |shown| time::write_millis_of_day(*millis, *precision, shown));
        }
        (TypeKind::Timestamp { precision }, Value::Timestamp(value)) => {
            timed(output, |shown| time::write_timestamp(*value, *precision, shown));
        }
        (TypeKind::TimestampLtz { precision }, Value::TimestampLtz(value)) => timed(output, |shown| {
            time::write_timestamp(*value, *precision, shown);
            shown.push('Z');
        }),
        (TypeKind::Array(_) | TypeKind::Map(..) | TypeKind::Row(_), _) => nested(field, value, output)?,
        _ => return Err(field.mismatch(value)),
    }
    Ok(())
}

fn nested(field: Field<'_>, value: &Value, output: &mut Vec<u8>) -> Result<(), RowError> {
    match (field.kind(), value) {
        (TypeKind::Array(element), Value::Array(values)) => {
            output.push(b'[');
            for (index, value) in values.iter().enumerate() {
                separate(index, output);
                self::value(field.of(element), value, output)?;
            }
            output.push(b']');
        }
        (TypeKind::Map(of_key, of_value), Value::Map(entries)) => {
            output.push(b'[');
            for (index, (key, value)) in entries.iter().enumerate() {
                separate(index, output);
                output.extend_from_slice(br#"{"key":"#);
                self::value(field.of(of_key), key, output)?;
                output.extend_from_slice(br#","value":"#);
                self::value(field.of(of_value), value, output)?;
                output.push(b'}');
            }
            output.push(b']');
        }
        (TypeKind::Row(fields), Value::Row(values)) => {
            if fields.len() != values.len() {
                return Err(RowError::Arity { expected: fields.len(), found: values.len() });
            }
            output.push(b'{');
            for (index, (nested, value)) in fields.iter().zip(values).enumerate() {
                separate(index, output);
                text(&nested.name, output);
                output.push(b':');
                self::value(field.of(&nested.data_type), value, output)?;
            }
            output.push(b'}');
        }
        _ => return Err(field.mismatch(value)),
    }
    Ok(())
}

fn separate(index: usize, output: &mut Vec<u8>) {
    if index > 0 {
        output.push(b',');
    }
}

fn plain(value: &impl ToString, output: &mut Vec<u8>) {
    output.extend_from_slice(value.to_string().as_bytes());
}

fn quoted(value: &impl ToString, output: &mut Vec<u8>) {
    output.push(b'"');
    plain(value, output);
    output.push(b'"');
}

fn timed(output: &mut Vec<u8>, write: impl FnOnce(&mut String)) {
    let mut shown = String::new();
    write(&mut shown);
    quoted(&shown, output);
}

fn text(value: &str, output: &mut Vec<u8>) {
    serde_json::to_writer(output, value).expect("writing a text to memory does not fail");
}

/// Returns the name of a number that JSON has no form for.
fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        None
    }
}
