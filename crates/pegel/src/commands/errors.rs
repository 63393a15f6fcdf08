//! Explains error codes, without asking any cluster.

use pegel_core::error_code::ErrorCode;
use serde::Serialize;

use crate::console::Console;
use crate::render::grid::{Cell, Column, Grid};
use crate::render::paper::Paper;
use pegel_service::failure::Failure;

/// One code with what is known about it.
#[derive(Debug, Serialize)]
struct Explained {
    code: ErrorCode,
    title: &'static str,
    exit_code: u8,
    http_status: u16,
    meaning: &'static str,
    likely_cause: &'static str,
    what_to_do: &'static str,
}

impl From<ErrorCode> for Explained {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            title: code.title(),
            exit_code: code.exit_class().exit_code(),
            http_status: code.http_status(),
            meaning: code.meaning(),
            likely_cause: code.likely_cause(),
            what_to_do: code.what_to_do(),
        }
    }
}

/// Explains one code, or lists all of them.
pub(super) fn explain(code: Option<&str>, console: &Console) -> u8 {
    let Some(text) = code else {
        let all: Vec<Explained> = ErrorCode::ALL.iter().copied().map(Explained::from).collect();
        return console.plain(&all, || list(&all, console));
    };
    match text.trim_matches(['[', ']']).parse::<ErrorCode>() {
        Ok(code) => {
            let explained = Explained::from(code);
            console.plain(&explained, || section(&explained, console))
        }
        Err(error) => {
            let failure = Failure::invalid(error.to_string()).with_hint("`pegel errors` lists all codes");
            console.failure(&failure, None)
        }
    }
}

fn list(all: &[Explained], console: &Console) -> String {
    let mut grid = Grid::new(&[
        Column::Short("CODE"),
        Column::Number("EXIT"),
        Column::Number("HTTP"),
        Column::Text("TITLE"),
    ]);
    for code in all {
        grid.row(vec![
            Cell::text(code.code.as_str()),
            Cell::number(code.exit_code),
            Cell::number(code.http_status),
            Cell::text(code.title),
        ]);
    }
    grid.render(console.style())
}

fn section(code: &Explained, console: &Console) -> String {
    let mut paper = Paper::new(console.style());
    paper.title(&format!("{} – {}", code.code, code.title));
    paper.line(code.meaning);
    paper.blank();
    paper.facts(&[
        ("likely cause", Some(code.likely_cause.to_owned())),
        ("what to do", Some(code.what_to_do.to_owned())),
        ("exit code", Some(code.exit_code.to_string())),
        ("HTTP status", Some(code.http_status.to_string())),
    ]);
    paper.into_text()
}
