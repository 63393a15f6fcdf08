//! Damaged and made-up record batches.

use bytes::Bytes;
use fluss_codec::kv_batch::{KvBatch, KvRecord};
use fluss_codec::log_batch::{ChecksumPolicy, LogBatch};
use fluss_codec::versions::LogMagicOne;
use proptest::prelude::*;

use crate::corrupted::{apply, damages};
use crate::golden::unhex;

const KV_BATCH: &str = include_str!("../golden/kv_batch.hex");
const LOG_BATCH: &str = include_str!("../golden/log_batch_plain_changelog.hex");

/// Reads batches to the end or the first error; each step must use up bytes.
fn read_log(bytes: &[u8], policy: ChecksumPolicy) -> Result<(), TestCaseError> {
    for magic_one in [LogMagicOne::LeaderEpoch, LogMagicOne::Statistics] {
        let mut records = Bytes::copy_from_slice(bytes);
        loop {
            let before = records.len();
            match LogBatch::decode_next(&mut records, magic_one, policy) {
                Ok(Some(batch)) => {
                    prop_assert!(batch.next_offset() > batch.base_offset);
                    prop_assert!(records.len() + batch.body.len() + 48 <= before);
                }
                Ok(None) => break,
                Err(error) => {
                    prop_assert_eq!(records.len(), before);
                    prop_assert!(!error.code().is_empty());
                    break;
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn kv_batches_round_trip(
        schema_id in any::<i16>(),
        writer_id in any::<i64>(),
        batch_sequence in any::<i32>(),
        records in prop::collection::vec(
            (prop::collection::vec(any::<u8>(), 0..200), prop::option::of(prop::collection::vec(any::<u8>(), 1..20))),
            0..10,
        ),
    ) {
        let records = records
            .into_iter()
            .map(|(key, row)| KvRecord { key: key.into(), row: row.map(Bytes::from) })
            .collect();
        let batch = KvBatch { schema_id, writer_id, batch_sequence, records };
        prop_assert_eq!(KvBatch::decode(&batch.encode().unwrap()), Ok(batch));
    }

    #[test]
    fn damaged_kv_batches_are_refused(damages in damages(), random in prop::collection::vec(any::<u8>(), 0..80)) {
        let valid = unhex(KV_BATCH);
        let mut damaged = valid.to_vec();
        apply(&damages, &mut damaged);
        if damaged != valid {
            prop_assert!(KvBatch::decode(&Bytes::from(damaged)).is_err());
        }
        prop_assert!(KvBatch::decode(&Bytes::from(random)).is_err());
    }

    #[test]
    fn damaged_log_batches_are_refused_or_read(
        damages in damages(),
        random in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let one = unhex(LOG_BATCH);
        let mut stream = [&one[..], &one[..]].concat();
        apply(&damages, &mut stream);
        for policy in [ChecksumPolicy::Verify, ChecksumPolicy::Skip] {
            read_log(&stream, policy)?;
            read_log(&random, policy)?;
        }
    }
}
