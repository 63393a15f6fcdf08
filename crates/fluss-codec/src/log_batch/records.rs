//! The records of a batch.

use bytes::Bytes;

use super::LogBatch;
use crate::arrow::ArrowError;
use crate::arrow::read::ArrowColumns;
use crate::change_type::ChangeType;
use crate::read_plan::ReadPlan;
use crate::row::{RowError, RowFormat, Value};
use crate::table::LogFormat;

const SIZE_BYTES: usize = 4;
/// Smallest record of a row format: its size and its change type.
const MIN_RECORD_BYTES: usize = 5;

/// Why the records of a batch cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogRecordsError {
    /// The body is shorter than its change types, or a record does not lie within it.
    #[error("record {index} of the log batch is malformed")]
    Record {
        /// Position of the record, from 0.
        index: usize,
    },
    /// The body goes on after its last record.
    #[error("{count} bytes follow the last record of the log batch")]
    Trailing {
        /// Bytes left over.
        count: usize,
    },
    /// A change type is unknown.
    #[error("record {index} of the log batch has the unknown change type {byte}")]
    ChangeType {
        /// Position of the record, from 0.
        index: usize,
        /// The byte.
        byte: u8,
    },
    /// The Arrow message is malformed.
    #[error("the Arrow message of the log batch cannot be read")]
    Arrow {
        /// Why.
        #[source]
        source: ArrowError,
    },
    /// A row is malformed.
    #[error("record {index} of the log batch cannot be read")]
    Row {
        /// Position of the record, from 0.
        index: usize,
        /// Which column and why.
        #[source]
        source: RowError,
    },
}

impl LogRecordsError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Record { .. } | Self::Trailing { .. } => "batch_record",
            Self::ChangeType { .. } => "batch_change_type",
            Self::Arrow { source } => source.code(),
            Self::Row { source, .. } => source.code(),
        }
    }
}

/// The records of a batch, of which rows are decoded when asked for.
#[derive(Clone, Debug)]
pub struct LogRecords<'a> {
    plan: &'a ReadPlan,
    base_offset: i64,
    changes: Vec<ChangeType>,
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    Arrow(ArrowColumns),
    Encoded(RowFormat, Vec<Bytes>),
}

impl<'a> LogRecords<'a> {
    /// Reads the body of a batch; `plan` is for the schema with the batch's schema id.
    ///
    /// # Errors
    /// Any [`LogRecordsError`] but `Row`.
    pub fn read(batch: &LogBatch, format: LogFormat, plan: &'a ReadPlan) -> Result<Self, LogRecordsError> {
        // Decoding the header has checked that the count is not negative.
        let count = usize::try_from(batch.record_count).unwrap_or_default();
        let (changes, rows) = match format {
            LogFormat::Arrow => read_arrow(batch, count, plan)?,
            LogFormat::Indexed => read_rows(batch, count, RowFormat::Indexed)?,
            LogFormat::Compacted => read_rows(batch, count, RowFormat::Compacted)?,
        };
        Ok(Self { plan, base_offset: batch.base_offset, changes, rows })
    }

    /// Returns how many records there are.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the offset of a record.
    pub fn offset(&self, index: usize) -> i64 {
        self.base_offset.saturating_add(i64::try_from(index).unwrap_or(i64::MAX))
    }

    /// Returns what happened to the row of a record.
    pub fn change(&self, index: usize) -> Option<ChangeType> {
        self.changes.get(index).copied()
    }

    /// Returns the values of a record as the plan wants them.
    ///
    /// # Errors
    /// [`LogRecordsError::Row`], or [`LogRecordsError::Record`] for an index past the end.
    pub fn row(&self, index: usize) -> Result<Vec<Value>, LogRecordsError> {
        let at = |source| LogRecordsError::Row { index, source };
        match &self.rows {
            Rows::Arrow(columns) if index < self.changes.len() => {
                self.plan.collect(|field| columns.value(field, index)).map_err(at)
            }
            Rows::Encoded(format, rows) => match rows.get(index) {
                Some(row) => self.plan.decode(*format, row).map_err(at),
                None => Err(LogRecordsError::Record { index }),
            },
            Rows::Arrow(_) => Err(LogRecordsError::Record { index }),
        }
    }
}

fn change_type(index: usize, byte: u8) -> Result<ChangeType, LogRecordsError> {
    ChangeType::from_byte(byte).ok_or(LogRecordsError::ChangeType { index, byte })
}

fn read_arrow(
    batch: &LogBatch,
    count: usize,
    plan: &ReadPlan,
) -> Result<(Vec<ChangeType>, Rows), LogRecordsError> {
    let mut body = batch.body.clone();
    let types = plan.source_types();
    let columns = |body: &Bytes| {
        let columns = ArrowColumns::read(body, count, &types, |position| plan.is_wanted(position));
        columns.map(Rows::Arrow).map_err(|source| LogRecordsError::Arrow { source })
    };
    if batch.append_only {
        let rows = columns(&body)?;
        // The rows are there, so the count is as good as they are.
        return Ok((vec![ChangeType::Append; count], rows));
    }
    if count > body.len() {
        return Err(LogRecordsError::Record { index: body.len() });
    }
    let changes = body.split_to(count);
    let changes = changes.iter().enumerate().map(|(index, byte)| change_type(index, *byte));
    let changes = changes.collect::<Result<_, _>>()?;
    Ok((changes, columns(&body)?))
}

fn read_rows(
    batch: &LogBatch,
    count: usize,
    format: RowFormat,
) -> Result<(Vec<ChangeType>, Rows), LogRecordsError> {
    let mut body = batch.body.clone();
    // The count is only believed as far as there are bytes for it.
    if count > body.len() / MIN_RECORD_BYTES {
        return Err(LogRecordsError::Record { index: body.len() / MIN_RECORD_BYTES });
    }
    let mut changes = Vec::with_capacity(count);
    let mut rows = Vec::with_capacity(count);
    for index in 0..count {
        let (change, row) = read_record(&mut body).ok_or(LogRecordsError::Record { index })?;
        changes.push(change_type(index, change)?);
        rows.push(row);
    }
    if body.is_empty() {
        Ok((changes, Rows::Encoded(format, rows)))
    } else {
        Err(LogRecordsError::Trailing { count: body.len() })
    }
}

fn read_record(body: &mut Bytes) -> Option<(u8, Bytes)> {
    let size = usize::try_from(i32::from_le_bytes(*body.first_chunk()?)).ok()?;
    if size == 0 || size > body.len() - SIZE_BYTES {
        return None;
    }
    let mut record = body.split_to(SIZE_BYTES + size).slice(SIZE_BYTES..);
    let change = *record.first()?;
    let row = record.split_off(1);
    Some((change, row))
}
