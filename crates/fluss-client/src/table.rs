//! A table that is read and written: what it is, where its rows belong, and the schemas its rows were written with.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use fluss_codec::bucket::BucketFunction;
use fluss_codec::data_type::DataType;
use fluss_codec::key::{KeyEncoding, KeyRules};
use fluss_codec::kv_value::KvValue;
use fluss_codec::name::TablePath;
use fluss_codec::partition::{PartitionSpec, PartitionValue};
use fluss_codec::read_plan::ReadPlan;
use fluss_codec::row::{RowFormat, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::{KvFormat, TableDescriptor};
use tokio::time::Instant;

use crate::admin::TableInfo;
use crate::client::FlussClient;
use crate::error::{Error, SharedSource};
use crate::metadata::Layout;

/// A table as it was when it was opened. Cheap to clone.
///
/// Everything it is asked holds for that table alone: one that was dropped and made again under the same name is
/// refused with `table_recreated`.
#[derive(Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

struct Inner {
    client: FlussClient,
    info: TableInfo,
    /// Schemas by id, as rows with them were met.
    schemas: Mutex<HashMap<i32, Arc<Schema>>>,
}

/// Where a row of a primary-key table belongs, and its key there.
pub(crate) struct Placement {
    pub(crate) partition: Option<String>,
    pub(crate) bucket: i32,
    pub(crate) key: Bytes,
}

impl FlussClient {
    /// Opens a table for reading and writing rows.
    ///
    /// # Errors
    /// As [`FlussClient::table_info`].
    pub async fn table(&self, path: &TablePath) -> Result<Table, Error> {
        let info = self.table_info(path).await?;
        let schema = Arc::new(info.descriptor.schema().clone());
        let schemas = Mutex::new(HashMap::from([(info.schema_id, schema)]));
        Ok(Table { inner: Arc::new(Inner { client: self.clone(), info, schemas }) })
    }
}

impl Table {
    /// Returns what the table was when it was opened.
    pub fn info(&self) -> &TableInfo {
        &self.inner.info
    }

    pub(crate) fn client(&self) -> &FlussClient {
        &self.inner.client
    }

    pub(crate) fn path(&self) -> &TablePath {
        &self.inner.info.path
    }

    pub(crate) fn descriptor(&self) -> &TableDescriptor {
        &self.inner.info.descriptor
    }

    pub(crate) fn schema(&self) -> &Schema {
        self.descriptor().schema()
    }

    /// Returns the id of the schema as batches carry it.
    pub(crate) fn schema_id(&self) -> Result<i16, Error> {
        i16::try_from(self.inner.info.schema_id)
            .map_err(|_| self.unsuitable("has a schema id that batches cannot carry"))
    }

    pub(crate) fn unsuitable(&self, reason: &'static str) -> Error {
        Error::UnsuitableTable { path: self.path().clone(), reason }
    }

    pub(crate) fn unreadable(&self, source: impl std::error::Error + Send + Sync + 'static) -> Error {
        let source: SharedSource = Arc::new(source);
        Error::UnreadableRow { path: self.path().clone(), source }
    }

    pub(crate) fn invalid_row(
        &self,
        row: usize,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Error {
        let source: SharedSource = Arc::new(source);
        Error::InvalidRow { path: self.path().clone(), row, source }
    }

    pub(crate) fn kv_format(&self) -> Result<RowFormat, Error> {
        let format = self.descriptor().kv_format().map_err(|error| self.unreadable(error))?;
        Ok(match format {
            KvFormat::Compacted => RowFormat::Compacted,
            KvFormat::Indexed => RowFormat::Indexed,
        })
    }

    /// Returns the leaders of the table or of one of its partitions; those of another table of the name are refused.
    pub(crate) async fn layout(
        &self,
        partition: Option<&str>,
        deadline: Instant,
    ) -> Result<Arc<Layout>, Error> {
        let client = self.client();
        let expected = self.inner.info.table_id;
        let mut layout = client.layout(self.path(), partition, deadline).await?;
        if layout.table_id != expected {
            // What is remembered may be older than this table.
            client.inner.leaders.forget(self.path(), partition, &layout);
            layout = client.layout(self.path(), partition, deadline).await?;
        }
        if layout.table_id == expected {
            return Ok(layout);
        }
        let what = format!("table {}", self.path());
        Err(Error::TableRecreated { what, expected, found: layout.table_id })
    }

    pub(crate) fn forget(&self, partition: Option<&str>, wrong: &Arc<Layout>) {
        self.client().inner.leaders.forget(self.path(), partition, wrong);
    }

    /// Returns a schema by its id; asks for it the first time.
    pub(crate) async fn schema_of(&self, schema_id: i32) -> Result<Arc<Schema>, Error> {
        let known = || {
            let schemas = self.inner.schemas.lock().unwrap_or_else(PoisonError::into_inner);
            schemas.get(&schema_id).cloned()
        };
        if let Some(schema) = known() {
            return Ok(schema);
        }
        let info = self.client().table_schema(self.path(), Some(schema_id)).await?;
        let schema = Arc::new(info.schema);
        let mut schemas = self.inner.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        schemas.insert(schema_id, Arc::clone(&schema));
        Ok(schema)
    }

    /// Returns how rows of a schema are read as rows of the table, or as some of its columns.
    pub(crate) async fn plan(&self, schema_id: i16, columns: &[usize]) -> Result<ReadPlan, Error> {
        let source = self.schema_of(i32::from(schema_id)).await?;
        ReadPlan::new(&source, self.schema(), columns).map_err(|error| self.unreadable(error))
    }

    /// Returns the positions of all columns.
    pub(crate) fn all_columns(&self) -> Vec<usize> {
        (0..self.schema().columns().len()).collect()
    }

    /// Reads values of the key-value store as rows of the table.
    pub(crate) async fn read_values(
        &self,
        values: Vec<KvValue>,
        plans: &mut HashMap<i16, ReadPlan>,
    ) -> Result<Vec<Vec<Value>>, Error> {
        let format = self.kv_format()?;
        let columns = self.all_columns();
        let mut rows = Vec::with_capacity(values.len());
        for value in values {
            let plan = match plans.entry(value.schema_id) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => entry.insert(self.plan(value.schema_id, &columns).await?),
            };
            rows.push(plan.decode(format, &value.row).map_err(|error| self.unreadable(error))?);
        }
        Ok(rows)
    }

    pub(crate) fn key_rules(&self) -> Result<KeyRules, Error> {
        KeyRules::of(self.descriptor()).map_err(|error| self.unreadable(error))
    }

    pub(crate) fn positions(&self, names: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<usize> {
        // The descriptor has been checked: keys name columns that exist.
        names.into_iter().filter_map(|name| self.schema().position(name.as_ref())).collect()
    }

    /// Encodes some columns of a row of the table.
    pub(crate) fn encode_key(
        &self,
        encoding: KeyEncoding,
        positions: &[usize],
        index: usize,
        row: &[Value],
    ) -> Result<Bytes, Error> {
        let columns = self.schema().columns();
        let types: Vec<&DataType> =
            positions.iter().filter_map(|at| columns.get(*at)).map(|column| &column.data_type).collect();
        let values: Vec<Value> = positions.iter().filter_map(|at| row.get(*at)).cloned().collect();
        let key = encoding.encode(&types, &values).map_err(|error| self.invalid_row(index, error))?;
        Ok(Bytes::from(key))
    }

    /// Returns the number of the bucket that a row belongs to by its bucket key.
    pub(crate) fn bucket_of(&self, rules: &KeyRules, index: usize, row: &[Value]) -> Result<i32, Error> {
        let key =
            self.encode_key(rules.bucket_key, &self.positions(self.descriptor().bucket_keys()), index, row)?;
        self.bucket_of_key(rules.function, index, &key)
    }

    fn bucket_of_key(&self, function: BucketFunction, index: usize, key: &[u8]) -> Result<i32, Error> {
        let count = self.descriptor().bucket_count().unwrap_or(1);
        let bucket = function.bucket(key, count).map_err(|error| self.invalid_row(index, error))?;
        i32::try_from(bucket).map_err(|_| self.unsuitable("has more buckets than can be numbered"))
    }

    /// Returns the name of the partition that a row belongs to.
    pub(crate) fn partition_of(&self, index: usize, row: &[Value]) -> Result<Option<String>, Error> {
        let keys = self.descriptor().partition_keys();
        if keys.is_empty() {
            return Ok(None);
        }
        let mut values = Vec::with_capacity(keys.len());
        for position in self.positions(keys) {
            let value = row.get(position).and_then(PartitionValue::of);
            let value =
                value.ok_or_else(|| self.unsuitable("needs a value in each of its partition columns"))?;
            values.push(value.to_name_value().map_err(|error| self.invalid_row(index, error))?);
        }
        let pairs = keys.iter().map(String::as_str).zip(values.iter().map(String::as_str));
        let name = PartitionSpec::new(pairs).and_then(|spec| spec.to_name(keys));
        Ok(Some(name.map_err(|error| self.invalid_row(index, error))?.to_string()))
    }

    /// Returns where a row of a primary-key table belongs; only its key columns matter.
    pub(crate) fn place(&self, rules: &KeyRules, index: usize, row: &[Value]) -> Result<Placement, Error> {
        let physical = self.positions(self.descriptor().physical_primary_key());
        Ok(Placement {
            partition: self.partition_of(index, row)?,
            bucket: self.bucket_of(rules, index, row)?,
            key: self.encode_key(rules.primary_key, &physical, index, row)?,
        })
    }

    /// Makes a row that has values in some columns and null in all others.
    pub(crate) fn sparse_row(&self, positions: &[usize], values: &[Value]) -> Vec<Value> {
        let mut row = vec![Value::Null; self.schema().columns().len()];
        for (position, value) in positions.iter().zip(values) {
            if let Some(place) = row.get_mut(*position) {
                *place = value.clone();
            }
        }
        row
    }
}
