//! Types with values that fit them, for tests of all formats.

use fluss_codec::data_type::{DataType, RowField, TypeKind};
use fluss_codec::row::{Decimal, Timestamp, Value};
use proptest::prelude::*;

fn of(kind: TypeKind) -> DataType {
    DataType::new(kind).unwrap()
}

fn decimal() -> impl Strategy<Value = (DataType, Value)> {
    (1..=38_u8, any::<u8>(), any::<i128>()).prop_map(|(precision, scale, number)| {
        let scale = scale % (precision + 1);
        let unscaled = number % 10_i128.pow(u32::from(precision));
        (
            of(TypeKind::Decimal { precision, scale }),
            Value::Decimal(Decimal::new(unscaled, precision, scale).unwrap()),
        )
    })
}

fn timestamp() -> impl Strategy<Value = (DataType, Value)> {
    // Most are within the years in which all units exist, and no finer than their column.
    let millis = prop_oneof![4 => -5_000_000_000_000..5_000_000_000_000_i64, 1 => any::<i64>()];
    (0..=9_u8, millis, 0..1_000_000_u32, any::<bool>()).prop_map(|(precision, millis, nanos, zoned)| {
        let (millis, nanos) = match precision {
            0 => (millis / 1000 * 1000, 0),
            1..=3 => (millis, 0),
            4..=6 => (millis, nanos / 1000 * 1000),
            _ => (millis, nanos),
        };
        let value = Timestamp::new(millis, nanos).unwrap();
        if zoned {
            (of(TypeKind::TimestampLtz { precision }), Value::TimestampLtz(value))
        } else {
            (of(TypeKind::Timestamp { precision }), Value::Timestamp(value))
        }
    })
}

/// A scalar type with a value that fits it.
fn scalar() -> impl Strategy<Value = (DataType, Value)> {
    prop_oneof![
        any::<bool>().prop_map(|value| (of(TypeKind::Boolean), Value::Boolean(value))),
        any::<i8>().prop_map(|value| (of(TypeKind::TinyInt), Value::TinyInt(value))),
        any::<i16>().prop_map(|value| (of(TypeKind::SmallInt), Value::SmallInt(value))),
        any::<i32>().prop_map(|value| (of(TypeKind::Int), Value::Int(value))),
        any::<i64>().prop_map(|value| (of(TypeKind::BigInt), Value::BigInt(value))),
        any::<f32>().prop_map(|value| (of(TypeKind::Float), Value::Float(value))),
        any::<f64>().prop_map(|value| (of(TypeKind::Double), Value::Double(value))),
        any::<i32>().prop_map(|value| (of(TypeKind::Date), Value::Date(value))),
        any::<i32>().prop_map(|value| (of(TypeKind::Time { precision: 3 }), Value::Time(value))),
        "\\PC{0,20}".prop_map(|text| (of(TypeKind::String), Value::String(text))),
        "[a-zé]{0,5}".prop_map(|text| (of(TypeKind::Char { length: 10 }), Value::String(text))),
        prop::collection::vec(any::<u8>(), 0..20)
            .prop_map(|bytes| (of(TypeKind::Bytes), Value::Bytes(bytes.into()))),
        prop::collection::vec(any::<u8>(), 4)
            .prop_map(|bytes| (of(TypeKind::Binary { length: 4 }), Value::Bytes(bytes.into()))),
        decimal(),
        timestamp(),
    ]
}

/// A type with some values that fit it, null among them if it may be.
fn some_values(depth: u32) -> BoxedStrategy<(DataType, Vec<Value>)> {
    // The values of one strategy differ in their type, so the first one's type is kept and its value repeated.
    let leaf = (scalar(), 0..4_usize, any::<bool>()).prop_map(|((kind, value), count, null)| {
        let mut values = vec![value; count];
        if null {
            values.push(Value::Null);
        }
        (kind, values)
    });
    if depth == 0 {
        return leaf.boxed();
    }
    prop_oneof![2 => leaf, 1 => nested(depth).prop_map(|(kind, value)| (kind, vec![value, Value::Null]))]
        .boxed()
}

/// A nested type with a value that fits it.
fn nested(depth: u32) -> BoxedStrategy<(DataType, Value)> {
    let array = some_values(depth - 1)
        .prop_map(|(element, values)| (of(TypeKind::Array(Box::new(element))), Value::Array(values)));
    let map = (scalar(), some_values(depth - 1)).prop_map(|((key, of_key), (value, values))| {
        // Keys must differ, which only those counted do.
        let (key, keys) = if values.len() > 1 {
            (of(TypeKind::Int), (0..100).map(Value::Int).collect())
        } else {
            (key, vec![of_key])
        };
        let entries = keys.into_iter().zip(values).collect();
        (of(TypeKind::Map(Box::new(key), Box::new(value))), Value::Map(entries))
    });
    let row = prop::collection::vec(some_values(depth - 1), 1..10).prop_map(|fields| {
        let mut values = Vec::new();
        let mut types = Vec::new();
        for (position, (kind, of_kind)) in fields.into_iter().enumerate() {
            types.push(RowField::new(format!("f{position}"), kind));
            values.push(of_kind.into_iter().next().unwrap_or(Value::Null));
        }
        (of(TypeKind::Row(types)), Value::Row(values))
    });
    prop_oneof![array, map, row].boxed()
}

/// A type with a value that fits it.
pub(crate) fn field() -> impl Strategy<Value = (DataType, Value)> {
    prop_oneof![4 => scalar(), 1 => nested(3)]
}

pub(crate) fn row() -> impl Strategy<Value = (Vec<DataType>, Vec<Value>)> {
    let nullable = (field(), prop::bool::weighted(0.2));
    prop::collection::vec(nullable, 0..20).prop_map(|fields| {
        let hide = |((kind, value), null)| (kind, if null { Value::Null } else { value });
        fields.into_iter().map(hide).unzip()
    })
}
