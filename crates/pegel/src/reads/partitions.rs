//! The partitions of a table with the leaders of their buckets.

use std::collections::HashMap;

use fluss_client::admin::{PartitionInfo, TableInfo};
use fluss_client::error::Error as ClientError;
use fluss_client::metadata::PartitionMetadata;
use fluss_codec::name::TablePath;
use pegel_core::envelope::Status;
use pegel_core::exact::ExactInt;
use pegel_core::limits::{Page, PageRequest};
use serde::Serialize;

use crate::failure::Failure;
use crate::reads::buckets::{Coverage, Failures, PartFailure};
use crate::reads::list_status;
use crate::reads::table::{self, Bucket};
use crate::reads::targets::{list_partitions, partition_filter};
use crate::session::{Answer, Session};

/// The partitions of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Partitions {
    /// The table.
    pub(crate) table: String,
    /// Its partition keys.
    pub(crate) partition_keys: Vec<String>,
    /// The partitions, by name.
    #[serde(flatten)]
    pub(crate) partitions: Page<Partition>,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Partition {
    /// Values joined by `$`.
    pub(crate) name: String,
    /// Keys with their values, in the order of the partition keys.
    pub(crate) spec: Vec<KeyValue>,
    /// Id, new with each creation under the same name.
    pub(crate) partition_id: ExactInt,
    /// Whether its buckets could be read.
    pub(crate) state: Coverage,
    /// Its buckets with their leaders, absent when they could not be read.
    pub(crate) buckets: Option<Vec<Bucket>>,
    /// Why its buckets could not be read.
    pub(crate) failure: Option<PartFailure>,
}

/// One partition key with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct KeyValue {
    /// Partition key.
    pub(crate) key: String,
    /// Value.
    pub(crate) value: String,
}

type Metadata = HashMap<String, Result<PartitionMetadata, ClientError>>;

/// Lists the partitions of a table that match.
///
/// # Errors
/// `table_not_found`; `table_not_partitioned` when a filter is given for a table that has no
/// partition keys, `partition_spec_invalid`. Without a filter such a table has an empty list.
pub(crate) async fn read(
    session: &Session,
    path: &TablePath,
    partition: &[(String, String)],
    page: &PageRequest,
) -> Result<Answer<Partitions>, Failure> {
    let filter = partition_filter(partition)?;
    let info = session.client.table_info(path).await.map_err(|error| table::named(path, &error))?;
    let found = if info.descriptor.is_partitioned() || filter.is_some() {
        list_partitions(session, &info, filter.as_ref()).await?
    } else {
        Vec::new()
    };
    let page = page.cut(found, |partition| vec![partition.name.clone()]);
    let names: Vec<String> = page.items.iter().map(|partition| partition.name.clone()).collect();
    let metadata = match names.as_slice() {
        [] => Ok(Metadata::new()),
        names => {
            session.client.partitions_metadata(path, names).await.map(|found| found.into_iter().collect())
        }
    };
    Ok(judge(&info, page, metadata))
}

fn judge(
    info: &TableInfo,
    page: Page<PartitionInfo>,
    metadata: Result<Metadata, ClientError>,
) -> Answer<Partitions> {
    let mut failures = Failures::default();
    let (mut metadata, lost) = match metadata {
        Ok(metadata) => (metadata, None),
        Err(error) => (Metadata::new(), Some(error)),
    };
    let page = page.map(|partition| {
        let missing = || {
            let error =
                ClientError::PartitionNotFound { path: info.path.clone(), partition: partition.name.clone() };
            Err(lost.clone().unwrap_or(error))
        };
        let found = metadata.remove(&partition.name).unwrap_or_else(missing);
        let metadata = found.and_then(|found| match found.partition_id {
            id if id == partition.partition_id => Ok(found),
            id => Err(ClientError::TableRecreated {
                what: format!("partition {} of {}", partition.name, info.path),
                expected: partition.partition_id,
                found: id,
            }),
        });
        view(partition, &metadata, &mut failures)
    });
    let (listed, warning) = list_status(&page);
    let evidence = failures.into_evidence("read_leaders");
    let status = if evidence.is_empty() { listed } else { Status::Partial };
    let mut answer = Answer::new(
        status,
        Partitions {
            table: info.path.to_string(),
            partition_keys: info.descriptor.partition_keys().to_vec(),
            partitions: page,
        },
    );
    answer.evidence = evidence;
    answer.warnings.extend(warning);
    answer
}

fn view(
    partition: PartitionInfo,
    metadata: &Result<PartitionMetadata, ClientError>,
    failures: &mut Failures,
) -> Partition {
    let failure = metadata.as_ref().err().map(Failure::from);
    if let Some(failure) = &failure {
        failures.note_whole(format!("partition {}", partition.name), failure);
    }
    let spec = partition.spec.iter();
    Partition {
        spec: spec.map(|(key, value)| KeyValue { key: key.to_owned(), value: value.to_owned() }).collect(),
        name: partition.name,
        partition_id: ExactInt(partition.partition_id),
        state: if failure.is_none() { Coverage::Ok } else { Coverage::Unavailable },
        buckets: metadata.as_ref().ok().map(|found| found.buckets.iter().map(Bucket::from).collect()),
        failure: failure.as_ref().map(PartFailure::from),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use fluss_client::metadata::BucketMetadata;
    use fluss_codec::partition::PartitionSpec;

    use super::*;
    use crate::reads::table::tests::orders;

    fn info(name: &str, partition_id: i64) -> PartitionInfo {
        let spec = PartitionSpec::new([("region", name)]).unwrap();
        PartitionInfo { partition_id, name: name.to_owned(), spec, remote_data_dir: None }
    }

    /// Two partitions, one of which went while the list was read.
    pub(crate) fn one_gone() -> Answer<Partitions> {
        let page = PageRequest::new(None, 0, None).unwrap();
        let page = page.cut(vec![info("eu", 7), info("us", 8)], |partition| vec![partition.name.clone()]);
        let bucket =
            |bucket, leader| BucketMetadata { bucket, leader, replicas: vec![0, 1], leader_epoch: None };
        let eu = PartitionMetadata {
            table_id: 12,
            partition_id: 7,
            name: "eu".to_owned(),
            buckets: vec![bucket(0, Some(0)), bucket(1, None)],
        };
        judge(&orders(), page, Ok(Metadata::from([("eu".to_owned(), Ok(eu))])))
    }

    #[test]
    fn partition_without_metadata_is_listed_as_unavailable() {
        let answer = one_gone();
        assert_eq!(answer.status, Status::Partial);
        let partitions = answer.data.unwrap().partitions.items;
        assert_eq!(partitions.len(), 2);
        assert_eq!((partitions[0].state, partitions[1].state), (Coverage::Ok, Coverage::Unavailable));
        assert_eq!(partitions[1].buckets, None);
    }

    #[test]
    fn no_partitions_are_empty_and_not_unavailable() {
        let page = PageRequest::new(None, 0, None)
            .unwrap()
            .cut(Vec::new(), |p: &PartitionInfo| vec![p.name.clone()]);
        assert_eq!(judge(&orders(), page, Ok(Metadata::new())).status, Status::Empty);
    }
}
