//! How each answer looks to a person.

mod catalog;
mod cluster;
mod figures;
mod security;

use pegel_core::limits::Page;

use crate::render::grid::{Cell, Column, Grid, Mark};
use crate::render::paper::Paper;
use pegel_api_types::operations::buckets::{Coverage, PartFailure};
use pegel_api_types::operations::properties::Property;

/// Returns the mark of how much of something answered.
fn coverage(coverage: Coverage) -> Cell {
    Cell::State(match coverage {
        Coverage::Ok => Mark::Good("ok"),
        Coverage::Partial => Mark::Half("partial"),
        Coverage::Unavailable => Mark::Bad("unavailable"),
    })
}

/// Returns a failure as it stands at the end of a row: its code, since the words come below.
fn failure(failure: Option<&PartFailure>) -> Cell {
    Cell::text(failure.map_or("", |failure| failure.code.as_str()))
}

/// Returns a time as one of the facts of something.
fn known_time(at: Option<jiff::Timestamp>) -> Option<String> {
    Some(at.map_or_else(|| "?".to_owned(), crate::render::time))
}

/// Returns how many of how many are shown and how to see the next ones.
fn next_page<T>(page: &Page<T>, things: &str) -> Option<String> {
    let next = page.next_offset?;
    Some(format!(
        "{} to {next} of {} {things} are shown; the next ones with --offset {next}",
        page.offset + 1,
        page.matched_count
    ))
}

/// Returns how many entries match, for the heading.
fn counted<T>(page: &Page<T>, things: &str) -> String {
    if page.matched_count == page.total_count {
        format!("{} {things}", page.total_count)
    } else {
        format!("{} of {} {things}", page.matched_count, page.total_count)
    }
}

/// Returns the sentence for a list in which nothing matches, or `otherwise` when there is nothing at all.
fn nothing<T>(page: &Page<T>, things: &str, otherwise: &str) -> String {
    if page.total_count > 0 {
        format!(
            "None of {} {things} contains the search text. Leave --search out to see them.",
            page.total_count
        )
    } else {
        otherwise.to_owned()
    }
}

/// Returns ids of servers as one text.
fn ids(ids: &[i32]) -> Cell {
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    Cell::names(&ids)
}

fn properties(title: &str, properties: &[Property], paper: &mut Paper) {
    if properties.is_empty() {
        return;
    }
    paper.title(title);
    let mut grid = Grid::new(&[Column::Text("KEY"), Column::Text("VALUE"), Column::Short("")]);
    for property in properties {
        grid.row(vec![
            Cell::text(&property.key),
            Cell::text(&property.value),
            Cell::text(if property.is_redacted { "hidden" } else { "" }),
        ]);
    }
    paper.grid(&grid);
}
