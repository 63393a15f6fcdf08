//! Every type in every format, against what the Java classes of Fluss 0.9.1 write; see `tests/golden/README.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::data_type::DataType;
use fluss_codec::key::{KeyEncoding, KeyRules};
use fluss_codec::kv_batch::{KvBatch, KvBatchBuilder, KvRecord};
use fluss_codec::log_batch::builder::{LogBatchBuilder, LogEncoding};
use fluss_codec::log_batch::records::LogRecords;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::read_plan::ReadPlan;
use fluss_codec::row::{RowFormat, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::{ArrowCompression, LogFormat, TableDescriptor};
use fluss_codec::versions::LogMagicOne;
use serde_json::Value as Json;

use crate::judge::{self, hex, unhex};

const ANSWERS: &str = include_str!("../golden/java.jsonl");

/// What the file holds of one kind, with the schema of each.
fn answers(kind: &str) -> Vec<(Schema, Json)> {
    let mut schemas = BTreeMap::new();
    let mut found = Vec::new();
    for line in ANSWERS.lines() {
        let line: Json = serde_json::from_str(line).unwrap();
        if let Some(name) = line["define"].as_str() {
            let schema = Schema::from_json(line["schema"].to_string().as_bytes()).unwrap();
            schemas.insert(name.to_owned(), schema);
        } else if line["do"] == kind {
            found.push((schemas[line["of"].as_str().unwrap()].clone(), line));
        }
    }
    assert!(!found.is_empty());
    found
}

fn row_format(answer: &Json) -> RowFormat {
    if answer["format"] == "INDEXED" { RowFormat::Indexed } else { RowFormat::Compacted }
}

/// Values as text, since NaN is not equal to itself.
fn shown(values: &[Value]) -> String {
    values.iter().map(|value| judge::json(value).to_string()).collect::<Vec<_>>().join("|")
}

#[test]
fn rows_of_every_type_match_in_both_directions() {
    for (schema, answer) in answers("encode_row") {
        let types: Vec<&DataType> = schema.data_types();
        let values = judge::row(&types, &answer["row"]);
        let java = unhex(answer["ok"].as_str().unwrap());
        let format = row_format(&answer);
        assert_eq!(hex(&format.encode(&types, &values).unwrap()), hex(&java), "{answer}");
        assert_eq!(shown(&format.decode(&types, &Bytes::from(java)).unwrap()), shown(&values), "{answer}");
    }
}

#[test]
fn kv_batches_of_every_type_match_in_both_directions() {
    for (schema, answer) in answers("encode_kv") {
        let types: Vec<&DataType> = schema.data_types();
        let format = row_format(&answer);
        let row = |values: &Json| {
            (!values.is_null())
                .then(|| Bytes::from(format.encode(&types, &judge::row(&types, values)).unwrap()))
        };
        let records = answer["records"]
            .as_array()
            .unwrap()
            .iter()
            .map(|record| KvRecord { key: unhex(record[0].as_str().unwrap()).into(), row: row(&record[1]) });
        let batch = KvBatch { schema_id: 1, writer_id: 9, batch_sequence: 3, records: records.collect() };
        let java = Bytes::from(unhex(answer["ok"].as_str().unwrap()));
        assert_eq!(hex(&batch.encode().unwrap()), hex(&java), "{answer}");
        assert_eq!(KvBatch::decode(&java).unwrap(), batch, "{answer}");

        let owned: Arc<[DataType]> = types.iter().map(|kind| (*kind).clone()).collect();
        let mut builder = KvBatchBuilder::new(owned, 1, format);
        for record in answer["records"].as_array().unwrap() {
            let row = (!record[1].is_null()).then(|| judge::row(&types, &record[1]));
            builder.append(&unhex(record[0].as_str().unwrap()), row.as_deref()).unwrap();
            // What is refused leaves nothing behind.
            builder.append(&[1], Some(&[Value::Null])).unwrap_err();
        }
        assert_eq!(builder.size_bytes(), java.len());
        assert_eq!(builder.finish(9, 3).unwrap(), java, "{answer}");
        assert_eq!(builder.record_count(), 0);
    }
}

#[test]
fn keys_follow_the_lake_format_and_the_kv_format_version() {
    let mut refused = 0;
    for line in ANSWERS.lines() {
        let answer: Json = serde_json::from_str(line).unwrap();
        if answer["do"] != "keys" {
            continue;
        }
        let table = TableDescriptor::from_json(answer["table"].to_string().as_bytes()).unwrap();
        let rules = KeyRules::of(&table).unwrap();
        let schema = table.schema();
        let row = judge::row(&schema.data_types(), &answer["row"]);
        let encode = |encoding: KeyEncoding, names: Vec<&str>| {
            let positions: Vec<usize> = names.iter().map(|name| schema.position(name).unwrap()).collect();
            let types: Vec<&DataType> =
                positions.iter().map(|position| &schema.columns()[*position].data_type).collect();
            let values: Vec<Value> = positions.iter().map(|position| row[*position].clone()).collect();
            encoding.encode(&types, &values)
        };
        let bucket_key = encode(rules.bucket_key, table.bucket_keys());
        let primary_key = encode(rules.primary_key, table.physical_primary_key());
        let Some(java) = answer["ok"].as_array() else {
            assert!(bucket_key.is_err() || primary_key.is_err(), "{answer}");
            refused += 1;
            continue;
        };
        let bucket_key = bucket_key.unwrap();
        assert_eq!(hex(&bucket_key), java[0], "{answer}");
        assert_eq!(hex(&primary_key.unwrap()), java[1], "{answer}");
        let bucket = rules.function.bucket(&bucket_key, table.bucket_count().unwrap()).unwrap();
        assert_eq!(Json::from(bucket), java[2], "{answer}");
    }
    assert_eq!(refused, 7);
}

fn log_format(answer: &Json) -> LogFormat {
    match answer["format"].as_str().unwrap() {
        "ARROW" => LogFormat::Arrow,
        "INDEXED" => LogFormat::Indexed,
        _ => LogFormat::Compacted,
    }
}

fn encoding(answer: &Json) -> LogEncoding {
    match (log_format(answer), answer["compression"].as_str().unwrap()) {
        (LogFormat::Arrow, "NONE") => LogEncoding::Arrow(ArrowCompression::None),
        (LogFormat::Arrow, "LZ4_FRAME") => LogEncoding::Arrow(ArrowCompression::Lz4Frame),
        (LogFormat::Arrow, _) => LogEncoding::Arrow(ArrowCompression::Zstd { level: 3 }),
        _ => LogEncoding::Rows(row_format(answer)),
    }
}

/// Offset, change and values of each record, as text.
fn records(bytes: &[u8], format: LogFormat, plan: &ReadPlan) -> Vec<String> {
    let mut bytes = Bytes::copy_from_slice(bytes);
    let batch = LogBatch::decode_next(&mut bytes, LogMagicOne::LeaderEpoch, ChecksumPolicy::Verify);
    let batch = batch.unwrap().unwrap();
    assert!(bytes.is_empty());
    let records = LogRecords::read(&batch, format, plan).unwrap();
    let record = |index| {
        let change = records.change(index).unwrap();
        format!("{} {change} {}", records.offset(index), shown(&records.row(index).unwrap()))
    };
    (0..records.len()).map(record).collect()
}

#[test]
fn log_batches_of_every_type_are_read_and_written_like_java() {
    let mut equal = 0;
    for (schema, answer) in answers("encode_log") {
        let types = schema.data_types();
        let owned: Vec<DataType> = types.iter().map(|kind| (*kind).clone()).collect();
        let append_only = answer["append_only"].as_bool().unwrap();
        let mut builder = LogBatchBuilder::new(owned.into(), 1, encoding(&answer), append_only).unwrap();
        let mut expected = Vec::new();
        for (offset, record) in answer["records"].as_array().unwrap().iter().enumerate() {
            let change = ChangeType::from_byte(record[0].as_i64().unwrap().try_into().unwrap()).unwrap();
            let row = judge::row(&types, &record[1]);
            builder.append(change, &row).unwrap();
            expected.push(format!("{offset} {change} {}", shown(&row)));
        }
        let ours = builder.finish(9, 3).unwrap();
        let java = unhex(answer["ok"].as_str().unwrap());
        let plan = ReadPlan::all(&schema);
        let what = format!("{} {} {}", answer["of"], answer["format"], answer["compression"]);
        assert_eq!(records(&java, log_format(&answer), &plan), expected, "{what}");
        assert_eq!(records(&ours, log_format(&answer), &plan), expected, "{what}");
        // Two encoders of LZ4 need not find the same matches.
        if answer["compression"] != "LZ4_FRAME" {
            assert_eq!(hex(&ours), hex(&java), "{what}");
            equal += 1;
        }
    }
    assert!(equal >= 40, "{equal}");
}
