//! What the servers of a fake cluster say: plain data that a test changes while they run.
//!
//! Nothing here happens by itself: no leader election, no retention, no growth of logs. Ids are given by the
//! model and indexed, so that requests by id stay cheap with many tables.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use bytes::Bytes;
use fluss_codec::messages::{PbAclInfo, PbLakeSnapshotForBucket};

use super::table::{NewTable, Placement};

/// Release line whose servers are played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerLine {
    /// 0.9.1.
    #[default]
    Released,
    /// Main, 1.0-SNAPSHOT.
    Main,
}

/// Who may DESCRIBE a database or a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Everyone.
    #[default]
    Everyone,
    /// Nobody.
    Nobody,
    /// The users of these names, as they authenticated.
    Only(Vec<String>),
}

impl Visibility {
    pub(super) fn includes(&self, user: Option<&str>) -> bool {
        match self {
            Self::Everyone => true,
            Self::Nobody => false,
            Self::Only(users) => user.is_some_and(|user| users.iter().any(|name| name == user)),
        }
    }
}

/// A server as metadata names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Id; tablet servers count from 0.
    pub id: i32,
    /// Advertised host.
    pub host: String,
    /// Advertised port; an `i32` as on the wire, so that impossible ones can be sent.
    pub port: i32,
    /// Rack.
    pub rack: Option<String>,
    /// Configuration of this server alone; the answering server adds it to [`Model::configs`].
    pub configs: Vec<Config>,
}

/// A configuration entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Key.
    pub key: String,
    /// Value.
    pub value: Option<String>,
    /// `INITIAL_SERVER_CONFIG` or `DYNAMIC_SERVER_CONFIG`.
    pub source: String,
}

impl Config {
    /// Makes an entry from a server's configuration file.
    pub fn initial(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            source: "INITIAL_SERVER_CONFIG".to_owned(),
        }
    }

    /// Makes an entry that was set while the cluster ran.
    pub fn dynamic(key: &str, value: &str) -> Self {
        Self {
            key: key.to_owned(),
            value: Some(value.to_owned()),
            source: "DYNAMIC_SERVER_CONFIG".to_owned(),
        }
    }
}

/// Names and passwords of SASL users; empty means that the listeners are PLAINTEXT.
#[derive(Clone, Default)]
pub struct Users(BTreeMap<String, String>);

impl Users {
    /// Adds a user or changes the password.
    pub fn set(&mut self, name: &str, password: &str) {
        self.0.insert(name.to_owned(), password.to_owned());
    }

    /// Removes a user; connections that are authenticated stay so.
    pub fn remove(&mut self, name: &str) -> bool {
        self.0.remove(name).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn accepts(&self, name: &str, password: &str) -> bool {
        self.0.get(name).is_some_and(|expected| expected == password)
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A database.
#[derive(Clone, Debug, Default)]
pub struct Database {
    /// Database JSON as it is answered; may be anything.
    pub json: Bytes,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Time of the last change in milliseconds since the epoch.
    pub modified_at_ms: i64,
    /// Who may see it.
    pub visibility: Visibility,
    tables: BTreeMap<String, i64>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub(super) id: i64,
    pub(super) database: String,
    pub(super) name: String,
    pub(super) has_primary_key: bool,
    pub(super) partition_keys: Vec<String>,
    pub(super) bucket_count: i32,
    pub(super) replication: usize,
    /// Id of the latest schema.
    pub schema_id: i32,
    /// Table JSON as it is answered; may be anything.
    pub json: Bytes,
    /// Schema JSON by schema id.
    pub schemas: BTreeMap<i32, Bytes>,
    /// Creation time in milliseconds since the epoch.
    pub created_at_ms: i64,
    /// Time of the last change in milliseconds since the epoch.
    pub modified_at_ms: i64,
    /// Remote folder; only answered by [`ServerLine::Main`].
    pub remote_data_dir: Option<String>,
    /// Buckets by number; empty if the table is partitioned.
    pub buckets: Vec<Bucket>,
    /// Partitions by name.
    pub partitions: BTreeMap<String, Partition>,
    /// Snapshots in the lake, oldest first.
    pub lake_snapshots: Vec<LakeSnapshot>,
    /// Who may see it.
    pub visibility: Visibility,
}

impl Table {
    /// Returns the id.
    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns the name of the database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns the name without its database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Tells whether there is a primary key.
    pub fn has_primary_key(&self) -> bool {
        self.has_primary_key
    }

    /// Returns the partition keys; empty if the table is not partitioned.
    pub fn partition_keys(&self) -> &[String] {
        &self.partition_keys
    }

    /// Returns a bucket of the table, or of one partition.
    pub fn bucket(&self, partition: Option<&str>, number: i32) -> Option<&Bucket> {
        let buckets = match partition {
            None => &self.buckets,
            Some(name) => &self.partitions.get(name)?.buckets,
        };
        buckets.get(usize::try_from(number).ok()?)
    }

    /// Returns a bucket of the table, or of one partition, to change it.
    pub fn bucket_mut(&mut self, partition: Option<&str>, number: i32) -> Option<&mut Bucket> {
        let buckets = match partition {
            None => &mut self.buckets,
            Some(name) => &mut self.partitions.get_mut(name)?.buckets,
        };
        buckets.get_mut(usize::try_from(number).ok()?)
    }

    fn all_buckets_mut(&mut self) -> impl Iterator<Item = &mut Bucket> {
        self.buckets.iter_mut().chain(self.partitions.values_mut().flat_map(|part| part.buckets.iter_mut()))
    }

    pub(super) fn all_buckets(&self) -> impl Iterator<Item = &Bucket> {
        self.buckets.iter().chain(self.partitions.values().flat_map(|part| part.buckets.iter()))
    }
}

/// A partition.
#[derive(Clone, Debug)]
pub struct Partition {
    pub(super) id: i64,
    /// Buckets by number.
    pub buckets: Vec<Bucket>,
    /// Remote folder; only answered by [`ServerLine::Main`].
    pub remote_data_dir: Option<String>,
}

impl Partition {
    /// Returns the id.
    pub fn id(&self) -> i64 {
        self.id
    }
}

/// A bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Id of the leading tablet server.
    pub leader: Option<i32>,
    /// Ids of the tablet servers with a replica.
    pub replicas: Vec<i32>,
    /// Epoch of the leadership.
    pub leader_epoch: Option<i32>,
    /// First offset of the log.
    pub earliest: i64,
    /// High watermark.
    pub latest: i64,
    /// Commit timestamps in milliseconds with the first offset that has each, ascending.
    pub timestamps: Vec<(i64, i64)>,
    /// Rows of a primary key table; absent stands for a table that keeps no count (error 15). The count of a
    /// log table follows from its offsets.
    pub row_count: Option<i64>,
    /// Error code that the bucket gives to each question about its offsets and rows.
    pub error: Option<i32>,
    /// Snapshots of the key-value store, oldest first.
    pub kv_snapshots: Vec<KvSnapshot>,
}

/// A snapshot of a bucket's key-value store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KvSnapshot {
    /// Id.
    pub id: i64,
    /// Offset from which the log continues it.
    pub log_offset: i64,
    /// Remote paths with local file names.
    pub files: Vec<(String, String)>,
}

/// A snapshot of a table in the lake.
#[derive(Clone, Debug, PartialEq)]
pub struct LakeSnapshot {
    /// Id.
    pub id: i64,
    /// Whether it counts for a question about the latest readable snapshot.
    pub is_readable: bool,
    /// Offsets of its buckets.
    pub buckets: Vec<PbLakeSnapshotForBucket>,
}

/// Everything the servers of a cluster answer from.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Release line.
    pub line: ServerLine,
    /// The registered coordinator.
    pub coordinator: Option<Node>,
    /// The registered tablet servers.
    pub tablet_servers: Vec<Node>,
    /// Configuration that all servers share.
    pub configs: Vec<Config>,
    /// Whether there is an authorizer; without one `LIST_ACLS` gives error 47.
    pub has_authorizer: bool,
    /// Access rules; they are listed, not enforced: see [`Visibility`].
    pub acls: Vec<PbAclInfo>,
    /// SASL users.
    pub users: Users,
    /// Whether `GET_LAKE_SNAPSHOT` fails with error 40.
    pub lacks_lake: bool,
    /// Clock of the servers in milliseconds since the epoch; the system's if absent.
    pub now_ms: Option<i64>,
    databases: BTreeMap<String, Database>,
    tables: HashMap<i64, Table>,
    partitions: HashMap<i64, (i64, String)>,
    last_table_id: i64,
    last_partition_id: i64,
}

/// Time at which everything in a model was created unless said otherwise: 2024-07-01T00:00:00Z.
pub(super) const CREATED_AT_MS: i64 = 1_719_792_000_000;

impl Model {
    /// Returns the names of all databases, sorted.
    pub fn database_names(&self) -> impl Iterator<Item = &str> {
        self.databases.keys().map(String::as_str)
    }

    pub(super) fn databases(&self) -> impl Iterator<Item = (&str, &Database)> {
        self.databases.iter().map(|(name, database)| (name.as_str(), database))
    }

    /// Returns a database.
    pub fn database(&self, name: &str) -> Option<&Database> {
        self.databases.get(name)
    }

    /// Returns a database to change it.
    pub fn database_mut(&mut self, name: &str) -> Option<&mut Database> {
        self.databases.get_mut(name)
    }

    /// Adds a database unless it exists, and returns it.
    pub fn add_database(&mut self, name: &str) -> &mut Database {
        self.databases.entry(name.to_owned()).or_insert_with(|| Database {
            json: Bytes::from_static(br#"{"version":1,"custom_properties":{}}"#),
            created_at_ms: CREATED_AT_MS,
            modified_at_ms: CREATED_AT_MS,
            ..Database::default()
        })
    }

    /// Drops a database with its tables; tells whether it existed.
    pub fn drop_database(&mut self, name: &str) -> bool {
        let Some(database) = self.databases.remove(name) else { return false };
        for id in database.tables.values() {
            self.forget_table(*id);
        }
        true
    }

    /// Returns the tables of a database, sorted by name.
    pub fn tables_of(&self, database: &str) -> impl Iterator<Item = &Table> {
        let ids = self.databases.get(database).map(|database| database.tables.values());
        ids.into_iter().flatten().filter_map(|id| self.tables.get(id))
    }

    /// Returns all tables in no order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values()
    }

    /// Returns a table.
    pub fn table(&self, database: &str, name: &str) -> Option<&Table> {
        self.tables.get(self.databases.get(database)?.tables.get(name)?)
    }

    /// Returns a table to change it.
    pub fn table_mut(&mut self, database: &str, name: &str) -> Option<&mut Table> {
        self.tables.get_mut(self.databases.get(database)?.tables.get(name)?)
    }

    /// Returns a table by its id.
    pub fn table_by_id(&self, id: i64) -> Option<&Table> {
        self.tables.get(&id)
    }

    pub(super) fn partition_by_id(&self, id: i64) -> Option<(&Table, &str, &Partition)> {
        let (table_id, name) = self.partitions.get(&id)?;
        let table = self.tables.get(table_id)?;
        Some((table, name, table.partitions.get(name)?))
    }

    /// Adds a table, with its database if that is missing, and returns its id. A table of the same name is
    /// replaced, as if it had been dropped before.
    pub fn add_table(&mut self, table: NewTable) -> i64 {
        self.last_table_id += 1;
        let id = self.last_table_id;
        let placement = self.placement();
        let (table, partition_names) = table.into_table(id, &placement);
        let database = self.add_database(table.database());
        if let Some(old) = database.tables.insert(table.name().to_owned(), id) {
            self.forget_table(old);
        }
        let (database, name) = (table.database.clone(), table.name.clone());
        self.tables.insert(id, table);
        for partition in partition_names {
            self.add_partition(&database, &name, &partition);
        }
        id
    }

    /// Drops a table; tells whether it existed.
    pub fn drop_table(&mut self, database: &str, name: &str) -> bool {
        let id = self.databases.get_mut(database).and_then(|database| database.tables.remove(name));
        id.is_some_and(|id| self.forget_table(id))
    }

    /// Drops a table and creates it anew under its name: new ids, empty logs, schema 1. Returns the new id.
    pub fn recreate_table(&mut self, database: &str, name: &str) -> Option<i64> {
        let mut table = self.table(database, name)?.clone();
        let partitions: Vec<String> = std::mem::take(&mut table.partitions).into_keys().collect();
        self.forget_table(table.id);
        self.last_table_id += 1;
        table.id = self.last_table_id;
        table.schema_id = 1;
        table.lake_snapshots.clear();
        for bucket in &mut table.buckets {
            *bucket = Bucket {
                leader: bucket.leader,
                replicas: std::mem::take(&mut bucket.replicas),
                leader_epoch: Some(0),
                row_count: table.has_primary_key.then_some(0),
                ..Bucket::default()
            };
        }
        let id = table.id;
        self.databases.get_mut(database)?.tables.insert(name.to_owned(), id);
        self.tables.insert(id, table);
        for partition in partitions {
            self.add_partition(database, name, &partition);
        }
        Some(id)
    }

    /// Adds a partition with empty buckets and returns its id; nothing happens if the table is missing, is not
    /// partitioned or has the partition.
    pub fn add_partition(&mut self, database: &str, table: &str, name: &str) -> Option<i64> {
        let placement = self.placement();
        let id = self.last_partition_id + 1;
        let table = self.table_mut(database, table)?;
        if table.partition_keys.is_empty() || table.partitions.contains_key(name) {
            return None;
        }
        let buckets = placement.buckets(id, table.bucket_count, table.replication, table.has_primary_key);
        let partition = Partition { id, buckets, remote_data_dir: table.remote_data_dir.clone() };
        table.partitions.insert(name.to_owned(), partition);
        let table_id = table.id;
        self.partitions.insert(id, (table_id, name.to_owned()));
        self.last_partition_id = id;
        Some(id)
    }

    /// Drops a partition; tells whether it existed.
    pub fn drop_partition(&mut self, database: &str, table: &str, name: &str) -> bool {
        let partition = self.table_mut(database, table).and_then(|table| table.partitions.remove(name));
        partition.is_some_and(|partition| self.partitions.remove(&partition.id).is_some())
    }

    /// Gives a bucket another leader, or none, in a new epoch; tells whether the bucket exists.
    ///
    /// A leader without a replica takes over the replica of the leader before, so that a bucket with one
    /// replica leaves its old server altogether.
    pub fn move_leader(
        &mut self,
        database: &str,
        table: &str,
        partition: Option<&str>,
        bucket: i32,
        leader: Option<i32>,
    ) -> bool {
        let table = self.table_mut(database, table);
        let Some(bucket) = table.and_then(|table| table.bucket_mut(partition, bucket)) else { return false };
        if let Some(new) = leader.filter(|new| !bucket.replicas.contains(new)) {
            let old = bucket.leader;
            match bucket.replicas.iter_mut().find(|replica| Some(**replica) == old) {
                Some(replica) => *replica = new,
                None => bucket.replicas.push(new),
            }
        }
        bucket.leader = leader;
        bucket.leader_epoch = bucket.leader_epoch.map(|epoch| epoch + 1);
        true
    }

    /// Takes a tablet server out of the metadata and gives its buckets to another of their replicas, or to
    /// nobody; tells whether it was registered. The server itself goes on running.
    pub fn lose_tablet_server(&mut self, id: i32) -> bool {
        let count = self.tablet_servers.len();
        self.tablet_servers.retain(|node| node.id != id);
        let alive: Vec<i32> = self.tablet_servers.iter().map(|node| node.id).collect();
        for bucket in self.tables.values_mut().flat_map(Table::all_buckets_mut) {
            if bucket.leader == Some(id) {
                bucket.leader = bucket.replicas.iter().copied().find(|replica| alive.contains(replica));
                bucket.leader_epoch = bucket.leader_epoch.map(|epoch| epoch + 1);
            }
        }
        self.tablet_servers.len() < count
    }

    fn placement(&self) -> Placement {
        Placement::new(self.tablet_servers.iter().map(|node| node.id).collect())
    }

    fn forget_table(&mut self, id: i64) -> bool {
        let Some(table) = self.tables.remove(&id) else { return false };
        for partition in table.partitions.values() {
            self.partitions.remove(&partition.id);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let node = |id| Node { id, host: "h".to_owned(), port: 1, rack: None, configs: Vec::new() };
        Model { tablet_servers: vec![node(0), node(1)], ..Model::default() }
    }

    #[test]
    fn recreated_table_has_new_ids_and_empty_logs() {
        let mut model = model();
        let id = model.add_table(NewTable::log("shop", "clicks").partitions(["20240101", "20240102"]));
        let table = model.table_mut("shop", "clicks").unwrap();
        table.bucket_mut(Some("20240101"), 0).unwrap().latest = 9;
        let old_partition = table.partitions["20240101"].id();

        let new_id = model.recreate_table("shop", "clicks").unwrap();
        assert!(new_id > id);
        assert!(model.table_by_id(id).is_none());
        assert!(model.partition_by_id(old_partition).is_none());
        let table = model.table_by_id(new_id).unwrap();
        assert_eq!(table.partitions.keys().collect::<Vec<_>>(), ["20240101", "20240102"]);
        assert_eq!(table.bucket(Some("20240101"), 0).unwrap().latest, 0);
        let partition = table.partitions["20240101"].id();
        assert_eq!(model.partition_by_id(partition).unwrap().1, "20240101");
    }

    #[test]
    fn moved_leader_takes_the_only_replica_with_it() {
        let mut model = model();
        model.add_table(NewTable::log("shop", "clicks"));
        let old = model.table("shop", "clicks").unwrap().buckets[0].clone();
        let new = 1 - old.leader.unwrap();
        assert!(model.move_leader("shop", "clicks", None, 0, Some(new)));
        let bucket = &model.table("shop", "clicks").unwrap().buckets[0];
        assert_eq!((bucket.leader, bucket.replicas.as_slice()), (Some(new), [new].as_slice()));
        assert!(bucket.leader_epoch > old.leader_epoch);
        assert!(!model.move_leader("shop", "clicks", None, 1, Some(new)));
    }

    #[test]
    fn lost_server_hands_its_buckets_to_a_living_replica_or_to_nobody() {
        let mut model = model();
        model.add_table(NewTable::log("shop", "two").buckets(4).replicas(2));
        model.add_table(NewTable::log("shop", "one").buckets(4));
        assert!(model.lose_tablet_server(0));
        assert!(!model.lose_tablet_server(0));
        let leaders = |name| {
            model.table("shop", name).unwrap().buckets.iter().map(|bucket| bucket.leader).collect::<Vec<_>>()
        };
        assert_eq!(leaders("two"), [Some(1); 4]);
        assert_eq!(leaders("one").iter().filter(|leader| leader.is_none()).count(), 2);
    }

    #[test]
    fn dropping_a_database_drops_its_tables_and_partitions() {
        let mut model = model();
        let id = model.add_table(NewTable::primary_key("shop", "orders").partitions(["20240101"]));
        let partition = model.table("shop", "orders").unwrap().partitions["20240101"].id();
        assert!(model.drop_database("shop"));
        assert!(model.table_by_id(id).is_none() && model.partition_by_id(partition).is_none());
        assert_eq!(model.database_names().count(), 0);
    }
}
