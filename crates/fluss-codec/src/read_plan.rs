//! From the columns that a row was written with to the columns that a reader wants.
//!
//! A column keeps its id when the schema changes, so columns are matched by id: one that was renamed is found, one
//! that was added later is null in older rows, and one that was dropped is passed over. A plan is made once per schema
//! and used for every row of it.
//!
//! A server can do a part of that: from Arrow logs it sends only the columns asked for. It takes positions and applies
//! them to each batch's own schema, so this only works while every schema has the same columns there, see
//! [`can_push_down`]; otherwise all columns are fetched and the plan does it here.

use bytes::Bytes;

use crate::data_type::{DataType, TypeKind};
use crate::row::{Field, RowError, RowFormat, Value};
use crate::schema::Schema;

/// What to take of a row of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPlan {
    /// Types of the columns that are in the bytes.
    source: Vec<DataType>,
    /// For each column wanted, where it is in the bytes; none if it is not there.
    columns: Vec<Option<usize>>,
    /// For each column in the bytes, whether it is wanted.
    wanted: Vec<bool>,
    /// Whether the columns wanted are those in the bytes, in their order.
    identity: bool,
}

/// Why a row of one schema cannot be read as one of another.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadPlanError {
    /// The column wanted is not in the schema wanted.
    #[error("the schema has no column {position}")]
    NoSuchColumn {
        /// The position asked for, from 0.
        position: usize,
    },
    /// The server was asked for columns that are not ascending.
    #[error("the columns that a server projects must ascend")]
    NotAscending,
    /// The type of a column has changed.
    #[error("the column {name:?} was written as {found} and cannot be read as {expected}")]
    Type {
        /// Name of the column.
        name: String,
        /// Type wanted.
        expected: String,
        /// Type written.
        found: String,
    },
}

impl ReadPlanError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSuchColumn { .. } | Self::NotAscending => "projection_invalid",
            Self::Type { .. } => "schema_type_changed",
        }
    }
}

impl ReadPlan {
    /// Takes all columns of a schema as they are.
    pub fn all(schema: &Schema) -> Self {
        let count = schema.columns().len();
        Self {
            source: schema.columns().iter().map(|column| column.data_type.clone()).collect(),
            columns: (0..count).map(Some).collect(),
            wanted: vec![true; count],
            identity: true,
        }
    }

    /// Takes the columns of `target` at `positions` from rows that were written with `source`.
    ///
    /// # Errors
    /// [`ReadPlanError::NoSuchColumn`] or [`ReadPlanError::Type`].
    pub fn new(source: &Schema, target: &Schema, positions: &[usize]) -> Result<Self, ReadPlanError> {
        let all: Vec<usize> = (0..source.columns().len()).collect();
        Self::make(source, &all, target, positions)
    }

    /// Does the same where a server has left only the columns at `pushed` in the rows.
    ///
    /// # Errors
    /// As [`ReadPlan::new`], or [`ReadPlanError::NotAscending`].
    pub fn pushed_down(
        source: &Schema,
        pushed: &[usize],
        target: &Schema,
        positions: &[usize],
    ) -> Result<Self, ReadPlanError> {
        if !pushed.is_sorted_by(|first, second| first < second) {
            return Err(ReadPlanError::NotAscending);
        }
        Self::make(source, pushed, target, positions)
    }

    fn make(
        source: &Schema,
        present: &[usize],
        target: &Schema,
        positions: &[usize],
    ) -> Result<Self, ReadPlanError> {
        let column = |schema: &Schema, position: usize| {
            schema.columns().get(position).cloned().ok_or(ReadPlanError::NoSuchColumn { position })
        };
        let present: Vec<_> =
            present.iter().map(|position| column(source, *position)).collect::<Result<_, _>>()?;
        let mut columns = Vec::with_capacity(positions.len());
        let mut wanted = vec![false; present.len()];
        for position in positions {
            let target = column(target, *position)?;
            let found = present.iter().position(|column| column.id == target.id);
            if let Some((source, wanted)) = found.and_then(|at| Some((present.get(at)?, wanted.get_mut(at)?)))
            {
                if !is_same_type(&source.data_type, &target.data_type) {
                    return Err(ReadPlanError::Type {
                        name: target.name,
                        expected: target.data_type.to_string(),
                        found: source.data_type.to_string(),
                    });
                }
                *wanted = true;
            }
            columns.push(found);
        }
        let identity = columns.len() == present.len()
            && columns.iter().enumerate().all(|(position, found)| *found == Some(position));
        let source = present.into_iter().map(|column| column.data_type).collect();
        Ok(Self { source, columns, wanted, identity })
    }

    /// Returns the types of the columns in the bytes.
    pub(crate) fn source_types(&self) -> Vec<&DataType> {
        self.source.iter().collect()
    }

    /// Tells whether a column in the bytes is wanted.
    pub(crate) fn is_wanted(&self, position: usize) -> bool {
        self.wanted.get(position).copied().unwrap_or_default()
    }

    /// Makes a row of values that can be had one by one.
    pub(crate) fn collect(
        &self,
        value: impl Fn(Field<'_>) -> Result<Value, RowError>,
    ) -> Result<Vec<Value>, RowError> {
        let at = |found: &Option<usize>| match found
            .and_then(|position| Some((position, self.source.get(position)?)))
        {
            Some((position, data_type)) => value(Field { position, data_type }),
            None => Ok(Value::Null),
        };
        self.columns.iter().map(at).collect()
    }

    /// Decodes a row and takes what is wanted of it.
    ///
    /// # Errors
    /// Those of [`RowFormat::decode`].
    pub fn decode(&self, format: RowFormat, row: &Bytes) -> Result<Vec<Value>, RowError> {
        let fields =
            self.source.iter().enumerate().map(|(position, data_type)| Field { position, data_type });
        let values = format.read_row(fields, row.clone())?;
        if self.identity {
            return Ok(values);
        }
        let at = |found: &Option<usize>| found.and_then(|position| values.get(position)).cloned();
        Ok(self.columns.iter().map(|found| at(found).unwrap_or(Value::Null)).collect())
    }
}

/// Returns the positions that a server must be asked for to have the columns at `positions`.
pub fn pushed_positions(positions: &[usize]) -> Vec<usize> {
    let mut pushed = positions.to_vec();
    pushed.sort_unstable();
    pushed.dedup();
    pushed
}

/// Tells whether a server can be asked for the columns at `positions` of `latest`, given every schema that batches of
/// the log may have.
pub fn can_push_down(positions: &[usize], latest: &Schema, schemas: &[&Schema]) -> bool {
    // A server refuses an empty list.
    !positions.is_empty()
        && positions.iter().all(|position| {
            let id = |schema: &Schema| schema.columns().get(*position).map(|column| column.id);
            id(latest).is_some() && schemas.iter().all(|schema| id(schema) == id(latest))
        })
}

/// Compares types by what their bytes mean: not by names, comments and whether null is allowed.
fn is_same_type(source: &DataType, target: &DataType) -> bool {
    match (source.kind(), target.kind()) {
        (TypeKind::Array(source), TypeKind::Array(target)) => is_same_type(source, target),
        (TypeKind::Map(source_key, source), TypeKind::Map(target_key, target)) => {
            is_same_type(source_key, target_key) && is_same_type(source, target)
        }
        (TypeKind::Row(source), TypeKind::Row(target)) => {
            source.len() == target.len()
                && source.iter().zip(target).all(|(source, target)| {
                    source.id == target.id && is_same_type(&source.data_type, &target.data_type)
                })
        }
        (source, target) => source == target,
    }
}
