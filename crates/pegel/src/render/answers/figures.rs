//! Offsets and row counts.

use pegel_api_types::operations::buckets::BucketOffsets;
use pegel_api_types::operations::offsets::{Offsets, PartitionOffsets, StartKind};
use pegel_api_types::operations::stats::Stats;
use pegel_core::exact::ExactInt;

use crate::render::answers::{coverage, failure};
use crate::render::grid::{Cell, Column, Grid};
use crate::render::paper::Paper;
use crate::render::{Evidences, Show, time};

impl Show for Offsets {
    fn title(&self) -> String {
        match self.at {
            Some(at) => format!("Offsets of {} at {}", self.table, time(at)),
            None => format!("Offsets of {}", self.table),
        }
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let start = match self.start_kind {
            StartKind::Earliest => "EARLIEST",
            StartKind::AtTime => "AT TIME",
        };
        let is_partitioned = self.partition_count.is_some();
        let mut columns = vec![
            Column::Number("BUCKET"),
            Column::Number("LEADER"),
            Column::Number(start),
            Column::Number("LATEST"),
            Column::Number("SPAN"),
            Column::Short("STATE"),
            Column::Short(""),
        ];
        if is_partitioned {
            columns.insert(0, Column::Text("PARTITION"));
        }
        let mut grid = Grid::new(&columns);
        for partition in &self.partitions {
            for cells in rows(partition) {
                let name = partition.partition.as_ref().map(Cell::text).into_iter();
                grid.row(name.chain(cells).collect());
            }
        }
        paper.grid(&grid);
        paper.blank();
        paper.line(&sum("span", self.span, self.is_complete, self.answered_bucket_count, self.bucket_count));
    }

    fn empty(&self) -> String {
        no_partitions(&self.table)
    }
}

fn rows(partition: &PartitionOffsets) -> Vec<Vec<Cell>> {
    if partition.buckets.is_empty() {
        let mut cells = vec![Cell::Unknown; 5];
        cells.extend([coverage(partition.state), failure(partition.failure.as_ref())]);
        return vec![cells];
    }
    let row = |bucket: &BucketOffsets| {
        vec![
            Cell::number(bucket.bucket),
            bucket.leader.map_or(Cell::Nothing, Cell::number),
            Cell::known(bucket.start),
            Cell::known(bucket.latest),
            Cell::known(bucket.span),
            coverage(bucket.state),
            failure(bucket.failure.as_ref()),
        ]
    };
    partition.buckets.iter().map(row).collect()
}

impl Show for Stats {
    fn title(&self) -> String {
        format!("Row counts of {} ({})", self.table, self.kind.as_str())
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let is_partitioned = self.partition_count.is_some();
        let mut columns = vec![
            Column::Number("BUCKET"),
            Column::Number("LEADER"),
            Column::Number("ROWS"),
            Column::Short("STATE"),
            Column::Short(""),
        ];
        if is_partitioned {
            columns.insert(0, Column::Text("PARTITION"));
        }
        let mut grid = Grid::new(&columns);
        for partition in &self.partitions {
            let name = || partition.partition.as_ref().map(Cell::text).into_iter();
            if partition.buckets.is_empty() {
                let cells = [
                    Cell::Unknown,
                    Cell::Unknown,
                    Cell::Unknown,
                    coverage(partition.state),
                    failure(partition.failure.as_ref()),
                ];
                grid.row(name().chain(cells).collect());
            }
            for bucket in &partition.buckets {
                let cells = [
                    Cell::number(bucket.bucket),
                    bucket.leader.map_or(Cell::Nothing, Cell::number),
                    Cell::known(bucket.row_count),
                    coverage(bucket.state),
                    failure(bucket.failure.as_ref()),
                ];
                grid.row(name().chain(cells).collect());
            }
        }
        paper.grid(&grid);
        paper.blank();
        paper.line(&sum(
            "rows",
            self.row_count,
            self.is_complete,
            self.answered_bucket_count,
            self.bucket_count,
        ));
    }

    fn empty(&self) -> String {
        no_partitions(&self.table)
    }
}

fn no_partitions(table: &str) -> String {
    format!("Table {table} is partitioned and has no partition yet, so there is nothing to count.")
}

/// Writes a sum as a lower bound when it does not cover everything.
fn sum(what: &str, sum: Option<ExactInt>, is_complete: bool, answered: usize, all: usize) -> String {
    match sum {
        Some(sum) if is_complete => format!("{what} in all: {sum} ({all} buckets)"),
        Some(sum) => format!("{what} in all: at least {sum} ({answered} of {all} known buckets answered)"),
        None => format!("{what} in all: unknown ({answered} of {all} known buckets answered)"),
    }
}
