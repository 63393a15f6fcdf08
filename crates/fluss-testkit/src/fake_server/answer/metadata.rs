//! Servers, tables and partitions with their leaders.
//!
//! Follows `RpcServiceBase.processMetadataRequest`, 0.9.1: one unknown table or partition fails the whole
//! request, what the user may not DESCRIBE is left out without a word.

use std::collections::BTreeSet;

use fluss_codec::codes::ClusterHealth;
use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    GetClusterHealthResponse, MetadataRequest, MetadataResponse, PbBucketMetadata, PbPartitionMetadata,
    PbServerNode, PbTableMetadata, PbTablePath,
};

use super::{Answering, Refusal};
use crate::fake_server::model::{Bucket, Node, Partition, Table};

impl Answering<'_> {
    pub(super) fn metadata(
        &self,
        request: &MetadataRequest,
        user: Option<&str>,
    ) -> Result<MetadataResponse, Refusal> {
        let mut response = MetadataResponse {
            coordinator_server: self.model.coordinator.as_ref().map(to_node),
            tablet_servers: self.model.tablet_servers.iter().map(to_node).collect(),
            ..MetadataResponse::default()
        };
        for path in &request.table_path {
            let table = self.model.table(&path.database_name, &path.table_name);
            let table = table.ok_or_else(|| unknown_table(&path.database_name, &path.table_name))?;
            if table.visibility.includes(user) {
                response.table_metadata.push(self.table_metadata(table));
            }
        }
        let mut added = BTreeSet::new();
        for id in &request.partitions_id {
            let (table, name, partition) = self.model.partition_by_id(*id).ok_or_else(|| {
                let message = format!(
                    "The partition id '{id}' does not exist or you don't have permission to access it."
                );
                Refusal::new(ServerErrorCode::PARTITION_NOT_EXISTS, message)
            })?;
            if table.visibility.includes(user) && added.insert(partition.id()) {
                response.partition_metadata.push(partition_metadata(table, name, partition));
            }
        }
        for path in &request.partitions_path {
            let table = self.model.table(&path.database_name, &path.table_name);
            let name = path.partition_name.as_deref().unwrap_or_default();
            let partition = table.and_then(|table| Some((table, table.partitions.get(name)?)));
            let (table, partition) = partition.ok_or_else(|| {
                let message = format!(
                    "Partition '{}.{}(p={name})' does not exist.",
                    path.database_name, path.table_name
                );
                Refusal::new(ServerErrorCode::PARTITION_NOT_EXISTS, message)
            })?;
            if table.visibility.includes(user) && added.insert(partition.id()) {
                response.partition_metadata.push(partition_metadata(table, name, partition));
            }
        }
        Ok(response)
    }

    fn table_metadata(&self, table: &Table) -> PbTableMetadata {
        PbTableMetadata {
            table_path: PbTablePath {
                database_name: table.database().to_owned(),
                table_name: table.name().to_owned(),
            },
            table_id: table.id(),
            schema_id: table.schema_id,
            table_json: table.json.clone(),
            bucket_metadata: to_buckets(&table.buckets),
            created_time: table.created_at_ms,
            modified_time: table.modified_at_ms,
            remote_data_dir: self.on_main(table.remote_data_dir.as_ref()),
        }
    }

    /// Counts replicas on registered servers as in sync, leaders on registered servers as active.
    pub(super) fn cluster_health(&self) -> GetClusterHealthResponse {
        let is_alive = |id: &i32| self.model.tablet_servers.iter().any(|node| node.id == *id);
        let mut health = GetClusterHealthResponse::default();
        for bucket in self.model.tables().flat_map(Table::all_buckets) {
            let count = |number: usize| i32::try_from(number).unwrap_or(i32::MAX);
            health.num_replicas += count(bucket.replicas.len());
            health.in_sync_replicas += count(bucket.replicas.iter().filter(|id| is_alive(id)).count());
            health.num_leader_replicas += 1;
            health.active_leader_replicas += i32::from(bucket.leader.as_ref().is_some_and(is_alive));
        }
        health.status = if health.active_leader_replicas < health.num_leader_replicas {
            ClusterHealth::Red.code()
        } else if health.in_sync_replicas < health.num_replicas {
            ClusterHealth::Yellow.code()
        } else {
            ClusterHealth::Green.code()
        };
        health
    }
}

fn unknown_table(database: &str, name: &str) -> Refusal {
    let outer = "org.apache.fluss.exception.FlussRuntimeException: Failed to get metadata of tables";
    let message = format!("Table '{database}.{name}' does not exist.");
    Refusal::unexpected(outer, Some(("TableNotExistException", &message)))
}

fn partition_metadata(table: &Table, name: &str, partition: &Partition) -> PbPartitionMetadata {
    PbPartitionMetadata {
        table_id: table.id(),
        partition_name: name.to_owned(),
        partition_id: partition.id(),
        bucket_metadata: to_buckets(&partition.buckets),
    }
}

fn to_node(node: &Node) -> PbServerNode {
    PbServerNode {
        node_id: node.id,
        host: node.host.clone(),
        port: node.port,
        listeners: None,
        rack: node.rack.clone(),
    }
}

fn to_buckets(buckets: &[Bucket]) -> Vec<PbBucketMetadata> {
    (0..)
        .zip(buckets)
        .map(|(bucket_id, bucket)| PbBucketMetadata {
            bucket_id,
            leader_id: bucket.leader,
            replica_id: bucket.replicas.clone(),
            leader_epoch: bucket.leader_epoch,
        })
        .collect()
}
