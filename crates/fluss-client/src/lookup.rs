//! Rows of primary-key tables by their key, or by the part of it that chooses the bucket.
//!
//! What is read is what the leader's store holds: a write acknowledged by all replicas is in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use fluss_codec::kv_value::KvValue;
use fluss_codec::messages::{
    LookupRequest, LookupResponse, PbLookupReqForBucket, PbPrefixLookupReqForBucket, PrefixLookupRequest,
    PrefixLookupResponse,
};
use fluss_codec::row::{RowError, Value};

use crate::bucket_call::{BucketCall, BucketPart, Patience};
use crate::connection::Connection;
use crate::error::Error;
use crate::metadata::Layout;
use crate::table::Table;

/// Most keys of one bucket that are asked for in one request.
pub const MAX_KEYS_PER_BUCKET: usize = 1024;

struct Lookup;

impl BucketCall for Lookup {
    type Item = Vec<Bytes>;
    type Output = Vec<Option<Bytes>>;
    type Request = LookupRequest;

    fn request(&self, layout: &Layout, items: &[(i32, Vec<Bytes>)]) -> LookupRequest {
        let bucket = |(bucket, keys): &(i32, Vec<Bytes>)| PbLookupReqForBucket {
            partition_id: layout.partition_id,
            bucket_id: *bucket,
            keys: keys.clone(),
            original_partition_name: None,
        };
        LookupRequest {
            table_id: layout.table_id,
            buckets_req: items.iter().map(bucket).collect(),
            insert_if_not_exists: None,
            acks: None,
            timeout_ms: None,
        }
    }

    fn split(&self, answer: LookupResponse, _: &Connection) -> Vec<BucketPart<Vec<Option<Bytes>>>> {
        let part = |part: fluss_codec::messages::PbLookupRespForBucket| BucketPart {
            bucket: part.bucket_id,
            error_code: part.error_code,
            error_message: part.error_message,
            output: Ok(part.values.into_iter().map(|value| value.values).collect()),
        };
        answer.buckets_resp.into_iter().map(part).collect()
    }
}

struct PrefixLookup;

impl BucketCall for PrefixLookup {
    type Item = Vec<Bytes>;
    type Output = Vec<Vec<Bytes>>;
    type Request = PrefixLookupRequest;

    fn request(&self, layout: &Layout, items: &[(i32, Vec<Bytes>)]) -> PrefixLookupRequest {
        let bucket = |(bucket, keys): &(i32, Vec<Bytes>)| PbPrefixLookupReqForBucket {
            partition_id: layout.partition_id,
            bucket_id: *bucket,
            keys: keys.clone(),
        };
        PrefixLookupRequest { table_id: layout.table_id, buckets_req: items.iter().map(bucket).collect() }
    }

    fn split(&self, answer: PrefixLookupResponse, _: &Connection) -> Vec<BucketPart<Vec<Vec<Bytes>>>> {
        let part = |part: fluss_codec::messages::PbPrefixLookupRespForBucket| BucketPart {
            bucket: part.bucket_id,
            error_code: part.error_code,
            error_message: part.error_message,
            output: Ok(part.value_lists.into_iter().map(|list| list.values).collect()),
        };
        answer.buckets_resp.into_iter().map(part).collect()
    }
}

/// Keys by partition and bucket, each with its position among those asked for.
type Shares = BTreeMap<Option<String>, BTreeMap<i32, Vec<(usize, Bytes)>>>;

impl Table {
    /// Looks up rows by primary key.
    ///
    /// A key has one value for each column of the primary key, in its declared order. The result has an entry for
    /// each key: the row with all columns of the table as it was opened, or nothing. A partition that does not exist
    /// has no rows.
    ///
    /// # Errors
    /// `unsuitable_table` without a primary key, `invalid_row` for a key that does not fit it, and what goes wrong
    /// with the first bucket that fails.
    pub async fn lookup(&self, keys: &[Vec<Value>]) -> Result<Vec<Option<Vec<Value>>>, Error> {
        if !self.schema().has_primary_key() {
            return Err(self.unsuitable("has no primary key"));
        }
        let rules = self.key_rules()?;
        let positions = self.positions(self.schema().primary_key());
        let mut shares = Shares::new();
        for (index, key) in keys.iter().enumerate() {
            let row = self.key_row(&positions, index, key)?;
            let place = self.place(&rules, index, &row)?;
            shares
                .entry(place.partition)
                .or_default()
                .entry(place.bucket)
                .or_default()
                .push((index, place.key));
        }
        let mut rows = vec![None; keys.len()];
        let mut plans = HashMap::new();
        for (partition, buckets) in shares {
            for (index, value) in self.ask(partition.as_deref(), buckets, &Arc::new(Lookup)).await? {
                let Some(value) = value else { continue };
                let value = self.kv_value(value)?;
                let read = self.read_values(vec![value], &mut plans).await?;
                if let Some(place) = rows.get_mut(index) {
                    *place = read.into_iter().next();
                }
            }
        }
        Ok(rows)
    }

    /// Looks up the rows of a prefix of the primary key.
    ///
    /// A prefix has one value for each partition key and each bucket key, in this order. The result has a list for
    /// each prefix, in the order of the keys' bytes.
    ///
    /// # Errors
    /// As [`Table::lookup`]; `unsuitable_table` also where the bucket key does not begin the primary key or is all of it.
    pub async fn prefix_lookup(&self, prefixes: &[Vec<Value>]) -> Result<Vec<Vec<Vec<Value>>>, Error> {
        let physical = self.descriptor().physical_primary_key();
        let bucket_keys = self.descriptor().bucket_keys();
        if !self.schema().has_primary_key() || !physical.starts_with(&bucket_keys) || physical == bucket_keys
        {
            return Err(self.unsuitable("has no bucket key that begins its primary key and is shorter"));
        }
        let rules = self.key_rules()?;
        let prefix_columns = self.positions(&bucket_keys);
        let mut positions = self.positions(self.descriptor().partition_keys());
        positions.extend(&prefix_columns);
        let mut shares = Shares::new();
        for (index, prefix) in prefixes.iter().enumerate() {
            let row = self.key_row(&positions, index, prefix)?;
            let partition = self.partition_of(index, &row)?;
            let bucket = self.bucket_of(&rules, index, &row)?;
            let key = self.encode_key(rules.primary_key, &prefix_columns, index, &row)?;
            shares.entry(partition).or_default().entry(bucket).or_default().push((index, key));
        }
        let mut found = vec![Vec::new(); prefixes.len()];
        let mut plans = HashMap::new();
        for (partition, buckets) in shares {
            for (index, values) in self.ask(partition.as_deref(), buckets, &Arc::new(PrefixLookup)).await? {
                let values: Result<Vec<_>, _> =
                    values.into_iter().map(|value| self.kv_value(value)).collect();
                let rows = self.read_values(values?, &mut plans).await?;
                if let Some(place) = found.get_mut(index) {
                    *place = rows;
                }
            }
        }
        Ok(found)
    }

    fn key_row(&self, positions: &[usize], index: usize, key: &[Value]) -> Result<Vec<Value>, Error> {
        if key.len() != positions.len() {
            let error = RowError::Arity { expected: positions.len(), found: key.len() };
            return Err(self.invalid_row(index, error));
        }
        Ok(self.sparse_row(positions, key))
    }

    fn kv_value(&self, value: Bytes) -> Result<KvValue, Error> {
        KvValue::decode(value).map_err(|error| self.unreadable(error))
    }

    /// Asks the buckets of one partition and pairs what they say with the positions of the keys.
    async fn ask<T, C>(
        &self,
        partition: Option<&str>,
        buckets: BTreeMap<i32, Vec<(usize, Bytes)>>,
        call: &Arc<C>,
    ) -> Result<Vec<(usize, T)>, Error>
    where
        T: Send + 'static,
        C: BucketCall<Item = Vec<Bytes>, Output = Vec<T>>,
    {
        let mut found = Vec::new();
        let longest = buckets.values().map(Vec::len).max().unwrap_or_default();
        for round in 0..longest.div_ceil(MAX_KEYS_PER_BUCKET) {
            let share = |keys: &Vec<(usize, Bytes)>| -> Vec<(usize, Bytes)> {
                keys.iter().skip(round * MAX_KEYS_PER_BUCKET).take(MAX_KEYS_PER_BUCKET).cloned().collect()
            };
            let shares: BTreeMap<i32, Vec<(usize, Bytes)>> = buckets
                .iter()
                .map(|(bucket, keys)| (*bucket, share(keys)))
                .filter(|(_, keys)| !keys.is_empty())
                .collect();
            let items = shares
                .iter()
                .map(|(bucket, keys)| (*bucket, keys.iter().map(|(_, key)| key.clone()).collect()))
                .collect();
            let attempts = self.client().settings().read_max_attempts();
            let patience = Patience { attempts, deadline: self.client().deadline() };
            let mut answers = match self.call(partition, items, call, patience).await {
                // Where there is no partition there are no rows.
                Err(Error::PartitionNotFound { .. }) => return Ok(Vec::new()),
                called => called?.answers,
            };
            for (bucket, keys) in shares {
                let values = answers.remove(&bucket).ok_or(Error::BucketMissing { bucket })??;
                if values.len() != keys.len() {
                    let address = self.client().settings().bootstrap().first();
                    return Err(Error::corrupt(address, "a lookup has another number of values than keys"));
                }
                found.extend(keys.into_iter().map(|(index, _)| index).zip(values));
            }
        }
        Ok(found)
    }
}
