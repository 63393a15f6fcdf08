//! The codec beside the official classes: what one writes the other reads.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::kv_batch::{KvBatch, KvRecord};
use fluss_codec::log_batch::builder::{LogBatchBuilder, LogEncoding};
use fluss_codec::log_batch::records::LogRecords;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::read_plan::ReadPlan;
use fluss_codec::row::{RowFormat, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::{ArrowCompression, LogFormat};
use fluss_codec::versions::LogMagicOne;
use fluss_testkit::artifacts::Artifacts;
use fluss_testkit::java::JavaPeer;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

use crate::judge::{self, hex, unhex};
use crate::values::row;

const CASES: usize = 60;
const LOGS: [(&str, &str, LogFormat, LogEncoding); 5] = [
    ("ARROW", "NONE", LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::None)),
    ("ARROW", "LZ4_FRAME", LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Lz4Frame)),
    ("ARROW", "ZSTD", LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Zstd { level: 3 })),
    ("COMPACTED", "NONE", LogFormat::Compacted, LogEncoding::Rows(RowFormat::Compacted)),
    ("INDEXED", "NONE", LogFormat::Indexed, LogEncoding::Rows(RowFormat::Indexed)),
];
const ROWS: [(&str, RowFormat); 2] = [("COMPACTED", RowFormat::Compacted), ("INDEXED", RowFormat::Indexed)];

/// A question, how its answer is to be read, and what must come of that.
struct Case {
    question: Json,
    read: Box<dyn Fn(&Json) -> Json>,
    expected: Json,
}

fn schema(types: &[DataType]) -> Schema {
    let named = types.iter().enumerate();
    let builder =
        named.fold(Schema::builder(), |builder, (at, kind)| builder.column(format!("c{at}"), kind.clone()));
    builder.build().unwrap()
}

fn schema_json(schema: &Schema) -> Json {
    serde_json::from_str(&schema.to_json()).unwrap()
}

fn row_json(values: &[Value]) -> Json {
    values.iter().map(judge::json).collect()
}

fn read_log(bytes: Vec<u8>, format: LogFormat, plan: &ReadPlan) -> Json {
    let mut bytes = Bytes::from(bytes);
    let batch = LogBatch::decode_next(&mut bytes, LogMagicOne::LeaderEpoch, ChecksumPolicy::Verify);
    let batch = batch.unwrap().unwrap();
    let records = LogRecords::read(&batch, format, plan).unwrap();
    let record = |index| {
        let change = records.change(index).unwrap().to_byte();
        json!([records.offset(index), change, row_json(&records.row(index).unwrap())])
    };
    (0..records.len()).map(record).collect()
}

/// Both directions of one row in both row formats, alone and in a KV batch.
fn row_cases(schema: &Schema, values: &[Value], cases: &mut Vec<Case>) {
    let types: Vec<DataType> = schema.data_types().into_iter().cloned().collect();
    for (name, format) in ROWS {
        let ours = format.encode(&schema.data_types(), values).unwrap();
        let question = json!({"format": name, "schema": schema_json(schema)});
        let with = |key: &str, value: Json, what: &str| {
            let mut question = question.clone();
            question[key] = value;
            question["do"] = what.into();
            question
        };
        let readable = format == RowFormat::Compacted || values.iter().all(java_reads_indexed);
        let kinds = types.clone();
        let read = move |answer: &Json| {
            let kinds: Vec<&DataType> = kinds.iter().collect();
            row_json(&judge::row(&kinds, answer))
        };
        let question_of = with("bytes", hex(&ours).into(), "decode_row");
        if readable {
            cases.push(Case { question: question_of, read: Box::new(read), expected: row_json(values) });
        }

        let kinds = types.clone();
        let read = move |answer: &Json| {
            let kinds: Vec<&DataType> = kinds.iter().collect();
            row_json(&format.decode(&kinds, &Bytes::from(unhex(answer.as_str().unwrap()))).unwrap())
        };
        let question_of = with("row", row_json(values), "encode_row");
        cases.push(Case { question: question_of, read: Box::new(read), expected: row_json(values) });

        let records = vec![
            KvRecord { key: Bytes::from_static(&[1, 2]), row: Some(Bytes::from(ours)) },
            KvRecord { key: Bytes::from_static(&[3]), row: None },
        ];
        let batch = KvBatch { schema_id: 1, writer_id: 9, batch_sequence: 3, records };
        let question_of = with("bytes", hex(&batch.encode().unwrap()).into(), "decode_kv");
        let expected = json!([["0102", row_json(values)], ["03", null]]);
        if readable {
            cases.push(Case { question: question_of, read: Box::new(Json::clone), expected });
        }
    }
}

/// Tells whether Java reads a value rightly from an INDEXED row, where it cuts the zeros at the end of bytes.
fn java_reads_indexed(value: &Value) -> bool {
    match value {
        Value::Bytes(bytes) => bytes.last() != Some(&0),
        Value::Array(values) | Value::Row(values) => values.iter().all(java_reads_indexed),
        Value::Map(entries) => {
            entries.iter().all(|(key, value)| java_reads_indexed(key) && java_reads_indexed(value))
        }
        _ => true,
    }
}

/// Tells whether Java reads a value rightly from an Arrow log.
///
/// It has two faults there: before 1970 it makes a negative number of a part of a millisecond, and then refuses it; and
/// of a CHAR in an ARRAY or MAP it reads as many bytes as the type has characters (`ColumnarArray.getChar`).
fn java_reads(data_type: &DataType, value: &Value) -> bool {
    let is_char = |kind: &DataType| matches!(kind.kind(), TypeKind::Char { .. });
    match (data_type.kind(), value) {
        (_, Value::Timestamp(at) | Value::TimestampLtz(at)) => at.millis >= 0 || at.nanos_of_milli == 0,
        (TypeKind::Array(element), Value::Array(values)) => {
            !is_char(element) && values.iter().all(|value| java_reads(element, value))
        }
        (TypeKind::Map(of_key, of_value), Value::Map(entries)) => {
            !is_char(of_key)
                && !is_char(of_value)
                && entries.iter().all(|(key, value)| java_reads(of_key, key) && java_reads(of_value, value))
        }
        (TypeKind::Row(fields), Value::Row(values)) => {
            fields.iter().zip(values).all(|(field, value)| java_reads(&field.data_type, value))
        }
        _ => true,
    }
}

/// Both directions of a log batch in all encodings.
fn log_cases(schema: &Schema, values: &[Value], append_only: bool, cases: &mut Vec<Case>) {
    let types: Vec<DataType> = schema.data_types().into_iter().cloned().collect();
    let nulls = vec![Value::Null; values.len()];
    let changes = if append_only {
        [ChangeType::Append; 3]
    } else {
        [ChangeType::UpdateBefore, ChangeType::UpdateAfter, ChangeType::Delete]
    };
    for (name, compression, format, encoding) in LOGS {
        let mut builder = LogBatchBuilder::new(types.clone().into(), 1, encoding, append_only).unwrap();
        let mut records = Vec::new();
        for (change, row) in changes.into_iter().zip([values, &nulls, values]) {
            // What an Arrow column has no place for is refused; Java would round it.
            if builder.append(change, row).is_ok() {
                records.push((change, row_json(row)));
            }
        }
        let ours = builder.finish(9, 3).unwrap();
        let offsets = records.iter().enumerate();
        let expected: Json = offsets.map(|(at, (change, row))| json!([at, change.to_byte(), row])).collect();
        let question =
            json!({"do": "decode_log", "format": name, "schema": schema_json(schema), "bytes": hex(&ours)});
        let readable = match format {
            LogFormat::Arrow => types.iter().zip(values).all(|(kind, value)| java_reads(kind, value)),
            LogFormat::Indexed => values.iter().all(java_reads_indexed),
            LogFormat::Compacted => true,
        };
        if readable {
            cases.push(Case { question, read: Box::new(Json::clone), expected: expected.clone() });
        }

        let pairs: Json = records.iter().map(|(change, row)| json!([change.to_byte(), row])).collect();
        let question = json!({
            "do": "encode_log", "format": name, "compression": compression, "append_only": append_only,
            "schema": schema_json(schema), "records": pairs,
        });
        let plan = ReadPlan::all(schema);
        let read = move |answer: &Json| read_log(unhex(answer.as_str().unwrap()), format, &plan);
        cases.push(Case { question, read: Box::new(read), expected });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_writes_the_other_reads() {
    let Some(artifacts) = Artifacts::for_tests().unwrap() else { return };
    let java = JavaPeer::prepare_async(&artifacts).await.unwrap();
    // The same cases on every run, so that a failure is found again.
    let mut runner = TestRunner::deterministic();
    let strategy = row();
    let mut cases = Vec::new();
    for number in 0..CASES {
        let (types, values) = strategy.new_tree(&mut runner).unwrap().current();
        if types.is_empty() {
            continue;
        }
        let schema = schema(&types);
        row_cases(&schema, &values, &mut cases);
        log_cases(&schema, &values, number % 2 == 0, &mut cases);
    }
    let questions: Vec<Json> = cases.iter().map(|case| case.question.clone()).collect();
    let answers = java.codec(&questions).await.unwrap();
    for (case, answer) in cases.iter().zip(&answers) {
        let Some(ok) = answer.get("ok") else { panic!("{answer}: {}", case.question) };
        let found = (case.read)(ok);
        assert!(found == case.expected, "{found} is not {} for {}", case.expected, case.question);
    }
    assert!(cases.len() > CASES * 10, "{}", cases.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn golden_bytes_are_what_java_gives() {
    let Some(artifacts) = Artifacts::for_tests().unwrap() else { return };
    let java = JavaPeer::prepare_async(&artifacts).await.unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fluss-codec/tests/golden/java.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let lines: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let schemas: BTreeMap<&str, &Json> =
        lines.iter().filter_map(|line| Some((line["define"].as_str()?, &line["schema"]))).collect();
    let is_question = |line: &&Json| line.get("do").is_some();
    let question = |line: &Json| {
        let mut question = line.clone();
        if let Some(name) = line["of"].as_str() {
            question["schema"] = schemas[name].clone();
        }
        question
    };
    let questions: Vec<Json> = lines.iter().filter(is_question).map(question).collect();
    let mut answers = java.codec(&questions).await.unwrap().into_iter();
    let mut asked_again = String::new();
    for line in &lines {
        let mut line = line.clone();
        if line.get("do").is_some() {
            let answer = answers.next().unwrap();
            let map = line.as_object_mut().unwrap();
            map.retain(|key, _| key != "ok" && key != "error");
            map.extend(answer.as_object().unwrap().clone());
        }
        asked_again.push_str(&line.to_string());
        asked_again.push('\n');
    }
    if std::env::var_os("PEGEL_UPDATE").is_some() {
        fs::write(&file, asked_again).unwrap();
    } else {
        assert!(asked_again == text, "the answers differ; see the README beside the file");
    }
}
