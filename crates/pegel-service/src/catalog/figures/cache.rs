//! Figures of tables, kept for a while: two callers who want those of one table at once cause one reading.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fluss_client::bucket_read::BucketTarget;
use fluss_client::client::FlussClient;
use fluss_codec::name::TablePath;
use jiff::Timestamp;
use pegel_api_types::operations::tables::RuntimeState;
use pegel_core::clock::Clock;

use crate::catalog::figures::{Reading, read};
use crate::clock;

/// How long figures are kept.
const KEPT: Duration = Duration::from_secs(60);
/// How long figures are kept that are not whole, or that somebody wants to have read anew.
const LEAST_GAP: Duration = Duration::from_secs(5);
/// Most tables whose figures are kept; those that nobody asked for longest go first.
const MAX_TABLES: usize = 2_000;

/// One table: a table that was made anew under the same name is another one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TableKey {
    pub(super) path: TablePath,
    pub(super) table_id: i64,
}

/// Figures by table.
#[derive(Default)]
pub(in crate::catalog) struct FigureCache {
    slots: Mutex<HashMap<TableKey, Slot>>,
}

struct Slot {
    used_at: Instant,
    kept: Arc<tokio::sync::Mutex<Option<Kept>>>,
}

/// Figures and when they were read.
#[derive(Clone)]
pub(super) struct Kept {
    pub(super) observed_at: Timestamp,
    pub(super) reading: Arc<Reading>,
    read_at: Instant,
}

impl FigureCache {
    /// Returns the figures of one table, read now or a while ago.
    ///
    /// Whoever comes while they are read waits for them. When the one who reads goes away, the next one in line
    /// reads. With `is_wanted_anew`, figures of more than a few seconds are not taken.
    pub(super) async fn get(
        &self,
        key: &TableKey,
        buckets: BucketTarget,
        client: &FlussClient,
        clock: &dyn Clock,
        is_wanted_anew: bool,
    ) -> Kept {
        let slot = self.slot(key);
        let mut turn = slot.lock().await;
        if let Some(kept) = &*turn {
            let is_whole = kept.reading.runtime.evidence == RuntimeState::Ok;
            let limit = if is_whole && !is_wanted_anew { KEPT } else { LEAST_GAP };
            if kept.read_at.elapsed() < limit {
                return kept.clone();
            }
        }
        let reading = Arc::new(read(client, &key.path, buckets).await);
        let kept = Kept { observed_at: clock.now(), reading, read_at: clock::instant() };
        *turn = Some(kept.clone());
        kept
    }

    fn slot(&self, key: &TableKey) -> Arc<tokio::sync::Mutex<Option<Kept>>> {
        let used_at = clock::instant();
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get_mut(key) {
            slot.used_at = used_at;
            return Arc::clone(&slot.kept);
        }
        if slots.len() >= MAX_TABLES {
            make_room(&mut slots);
        }
        let kept = Arc::default();
        slots.insert(key.clone(), Slot { used_at, kept: Arc::clone(&kept) });
        kept
    }
}

/// Lets go of what is too old to be used, or else of what was not used longest.
fn make_room(slots: &mut HashMap<TableKey, Slot>) {
    slots.retain(|_, slot| slot.used_at.elapsed() < KEPT);
    if slots.len() >= MAX_TABLES {
        let oldest = slots.iter().min_by_key(|(_, slot)| slot.used_at).map(|(key, _)| key.clone());
        slots.retain(|key, _| Some(key) != oldest.as_ref());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_tables_are_kept_than_the_limit_and_the_one_used_last_stays() {
        let cache = FigureCache::default();
        let key = |table_id| TableKey { path: "shop.orders".parse().unwrap(), table_id };
        let kept = i64::try_from(MAX_TABLES).unwrap();
        let first = cache.slot(&key(0));
        for table_id in 1..kept {
            cache.slot(&key(table_id));
        }
        assert!(Arc::ptr_eq(&first, &cache.slot(&key(0))));
        cache.slot(&key(kept));
        let slots = cache.slots.lock().unwrap();
        assert_eq!(slots.len(), MAX_TABLES);
        assert!(
            slots.contains_key(&key(0)) && slots.contains_key(&key(kept)) && !slots.contains_key(&key(1))
        );
    }
}
