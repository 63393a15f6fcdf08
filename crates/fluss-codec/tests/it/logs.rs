//! Log batches of any schema in every format: what is written is read again, and damage ends in an error or in values.

use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::log_batch::builder::{LogBatchBuilder, LogEncoding};
use fluss_codec::log_batch::records::LogRecords;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch, NO_SEQUENCE, NO_WRITER, restamped};
use fluss_codec::read_plan::{ReadPlan, can_push_down, pushed_positions};
use fluss_codec::row::{RowFormat, Timestamp, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::{ArrowCompression, LogFormat};
use fluss_codec::versions::LogMagicOne;
use proptest::prelude::*;

use crate::corrupted::{apply, damages};
use crate::values::row;

const ENCODINGS: [(LogFormat, LogEncoding); 5] = [
    (LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::None)),
    (LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Lz4Frame)),
    (LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Zstd { level: 3 })),
    (LogFormat::Compacted, LogEncoding::Rows(RowFormat::Compacted)),
    (LogFormat::Indexed, LogEncoding::Rows(RowFormat::Indexed)),
];

fn of(kind: TypeKind) -> DataType {
    DataType::new(kind).unwrap()
}

fn schema(types: &[DataType]) -> Schema {
    let named = types.iter().enumerate();
    let builder = named.fold(Schema::builder(), |builder, (position, kind)| {
        builder.column(format!("c{position}"), kind.clone())
    });
    builder.build().unwrap()
}

fn builder(types: &[DataType], encoding: LogEncoding, append_only: bool) -> LogBatchBuilder {
    LogBatchBuilder::new(Arc::from(types), 1, encoding, append_only).unwrap()
}

fn decode(bytes: &Bytes) -> LogBatch {
    let batch = LogBatch::decode_next(&mut bytes.clone(), LogMagicOne::Statistics, ChecksumPolicy::Verify);
    batch.unwrap().unwrap()
}

fn read(batch: &LogBatch, format: LogFormat, plan: &ReadPlan) -> Vec<(i64, ChangeType, String)> {
    let records = LogRecords::read(batch, format, plan).unwrap();
    let record = |index| {
        let row = records.row(index).unwrap();
        (records.offset(index), records.change(index).unwrap(), format!("{row:?}"))
    };
    (0..records.len()).map(record).collect()
}

/// Reads what is left of a batch whose checksum is not looked at; must not panic.
fn read_damaged(bytes: &[u8], format: LogFormat, plan: &ReadPlan) {
    let mut bytes = Bytes::copy_from_slice(bytes);
    while let Ok(Some(batch)) =
        LogBatch::decode_next(&mut bytes, LogMagicOne::LeaderEpoch, ChecksumPolicy::Skip)
    {
        match LogRecords::read(&batch, format, plan) {
            Ok(records) => {
                for index in 0..records.len() {
                    if let Err(error) = records.row(index) {
                        assert!(!error.code().is_empty());
                    }
                }
            }
            Err(error) => assert!(!error.code().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn batches_round_trip_and_damage_is_contained(
        (types, values) in row(),
        changes in prop::collection::vec((0..=4_u8, any::<bool>()), 0..12),
        append_only in any::<bool>(),
        damages in damages(),
    ) {
        let schema = schema(&types);
        let plan = ReadPlan::all(&schema);
        for (format, encoding) in ENCODINGS {
            let mut builder = builder(&types, encoding, append_only);
            let mut expected = Vec::new();
            for (change, null) in &changes {
                let change = if append_only { ChangeType::Append } else { ChangeType::from_byte(*change).unwrap() };
                let row = if *null { vec![Value::Null; values.len()] } else { values.clone() };
                match builder.append(change, &row) {
                    Ok(()) => expected.push((i64::try_from(expected.len()).unwrap(), change, format!("{row:?}"))),
                    // An instant may be out of the range of its unit, and a BINARY shorter than its type.
                    Err(error) => prop_assert_eq!(error.code(), "row_value_range"),
                }
                prop_assert_eq!(builder.record_count(), expected.len());
            }
            let bytes = builder.finish(NO_WRITER, NO_SEQUENCE).unwrap();
            let batch = decode(&bytes);
            prop_assert_eq!(batch.append_only, append_only);
            prop_assert_eq!(usize::try_from(batch.record_count).unwrap(), expected.len());
            prop_assert_eq!(read(&batch, format, &plan), expected, "{:?}", encoding);
            let mut damaged = bytes.to_vec();
            apply(&damages, &mut damaged);
            read_damaged(&damaged, format, &plan);
        }
    }

    #[test]
    fn a_row_that_is_refused_leaves_nothing_behind((types, values) in row(), good in 0..9_usize) {
        // The last column is what is wrong, so that all others have been written by then.
        let types: Vec<DataType> = types.into_iter().chain([of(TypeKind::Int)]).collect();
        let row: Vec<Value> = values.iter().cloned().chain([Value::Int(7)]).collect();
        let wrong: Vec<Value> = values.into_iter().chain([Value::Boolean(true)]).collect();
        for (_, encoding) in ENCODINGS {
            let mut with = builder(&types, encoding, true);
            let mut without = builder(&types, encoding, true);
            for _ in 0..good {
                if without.append(ChangeType::Append, &row).is_ok() {
                    with.append(ChangeType::Append, &row).unwrap();
                }
                prop_assert!(with.append(ChangeType::Append, &wrong).is_err());
            }
            prop_assert_eq!(with.size_bytes(), without.size_bytes());
            prop_assert_eq!(with.finish(1, 2).unwrap(), without.finish(1, 2).unwrap());
        }
    }
}

#[test]
fn a_builder_begins_anew_after_each_batch() {
    let types = [of(TypeKind::Int), of(TypeKind::Array(Box::new(of(TypeKind::String))))];
    let row = [Value::Int(1), Value::Array(vec![Value::String("a".into()), Value::Null])];
    for (_, encoding) in ENCODINGS {
        for append_only in [true, false] {
            let mut builder = builder(&types, encoding, append_only);
            let empty = builder.size_bytes();
            builder.append(ChangeType::Append, &row).unwrap();
            assert!(builder.size_bytes() > empty);
            let first = builder.finish(5, 6).unwrap();
            assert_eq!((builder.record_count(), builder.size_bytes()), (0, empty));
            builder.append(ChangeType::Append, &row).unwrap();
            let second = builder.finish(7, 8).unwrap();
            assert_eq!(restamped(&first, 7, 8).unwrap(), second);
            assert_ne!(first, second);
        }
    }
    assert_eq!(restamped(&[0; 47], 1, 1), None);
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let code = |kind: TypeKind, value: Value, change: ChangeType| {
        let mut builder = builder(&[of(kind)], LogEncoding::Arrow(ArrowCompression::None), true);
        builder.append(change, &[value]).unwrap_err().code()
    };
    assert_eq!(code(TypeKind::Int, Value::Int(1), ChangeType::Insert), "batch_change_type");
    assert_eq!(code(TypeKind::Int, Value::BigInt(1), ChangeType::Append), "row_value_type");
    let half = Timestamp::new(500, 0).unwrap();
    for (kind, value) in [
        (TypeKind::Time { precision: 0 }, Value::Time(1)),
        (TypeKind::Timestamp { precision: 0 }, Value::Timestamp(half)),
        (TypeKind::TimestampLtz { precision: 6 }, Value::TimestampLtz(Timestamp::new(0, 1).unwrap())),
        (TypeKind::Timestamp { precision: 9 }, Value::Timestamp(Timestamp::new(i64::MAX / 1000, 0).unwrap())),
        (TypeKind::Timestamp { precision: 6 }, Value::Timestamp(Timestamp::new(i64::MAX, 0).unwrap())),
        (TypeKind::Binary { length: 2 }, Value::Bytes(Bytes::from_static(b"a"))),
        (TypeKind::Binary { length: i32::MAX.unsigned_abs() }, Value::Null),
    ] {
        assert_eq!(code(kind, value, ChangeType::Append), "row_value_range");
    }
    for (_, encoding) in ENCODINGS {
        let mut builder = builder(&[of(TypeKind::Int).not_null()], encoding, false);
        let refused = |row: &[Value], builder: &mut LogBatchBuilder| {
            builder.append(ChangeType::Insert, row).unwrap_err().code()
        };
        assert_eq!(refused(&[Value::Null], &mut builder), "row_value_type");
        assert_eq!(refused(&[], &mut builder), "row_arity");
    }
}

#[test]
fn older_rows_are_read_with_the_columns_of_today() {
    let json = |columns: &str, highest: i32| {
        let text = format!(r#"{{"version":1,"columns":[{columns}],"highest_field_id":{highest}}}"#);
        Schema::from_json(text.as_bytes()).unwrap()
    };
    let column = |name: &str, kind: &str, id: i32| {
        format!(r#"{{"name":"{name}","data_type":{{"type":"{kind}"}},"id":{id}}}"#)
    };
    let old =
        json(&[column("a", "INTEGER", 0), column("b", "STRING", 1), column("c", "BIGINT", 2)].join(","), 2);
    // `a` was dropped, `b` is now called `text`, `d` was added, and a new column has the old name `a`.
    let today = json(
        &[
            column("text", "STRING", 1),
            column("c", "BIGINT", 2),
            column("d", "DATE", 3),
            column("a", "DOUBLE", 4),
        ]
        .join(","),
        4,
    );
    let types: Vec<DataType> = old.data_types().into_iter().cloned().collect();
    let row = [Value::Int(1), Value::String("x".into()), Value::BigInt(3)];
    let plan = ReadPlan::new(&old, &today, &[3, 1, 0, 2]).unwrap();
    let expected = format!("{:?}", [Value::Null, Value::BigInt(3), Value::String("x".into()), Value::Null]);
    for (format, encoding) in ENCODINGS {
        let mut builder = builder(&types, encoding, true);
        builder.append(ChangeType::Append, &row).unwrap();
        let batch = decode(&builder.finish(NO_WRITER, NO_SEQUENCE).unwrap());
        assert_eq!(read(&batch, format, &plan), [(0, ChangeType::Append, expected.clone())]);
    }
    let wider = json(&[column("text", "BIGINT", 1)].join(","), 1);
    assert_eq!(ReadPlan::new(&old, &wider, &[0]).unwrap_err().code(), "schema_type_changed");
    assert_eq!(ReadPlan::new(&old, &today, &[4]).unwrap_err().code(), "projection_invalid");
    assert_eq!(ReadPlan::pushed_down(&old, &[1, 0], &today, &[0]).unwrap_err().code(), "projection_invalid");
}

#[test]
fn a_server_projects_only_where_all_schemas_agree() {
    let three = schema(&[of(TypeKind::Int), of(TypeKind::String), of(TypeKind::Date)]);
    let two = schema(&[of(TypeKind::Int), of(TypeKind::String)]);
    assert!(can_push_down(&[1, 0], &three, &[&two, &three]));
    assert!(!can_push_down(&[2], &three, &[&two, &three]));
    assert!(can_push_down(&[2], &three, &[&three]));
    assert!(!can_push_down(&[], &three, &[&three]) && !can_push_down(&[3], &three, &[&three]));
    assert_eq!(pushed_positions(&[2, 0, 2]), [0, 2]);

    // What a server leaves of a batch, and what is wanted of it, in the order asked for.
    let left = schema(&[of(TypeKind::Int), of(TypeKind::Date)]);
    let types: Vec<DataType> = left.data_types().into_iter().cloned().collect();
    let mut builder = builder(&types, LogEncoding::Arrow(ArrowCompression::None), true);
    builder.append(ChangeType::Append, &[Value::Int(1), Value::Date(2)]).unwrap();
    let batch = decode(&builder.finish(NO_WRITER, NO_SEQUENCE).unwrap());
    let plan = ReadPlan::pushed_down(&three, &pushed_positions(&[2, 0]), &three, &[2, 0]).unwrap();
    let expected = format!("{:?}", [Value::Date(2), Value::Int(1)]);
    assert_eq!(read(&batch, LogFormat::Arrow, &plan), [(0, ChangeType::Append, expected)]);
}

#[test]
fn columns_that_are_not_wanted_are_not_read() {
    let types = [
        of(TypeKind::Int),
        of(TypeKind::Map(Box::new(of(TypeKind::String)), Box::new(of(TypeKind::Int)))),
        of(TypeKind::String),
    ];
    let mut builder = builder(&types, LogEncoding::Arrow(ArrowCompression::None), true);
    let map = Value::Map(vec![(Value::String("key".into()), Value::Null)]);
    builder.append(ChangeType::Append, &[Value::Int(1), map, Value::String("end".into())]).unwrap();
    let batch = decode(&builder.finish(NO_WRITER, NO_SEQUENCE).unwrap());
    // The key is no longer a text, which only matters to who reads it.
    let at = batch.body.windows(3).position(|window| window == b"key").unwrap();
    let mut body = batch.body.to_vec();
    body[at] = 0xff;
    let batch = LogBatch { body: body.into(), ..batch };
    let schema = schema(&types);
    let plan = ReadPlan::new(&schema, &schema, &[2, 0]).unwrap();
    let expected = format!("{:?}", [Value::String("end".into()), Value::Int(1)]);
    assert_eq!(read(&batch, LogFormat::Arrow, &plan), [(0, ChangeType::Append, expected)]);
    let all = ReadPlan::all(&schema);
    let records = LogRecords::read(&batch, LogFormat::Arrow, &all).unwrap();
    assert_eq!(records.row(0).unwrap_err().code(), "row_invalid");
    assert_eq!(records.row(1).unwrap_err().code(), "batch_record");
}

#[test]
fn a_batch_without_records_moves_the_offset_by_one() {
    // A change of a key-value store that changed nothing leaves such a batch, without change types and Arrow message.
    let types = [of(TypeKind::Int)];
    let plan = ReadPlan::all(&schema(&types));
    for (format, encoding) in ENCODINGS {
        for append_only in [true, false] {
            let batch =
                decode(&builder(&types, encoding, append_only).finish(NO_WRITER, NO_SEQUENCE).unwrap());
            assert_eq!(
                (batch.record_count, batch.next_offset() - batch.base_offset, batch.body.len()),
                (0, 1, 0)
            );
            assert!(LogRecords::read(&batch, format, &plan).unwrap().is_empty());
        }
    }
}
