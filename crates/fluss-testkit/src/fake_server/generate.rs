//! Large catalogs, made fast: few descriptions, shared by many tables.
//!
//! Everything follows from the numbers asked for, so two catalogs of one size are equal.

use std::collections::HashMap;

use fluss_codec::data_type::TypeKind;

use super::model::{Bucket, Model, Partition};
use super::script::SplitMix;
use super::table::{NewTable, Written, describe};

/// A catalog to be generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Catalog {
    pub(super) databases: u32,
    pub(super) tables_per_database: u32,
    pub(super) buckets_per_table: u32,
}

const DATABASES: [&str; 20] = [
    "sales",
    "payments",
    "logistics",
    "inventory",
    "customers",
    "marketing",
    "clickstream",
    "fraud",
    "pricing",
    "support",
    "iot",
    "billing",
    "catalog",
    "search",
    "ads",
    "risk",
    "returns",
    "loyalty",
    "warehouse",
    "finance",
];

const SUBJECTS: [&str; 25] = [
    "orders",
    "order_items",
    "shipments",
    "sessions",
    "page_views",
    "products",
    "stock_levels",
    "prices",
    "users",
    "addresses",
    "carts",
    "coupons",
    "refunds",
    "invoices",
    "ledger",
    "sensor_readings",
    "devices",
    "alerts",
    "campaigns",
    "impressions",
    "searches",
    "tickets",
    "routes",
    "drivers",
    "accounts",
];

const FORMS: [&str; 8] = ["", "_events", "_raw", "_daily", "_enriched", "_current", "_history", "_by_region"];

/// A kind of table in a generated catalog.
struct Shape {
    columns: &'static [(&'static str, TypeKind)],
    primary_key: &'static [&'static str],
    partition_keys: &'static [&'static str],
    bucket_keys: &'static [&'static str],
    properties: &'static [(&'static str, &'static str)],
}

const EVENT_COLUMNS: &[(&str, TypeKind)] = &[
    ("event_id", TypeKind::String),
    ("account_id", TypeKind::BigInt),
    ("kind", TypeKind::String),
    ("payload", TypeKind::String),
    ("score", TypeKind::Double),
    ("occurred_at", TypeKind::TimestampLtz { precision: 3 }),
];

const FACT_COLUMNS: &[(&str, TypeKind)] = &[
    ("day", TypeKind::String),
    ("region", TypeKind::String),
    ("id", TypeKind::BigInt),
    ("quantity", TypeKind::Int),
    ("amount", TypeKind::Decimal { precision: 18, scale: 2 }),
    ("is_returned", TypeKind::Boolean),
    ("updated_at", TypeKind::Timestamp { precision: 6 }),
];

const STATE_COLUMNS: &[(&str, TypeKind)] = &[
    ("id", TypeKind::BigInt),
    ("name", TypeKind::String),
    ("state", TypeKind::String),
    ("balance", TypeKind::Decimal { precision: 18, scale: 2 }),
    ("valid_from", TypeKind::Date),
    ("updated_at", TypeKind::TimestampLtz { precision: 3 }),
];

/// Log tables with and without a bucket key, primary key tables, and both kinds partitioned.
const SHAPES: [Shape; 5] = [
    Shape {
        columns: EVENT_COLUMNS,
        primary_key: &[],
        partition_keys: &[],
        bucket_keys: &[],
        properties: &[("table.log.ttl", "7 d")],
    },
    Shape {
        columns: EVENT_COLUMNS,
        primary_key: &[],
        partition_keys: &[],
        bucket_keys: &["account_id"],
        properties: &[("table.log.ttl", "30 d"), ("table.log.arrow.compression.type", "LZ4_FRAME")],
    },
    Shape {
        columns: STATE_COLUMNS,
        primary_key: &["id"],
        partition_keys: &[],
        bucket_keys: &["id"],
        properties: &[("table.datalake.enabled", "true"), ("table.datalake.format", "PAIMON")],
    },
    Shape {
        columns: FACT_COLUMNS,
        primary_key: &[],
        partition_keys: &["day"],
        bucket_keys: &[],
        properties: &[("table.auto-partition.enabled", "true"), ("table.auto-partition.time-unit", "DAY")],
    },
    Shape {
        columns: FACT_COLUMNS,
        primary_key: &["day", "region", "id"],
        partition_keys: &["day", "region"],
        bucket_keys: &["id"],
        properties: &[("table.auto-partition.enabled", "true"), ("table.auto-partition.key", "day")],
    },
];

/// Which shape each table of ten has: five logs, three with a primary key, two partitioned.
const MIX: [usize; 10] = [0, 2, 1, 0, 3, 2, 1, 0, 2, 4];

impl Catalog {
    /// Adds the catalog to a model.
    pub(super) fn add_to(&self, model: &mut Model, replication: usize) {
        let mut written: HashMap<(usize, u32), Written> = HashMap::new();
        for database_number in 0..self.databases {
            let database = database_name(database_number);
            model.add_database(&database);
            for number in 0..self.tables_per_database {
                let table = table_name(number);
                let mixed = usize::try_from(number.wrapping_add(database_number)).unwrap_or(0) % MIX.len();
                let index = MIX.get(mixed).copied().unwrap_or(0);
                let Some(shape) = SHAPES.get(index) else { continue };
                let partitions = self.partitions_of(shape);
                let bucket_count =
                    self.buckets_per_table / u32::try_from(partitions.len().max(1)).unwrap_or(1);
                let written = written
                    .entry((index, bucket_count))
                    .or_insert_with(|| shape.write(bucket_count, replication))
                    .clone();
                let new = NewTable::written(&database, &table, written, bucket_count)
                    .partitions(partitions)
                    .replicas(replication);
                let id = model.add_table(new);
                if let Some(table) = model.table_mut(&database, &table) {
                    let mut numbers = SplitMix(id.unsigned_abs());
                    let buckets = table.buckets.iter_mut().chain(
                        table
                            .partitions
                            .values_mut()
                            .flat_map(|Partition { buckets, .. }| buckets.iter_mut()),
                    );
                    for bucket in buckets {
                        fill(bucket, &mut numbers);
                    }
                }
            }
        }
    }

    /// Returns partition names; their number divides the buckets, so that a table has as many as was asked.
    fn partitions_of(&self, shape: &Shape) -> Vec<String> {
        if shape.partition_keys.is_empty() {
            return Vec::new();
        }
        let divides = |count: &u32| self.buckets_per_table.checked_rem(*count) == Some(0);
        let count = (1..=7).rev().find(divides).unwrap_or(1);
        (1..=count)
            .map(|day| {
                let day = format!("202407{day:02}");
                if shape.partition_keys.len() == 1 { day } else { format!("{day}$eu") }
            })
            .collect()
    }
}

impl Shape {
    fn write(&self, bucket_count: u32, replication: usize) -> Written {
        let fixed = self.properties.iter().map(|(key, value)| (*key, (*value).to_owned()));
        let properties = fixed.chain([("table.replication.factor", replication.to_string())]);
        let columns = self.columns.iter().cloned();
        Written::of(&describe(
            columns,
            self.primary_key,
            self.partition_keys,
            self.bucket_keys.to_vec(),
            bucket_count,
            properties,
        ))
    }
}

fn fill(bucket: &mut Bucket, numbers: &mut SplitMix) {
    let mut number = |bound: usize| i64::try_from(numbers.below(bound)).unwrap_or(0);
    bucket.earliest = number(10_000);
    bucket.latest = bucket.earliest + number(1_000_000);
    bucket.row_count = bucket.row_count.map(|_| (bucket.latest - bucket.earliest) / 3);
}

/// Returns the name of the database of a number: `sales`, `payments`, …, then `sales_2`, …
fn database_name(number: u32) -> String {
    let (round, place) = divided(number, DATABASES.len());
    let name = DATABASES.get(place).copied().unwrap_or("data");
    if round == 0 { name.to_owned() } else { format!("{name}_{}", round + 1) }
}

/// Returns the name of the table of a number within its database; `orders`, `order_items`, …,
/// `orders_events`, …, then `orders_v2`, …
fn table_name(number: u32) -> String {
    let (rest, subject) = divided(number, SUBJECTS.len());
    let (version, form) = divided(rest, FORMS.len());
    let subject = SUBJECTS.get(subject).copied().unwrap_or("records");
    let form = FORMS.get(form).copied().unwrap_or("");
    if version == 0 { format!("{subject}{form}") } else { format!("{subject}{form}_v{}", version + 1) }
}

fn divided(number: u32, by: usize) -> (u32, usize) {
    let by = u32::try_from(by).unwrap_or(1).max(1);
    (number / by, usize::try_from(number % by).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fluss_codec::table::{TableDescriptor, TableKind};

    use super::*;

    #[test]
    fn every_number_has_a_name_of_its_own() {
        assert_eq!((0..1000).map(database_name).collect::<BTreeSet<_>>().len(), 1000);
        assert_eq!((0..5000).map(table_name).collect::<BTreeSet<_>>().len(), 5000);
        assert_eq!((database_name(0), database_name(21)), ("sales".to_owned(), "payments_2".to_owned()));
        assert_eq!((table_name(25), table_name(200)), ("orders_events".to_owned(), "orders_v2".to_owned()));
    }

    #[test]
    fn catalog_has_the_size_asked_for_and_all_kinds() {
        let mut model = Model::default();
        Catalog { databases: 3, tables_per_database: 20, buckets_per_table: 10 }.add_to(&mut model, 1);
        assert_eq!(model.database_names().count(), 3);
        assert_eq!(model.tables().count(), 60);
        let mut kinds = BTreeSet::new();
        for table in model.tables() {
            assert_eq!(table.all_buckets().count(), 10, "{}", table.name());
            assert!(table.all_buckets().all(|bucket| bucket.earliest <= bucket.latest));
            let descriptor = TableDescriptor::from_json(&table.json).unwrap();
            assert_eq!(descriptor.is_partitioned(), !table.partitions.is_empty());
            kinds.insert((descriptor.kind() == TableKind::PrimaryKey, descriptor.is_partitioned()));
        }
        assert_eq!(kinds.len(), 4);
    }
}
