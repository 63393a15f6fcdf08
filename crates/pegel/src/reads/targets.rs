//! Which parts of a table are meant: the table itself, or some of its partitions.

use fluss_client::admin::{PartitionInfo, TableInfo};
use fluss_client::bucket_read::BucketTarget;
use fluss_codec::name::TablePath;
use fluss_codec::partition::PartitionSpec;
use pegel_core::error_code::ErrorCode;

use crate::failure::Failure;
use crate::session::Session;

/// Most partitions that one command reads buckets of.
pub(crate) const MAX_PARTITIONS: usize = 200;
/// Partitions or tables whose buckets are read at the same time.
pub(crate) const PARALLEL_PARTS: usize = 8;

/// A table and those of its parts that are meant.
#[derive(Debug)]
pub(crate) struct Targets {
    /// The table.
    pub(crate) info: TableInfo,
    /// The parts, at most [`MAX_PARTITIONS`].
    pub(crate) parts: Vec<Part>,
    /// Partitions that were meant, also beyond the limit; absent for a table without partitions.
    pub(crate) partition_count: Option<usize>,
}

/// A table without partitions, or one partition.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Name of the partition.
    pub(crate) name: Option<String>,
    /// Id of the partition.
    pub(crate) partition_id: Option<i64>,
}

impl Targets {
    /// Returns the buckets of one part, with what is known of them.
    pub(crate) fn buckets_of(&self, part: &Part) -> BucketTarget {
        BucketTarget::of(&self.info, part.name.as_deref().zip(part.partition_id))
    }

    /// Returns whether there are more partitions than are read.
    pub(crate) fn is_cut(&self) -> bool {
        self.partition_count.is_some_and(|count| count > self.parts.len())
    }

    /// Says so when there are more partitions than are read.
    pub(crate) fn cut_warning(&self) -> Option<String> {
        let count = self.partition_count.filter(|_| self.is_cut())?;
        Some(format!(
            "only the first {} of {count} partitions were read, so sums cover those alone; \
             narrow them with --partition",
            self.parts.len()
        ))
    }
}

/// Makes a partition filter out of pairs, nothing out of none.
pub(crate) fn partition_filter(pairs: &[(String, String)]) -> Result<Option<PartitionSpec>, Failure> {
    if pairs.is_empty() {
        return Ok(None);
    }
    for (index, (key, _)) in pairs.iter().enumerate() {
        if pairs.iter().skip(index + 1).any(|(other, _)| other == key) {
            return Err(Failure::invalid(format!("--partition gives {key} twice")));
        }
    }
    let spec = PartitionSpec::new(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let invalid = |error| Failure::invalid("the partition filter cannot match anything").with_cause(&error);
    spec.map(Some).map_err(invalid)
}

/// Lists partitions, sorted by name.
///
/// # Errors
/// `table_not_partitioned` and `partition_spec_invalid` when table and filter do not fit.
pub(crate) async fn list_partitions(
    session: &Session,
    info: &TableInfo,
    filter: Option<&PartitionSpec>,
) -> Result<Vec<PartitionInfo>, Failure> {
    let keys = info.descriptor.partition_keys();
    if keys.is_empty() {
        let message = format!("table {} has no partitions", info.path);
        return Err(Failure::new(ErrorCode::TableNotPartitioned, message).with_hint("leave --partition out"));
    }
    let unknown =
        filter.and_then(|spec| spec.iter().map(|(key, _)| key).find(|key| !keys.iter().any(|k| k == key)));
    if let Some(key) = unknown {
        let message = format!("{key} is no partition key of {}", info.path);
        let hint = format!("its partition keys are {}", keys.join(", "));
        return Err(Failure::new(ErrorCode::PartitionSpecInvalid, message).with_hint(hint));
    }
    Ok(session.client.list_partitions(info, filter).await?)
}

/// Finds the table and the parts of it that the filter means.
///
/// # Errors
/// `table_not_found`; `partition_not_found` when a filter matches nothing.
pub(crate) async fn find(
    session: &Session,
    path: &TablePath,
    pairs: &[(String, String)],
) -> Result<Targets, Failure> {
    let filter = partition_filter(pairs)?;
    let info = session.client.table_info(path).await?;
    if !info.descriptor.is_partitioned() && filter.is_none() {
        let parts = vec![Part { name: None, partition_id: None }];
        return Ok(Targets { info, parts, partition_count: None });
    }
    let partitions = list_partitions(session, &info, filter.as_ref()).await?;
    if partitions.is_empty() && filter.is_some() {
        let wanted: Vec<String> = pairs.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let message = format!("table {path} has no partition with {}", wanted.join(", "));
        let hint = format!("`pegel partitions {path}` lists what is there");
        return Err(Failure::new(ErrorCode::PartitionNotFound, message).with_hint(hint));
    }
    let partition_count = Some(partitions.len());
    let parts: Vec<Part> = partitions
        .into_iter()
        .take(MAX_PARTITIONS)
        .map(|partition| Part { name: Some(partition.name), partition_id: Some(partition.partition_id) })
        .collect();
    let names: Vec<String> = parts.iter().filter_map(|part| part.name.clone()).collect();
    // Learns all leaders in a few requests; what fails here fails again, by itself, for its partition.
    let _ = session.client.partitions_metadata(path, &names).await;
    Ok(Targets { info, parts, partition_count })
}
