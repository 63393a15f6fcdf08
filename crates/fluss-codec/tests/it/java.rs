//! Every type in every format, against what the Java classes of Fluss 0.9.1 write; see `tests/golden/README.md`.

use std::collections::BTreeMap;

use bytes::Bytes;
use fluss_codec::data_type::DataType;
use fluss_codec::key::{KeyEncoding, KeyRules};
use fluss_codec::kv_batch::{KvBatch, KvRecord};
use fluss_codec::row::{RowFormat, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;
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
