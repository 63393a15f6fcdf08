//! Databases, tables and partitions.

use pegel_core::limits::Page;

use crate::render::answers::{counted, coverage, failure, ids, known_time, next_page, nothing, properties};
use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::render::paper::Paper;
use crate::render::{Evidences, Show, day, time};
use pegel_api_types::operations::buckets::Bucket;
use pegel_api_types::operations::database::DatabaseDetail;
use pegel_api_types::operations::databases::Database;
use pegel_api_types::operations::partitions::Partitions;
use pegel_api_types::operations::table::Table;
use pegel_api_types::operations::tables::{Runtime, RuntimeState, TableRow, Tables};

impl Show for Page<Database> {
    fn title(&self) -> String {
        counted(self, "databases")
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[Column::Text("NAME"), Column::Number("TABLES"), Column::Short("CREATED")]);
        for database in &self.items {
            grid.row(vec![
                Cell::text(&database.name),
                Cell::known(database.table_count),
                database.created_at.map_or(Cell::Unknown, |at| Cell::text(time(at))),
            ]);
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        let none =
            "No databases, or none that this connection may see. Create one, or ask for the DESCRIBE right.";
        nothing(self, "databases", none)
    }

    fn note(&self) -> Option<String> {
        next_page(self, "databases")
    }
}

impl Show for DatabaseDetail {
    fn title(&self) -> String {
        format!("Database {}", self.name)
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        paper.facts(&[
            ("comment", self.comment.clone()),
            ("tables", Some(self.table_count.map_or_else(|| "?".to_owned(), |count| count.to_string()))),
            ("created", known_time(self.created_at)),
            ("modified", known_time(self.modified_at)),
        ]);
        properties("Custom properties", &self.custom_properties, paper);
    }

    fn empty(&self) -> String {
        "The database has nothing to show.".to_owned()
    }
}

impl Show for Tables {
    fn title(&self) -> String {
        let tables = counted(&self.tables, "tables");
        match &self.database {
            Some(database) => format!("{tables} in {database}"),
            None => tables,
        }
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let with_runtime = self.tables.items.iter().any(|row| row.runtime.is_some());
        let mut columns = vec![
            Column::Text("TABLE"),
            Column::Short("KIND"),
            Column::Number("BUCKETS"),
            Column::Text("PARTITIONED"),
            Column::Text("PRIMARY KEY"),
        ];
        if with_runtime {
            columns.extend([
                Column::Number("ROWS"),
                Column::Number("OFFSET SPAN"),
                Column::Text("OFFSETS"),
                Column::Short("EVIDENCE"),
            ]);
        } else {
            columns.push(Column::Short("CREATED"));
        }
        columns.push(Column::Short(""));
        let mut grid = Grid::new(&columns);
        for row in &self.tables.items {
            grid.row(table_row(row, with_runtime));
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        let none =
            "No tables, or none that this connection may see. Create one, or ask for the DESCRIBE right.";
        nothing(&self.tables, "tables", none)
    }

    fn note(&self) -> Option<String> {
        next_page(&self.tables, "tables")
    }
}

fn table_row(row: &TableRow, with_runtime: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::text(format!("{}.{}", row.database, row.name))];
    match &row.facts {
        Some(facts) => cells.extend([
            Cell::text(facts.kind.as_str()),
            Cell::known(facts.bucket_count),
            Cell::names(&facts.partition_keys),
            Cell::names(&facts.primary_key),
        ]),
        None => {
            cells.extend([
                Cell::State(Mark::Bad("unavailable")),
                Cell::Unknown,
                Cell::Unknown,
                Cell::Unknown,
            ]);
        }
    }
    if with_runtime {
        cells.extend(row.runtime.as_ref().map_or_else(|| vec![Cell::Unknown; 4], runtime));
    } else {
        let created_at = row.facts.as_ref().and_then(|facts| facts.created_at);
        cells.push(created_at.map_or(Cell::Unknown, |at| Cell::text(day(at))));
    }
    let reason = row.failure.as_ref().or(row.runtime.as_ref().and_then(|runtime| runtime.failure.as_ref()));
    cells.push(failure(reason));
    cells
}

fn runtime(runtime: &Runtime) -> Vec<Cell> {
    let mark = match runtime.evidence {
        RuntimeState::Ok => Mark::Good("ok"),
        RuntimeState::Partial => Mark::Half("partial"),
        RuntimeState::Unavailable => Mark::Bad("unavailable"),
        RuntimeState::PartitionScoped => Mark::Neutral("per partition"),
        RuntimeState::NotRead => Mark::Neutral("not read"),
    };
    if matches!(runtime.evidence, RuntimeState::PartitionScoped | RuntimeState::NotRead) {
        return vec![Cell::Nothing, Cell::Nothing, Cell::Nothing, Cell::State(mark)];
    }
    // A sum over some of the buckets is a lower bound, and is written as one.
    let bound = if runtime.evidence == RuntimeState::Partial { "≥ " } else { "" };
    let figure = |value: Option<pegel_core::exact::ExactInt>| {
        value.map_or(Cell::Unknown, |value| Cell::Number(format!("{bound}{value}")))
    };
    let ranges: Vec<String> = runtime
        .offset_ranges
        .iter()
        .map(|range| {
            let show = |offset: Option<pegel_core::exact::ExactInt>| {
                offset.map_or_else(|| "?".to_owned(), |offset| offset.to_string())
            };
            format!("{}: {}..{}", range.bucket, show(range.earliest), show(range.latest))
        })
        .collect();
    let more = runtime.bucket_count.saturating_sub(ranges.len());
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    vec![
        figure(runtime.row_count),
        figure(runtime.offset_span),
        if ranges.is_empty() { Cell::Unknown } else { Cell::text(format!("{}{more}", ranges.join(", "))) },
        Cell::State(mark),
    ]
}

impl Show for Table {
    fn title(&self) -> String {
        format!("Table {}", self.table)
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let names = |names: &[String]| (!names.is_empty()).then(|| names.join(", "));
        paper.facts(&[
            ("kind", Some(self.kind.as_str().to_owned())),
            ("comment", self.comment.clone()),
            ("table id", Some(self.table_id.to_string())),
            ("schema id", Some(self.schema_id.to_string())),
            ("created", known_time(self.created_at)),
            ("modified", known_time(self.modified_at)),
            ("primary key", names(&self.primary_key)),
            ("bucket key", names(&self.bucket_keys)),
            ("partitioned by", names(&self.partition_keys)),
            ("auto increment", self.auto_increment_column.clone()),
            ("buckets", self.bucket_count.map(|count| count.to_string())),
            ("remote folder", self.remote_data_dir.clone()),
        ]);
        show_columns(self, paper);
        show_buckets(self, paper);
        properties("Properties", &self.properties, paper);
        properties("Custom properties", &self.custom_properties, paper);
    }

    fn empty(&self) -> String {
        "The table has nothing to show.".to_owned()
    }

    fn note(&self) -> Option<String> {
        let is_partitioned = !self.partition_keys.is_empty();
        is_partitioned
            .then(|| format!("`pegel partitions {}` lists its partitions with their buckets", self.table))
    }
}

fn show_columns(table: &Table, paper: &mut Paper) {
    paper.title("Columns");
    let has_aggregation = table.columns.iter().any(|column| column.aggregation.is_some());
    let mut columns = vec![Column::Text("NAME"), Column::Text("TYPE"), Column::Short("NULL")];
    if has_aggregation {
        columns.push(Column::Short("AGGREGATION"));
    }
    columns.push(Column::Text("COMMENT"));
    let mut grid = Grid::new(&columns);
    for column in &table.columns {
        let mut cells = vec![
            Cell::text(&column.name),
            Cell::text(&column.data_type),
            Cell::text(if column.is_nullable { "yes" } else { "no" }),
        ];
        if has_aggregation {
            cells.push(column.aggregation.as_ref().map_or(Cell::Nothing, Cell::text));
        }
        cells.push(Cell::text(column.comment.as_deref().unwrap_or_default()));
        grid.row(cells);
    }
    paper.grid(&grid);
}

fn show_buckets(table: &Table, paper: &mut Paper) {
    let Some(buckets) = &table.buckets else {
        if table.partition_keys.is_empty() {
            paper.title("Buckets");
            paper.line("✗ unavailable: the leaders could not be read");
        }
        return;
    };
    paper.title("Buckets");
    let mut grid = Grid::new(&[
        Column::Number("BUCKET"),
        Column::Number("LEADER"),
        Column::Text("REPLICAS"),
        Column::Short(""),
    ]);
    for bucket in buckets {
        grid.row(vec![
            Cell::number(bucket.bucket),
            bucket.leader.map_or(Cell::Nothing, Cell::number),
            ids(&bucket.replicas),
            bucket.leader.map_or(Cell::State(Mark::Bad("no leader")), |_| Cell::text("")),
        ]);
    }
    paper.grid(&grid);
}

impl Show for Partitions {
    fn title(&self) -> String {
        format!("{} of {}", counted(&self.partitions, "partitions"), self.table)
    }

    fn body(&self, _: &Evidences<'_>, paper: &mut Paper) {
        let mut grid = Grid::new(&[
            Column::Text("PARTITION"),
            Column::Number("ID"),
            Column::Number("BUCKETS"),
            Column::Text("LEADERS"),
            Column::Short("STATE"),
            Column::Short(""),
        ]);
        for partition in &self.partitions.items {
            let pairs: Vec<String> =
                partition.spec.iter().map(|pair| format!("{}={}", pair.key, pair.value)).collect();
            let leaderless =
                partition.buckets.iter().flatten().filter(|bucket| bucket.leader.is_none()).count();
            grid.row(vec![
                Cell::text(pairs.join("/")),
                Cell::number(partition.partition_id),
                Cell::known(partition.buckets.as_ref().map(Vec::len)),
                partition.buckets.as_deref().map_or(Cell::Unknown, leaders),
                if leaderless > 0 { Cell::State(Mark::Half("no leader")) } else { coverage(partition.state) },
                failure(partition.failure.as_ref()),
            ]);
        }
        paper.grid(&grid);
    }

    fn empty(&self) -> String {
        if self.partition_keys.is_empty() {
            return format!(
                "{} is not partitioned. `pegel table {}` shows its buckets.",
                self.table, self.table
            );
        }
        let none = "No partitions match, or the table has none yet. They are created by writers or by hand.";
        nothing(&self.partitions, "partitions", none)
    }

    fn note(&self) -> Option<String> {
        next_page(&self.partitions, "partitions")
    }
}

/// Returns the leaders in the order of the buckets.
fn leaders(buckets: &[Bucket]) -> Cell {
    let leaders: Vec<String> = buckets
        .iter()
        .map(|bucket| bucket.leader.map_or_else(|| "–".to_owned(), |leader| leader.to_string()))
        .collect();
    Cell::names(&leaders)
}
