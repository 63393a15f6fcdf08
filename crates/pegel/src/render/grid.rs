//! Plain columns without borders; numbers to the right, long names broken rather than cut.

use std::fmt::Display;

use comfy_table::{Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Width, presets};

use crate::render::Style;
use crate::render::escape::escape;

/// Space between two columns.
const GAP: u16 = 2;
/// Text is not broken into pieces shorter than this, however narrow the terminal.
const MIN_TEXT_WIDTH: u16 = 14;

/// Longest name that counts as an ordinary one.
const MAX_ORDINARY_NAME: u16 = 40;

/// What stands in one place of a grid.
#[derive(Debug, Clone)]
pub(crate) enum Cell {
    /// Text, from anywhere.
    Text(String),
    /// A number, or any other figure that goes to the right.
    Number(String),
    /// A state: a glyph and a word, and a colour for those who see it.
    State(Mark),
    /// Nothing is known.
    Unknown,
    /// There is nothing.
    Nothing,
}

/// How a state is marked: by glyph and word, never by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// All is well.
    Good(&'static str),
    /// A part is missing.
    Half(&'static str),
    /// It failed.
    Bad(&'static str),
    /// It was not tried, or does not apply.
    Neutral(&'static str),
}

impl Mark {
    /// Returns glyph and word.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Good(word) => format!("✓ {word}"),
            Self::Half(word) => format!("◐ {word}"),
            Self::Bad(word) => format!("✗ {word}"),
            Self::Neutral(word) => format!("– {word}"),
        }
    }

    fn color(self) -> Option<Color> {
        match self {
            Self::Good(_) => Some(Color::Green),
            Self::Half(_) => Some(Color::Yellow),
            Self::Bad(_) => Some(Color::Red),
            Self::Neutral(_) => None,
        }
    }
}

impl Cell {
    /// Makes a cell of text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a cell of a number.
    pub(crate) fn number(number: impl Display + Copy) -> Self {
        Self::Number(number.to_string())
    }

    /// Makes a cell of a number that may be unknown.
    pub(crate) fn known(number: Option<impl Display + Copy>) -> Self {
        number.map_or(Self::Unknown, |number| Self::Number(number.to_string()))
    }

    /// Makes a cell of a list of names.
    pub(crate) fn names(names: &[String]) -> Self {
        if names.is_empty() { Self::Nothing } else { Self::Text(names.join(", ")) }
    }
}

/// Where a column's text stands and whether it may be broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    /// Text that may be broken into lines where the terminal is narrow.
    Text(&'static str),
    /// Text that is never broken.
    Short(&'static str),
    /// A number, to the right, never broken.
    Number(&'static str),
}

/// Rows under headings.
pub(crate) struct Grid {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Grid {
    /// Makes a grid without rows.
    pub(crate) fn new(columns: &[Column]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; it has as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// Renders the grid, each line with its end. Columns with neither a heading nor a text are left out.
    pub(crate) fn render(&self, style: Style) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(presets::NOTHING).force_no_tty();
        if style.has_color {
            table.enforce_styling();
        }
        match style.width {
            Some(width) => table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width),
            None => table.set_content_arrangement(ContentArrangement::Disabled),
        };
        let shown: Vec<(usize, Column)> =
            self.columns.iter().copied().enumerate().filter(|(index, _)| self.is_shown(*index)).collect();
        table.set_header(shown.iter().map(|(_, column)| {
            comfy_table::Cell::new(column.heading())
                .set_alignment(column.alignment())
                .add_attribute(Attribute::Bold)
        }));
        for row in &self.rows {
            let cells = shown.iter().filter_map(|(index, column)| Some((row.get(*index)?, *column)));
            table.add_row(cells.map(|(cell, column)| paint(cell, column)));
        }
        let widths = table.column_max_content_widths();
        let last = shown.len().saturating_sub(1);
        let columns = table.column_iter_mut().zip(&shown).zip(widths).enumerate();
        for (place, ((column, (index, spec)), width)) in columns {
            let floor = if place == 0 { self.name_width(*index, style.width) } else { MIN_TEXT_WIDTH };
            column.set_padding((0, if place == last { 0 } else { GAP }));
            column.set_constraint(match spec {
                Column::Short(_) | Column::Number(_) => ColumnConstraint::ContentWidth,
                Column::Text(_) => ColumnConstraint::LowerBoundary(Width::Fixed(
                    width.min(floor).saturating_add(column.padding_width()),
                )),
            });
        }
        let mut text = String::new();
        for line in table.lines() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Returns the width that names in the first column keep: that of the longest ordinary one, within
    /// a third of the terminal. One endless name must not squeeze what stands beside all the others.
    fn name_width(&self, index: usize, terminal: Option<u16>) -> u16 {
        let widths = self.rows.iter().filter_map(|row| match row.get(index)? {
            Cell::Text(text) => u16::try_from(text.chars().count()).ok(),
            _ => None,
        });
        let longest = widths.filter(|width| *width <= MAX_ORDINARY_NAME).max().unwrap_or(MIN_TEXT_WIDTH);
        longest.min(terminal.unwrap_or(u16::MAX) / 3).max(MIN_TEXT_WIDTH)
    }

    fn is_shown(&self, index: usize) -> bool {
        let has_heading = self.columns.get(index).is_some_and(|column| !column.heading().is_empty());
        has_heading
            || self.rows.iter().filter_map(|row| row.get(index)).any(|cell| match cell {
                Cell::Text(text) => !text.is_empty(),
                _ => true,
            })
    }
}

impl Column {
    fn heading(self) -> &'static str {
        match self {
            Self::Text(name) | Self::Short(name) | Self::Number(name) => name,
        }
    }

    fn alignment(self) -> CellAlignment {
        match self {
            Self::Text(_) | Self::Short(_) => CellAlignment::Left,
            Self::Number(_) => CellAlignment::Right,
        }
    }
}

fn paint(cell: &Cell, column: Column) -> comfy_table::Cell {
    let alignment =
        if matches!(column, Column::Number(_)) { CellAlignment::Right } else { CellAlignment::Left };
    match cell {
        Cell::Text(text) | Cell::Number(text) => {
            comfy_table::Cell::new_owned(escape(text).into_owned()).set_alignment(alignment)
        }
        Cell::State(mark) => {
            let cell = comfy_table::Cell::new_owned(mark.text()).set_alignment(alignment);
            match mark.color() {
                Some(color) => cell.fg(color),
                None => cell.add_attribute(Attribute::Dim),
            }
        }
        Cell::Unknown => comfy_table::Cell::new("?").set_alignment(alignment),
        Cell::Nothing => comfy_table::Cell::new("–").set_alignment(alignment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_width_beside_one_that_has_no_end() {
        let mut grid = Grid::new(&[Column::Text("TABLE"), Column::Text("KEYS"), Column::Short("STATE")]);
        for name in ["telemetry.sensor_readings", &"n".repeat(200)] {
            grid.row(vec![
                Cell::text(name),
                Cell::text("0: 0..1352, 1: 0..1351, 2: 0..1305"),
                Cell::State(Mark::Good("ok")),
            ]);
        }
        let text = grid.render(Style { width: Some(80), ..PLAIN });
        assert!(text.contains("telemetry.sensor_readings "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    const PLAIN: Style = Style { has_color: false, width: None, is_quiet: false };

    fn grid() -> Grid {
        let mut grid = Grid::new(&[Column::Text("NAME"), Column::Number("ROWS"), Column::Short("STATE")]);
        grid.row(vec![
            Cell::text("a_very_long_name_".repeat(8)),
            Cell::number(i64::MAX),
            Cell::State(Mark::Half("partial")),
        ]);
        grid.row(vec![
            Cell::text("evil\x1b[2J\nname"),
            Cell::known(None::<i64>),
            Cell::State(Mark::Bad("unavailable")),
        ]);
        grid
    }

    #[test]
    fn long_names_are_broken_at_eighty_columns_and_numbers_are_whole() {
        let text = grid().render(Style { width: Some(80), ..PLAIN });
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("9223372036854775807"), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn without_a_terminal_each_row_is_one_line() {
        let text = grid().render(PLAIN);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(!text.contains('\x1b'), "{text}");
        assert!(text.contains("evil\\u{1b}[2J\\nname"), "{text}");
    }

    #[test]
    fn colour_adds_to_the_word_and_never_replaces_it() {
        let text = grid().render(Style { has_color: true, ..PLAIN });
        assert!(text.contains("\x1b["), "{text}");
        assert!(text.contains("◐ partial") && text.contains("✗ unavailable"), "{text}");
    }
}
