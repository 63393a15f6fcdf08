//! Values as JSON: nothing is lost on the way, and what would be is refused with its place.

use fluss_codec::data_type::{DataType, RowField, TypeKind};
use fluss_codec::row::{Timestamp, Value};
use fluss_codec::schema::{Column, Schema};
use fluss_codec::value_json::{self, Missing};
use proptest::prelude::*;

use crate::values::{field, row};

fn of(kind: TypeKind) -> DataType {
    DataType::new(kind).unwrap()
}

fn write(data_type: &DataType, value: &Value) -> String {
    let mut text = Vec::new();
    value_json::write_value(data_type, value, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn columns() -> Vec<Column> {
    let row = TypeKind::Row(vec![
        RowField::new("x", of(TypeKind::Int)),
        RowField::new("y", of(TypeKind::Int).not_null()),
    ]);
    let schema = Schema::builder()
        .column("id", of(TypeKind::BigInt).not_null())
        .column("a/b", of(TypeKind::Array(Box::new(of(row)))))
        .column("note", of(TypeKind::String));
    schema.build().unwrap().columns().to_vec()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn values_round_trip((data_type, value) in field()) {
        let text = write(&data_type, &value);
        let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
        prop_assert!(parsed.is_null() == value.is_null());
        let read = value_json::read_value(&data_type, &text).unwrap();
        prop_assert_eq!(format!("{read:?}"), format!("{value:?}"), "{}", text);
    }

    #[test]
    fn rows_round_trip((types, values) in row()) {
        let named = types.iter().enumerate();
        let builder = named.fold(Schema::builder(), |builder, (at, kind)| builder.column(format!("\"{at}é"), kind.clone()));
        let schema = builder.build().unwrap();
        let mut text = Vec::new();
        value_json::write_row(schema.columns(), &values, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let read = value_json::read_row(schema.columns(), &text, Missing::Nullable).unwrap();
        prop_assert_eq!(format!("{:?}", read.values), format!("{values:?}"));
        prop_assert!(read.present.iter().all(|present| *present));
    }

    #[test]
    fn any_text_is_a_value_or_an_error((data_type, _) in field(), text in "[\\[\\]{}\",:0-9a-zT+.\\- \\\\é]{0,30}") {
        if let Err(error) = value_json::read_value(&data_type, &text) {
            prop_assert!(!error.code().is_empty() && !error.to_string().is_empty());
        }
        let quoted = serde_json::to_string(&text).unwrap();
        drop(value_json::read_value(&data_type, &quoted));
    }
}

#[test]
fn each_type_has_its_form() {
    let at = |millis, nanos| Timestamp::new(millis, nanos).unwrap();
    let decimal = TypeKind::Decimal { precision: 38, scale: 4 };
    for (kind, text, also) in [
        (TypeKind::Int, "-5", &["\"-5\"", "-5.0", "-50e-1"][..]),
        (TypeKind::BigInt, "\"9223372036854775807\"", &["9223372036854775807"]),
        (TypeKind::Float, "0.1", &["\"0.1\"", "1e-1"]),
        (TypeKind::Float, "-0.0", &["-0"]),
        (TypeKind::Double, "\"-Infinity\"", &[]),
        (TypeKind::Double, "1e300", &["1E+300"]),
        (decimal, "\"-1234567890123456789012345678901234.5000\"", &["-1234567890123456789012345678901234.5"]),
        (TypeKind::Bytes, r#"{"base64":"AP8="}"#, &[r#"{"hex":"00Ff"}"#]),
        (TypeKind::Bytes, r#"{"base64":"w6k="}"#, &[r#"{"utf8":"é"}"#]),
        (TypeKind::Date, "\"2024-02-29\"", &[]),
        (TypeKind::Date, "\"-000001-12-31\"", &[]),
        (TypeKind::Date, "\"+010000-01-01\"", &[]),
        (TypeKind::Time { precision: 0 }, "\"12:30:00\"", &["\"12:30\"", "\"12:30:00.000\""]),
        (TypeKind::Time { precision: 3 }, "\"12:30:00.500\"", &["\"12:30:00.5\""]),
        (TypeKind::Time { precision: 3 }, "\"-5ms\"", &[]),
        (TypeKind::Time { precision: 1 }, "\"12:30:00.5\"", &[]),
        (TypeKind::Time { precision: 1 }, "\"12:30:00.055\"", &[]),
        (TypeKind::Time { precision: 9 }, "\"12:30:00.500\"", &[]),
        (TypeKind::Timestamp { precision: 0 }, "\"2024-02-29T12:30:00\"", &["\"2024-02-29 12:30\""]),
        (TypeKind::Timestamp { precision: 9 }, "\"1969-12-31T23:59:59.999999999\"", &[]),
        (
            TypeKind::TimestampLtz { precision: 3 },
            "\"2024-02-29T12:30:00.120Z\"",
            &["\"2024-02-29T14:30:00.12+02:00\"", "\"2024-02-29t12:30:00.12z\""],
        ),
        (
            TypeKind::Map(Box::new(of(TypeKind::String)), Box::new(of(TypeKind::Int))),
            r#"[{"key":"a","value":1},{"key":"b","value":null}]"#,
            &[r#"{"a":1,"b":null}"#, r#"[{"value":"1","key":"a"},{"key":"b","value":null}]"#],
        ),
    ] {
        let data_type = of(kind);
        let value = value_json::read_value(&data_type, text).unwrap();
        assert_eq!(write(&data_type, &value), text);
        for also in also {
            assert_eq!(value_json::read_value(&data_type, also).as_ref(), Ok(&value), "{also}");
        }
    }
    let fine = of(TypeKind::Timestamp { precision: 3 });
    assert_eq!(write(&fine, &Value::Timestamp(at(1, 1))), "\"1970-01-01T00:00:00.001000001\"");
    for millis in [i64::MIN, i64::MAX] {
        let value = Value::Timestamp(at(millis, 0));
        assert_eq!(value_json::read_value(&fine, &write(&fine, &value)), Ok(value));
    }
    assert!(value_json::write_value(&of(TypeKind::Int), &Value::BigInt(1), &mut Vec::new()).is_err());
}

#[test]
fn what_would_be_lost_is_refused() {
    let decimal = TypeKind::Decimal { precision: 4, scale: 2 };
    for (kind, text, code) in [
        (TypeKind::TinyInt, "128", "json_value_range"),
        (TypeKind::Int, "1.5", "json_value_range"),
        (TypeKind::Int, "2147483648", "json_value_range"),
        (TypeKind::Int, "\"x\"", "json_value_type"),
        (TypeKind::Int, "\"\"", "json_value_type"),
        (TypeKind::Int, "true", "json_value_type"),
        (TypeKind::BigInt, "9223372036854775808", "json_value_range"),
        (TypeKind::BigInt, "1e400", "json_value_range"),
        (TypeKind::Boolean, "\"true\"", "json_value_type"),
        (TypeKind::Float, "1e39", "json_value_range"),
        (TypeKind::Float, "\"inf\"", "json_value_type"),
        (TypeKind::Double, "NaN", "json_syntax"),
        (TypeKind::Double, "1e309", "json_value_range"),
        (decimal.clone(), "1.234", "json_value_range"),
        (decimal.clone(), "100", "json_value_range"),
        (decimal, "\"1,5\"", "json_value_type"),
        (TypeKind::Char { length: 2 }, "\"abc\"", "json_value_range"),
        (TypeKind::String, "1", "json_value_type"),
        (TypeKind::Bytes, "\"AP8=\"", "json_value_type"),
        (TypeKind::Bytes, "{}", "json_value_type"),
        (TypeKind::Bytes, r#"{"hex":"0"}"#, "json_value_range"),
        (TypeKind::Bytes, r#"{"hex":"0g"}"#, "json_value_range"),
        (TypeKind::Bytes, r#"{"base64":"A"}"#, "json_value_range"),
        (TypeKind::Bytes, r#"{"hex":"00","utf8":"a"}"#, "json_value_type"),
        (TypeKind::Binary { length: 1 }, r#"{"hex":"0000"}"#, "json_value_range"),
        (TypeKind::Date, "\"2023-02-29\"", "json_value_range"),
        (TypeKind::Date, "\"24-02-29\"", "json_value_range"),
        (TypeKind::Date, "19000", "json_value_type"),
        (TypeKind::Date, "\"+006000000-01-01\"", "json_value_range"),
        (TypeKind::Time { precision: 9 }, "\"12:30:00.0001\"", "json_value_range"),
        (TypeKind::Time { precision: 0 }, "\"12:30:00.001\"", "json_value_range"),
        (TypeKind::Time { precision: 3 }, "\"24:00:00\"", "json_value_range"),
        (TypeKind::Time { precision: 3 }, "\"23:59:60\"", "json_value_range"),
        (TypeKind::Timestamp { precision: 3 }, "\"2024-02-29T12:30:00Z\"", "json_value_range"),
        (TypeKind::Timestamp { precision: 3 }, "\"2024-02-29T12:30:00.0001\"", "json_value_range"),
        (TypeKind::Timestamp { precision: 9 }, "\"2024-02-29T12:30:00.0000000001\"", "json_value_range"),
        (TypeKind::TimestampLtz { precision: 3 }, "\"2024-02-29T12:30:00\"", "json_value_range"),
        (TypeKind::TimestampLtz { precision: 3 }, "\"2024-02-29T12:30:00+0200\"", "json_value_range"),
        (
            TypeKind::Map(Box::new(of(TypeKind::Int)), Box::new(of(TypeKind::Int))),
            r#"{"1":1}"#,
            "json_value_type",
        ),
        (
            TypeKind::Map(Box::new(of(TypeKind::String)), Box::new(of(TypeKind::Int))),
            r#"{"a":1,"a":2}"#,
            "json_duplicate",
        ),
        (
            TypeKind::Map(Box::new(of(TypeKind::Int)), Box::new(of(TypeKind::Int))),
            r#"[{"key":1,"value":1},{"key":"1","value":2}]"#,
            "json_duplicate",
        ),
        (
            TypeKind::Map(Box::new(of(TypeKind::Int)), Box::new(of(TypeKind::Int))),
            r#"[{"key":null,"value":1}]"#,
            "json_value_missing",
        ),
        (TypeKind::Int, "1 2", "json_syntax"),
        (TypeKind::Int, "", "json_syntax"),
    ] {
        let data_type = of(kind);
        assert_eq!(value_json::read_value(&data_type, text).unwrap_err().code(), code, "{data_type} {text}");
    }
    let error =
        value_json::read_value(&of(TypeKind::Time { precision: 6 }), "\"00:00:00.000001\"").unwrap_err();
    assert!(error.to_string().contains("finer than a millisecond"), "{error}");
    assert_eq!(
        value_json::read_value(&of(TypeKind::Int).not_null(), "null").unwrap_err().code(),
        "json_value_missing"
    );
}

#[test]
fn faults_are_told_with_their_place() {
    let columns = columns();
    let fault = |text: &str| {
        let error = value_json::read_rows(&columns, text, Missing::Nullable, 2).unwrap_err();
        (error.code(), error.pointer(), error.column().map(str::to_owned))
    };
    let column = |name: &str| Some(name.to_owned());
    assert_eq!(fault(r#"[{"id":1},{"id":"x"}]"#), ("json_value_type", "/1/id".to_owned(), column("id")));
    assert_eq!(
        fault(r#"[{"id":1,"a/b":[{"y":1},{"y":1,"x":"z"}]}]"#),
        ("json_value_type", "/0/a~1b/1/x".to_owned(), column("a/b"))
    );
    assert_eq!(
        fault(r#"[{"id":1,"a/b":[{"x":1}]}]"#),
        ("json_value_missing", "/0/a~1b/0/y".to_owned(), column("a/b"))
    );
    assert_eq!(fault(r#"[{"id":1,"more":1}]"#), ("json_column_unknown", "/0/more".to_owned(), None));
    assert_eq!(fault(r#"[{"id":1,"id":1}]"#), ("json_duplicate", "/0/id".to_owned(), column("id")));
    assert_eq!(fault(r#"[{"note":""}]"#), ("json_value_missing", "/0/id".to_owned(), column("id")));
    assert_eq!(fault(r#"[{"id":1},{"id":2},{"id":3}]"#), ("json_value_type", String::new(), None));
    assert_eq!(fault(r#"{"id":1}"#), ("json_value_type", String::new(), None));
    assert_eq!(fault("[1]"), ("json_value_type", "/0".to_owned(), None));
}

#[test]
fn a_part_of_a_row_tells_which_columns_it_has() {
    let columns = columns();
    let read = value_json::read_row(&columns, r#"{"note":null}"#, Missing::Any).unwrap();
    assert_eq!(read.present, [false, false, true]);
    assert_eq!(read.values, [Value::Null, Value::Null, Value::Null]);
    let read = value_json::read_row(&columns, r#"{"id":"7"}"#, Missing::Nullable).unwrap();
    assert_eq!((read.values[0].clone(), read.present), (Value::BigInt(7), vec![true, false, false]));
}
