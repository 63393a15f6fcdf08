//! Bytes read as the body of a log batch, of a format and a schema chosen by the first bytes; what is read is written
//! and read again.
#![no_main]

mod types;

use bytes::Bytes;
use fluss_codec::change_type::ChangeType;
use fluss_codec::log_batch::builder::{LogBatchBuilder, LogEncoding};
use fluss_codec::log_batch::records::LogRecords;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::read_plan::ReadPlan;
use fluss_codec::row::RowFormat;
use fluss_codec::table::{ArrowCompression, LogFormat};
use fluss_codec::versions::LogMagicOne;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut data = data;
    let choice = types::next(&mut data);
    let count = types::next(&mut data);
    let types = types::take(&mut data);
    let schema = types::schema(&types, false);
    let plan = if choice & 0x10 == 0 {
        ReadPlan::all(&schema)
    } else {
        let wanted: Vec<usize> = (0..types.len()).rev().step_by(2).collect();
        ReadPlan::new(&schema, &schema, &wanted).expect("the positions exist")
    };
    let (format, encoding) = match choice & 0x03 {
        0 => (LogFormat::Compacted, LogEncoding::Rows(RowFormat::Compacted)),
        1 => (LogFormat::Indexed, LogEncoding::Rows(RowFormat::Indexed)),
        2 => (LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Lz4Frame)),
        _ => (LogFormat::Arrow, LogEncoding::Arrow(ArrowCompression::Zstd { level: 1 })),
    };
    let batch = LogBatch {
        base_offset: 0,
        magic: 0,
        commit_timestamp_ms: 0,
        leader_epoch: None,
        schema_id: 1,
        append_only: choice & 0x20 == 0,
        last_offset_delta: 0,
        writer_id: -1,
        batch_sequence: -1,
        record_count: i32::from(count),
        statistics: None,
        body: Bytes::copy_from_slice(data),
    };
    let Ok(records) = LogRecords::read(&batch, format, &plan) else { return };
    let mut builder =
        LogBatchBuilder::new(types.into(), 1, encoding, false).expect("the library for compression works");
    let mut written = Vec::new();
    for index in 0..records.len() {
        let Ok(row) = records.row(index) else { continue };
        if choice & 0x10 == 0 && builder.append(ChangeType::Insert, &row).is_ok() {
            written.push(row);
        }
    }
    if choice & 0x10 != 0 {
        return;
    }
    let mut bytes = builder.finish(-1, -1).expect("it is not too large");
    let again = LogBatch::decode_next(&mut bytes, LogMagicOne::Statistics, ChecksumPolicy::Verify);
    let again = again.expect("it was written here").expect("it is whole");
    let again = LogRecords::read(&again, format, &plan).expect("it was written here");
    assert_eq!(again.len(), written.len());
    for (index, row) in written.iter().enumerate() {
        let read = again.row(index).expect("it was written here");
        assert_eq!(format!("{read:?}"), format!("{row:?}"));
    }
});
