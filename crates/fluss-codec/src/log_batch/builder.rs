//! Collects records and makes them a batch that can be sent.

use std::sync::Arc;

use bytes::Bytes;

use super::{HEADER_BYTES, Header, seal};
use crate::arrow::column::ColumnBuilder;
use crate::arrow::write::MessageWriter;
use crate::change_type::ChangeType;
use crate::data_type::DataType;
use crate::row::{Field, RowError, RowFormat, Value};
use crate::table::ArrowCompression;

const SIZE_BYTES: usize = 4;

/// How the records of a log are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogEncoding {
    /// Columns of an Arrow message; the compression must be the table's, see
    /// [`crate::table::TableDescriptor::arrow_compression`].
    Arrow(ArrowCompression),
    /// One row after the other.
    Rows(RowFormat),
}

/// Why a record cannot be added or a batch not be made.
#[derive(Debug, thiserror::Error)]
pub enum LogBuildError {
    /// The row does not fit the schema.
    #[error("the row cannot be written")]
    Row {
        /// Which column and why.
        #[source]
        source: RowError,
    },
    /// A batch of appends alone cannot hold another change.
    #[error("a batch of appends cannot hold a change of kind {change}")]
    ChangeType {
        /// The change.
        change: ChangeType,
    },
    /// The batch has too many bytes or records.
    #[error("the log batch is too large")]
    TooLarge,
    /// The library for compression failed.
    #[error("the log batch cannot be compressed")]
    Compression {
        /// What it says.
        #[source]
        source: std::io::Error,
    },
}

impl LogBuildError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Row { source } => source.code(),
            Self::ChangeType { .. } => "batch_change_type",
            Self::TooLarge => "batch_too_large",
            Self::Compression { .. } => "batch_compression",
        }
    }
}

/// Builds one batch after the other for a schema; memory is kept from one to the next.
#[derive(Debug)]
pub struct LogBatchBuilder {
    types: Arc<[DataType]>,
    schema_id: i16,
    /// The change types of an Arrow batch with changes other than appends.
    changes: Option<Vec<u8>>,
    records: Records,
    record_count: usize,
}

#[derive(Debug)]
enum Records {
    Arrow { columns: Vec<ColumnBuilder>, writer: Box<MessageWriter> },
    Rows { format: RowFormat, bytes: Vec<u8>, append_only: bool },
}

impl LogBatchBuilder {
    /// Creates a builder for rows of the given types, which are those of the schema with that id.
    ///
    /// An `append_only` batch is what a client writes to a log table.
    ///
    /// # Errors
    /// [`LogBuildError::Compression`] if the library for it cannot be set up.
    pub fn new(
        types: Arc<[DataType]>,
        schema_id: i16,
        encoding: LogEncoding,
        append_only: bool,
    ) -> Result<Self, LogBuildError> {
        let (records, changes) = match encoding {
            LogEncoding::Arrow(compression) => {
                let writer = MessageWriter::new(compression);
                let writer = Box::new(writer.map_err(|source| LogBuildError::Compression { source })?);
                let columns = types.iter().map(ColumnBuilder::new).collect();
                (Records::Arrow { columns, writer }, (!append_only).then(Vec::new))
            }
            LogEncoding::Rows(format) => (Records::Rows { format, bytes: Vec::new(), append_only }, None),
        };
        Ok(Self { types, schema_id, changes, records, record_count: 0 })
    }

    /// Adds a record; after an error the batch is as before.
    ///
    /// # Errors
    /// [`LogBuildError::Row`], also where null is not allowed, or [`LogBuildError::ChangeType`].
    pub fn append(&mut self, change: ChangeType, row: &[Value]) -> Result<(), LogBuildError> {
        if self.is_append_only() && change != ChangeType::Append {
            return Err(LogBuildError::ChangeType { change });
        }
        self.append_row(change, row).map_err(|source| LogBuildError::Row { source })?;
        if let Some(changes) = &mut self.changes {
            changes.push(change.to_byte());
        }
        self.record_count += 1;
        Ok(())
    }

    /// Returns how many records were added.
    pub fn record_count(&self) -> usize {
        self.record_count
    }

    /// Returns how many bytes the records take up before compression, without the metadata of Arrow.
    pub fn size_bytes(&self) -> usize {
        let records = match &self.records {
            Records::Arrow { columns, .. } => columns.iter().map(ColumnBuilder::size_bytes).sum(),
            Records::Rows { bytes, .. } => bytes.len(),
        };
        HEADER_BYTES + self.changes.as_ref().map_or(0, Vec::len) + records
    }

    /// Returns the batch and begins a new one.
    ///
    /// `writer_id` and `batch_sequence` are those of an idempotent writer, or [`super::NO_WRITER`] and
    /// [`super::NO_SEQUENCE`].
    ///
    /// # Errors
    /// [`LogBuildError::TooLarge`] or [`LogBuildError::Compression`]; the records are lost then.
    pub fn finish(&mut self, writer_id: i64, batch_sequence: i32) -> Result<Bytes, LogBuildError> {
        let append_only = self.is_append_only();
        let record_count = std::mem::take(&mut self.record_count);
        let mut batch = vec![0; HEADER_BYTES];
        if let Some(changes) = &mut self.changes {
            batch.append(changes);
        }
        match &mut self.records {
            Records::Arrow { columns, writer } => {
                let written =
                    if record_count == 0 { Ok(()) } else { writer.write(columns, record_count, &mut batch) };
                columns.iter_mut().for_each(|column| column.truncate(0));
                written.map_err(|source| LogBuildError::Compression { source })?;
            }
            Records::Rows { bytes, .. } => {
                batch.extend_from_slice(bytes);
                bytes.clear();
            }
        }
        let record_count = i32::try_from(record_count).map_err(|_| LogBuildError::TooLarge)?;
        let header =
            Header { schema_id: self.schema_id, append_only, writer_id, batch_sequence, record_count };
        seal(batch, &header).ok_or(LogBuildError::TooLarge)
    }

    fn is_append_only(&self) -> bool {
        match &self.records {
            Records::Arrow { .. } => self.changes.is_none(),
            Records::Rows { append_only, .. } => *append_only,
        }
    }

    fn append_row(&mut self, change: ChangeType, row: &[Value]) -> Result<(), RowError> {
        if row.len() != self.types.len() {
            return Err(RowError::Arity { expected: self.types.len(), found: row.len() });
        }
        let fields = self.types.iter().enumerate().map(|(position, data_type)| Field { position, data_type });
        for (field, value) in fields.clone().zip(row) {
            field.check_null(value)?;
        }
        match &mut self.records {
            Records::Arrow { columns, .. } => {
                let mut pushes = columns.iter_mut().zip(fields).zip(row);
                let pushed = pushes.try_for_each(|((column, field), value)| column.push(field, value));
                if pushed.is_err() {
                    columns.iter_mut().for_each(|column| column.truncate(self.record_count));
                }
                pushed
            }
            Records::Rows { format, bytes, .. } => {
                let start = bytes.len();
                bytes.extend([0; SIZE_BYTES]);
                bytes.push(change.to_byte());
                let written = format.write_row(fields.zip(row), bytes).and_then(|()| {
                    let size = bytes.len() - start - SIZE_BYTES;
                    let size = i32::try_from(size).map_err(|_| RowError::TooLarge)?;
                    let place = bytes.get_mut(start..start + SIZE_BYTES).ok_or(RowError::TooLarge)?;
                    place.copy_from_slice(&size.to_le_bytes());
                    Ok(())
                });
                if written.is_err() {
                    bytes.truncate(start);
                }
                written
            }
        }
    }
}
