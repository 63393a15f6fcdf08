//! Vectors written by the Java classes of Fluss 0.9.1; see `tests/golden/README.md`.

use bytes::Bytes;
use fluss_codec::bucket::BucketFunction;
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::key::KeyEncoding;
use fluss_codec::kv_batch::KvBatch;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::partition::PartitionValue;
use fluss_codec::row::{Decimal, Timestamp, Value, compacted, indexed};
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;
use fluss_codec::versions::LogMagicOne;

const SCHEMA: &str = include_str!("../golden/schema.json");
const TABLE: &str = include_str!("../golden/table.json");
const KEYS: &str = include_str!("../golden/keys.tsv");
const ROWS: &str = include_str!("../golden/rows.tsv");
const PARTITIONS: &str = include_str!("../golden/partitions.tsv");
const KV_BATCH: &str = include_str!("../golden/kv_batch.hex");
const LOG_BATCHES: [(&str, bool); 3] = [
    (include_str!("../golden/log_batch_plain_append.hex"), true),
    (include_str!("../golden/log_batch_plain_changelog.hex"), false),
    (include_str!("../golden/log_batch_zstd_append.hex"), true),
];
const BUCKETS: u32 = 16;

pub(crate) fn unhex(text: &str) -> Bytes {
    let text = text.trim();
    let byte = |start: usize| u8::from_str_radix(&text[start..start + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn lines(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect())
}

fn parse_type(text: &str) -> DataType {
    let (name, arguments) = text.split_once('(').unwrap_or((text, ""));
    let numbers: Vec<u32> =
        arguments.trim_end_matches(')').split(',').filter_map(|number| number.parse().ok()).collect();
    let precision = || u8::try_from(numbers[0]).unwrap();
    let kind = match name {
        "BOOLEAN" => TypeKind::Boolean,
        "TINYINT" => TypeKind::TinyInt,
        "SMALLINT" => TypeKind::SmallInt,
        "INT" => TypeKind::Int,
        "BIGINT" => TypeKind::BigInt,
        "FLOAT" => TypeKind::Float,
        "DOUBLE" => TypeKind::Double,
        "CHAR" => TypeKind::Char { length: numbers[0] },
        "STRING" => TypeKind::String,
        "BINARY" => TypeKind::Binary { length: numbers[0] },
        "BYTES" => TypeKind::Bytes,
        "DECIMAL" => TypeKind::Decimal { precision: precision(), scale: u8::try_from(numbers[1]).unwrap() },
        "DATE" => TypeKind::Date,
        "TIME" => TypeKind::Time { precision: precision() },
        "TIMESTAMP" => TypeKind::Timestamp { precision: precision() },
        "TIMESTAMP_LTZ" => TypeKind::TimestampLtz { precision: precision() },
        other => panic!("{other}"),
    };
    DataType::new(kind).unwrap()
}

fn parse_value(data_type: &DataType, text: &str) -> Value {
    if text == "null" {
        return Value::Null;
    }
    let timestamp = || {
        let (millis, nanos) = text.split_once(':').unwrap();
        Timestamp::new(millis.parse().unwrap(), nanos.parse().unwrap()).unwrap()
    };
    match *data_type.kind() {
        TypeKind::Boolean => Value::Boolean(text.parse().unwrap()),
        TypeKind::TinyInt => Value::TinyInt(text.parse().unwrap()),
        TypeKind::SmallInt => Value::SmallInt(text.parse().unwrap()),
        TypeKind::Int => Value::Int(text.parse().unwrap()),
        TypeKind::BigInt => Value::BigInt(text.parse().unwrap()),
        TypeKind::Float => Value::Float(text.parse().unwrap()),
        TypeKind::Double => Value::Double(text.parse().unwrap()),
        TypeKind::Char { .. } | TypeKind::String => Value::String(text.to_owned()),
        TypeKind::Binary { .. } | TypeKind::Bytes => Value::Bytes(unhex(text)),
        TypeKind::Decimal { precision, scale } => {
            Value::Decimal(Decimal::new(text.parse().unwrap(), precision, scale).unwrap())
        }
        TypeKind::Date => Value::Date(text.parse().unwrap()),
        TypeKind::Time { .. } => Value::Time(text.parse().unwrap()),
        TypeKind::Timestamp { .. } => Value::Timestamp(timestamp()),
        TypeKind::TimestampLtz { .. } => Value::TimestampLtz(timestamp()),
        ref nested => panic!("{nested}"),
    }
}

fn parse_row(types: &str, values: &str) -> (Vec<DataType>, Vec<Value>) {
    let types: Vec<DataType> = types.split('|').map(parse_type).collect();
    let values = types.iter().zip(values.split('|')).map(|(kind, text)| parse_value(kind, text)).collect();
    (types, values)
}

#[test]
fn schema_and_table_json_are_written_as_java_writes_them() {
    let schema = Schema::from_json(SCHEMA.as_bytes()).unwrap();
    assert_eq!(schema.to_json(), SCHEMA.trim_end());
    assert_eq!(schema.column("r").unwrap().data_type.to_string(), "ROW<x INT, y ARRAY<ROW<z STRING>>>");
    let table = TableDescriptor::from_json(TABLE.as_bytes()).unwrap();
    assert_eq!(table.to_json(), TABLE.trim_end());
    assert_eq!(table.schema(), &schema);
    assert_eq!((table.bucket_keys(), table.bucket_count()), (vec!["id"], Some(3)));
    assert_eq!(table.properties().get("table.log.ttl"), Some("1 d"));
}

#[test]
fn schema_built_from_scratch_gets_the_ids_java_gives() {
    let golden = Schema::from_json(SCHEMA.as_bytes()).unwrap();
    let mut builder = Schema::builder();
    for column in golden.columns() {
        builder = builder.column(column.name.as_str(), column.data_type.clone());
    }
    assert_eq!(builder.primary_key(["id"]).build().unwrap(), golden);
}

#[test]
fn keys_and_buckets_match() {
    let mut count = 0;
    for columns in lines(KEYS) {
        let (types, values) = parse_row(columns[0], columns[1]);
        let types: Vec<&DataType> = types.iter().collect();
        for (encoding, function, bytes, bucket) in [
            (KeyEncoding::Compacted, BucketFunction::Fluss, columns[2], columns[3]),
            (KeyEncoding::Paimon, BucketFunction::Paimon, columns[4], columns[5]),
            (KeyEncoding::Iceberg, BucketFunction::Iceberg, columns[6], columns[7]),
        ] {
            match encoding.encode(&types, &values) {
                Ok(key) => {
                    assert_eq!(hex(&key), bytes, "{encoding:?} {columns:?}");
                    let found = function.bucket(&key, BUCKETS).unwrap();
                    assert_eq!(found.to_string(), bucket, "{function:?} {columns:?}");
                }
                Err(error) => assert_eq!(bytes, "unsupported", "{encoding:?} {columns:?}: {error}"),
            }
            count += 1;
        }
    }
    assert!(count >= 3 * 40, "{count}");
}

#[test]
fn rows_match_in_both_directions() {
    let mut count = 0;
    for columns in lines(ROWS) {
        let (types, values) = parse_row(columns[1], columns[2]);
        let types: Vec<&DataType> = types.iter().collect();
        let row = unhex(columns[3]);
        let (encoded, decoded) = match columns[0] {
            "COMPACTED" => (compacted::encode(&types, &values), compacted::decode(&types, &row)),
            "INDEXED" => (indexed::encode(&types, &values), indexed::decode(&types, &row)),
            other => panic!("{other}"),
        };
        assert_eq!(hex(&encoded.unwrap()), columns[3], "{columns:?}");
        assert_eq!(decoded.unwrap(), values, "{columns:?}");
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn partition_strings_match() {
    let mut count = 0;
    for columns in lines(PARTITIONS) {
        let value = match columns[0] {
            // Java's names of the infinities differ from Rust's.
            "FLOAT" => Value::Float(columns[1].replace("Infinity", "inf").parse().unwrap()),
            "DOUBLE" => Value::Double(columns[1].replace("Infinity", "inf").parse().unwrap()),
            name => parse_value(&parse_type(name), columns[1]),
        };
        let value = PartitionValue::of(&value).unwrap();
        assert_eq!(value.to_name_value().unwrap(), columns[2], "{columns:?}");
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

#[test]
fn kv_batch_matches_in_both_directions() {
    let bytes = unhex(KV_BATCH);
    let batch = KvBatch::decode(&bytes).unwrap();
    assert_eq!((batch.schema_id, batch.writer_id, batch.batch_sequence), (1, 9, 0));
    let records: Vec<_> =
        batch.records.iter().map(|record| (hex(&record.key), record.row.as_deref().map(hex))).collect();
    assert_eq!(records, [("01".to_owned(), Some("00010161".to_owned())), ("02".to_owned(), None)]);
    assert_eq!(batch.encode().unwrap(), bytes);

    let types = [parse_type("INT"), parse_type("STRING")];
    let row = batch.records[0].row.as_ref().unwrap();
    let values = compacted::decode(&[&types[0], &types[1]], row).unwrap();
    assert_eq!(values, [Value::Int(1), Value::String("a".into())]);
}

#[test]
fn log_batches_have_the_header_and_checksum_java_gives() {
    let mut stream = Vec::new();
    for (text, append_only) in LOG_BATCHES {
        let mut bytes = unhex(text);
        stream.extend_from_slice(&bytes);
        let batch = LogBatch::decode_next(&mut bytes, LogMagicOne::LeaderEpoch, ChecksumPolicy::Verify);
        let batch = batch.unwrap().unwrap();
        assert!(bytes.is_empty());
        assert_eq!((batch.magic, batch.schema_id, batch.writer_id, batch.batch_sequence), (0, 1, 9, 3));
        assert_eq!((batch.base_offset, batch.next_offset(), batch.record_count), (0, 2, 2));
        assert_eq!((batch.append_only, batch.leader_epoch, batch.statistics), (append_only, None, None));
        // An Arrow message begins with its continuation mark, after two change types in a change log.
        let arrow = if append_only { 0 } else { 2 };
        assert_eq!(batch.body[arrow..arrow + 4], [0xff; 4]);
        if !append_only {
            assert_eq!(batch.body[..2], [1, 4]);
        }
    }
    let mut stream = Bytes::from(stream);
    let mut count = 0;
    while LogBatch::decode_next(&mut stream, LogMagicOne::Statistics, ChecksumPolicy::Verify)
        .unwrap()
        .is_some()
    {
        count += 1;
    }
    assert_eq!((count, stream.len()), (3, 0));
}
