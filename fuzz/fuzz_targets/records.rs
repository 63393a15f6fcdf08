//! Bytes read as record batches and, after a schema chosen by the first bytes, as rows of both formats.
#![no_main]

use bytes::Bytes;
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::kv_batch::KvBatch;
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::row::{compacted, indexed};
use fluss_codec::versions::LogMagicOne;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    if let Ok(batch) = KvBatch::decode(&bytes) {
        // An over-long varint is read but not written, so the bytes may differ; the records may not.
        let encoded = batch.encode().expect("what was read in a batch fits a batch");
        assert_eq!(KvBatch::decode(&encoded).expect("it was written here"), batch);
    }
    for magic_one in [LogMagicOne::LeaderEpoch, LogMagicOne::Statistics] {
        for policy in [ChecksumPolicy::Verify, ChecksumPolicy::Skip] {
            let mut records = bytes.clone();
            while let Ok(Some(batch)) = LogBatch::decode_next(&mut records, magic_one, policy) {
                assert!(batch.next_offset() > batch.base_offset);
            }
        }
    }
    let Some((count, rest)) = data.split_first() else { return };
    let Some((choices, row)) = rest.split_at_checked(usize::from(count % 20)) else { return };
    let types: Vec<DataType> = choices.iter().map(|choice| data_type(*choice)).collect();
    let types: Vec<&DataType> = types.iter().collect();
    let row = Bytes::copy_from_slice(row);
    if let Ok(values) = compacted::decode(&types, &row) {
        let _ = compacted::encode(&types, &values);
    }
    if let Ok(values) = indexed::decode(&types, &row) {
        let _ = indexed::encode(&types, &values);
    }
});

fn data_type(choice: u8) -> DataType {
    let parameter = choice >> 4;
    let kind = match choice & 0x0f {
        0 => TypeKind::Boolean,
        1 => TypeKind::TinyInt,
        2 => TypeKind::SmallInt,
        3 => TypeKind::Int,
        4 => TypeKind::BigInt,
        5 => TypeKind::Float,
        6 => TypeKind::Double,
        7 => TypeKind::Char { length: u32::from(parameter) + 1 },
        8 => TypeKind::String,
        9 => TypeKind::Binary { length: u32::from(parameter) + 1 },
        10 => TypeKind::Bytes,
        11 => TypeKind::Decimal { precision: parameter * 2 + 1, scale: parameter },
        12 => TypeKind::Date,
        13 => TypeKind::Time { precision: parameter % 10 },
        14 => TypeKind::Timestamp { precision: parameter % 10 },
        _ => TypeKind::TimestampLtz { precision: parameter % 10 },
    };
    DataType::new(kind).expect("all parameters are within bounds")
}
