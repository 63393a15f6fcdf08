//! Which parts of a table are meant: the table itself, or some of its partitions.

use fluss_client::admin::{PartitionInfo, TableInfo};
use fluss_client::bucket_read::BucketTarget;
use fluss_codec::name::TablePath;
use fluss_codec::partition::PartitionSpec;
use pegel_api_types::operations::partition_spec::PartitionFilter;
use pegel_core::error_code::ErrorCode;

use crate::execution::Execution;
use crate::failure::Failure;

/// Most partitions that one command reads buckets of.
pub(super) const MAX_PARTITIONS: usize = 200;
/// Where questions give a partition filter.
const POINTER: &str = "/partition_spec_json";
/// Partitions or tables whose buckets are read at the same time.
pub(super) const PARALLEL_PARTS: usize = 8;

/// A table and those of its parts that are meant.
#[derive(Debug)]
pub(super) struct Targets {
    /// The table.
    pub(super) info: TableInfo,
    /// The parts, at most [`MAX_PARTITIONS`].
    pub(super) parts: Vec<Part>,
    /// Partitions that were meant, also beyond the limit; absent for a table without partitions.
    pub(super) partition_count: Option<usize>,
}

/// A table without partitions, or one partition.
#[derive(Debug, Clone)]
pub(super) struct Part {
    /// Name of the partition.
    pub(super) name: Option<String>,
    /// Id of the partition.
    pub(super) partition_id: Option<i64>,
}

impl Targets {
    /// Returns the buckets of one part, with what is known of them.
    pub(super) fn buckets_of(&self, part: &Part) -> BucketTarget {
        BucketTarget::of(&self.info, part.name.as_deref().zip(part.partition_id))
    }

    /// Returns whether there are more partitions than are read.
    pub(super) fn is_cut(&self) -> bool {
        self.partition_count.is_some_and(|count| count > self.parts.len())
    }

    /// Says so when there are more partitions than are read.
    pub(super) fn cut_warning(&self) -> Option<String> {
        let count = self.partition_count.filter(|_| self.is_cut())?;
        Some(format!(
            "only the first {} of {count} partitions were read, so sums cover those alone; \
             narrow them with a partition filter",
            self.parts.len()
        ))
    }
}

/// Makes a partition filter of what a question gives, nothing of none.
///
/// # Errors
/// `invalid` for a value that no partition can have.
pub(super) fn partition_filter(given: Option<&PartitionFilter>) -> Result<Option<PartitionSpec>, Failure> {
    let Some(given) = given.filter(|given| !given.pairs().is_empty()) else { return Ok(None) };
    let spec = PartitionSpec::new(given.pairs().iter().map(|(key, value)| (key.as_str(), value.as_str())));
    let invalid = |error: fluss_codec::partition::PartitionError| {
        Failure::invalid_field(POINTER, format!("the partition filter cannot match anything: {error}"))
    };
    spec.map(Some).map_err(invalid)
}

/// Lists partitions, sorted by name.
///
/// # Errors
/// `table_not_partitioned` and `partition_spec_invalid` when table and filter do not fit.
pub(super) async fn list_partitions(
    execution: &Execution,
    info: &TableInfo,
    filter: Option<&PartitionSpec>,
) -> Result<Vec<PartitionInfo>, Failure> {
    let keys = info.descriptor.partition_keys();
    if keys.is_empty() {
        let message = format!("table {} has no partitions", info.path);
        return Err(Failure::new(ErrorCode::TableNotPartitioned, message)
            .at(POINTER)
            .with_hint("leave the partition filter out"));
    }
    let unknown =
        filter.and_then(|spec| spec.iter().map(|(key, _)| key).find(|key| !keys.iter().any(|k| k == key)));
    if let Some(key) = unknown {
        let message = format!("{key} is no partition key of {}", info.path);
        let hint = format!("its partition keys are {}", keys.join(", "));
        return Err(Failure::new(ErrorCode::PartitionSpecInvalid, message).at(POINTER).with_hint(hint));
    }
    Ok(execution.client.list_partitions(info, filter).await?)
}

/// Finds the table and the parts of it that the filter means.
///
/// # Errors
/// `table_not_found`; `partition_not_found` when a filter matches nothing.
pub(super) async fn find(
    execution: &Execution,
    path: &TablePath,
    given: Option<&PartitionFilter>,
) -> Result<Targets, Failure> {
    let filter = partition_filter(given)?;
    let info = execution.client.table_info(path).await?;
    if !info.descriptor.is_partitioned() && filter.is_none() {
        let parts = vec![Part { name: None, partition_id: None }];
        return Ok(Targets { info, parts, partition_count: None });
    }
    let partitions = list_partitions(execution, &info, filter.as_ref()).await?;
    if partitions.is_empty() && filter.is_some() {
        let pairs = given.map(PartitionFilter::pairs).unwrap_or_default();
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
    let _ = execution.client.partitions_metadata(path, &names).await;
    Ok(Targets { info, parts, partition_count })
}
