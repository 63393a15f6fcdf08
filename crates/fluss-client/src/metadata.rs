//! Metadata of tables and partitions: read in batches, leaders remembered.
//!
//! One unknown table or partition fails a whole metadata request (codes −1 and
//! 36), so a batch that is refused is halved until the culprit stands alone.
//! A table that the principal may not DESCRIBE is left out of the answer
//! without a word; it is reported as not found.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use fluss_codec::messages::{
    MetadataRequest, MetadataResponse, PbBucketMetadata, PbPartitionMetadata, PbPhysicalTablePath,
    PbTableMetadata, TableExistsRequest,
};
use fluss_codec::name::TablePath;
use fluss_codec::table::TableDescriptor;
use tokio::time::{Instant, timeout_at};

use crate::bootstrap::HostPort;
use crate::client::{FlussClient, ServerAddresses};
use crate::clock;
use crate::connection::Connection;
use crate::error::Error;

/// Most tables or partitions asked for in one request.
pub const METADATA_BATCH: usize = 200;
/// Most refused requests spent on one batch before its rest is given up.
const MAX_REFUSED_PER_BATCH: u32 = 64;
/// Most tables and partitions whose leaders are remembered.
const MAX_CACHED: usize = 10_000;
/// Age after which remembered leaders are asked for again.
const CACHE_AGE: Duration = Duration::from_secs(60);

/// A table as cluster metadata describes it.
#[derive(Debug, Clone)]
pub struct TableMetadata {
    /// Database and table name.
    pub path: TablePath,
    /// Id, new with each creation under the same name.
    pub table_id: i64,
    /// Id of the latest schema.
    pub schema_id: i32,
    /// Schema, keys, buckets and properties.
    pub descriptor: Arc<TableDescriptor>,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Time of the last change in milliseconds since the epoch.
    pub modified_at_ms: i64,
    /// Buckets with their leaders; empty for a partitioned table, whose partitions have them.
    pub buckets: Vec<BucketMetadata>,
}

/// A bucket's place in the cluster. In-sync replicas are not part of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketMetadata {
    /// Number within the table or partition, from 0.
    pub bucket: i32,
    /// Id of the leading tablet server, absent when there is none.
    pub leader: Option<i32>,
    /// Ids of the tablet servers that hold a replica.
    pub replicas: Vec<i32>,
    /// Epoch of the leadership, where the server tells it.
    pub leader_epoch: Option<i32>,
}

/// A partition as cluster metadata describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// Id of the table it belongs to.
    pub table_id: i64,
    /// Id, new with each creation under the same name.
    pub partition_id: i64,
    /// Partition values joined by `$`.
    pub name: String,
    /// Buckets with their leaders.
    pub buckets: Vec<BucketMetadata>,
}

/// Where the buckets of one table or partition are led, as known at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) table_id: i64,
    pub(crate) partition_id: Option<i64>,
    pub(crate) buckets: Vec<BucketMetadata>,
    pub(crate) servers: Arc<ServerAddresses>,
}

/// Names a table, or one partition of it.
type LayoutKey = (TablePath, Option<String>);

/// Leaders by table and partition, bounded in number and age.
#[derive(Default)]
pub(crate) struct LeaderCache {
    entries: Mutex<HashMap<LayoutKey, (Instant, Arc<Layout>)>>,
    /// Held while leaders are read, one of a few for each key, so that callers who need the
    /// same leaders ask once.
    turns: [tokio::sync::Mutex<()>; 32],
}

impl LeaderCache {
    fn get(&self, key: &LayoutKey) -> Option<Arc<Layout>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, layout) = entries.get(key)?;
        (read_at.elapsed() < CACHE_AGE).then(|| Arc::clone(layout))
    }

    fn put(&self, key: LayoutKey, layout: Arc<Layout>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MAX_CACHED && !entries.contains_key(&key) {
            entries.retain(|_, (read_at, _)| read_at.elapsed() < CACHE_AGE);
            if entries.len() >= MAX_CACHED {
                // All are fresh: start over rather than grow or sort.
                entries.clear();
            }
        }
        entries.insert(key, (clock::now(), layout));
    }

    /// Forgets leaders that turned out wrong, unless newer ones have been read meanwhile.
    pub(crate) fn forget(&self, path: &TablePath, partition: Option<&str>, wrong: &Arc<Layout>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (path.clone(), partition.map(str::to_owned));
        if entries.get(&key).is_some_and(|(_, layout)| Arc::ptr_eq(layout, wrong)) {
            entries.remove(&key);
        }
    }

    fn turn(&self, key: &LayoutKey) -> &tokio::sync::Mutex<()> {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let index = usize::try_from(hasher.finish() % 32).unwrap_or_default();
        self.turns.get(index).expect("an index below the length")
    }
}

/// One item asked for and what became of it.
pub type Outcome<K, V> = (K, Result<V, Error>);

impl FlussClient {
    /// Reads metadata of many tables, in batches of [`METADATA_BATCH`], paced by the request budget.
    ///
    /// `take` gets every table asked for, in the order given: its metadata, or the
    /// reason why there is none. It is called batch by batch, so that a caller who
    /// needs little of each table holds little.
    ///
    /// # Errors
    /// When the cluster cannot be asked at all; tables taken before that stand.
    pub async fn each_table_metadata(
        &self,
        paths: &[TablePath],
        mut take: impl FnMut(TablePath, Result<TableMetadata, Error>),
    ) -> Result<(), Error> {
        for batch in paths.chunks(METADATA_BATCH) {
            let asked = self
                .ask_halving(batch, |part| MetadataRequest {
                    table_path: part.iter().map(Into::into).collect(),
                    ..MetadataRequest::default()
                })
                .await?;
            let mut found: HashMap<TablePath, Result<TableMetadata, Error>> = HashMap::new();
            for (answer, connection) in asked.answers {
                let servers = self.note_servers(&answer, &connection);
                for table in answer.table_metadata {
                    let Some((path, result)) = read_table(table, connection.address()) else { continue };
                    if let Ok(table) = &result {
                        self.remember_table(table, &servers);
                    }
                    found.insert(path, result);
                }
            }
            for (path, error) in asked.refused {
                let reason = self.explain_refusal(&path, error).await;
                found.insert(path, Err(reason));
            }
            found.extend(asked.given_up.into_iter().map(|(path, error)| (path, Err(error))));
            for path in batch {
                let missing = || Err(Error::TableNotFound { path: path.clone() });
                take(path.clone(), found.remove(path).unwrap_or_else(missing));
            }
        }
        Ok(())
    }

    /// Reads metadata of many tables at once, as [`FlussClient::each_table_metadata`].
    ///
    /// # Errors
    /// When the cluster cannot be asked at all; single tables fail in the result.
    pub async fn tables_metadata(
        &self,
        paths: &[TablePath],
    ) -> Result<Vec<Outcome<TablePath, TableMetadata>>, Error> {
        let mut outcomes = Vec::with_capacity(paths.len());
        self.each_table_metadata(paths, |path, result| outcomes.push((path, result))).await?;
        Ok(outcomes)
    }

    /// Reads metadata of partitions of one table, by partition name, in batches.
    ///
    /// Every partition asked for is in the result, in the order given.
    ///
    /// # Errors
    /// When the cluster cannot be asked at all; single partitions fail in the result.
    pub async fn partitions_metadata(
        &self,
        path: &TablePath,
        names: &[String],
    ) -> Result<Vec<Outcome<String, PartitionMetadata>>, Error> {
        let mut outcomes = Vec::with_capacity(names.len());
        for batch in names.chunks(METADATA_BATCH) {
            let asked = self
                .ask_halving(batch, |part| MetadataRequest {
                    partitions_path: part.iter().map(|name| to_pb_physical(path, name)).collect(),
                    ..MetadataRequest::default()
                })
                .await?;
            let mut found: HashMap<String, Result<PartitionMetadata, Error>> = HashMap::new();
            for (answer, connection) in asked.answers {
                let servers = self.note_servers(&answer, &connection);
                for partition in answer.partition_metadata {
                    let name = partition.partition_name.clone();
                    let result = read_partition(partition, connection.address());
                    if let Ok(partition) = &result {
                        self.remember_partition(path, partition, &servers);
                    }
                    found.insert(name, result);
                }
            }
            // Refused alone for being unknown is not found; given up unasked is not known.
            let is_missing = |error: &Error| error.server_code().is_some_and(|code| code.code() == 36);
            let refused = asked.refused.into_iter().filter(|(_, error)| !is_missing(error));
            let unknown = refused.chain(asked.given_up);
            found.extend(unknown.map(|(name, error)| (name, Err(error))));
            outcomes.extend(batch.iter().map(|name| {
                let missing =
                    || Err(Error::PartitionNotFound { path: path.clone(), partition: name.clone() });
                (name.clone(), found.remove(name).unwrap_or_else(missing))
            }));
        }
        Ok(outcomes)
    }

    fn remember_table(&self, table: &TableMetadata, servers: &Arc<ServerAddresses>) {
        // A partitioned table has no buckets of its own.
        if table.descriptor.is_partitioned() {
            return;
        }
        let layout = Layout {
            table_id: table.table_id,
            partition_id: None,
            buckets: table.buckets.clone(),
            servers: Arc::clone(servers),
        };
        self.inner.leaders.put((table.path.clone(), None), Arc::new(layout));
    }

    fn remember_partition(
        &self,
        path: &TablePath,
        partition: &PartitionMetadata,
        servers: &Arc<ServerAddresses>,
    ) {
        let layout = Layout {
            table_id: partition.table_id,
            partition_id: Some(partition.partition_id),
            buckets: partition.buckets.clone(),
            servers: Arc::clone(servers),
        };
        self.inner.leaders.put((path.clone(), Some(partition.name.clone())), Arc::new(layout));
    }

    /// Returns where the buckets of a table or partition are led, as remembered or read anew.
    ///
    /// Callers that found remembered leaders wrong forget them first.
    pub(crate) async fn layout(
        &self,
        path: &TablePath,
        partition: Option<&str>,
        deadline: Instant,
    ) -> Result<Arc<Layout>, Error> {
        let key = (path.clone(), partition.map(str::to_owned));
        if let Some(layout) = self.inner.leaders.get(&key) {
            return Ok(layout);
        }
        let Ok(_turn) = timeout_at(deadline, self.inner.leaders.turn(&key).lock()).await else {
            return Err(Error::CoordinatorUnavailable { address: None, source: None });
        };
        if let Some(layout) = self.inner.leaders.get(&key) {
            return Ok(layout);
        }
        let layout = Arc::new(self.read_layout(path, partition, deadline).await?);
        self.inner.leaders.put(key, Arc::clone(&layout));
        Ok(layout)
    }

    async fn read_layout(
        &self,
        path: &TablePath,
        partition: Option<&str>,
        deadline: Instant,
    ) -> Result<Layout, Error> {
        let request = match partition {
            None => MetadataRequest { table_path: vec![path.into()], ..MetadataRequest::default() },
            Some(name) => MetadataRequest {
                partitions_path: vec![to_pb_physical(path, name)],
                ..MetadataRequest::default()
            },
        };
        let (answer, connection) = match self.ask_coordinator_at(&request, deadline).await {
            Ok(answered) => answered,
            Err(error) if names_one_item(&error) => {
                return Err(self.explain_layout(path, partition, error).await);
            }
            Err(error) => return Err(error),
        };
        let servers = self.note_servers(&answer, &connection);
        let address = connection.address();
        let (table_id, partition_id, buckets) = match partition {
            None => answer
                .table_metadata
                .into_iter()
                .next()
                .map(|table| (table.table_id, None, table.bucket_metadata))
                .ok_or_else(|| Error::TableNotFound { path: path.clone() })?,
            Some(name) => answer
                .partition_metadata
                .into_iter()
                .find(|found| found.partition_name == name)
                .map(|found| (found.table_id, Some(found.partition_id), found.bucket_metadata))
                .ok_or_else(|| Error::PartitionNotFound { path: path.clone(), partition: name.to_owned() })?,
        };
        Ok(Layout { table_id, partition_id, buckets: read_buckets(buckets, address)?, servers })
    }

    /// Tells a missing table from another refusal that looks the same on the wire.
    async fn explain_refusal(&self, path: &TablePath, error: Error) -> Error {
        let request = TableExistsRequest { table_path: path.into() };
        match self.ask_coordinator_gently(&request).await {
            Ok((answer, _)) if !answer.exists => Error::TableNotFound { path: path.clone() },
            _ => error,
        }
    }

    async fn explain_layout(&self, path: &TablePath, partition: Option<&str>, error: Error) -> Error {
        let code = error.server_code().map(|code| code.code());
        match partition {
            Some(name) if code == Some(36) => {
                Error::PartitionNotFound { path: path.clone(), partition: name.to_owned() }
            }
            _ => self.explain_refusal(path, error).await,
        }
    }

    /// Asks for one batch, halving it when it is refused because of one of its items.
    async fn ask_halving<K: Clone>(
        &self,
        batch: &[K],
        request: impl Fn(&[K]) -> MetadataRequest,
    ) -> Result<Asked<K>, Error> {
        let mut asked = Asked { answers: Vec::new(), refused: Vec::new(), given_up: Vec::new() };
        let mut refused_count = 0;
        let mut open = vec![batch];
        while let Some(part) = open.pop() {
            let error = match self.ask_coordinator_gently(&request(part)).await {
                Ok(answered) => {
                    asked.answers.push(answered);
                    continue;
                }
                Err(error) if names_one_item(&error) => error,
                Err(error) => return Err(error),
            };
            refused_count += 1;
            // A server that refuses whatever it is asked has another trouble than one of these items.
            if asked.answers.is_empty() && refused_count >= MAX_REFUSED_PER_BATCH {
                return Err(error);
            }
            if let [alone] = part {
                asked.refused.push((alone.clone(), error));
            } else if refused_count >= MAX_REFUSED_PER_BATCH {
                asked.given_up.extend(part.iter().map(|item| (item.clone(), error.clone())));
            } else {
                let (left, right) = part.split_at(part.len() / 2);
                open.push(right);
                open.push(left);
            }
        }
        Ok(asked)
    }
}

/// What became of one batch.
struct Asked<K> {
    answers: Vec<(MetadataResponse, Arc<Connection>)>,
    /// Asked for alone and refused.
    refused: Vec<(K, Error)>,
    /// Part of a refused batch and never asked for alone.
    given_up: Vec<(K, Error)>,
}

/// Says whether an error may be about one item of a batch and not about all of it.
fn names_one_item(error: &Error) -> bool {
    matches!(error.server_code().map(|code| code.code()), Some(-1 | 4 | 7 | 36))
}

fn to_pb_physical(path: &TablePath, partition: &str) -> PbPhysicalTablePath {
    PbPhysicalTablePath {
        database_name: path.database().to_owned(),
        table_name: path.table().to_owned(),
        partition_name: Some(partition.to_owned()),
    }
}

/// Reads one table; an unreadable description fails that table alone.
fn read_table(table: PbTableMetadata, address: &HostPort) -> Option<Outcome<TablePath, TableMetadata>> {
    let path = TablePath::try_from(&table.table_path).ok()?;
    let result = TableDescriptor::from_json(&table.table_json)
        .map_err(|error| Error::corrupt(address, format!("table description of {path}: {error}")))
        .and_then(|descriptor| {
            Ok(TableMetadata {
                path: path.clone(),
                table_id: table.table_id,
                schema_id: table.schema_id,
                descriptor: Arc::new(descriptor),
                created_at_ms: table.created_time,
                modified_at_ms: table.modified_time,
                buckets: read_buckets(table.bucket_metadata, address)?,
            })
        });
    Some((path, result))
}

fn read_partition(partition: PbPartitionMetadata, address: &HostPort) -> Result<PartitionMetadata, Error> {
    Ok(PartitionMetadata {
        table_id: partition.table_id,
        partition_id: partition.partition_id,
        name: partition.partition_name,
        buckets: read_buckets(partition.bucket_metadata, address)?,
    })
}

/// Reads buckets in the order of their numbers.
fn read_buckets(buckets: Vec<PbBucketMetadata>, address: &HostPort) -> Result<Vec<BucketMetadata>, Error> {
    let mut buckets: Vec<BucketMetadata> = buckets
        .into_iter()
        .map(|bucket| BucketMetadata {
            bucket: bucket.bucket_id,
            // A negative id is how some servers say "none".
            leader: bucket.leader_id.filter(|id| *id >= 0),
            replicas: bucket.replica_id,
            leader_epoch: bucket.leader_epoch,
        })
        .collect();
    buckets.sort_by_key(|bucket| bucket.bucket);
    let is_repeated = buckets.windows(2).any(|pair| matches!(pair, [a, b] if a.bucket == b.bucket));
    if is_repeated || buckets.first().is_some_and(|bucket| bucket.bucket < 0) {
        return Err(Error::corrupt(address, "bucket numbers are negative or repeated"));
    }
    Ok(buckets)
}
