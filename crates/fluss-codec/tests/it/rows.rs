//! Rows of any schema: what is encoded decodes to the same values, and damage ends in an error or in values.

use bytes::Bytes;
use fluss_codec::data_type::{DataType, RowField, TypeKind};
use fluss_codec::row::{Decimal, RowError, Timestamp, Value, compacted, indexed};
use proptest::prelude::*;

use crate::corrupted::{apply, damages};
use crate::values::row;

type Encode = fn(&[&DataType], &[Value]) -> Result<Vec<u8>, RowError>;
type Decode = fn(&[&DataType], &Bytes) -> Result<Vec<Value>, RowError>;

const FORMATS: [(&str, Encode, Decode); 2] =
    [("compacted", compacted::encode, compacted::decode), ("indexed", indexed::encode, indexed::decode)];

fn of(kind: TypeKind) -> DataType {
    DataType::new(kind).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn rows_round_trip_and_damage_is_contained((types, values) in row(), damages in damages()) {
        let types: Vec<&DataType> = types.iter().collect();
        for (name, encode, decode) in FORMATS {
            let mut bytes = encode(&types, &values).unwrap();
            let decoded = decode(&types, &Bytes::from(bytes.clone()));
            prop_assert_eq!(decoded.as_ref(), Ok(&values), "{}", name);
            apply(&damages, &mut bytes);
            let _ = decode(&types, &Bytes::from(bytes));
        }
    }

    #[test]
    fn random_bytes_are_an_error_or_a_row((types, _) in row(), bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let types: Vec<&DataType> = types.iter().collect();
        for (name, encode, decode) in FORMATS {
            match decode(&types, &Bytes::from(bytes.clone())) {
                // A CHAR of another client may be longer than declared, and NaN is not equal to itself.
                Ok(values) => match encode(&types, &values) {
                    Ok(again) => {
                        let values_again = decode(&types, &Bytes::from(again)).unwrap();
                        prop_assert_eq!(format!("{values:?}"), format!("{values_again:?}"), "{}", name);
                    }
                    Err(error) => prop_assert_eq!(error.code(), "row_value_range", "{}", name),
                },
                Err(error) => prop_assert!(!error.code().is_empty()),
            }
        }
    }
}

#[test]
fn values_that_do_not_fit_their_column_are_refused() {
    let wide = Timestamp::new(0, 1).unwrap();
    let cases = [
        (of(TypeKind::Int), Value::BigInt(1), "row_value_type"),
        (of(TypeKind::Date), Value::Int(1), "row_value_type"),
        (of(TypeKind::Timestamp { precision: 6 }), Value::TimestampLtz(wide), "row_value_type"),
        (of(TypeKind::Timestamp { precision: 3 }), Value::Timestamp(wide), "row_value_range"),
        (of(TypeKind::Char { length: 2 }), Value::String("abc".into()), "row_value_range"),
        (of(TypeKind::Binary { length: 2 }), Value::Bytes(Bytes::from_static(b"abc")), "row_value_range"),
        (
            of(TypeKind::Decimal { precision: 4, scale: 2 }),
            Value::Decimal(Decimal::new(1, 4, 1).unwrap()),
            "row_value_range",
        ),
        (
            of(TypeKind::Decimal { precision: 4, scale: 2 }),
            Value::Decimal(Decimal::new(10_000, 5, 2).unwrap()),
            "row_value_range",
        ),
        (of(TypeKind::Array(Box::new(of(TypeKind::Int)))), Value::Int(1), "row_value_type"),
        (
            of(TypeKind::Array(Box::new(of(TypeKind::Int).not_null()))),
            Value::Array(vec![Value::Null]),
            "row_value_type",
        ),
        (
            of(TypeKind::Map(Box::new(of(TypeKind::Int)), Box::new(of(TypeKind::Int)))),
            Value::Map(vec![(Value::Null, Value::Int(1))]),
            "row_value_type",
        ),
        (
            of(TypeKind::Row(vec![RowField::new("a", of(TypeKind::Int).not_null())])),
            Value::Row(vec![Value::Null]),
            "row_value_type",
        ),
        (of(TypeKind::Row(vec![RowField::new("a", of(TypeKind::Int))])), Value::Row(Vec::new()), "row_arity"),
        (
            of(TypeKind::Array(Box::new(of(TypeKind::Binary { length: 1 })))),
            Value::Array(vec![Value::Bytes(Bytes::from_static(b"ab"))]),
            "row_value_range",
        ),
    ];
    for (data_type, value, code) in cases {
        for (name, encode, _) in FORMATS {
            let error = encode(&[&data_type], std::slice::from_ref(&value)).unwrap_err();
            assert_eq!(error.code(), code, "{name} {data_type} {value:?}");
        }
    }
    for (name, encode, _) in FORMATS {
        assert_eq!(encode(&[], &[Value::Null]).unwrap_err().code(), "row_arity", "{name}");
    }
}

#[test]
fn bytes_that_are_no_values_are_refused() {
    let code = |kind: TypeKind, decode: Decode, row: &'static [u8]| {
        decode(&[&of(kind)], &Bytes::from_static(row)).unwrap_err().code()
    };
    assert_eq!(code(TypeKind::Int, compacted::decode, &[0]), "row_invalid");
    assert_eq!(code(TypeKind::Int, compacted::decode, &[]), "row_truncated");
    assert_eq!(code(TypeKind::Int, compacted::decode, &[0, 1, 1]), "row_invalid");
    assert_eq!(code(TypeKind::SmallInt, compacted::decode, &[0, 1]), "row_truncated");
    assert_eq!(code(TypeKind::String, compacted::decode, &[0, 2, b'a']), "row_truncated");
    assert_eq!(code(TypeKind::String, compacted::decode, &[0, 1, 0xff]), "row_invalid");
    assert_eq!(code(TypeKind::Bytes, compacted::decode, &[0, 0xff, 0xff, 0xff, 0xff, 0x0f]), "row_invalid");
    let small = TypeKind::Decimal { precision: 2, scale: 0 };
    assert_eq!(code(small, compacted::decode, &[0, 100]), "row_invalid");
    let large = TypeKind::Decimal { precision: 19, scale: 0 };
    assert_eq!(code(large, compacted::decode, &[0, 0]), "row_invalid");
    let fine = TypeKind::Timestamp { precision: 9 };
    assert_eq!(code(fine, compacted::decode, &[0, 0, 0xc0, 0x84, 0x3d]), "row_invalid");
    assert_eq!(code(TypeKind::String, indexed::decode, &[0, 0xff, 0xff, 0xff, 0xff]), "row_invalid");
    assert_eq!(code(TypeKind::String, indexed::decode, &[0, 1, 0, 0]), "row_truncated");
    assert_eq!(code(TypeKind::String, indexed::decode, &[0, 2, 0, 0, 0, b'a']), "row_truncated");
    assert_eq!(code(TypeKind::Int, indexed::decode, &[0, 1, 0, 0]), "row_truncated");
    let longest = TypeKind::Char { length: i32::MAX.unsigned_abs() };
    assert_eq!(code(longest.clone(), indexed::decode, &[0, b'a']), "row_truncated");
    let error = indexed::encode(&[&of(longest)], &[Value::String("a".into())]).unwrap_err();
    assert_eq!(error.code(), "row_value_range");
}
