//! Tables to be added to a model, and where their buckets go.
//!
//! Descriptions are written by `fluss_codec`, so that what the fake servers answer is what a client of this
//! workspace can read; [`NewTable::raw`] is for all that it must not choke on.

use std::collections::BTreeMap;

use bytes::Bytes;
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::schema::Schema;
use fluss_codec::table::{TableDescriptor, TableKind};

use super::model::{Bucket, CREATED_AT_MS, Table, Visibility};

/// A table to be added with [`super::model::Model::add_table`].
#[derive(Clone, Debug)]
pub struct NewTable {
    database: String,
    name: String,
    description: Description,
    bucket_count: u32,
    partitions: Vec<String>,
    replication: usize,
    visibility: Visibility,
}

#[derive(Clone, Debug)]
enum Description {
    /// A plain table of the kind.
    Standard(TableKind),
    /// Given by the test.
    Given(Written),
}

/// A description ready to be sent; shared by all tables that have it.
#[derive(Clone, Debug)]
pub(super) struct Written {
    table_json: Bytes,
    schema_json: Bytes,
    kind: TableKind,
    partition_keys: Vec<String>,
}

impl Written {
    /// Writes a description.
    pub(super) fn of(descriptor: &TableDescriptor) -> Self {
        Self {
            table_json: Bytes::from(descriptor.to_json()),
            schema_json: Bytes::from(descriptor.schema().to_json()),
            kind: descriptor.kind(),
            partition_keys: descriptor.partition_keys().to_vec(),
        }
    }
}

impl NewTable {
    /// Plans a log table with columns `id`, `day`, `event`, `amount`, `occurred_at`; one bucket, one replica.
    pub fn log(database: &str, name: &str) -> Self {
        Self::new(database, name, Description::Standard(TableKind::Log), 1)
    }

    /// Plans a table with the primary key `id` (and `day` if partitioned); otherwise as [`NewTable::log`].
    pub fn primary_key(database: &str, name: &str) -> Self {
        Self::new(database, name, Description::Standard(TableKind::PrimaryKey), 1)
    }

    /// Plans a table by its description; one bucket if that says nothing about buckets.
    pub fn described(database: &str, name: &str, descriptor: &TableDescriptor) -> Self {
        let bucket_count = descriptor.bucket_count().unwrap_or(1);
        Self::new(database, name, Description::Given(Written::of(descriptor)), bucket_count)
    }

    /// Plans a log table that answers any bytes as its table and schema JSON.
    pub fn raw(database: &str, name: &str, table_json: Bytes, schema_json: Bytes) -> Self {
        let kind = TableKind::Log;
        let written = Written { table_json, schema_json, kind, partition_keys: Vec::new() };
        Self::new(database, name, Description::Given(written), 1)
    }

    pub(super) fn written(database: &str, name: &str, written: Written, bucket_count: u32) -> Self {
        Self::new(database, name, Description::Given(written), bucket_count)
    }

    fn new(database: &str, name: &str, description: Description, bucket_count: u32) -> Self {
        Self {
            database: database.to_owned(),
            name: name.to_owned(),
            description,
            bucket_count,
            partitions: Vec::new(),
            replication: 1,
            visibility: Visibility::Everyone,
        }
    }

    /// Sets the number of buckets of the table, or of each partition.
    #[must_use]
    pub fn buckets(mut self, count: u32) -> Self {
        self.bucket_count = count;
        self
    }

    /// Gives the table partitions of these names. A standard table becomes partitioned by `day`.
    #[must_use]
    pub fn partitions<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.partitions = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the number of replicas of each bucket, at most one on each tablet server.
    #[must_use]
    pub fn replicas(mut self, count: usize) -> Self {
        self.replication = count;
        self
    }

    /// Sets who may see the table.
    #[must_use]
    pub fn visible_to(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Returns the table without its partitions, and their names.
    pub(super) fn into_table(self, id: i64, placement: &Placement) -> (Table, Vec<String>) {
        let is_partitioned = !self.partitions.is_empty();
        let written = match self.description {
            Description::Given(written) => written,
            Description::Standard(kind) => {
                Written::of(&standard(kind, is_partitioned, self.bucket_count, self.replication))
            }
        };
        let has_primary_key = written.kind == TableKind::PrimaryKey;
        let bucket_count = i32::try_from(self.bucket_count).unwrap_or(i32::MAX);
        let buckets = if written.partition_keys.is_empty() {
            placement.buckets(id, bucket_count, self.replication, has_primary_key)
        } else {
            Vec::new()
        };
        let table = Table {
            id,
            database: self.database,
            name: self.name,
            has_primary_key,
            partition_keys: written.partition_keys,
            bucket_count,
            replication: self.replication,
            schema_id: 1,
            json: written.table_json,
            schemas: BTreeMap::from([(1, written.schema_json)]),
            created_at_ms: CREATED_AT_MS + id * 1000,
            modified_at_ms: CREATED_AT_MS + id * 1000,
            remote_data_dir: None,
            buckets,
            partitions: BTreeMap::new(),
            lake_snapshots: Vec::new(),
            visibility: self.visibility,
        };
        (table, self.partitions)
    }
}

fn standard(kind: TableKind, is_partitioned: bool, bucket_count: u32, replication: usize) -> TableDescriptor {
    let columns = [
        ("id", TypeKind::BigInt),
        ("day", TypeKind::String),
        ("event", TypeKind::String),
        ("amount", TypeKind::Decimal { precision: 10, scale: 2 }),
        ("occurred_at", TypeKind::TimestampLtz { precision: 3 }),
    ];
    let partition_keys = if is_partitioned { vec!["day"] } else { Vec::new() };
    let mut primary_key = Vec::new();
    if kind == TableKind::PrimaryKey {
        primary_key.push("id");
        primary_key.extend(partition_keys.iter().copied());
    }
    let bucket_keys = if kind == TableKind::PrimaryKey { vec!["id"] } else { Vec::new() };
    let replication = [("table.replication.factor", replication.to_string())];
    describe(columns, &primary_key, &partition_keys, bucket_keys, bucket_count, replication)
}

/// Describes a table that is known to follow the rules.
pub(super) fn describe(
    columns: impl IntoIterator<Item = (&'static str, TypeKind)>,
    primary_key: &[&str],
    partition_keys: &[&str],
    bucket_keys: Vec<&str>,
    bucket_count: u32,
    properties: impl IntoIterator<Item = (&'static str, String)>,
) -> TableDescriptor {
    let mut schema = Schema::builder();
    for (name, kind) in columns {
        let data_type = DataType::new(kind).expect("the types written in this crate keep their bounds");
        schema = schema.column(name, data_type);
    }
    if !primary_key.is_empty() {
        schema = schema.primary_key(primary_key.iter().copied());
    }
    let schema = schema.build().expect("the schemas written in this crate follow the rules");
    let mut table = TableDescriptor::builder(schema)
        .partitioned_by(partition_keys.iter().copied())
        .distributed_by(Some(bucket_count.max(1)), bucket_keys);
    if !primary_key.is_empty() {
        table = table.property("table.kv.format-version", "2");
    }
    for (key, value) in properties {
        table = table.property(key, value);
    }
    table.build().expect("the tables written in this crate follow the rules")
}

/// Spreads buckets over tablet servers.
pub(super) struct Placement {
    servers: Vec<i32>,
}

impl Placement {
    /// Creates a placement over the servers with these ids.
    pub(super) fn new(servers: Vec<i32>) -> Self {
        Self { servers }
    }

    /// Returns empty buckets; `seed` moves the first leader, so that leaders are spread over many tables.
    pub(super) fn buckets(
        &self,
        seed: i64,
        count: i32,
        replication: usize,
        has_primary_key: bool,
    ) -> Vec<Bucket> {
        (0..count)
            .map(|number| {
                let first = self.first(seed, number);
                let replicas: Vec<i32> = self
                    .servers
                    .iter()
                    .cycle()
                    .skip(first)
                    .take(replication.min(self.servers.len()))
                    .copied()
                    .collect();
                Bucket {
                    leader: replicas.first().copied(),
                    replicas,
                    leader_epoch: Some(0),
                    row_count: has_primary_key.then_some(0),
                    ..Bucket::default()
                }
            })
            .collect()
    }

    fn first(&self, seed: i64, number: i32) -> usize {
        let count = i64::try_from(self.servers.len()).unwrap_or(i64::MAX).max(1);
        usize::try_from((seed + i64::from(number)).rem_euclid(count)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_tables_can_be_read_back() {
        for kind in [TableKind::Log, TableKind::PrimaryKey] {
            for is_partitioned in [false, true] {
                let json = standard(kind, is_partitioned, 3, 2).to_json();
                let table = TableDescriptor::from_json(json.as_bytes()).unwrap();
                assert_eq!((table.kind(), table.is_partitioned()), (kind, is_partitioned), "{json}");
                assert_eq!(table.bucket_count(), Some(3));
            }
        }
    }

    #[test]
    fn buckets_are_spread_over_all_servers() {
        let buckets = Placement::new(vec![7, 8, 9]).buckets(1, 6, 2, false);
        let leaders: Vec<i32> = buckets.iter().filter_map(|bucket| bucket.leader).collect();
        assert_eq!(leaders, [8, 9, 7, 8, 9, 7]);
        assert_eq!(buckets[1].replicas, [9, 7]);
        assert!(Placement::new(vec![]).buckets(1, 2, 1, false).iter().all(|bucket| bucket.leader.is_none()));
    }
}
