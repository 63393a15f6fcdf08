//! The partitions of a table with the leaders of their buckets.

use std::collections::HashMap;

use fluss_client::admin::{PartitionInfo, TableInfo};
use fluss_client::error::Error as ClientError;
use fluss_client::metadata::PartitionMetadata;
use pegel_api_types::operations::buckets::Coverage;
use pegel_api_types::operations::partitions::{
    KeyValue, ListPartitions, ListPartitionsInput, Partition, Partitions,
};
use pegel_core::envelope::Status;
use pegel_core::exact::ExactInt;
use pegel_core::limits::Page;

use crate::catalog::buckets::Failures;
use crate::catalog::targets::{list_partitions, partition_filter};
use crate::catalog::{Execute, list_status, names, table};
use crate::execution::{Answer, Execution};
use crate::failure::Failure;
use crate::failure::sight::Sight;
use crate::policy::Authorized;
use crate::policy::permission::CatalogRead;

type Metadata = HashMap<String, Result<PartitionMetadata, ClientError>>;

impl Execute for ListPartitions {
    type Permit = CatalogRead;

    /// Lists the partitions of a table that match.
    ///
    /// # Errors
    /// `table_not_found`; `table_not_partitioned` when a filter is given for a table that has no
    /// partition keys, `partition_spec_invalid`. Without a filter such a table has an empty list.
    async fn execute(
        execution: &Execution,
        _may: &Authorized<CatalogRead>,
        input: ListPartitionsInput,
    ) -> Result<Answer<Partitions>, Failure> {
        let path = names::table_path(&input.database, &input.table)?;
        let page = execution.page(input.search.as_deref(), input.offset, input.limit)?;
        let filter = partition_filter(input.partition_spec_json.as_ref())?;
        let info = execution.client.table_info(&path).await.map_err(|error| table::named(&path, &error))?;
        let found = if info.descriptor.is_partitioned() || filter.is_some() {
            list_partitions(execution, &info, filter.as_ref()).await?
        } else {
            Vec::new()
        };
        let page = page.cut(found, |partition| vec![partition.name.clone()]);
        let names: Vec<String> = page.items.iter().map(|partition| partition.name.clone()).collect();
        let metadata = match names.as_slice() {
            [] => Ok(Metadata::new()),
            names => {
                let found = execution.client.partitions_metadata(&path, names).await;
                found.map(|found| found.into_iter().collect())
            }
        };
        Ok(judge(&info, page, metadata, execution.sight))
    }
}

fn judge(
    info: &TableInfo,
    page: Page<PartitionInfo>,
    metadata: Result<Metadata, ClientError>,
    sight: Sight,
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
        view(partition, &metadata, sight, &mut failures)
    });
    let (listed, warning) = list_status(&page);
    let evidence = failures.into_evidence("read_leaders", sight);
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
    sight: Sight,
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
        buckets: metadata.as_ref().ok().map(|found| found.buckets.iter().map(table::bucket_of).collect()),
        failure: failure.map(|failure| failure.part(sight)),
    }
}

#[cfg(test)]
mod tests {
    use fluss_client::metadata::BucketMetadata;
    use fluss_codec::partition::PartitionSpec;
    use pegel_core::limits::PageRequest;

    use super::*;
    use crate::catalog::table::tests::orders;

    fn info(name: &str, partition_id: i64) -> PartitionInfo {
        let spec = PartitionSpec::new([("region", name)]).unwrap();
        PartitionInfo { partition_id, name: name.to_owned(), spec, remote_data_dir: None }
    }

    /// Two partitions, one of which went while the list was read.
    fn one_gone() -> Answer<Partitions> {
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
        judge(&orders(), page, Ok(Metadata::from([("eu".to_owned(), Ok(eu))])), Sight::Everything)
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
        assert_eq!(judge(&orders(), page, Ok(Metadata::new()), Sight::Everything).status, Status::Empty);
    }
}
