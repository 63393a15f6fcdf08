//! Where answers and failures leave the program: stdout, stderr, exit code.

use std::io::{self, ErrorKind, IsTerminal, Write};

use pegel_core::envelope::Envelope;
use pegel_core::error_code::ExitClass;
use serde::Serialize;
use uuid::Uuid;

use crate::cli::{Color, Format, OutputArgs};
use crate::env_vars;
use crate::render::failure::{Problem, lines};
use crate::render::{self, Show, Style, json};
use pegel_service::failure::Failure;

/// Narrowest terminal that lines are broken for.
const MIN_WIDTH: u16 = 40;

/// Prints, in the format that was asked for.
pub(crate) struct Console {
    format: Format,
    style: Style,
    is_verbose: bool,
}

impl Console {
    /// Looks at the options, the environment and the terminal once.
    pub(crate) fn new(args: &OutputArgs) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let has_color = match args.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let no_color = std::env::var_os(env_vars::NO_COLOR).is_some_and(|value| !value.is_empty());
                let is_dumb = std::env::var_os(env_vars::TERM).is_some_and(|value| value == "dumb");
                is_terminal && !no_color && !is_dumb
            }
        };
        let width = if is_terminal { comfy_table::Table::new().width() } else { None };
        Self {
            format: args.output,
            style: Style { has_color, width: width.map(|width| width.max(MIN_WIDTH)), is_quiet: args.quiet },
            is_verbose: args.verbose,
        }
    }

    /// Returns the format that was asked for.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// Returns how text is printed.
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Prints an answer and returns its exit code.
    pub(crate) fn answer<T: Show>(&self, envelope: &Envelope<T>) -> u8 {
        let code = envelope.status.exit_class().exit_code();
        match self.format {
            Format::Table => {
                let printed = render::answer(envelope, self.style);
                let printed_code = self.print(&printed.stdout, code);
                self.note(&printed.stderr);
                printed_code
            }
            Format::Json => self.document(envelope, code),
        }
    }

    /// Prints an answer that is not about a cluster: as text, or as JSON.
    pub(crate) fn plain<T: Serialize>(&self, value: &T, text: impl FnOnce() -> String) -> u8 {
        self.report(value, 0, text)
    }

    /// Prints an answer that is not about a cluster and says how it went by its exit code.
    pub(crate) fn report<T: Serialize>(&self, value: &T, code: u8, text: impl FnOnce() -> String) -> u8 {
        match self.format {
            Format::Table => self.print(&text(), code),
            Format::Json => self.document(value, code),
        }
    }

    /// Prints text that has one format only, such as a script.
    pub(crate) fn raw(&self, text: &str) -> u8 {
        self.print(text, 0)
    }

    /// Tells why there is no answer, and returns the exit code.
    ///
    /// With JSON, stdout gets a problem document as well.
    pub(crate) fn failure(&self, failure: &Failure, execution_id: Option<Uuid>) -> u8 {
        self.words(failure);
        let code = failure.code.exit_class().exit_code();
        match self.format {
            Format::Table => code,
            Format::Json => self.document(&Problem::new(failure, execution_id), code),
        }
    }

    /// Tells why the cluster gave no answer, and returns the exit code.
    ///
    /// With JSON, stdout gets the envelope without data.
    pub(crate) fn unanswered<T: Serialize>(&self, failure: &Failure, envelope: &Envelope<T>) -> u8 {
        self.words(failure);
        let code = envelope.status.exit_class().exit_code();
        match self.format {
            Format::Table => code,
            Format::Json => self.document(envelope, code),
        }
    }

    /// Writes something that is not part of the answer.
    pub(crate) fn note(&self, text: &str) {
        if !text.is_empty() {
            // Without a stderr there is nobody to tell.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
    }

    /// Writes a warning, unless only the answer is wanted.
    pub(crate) fn warn(&self, warning: &str) {
        if !self.style.is_quiet {
            self.note(&format!("warning: {}\n", render::escape::escape(warning)));
        }
    }

    fn words(&self, failure: &Failure) {
        self.note(&lines(failure, self.is_verbose, self.style.is_quiet));
    }

    fn document<T: Serialize>(&self, value: &T, code: u8) -> u8 {
        match json::document(value) {
            Ok(text) => self.print(&text, code),
            Err(failure) => {
                self.words(&failure);
                failure.code.exit_class().exit_code()
            }
        }
    }

    fn print(&self, text: &str, code: u8) -> u8 {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => code,
            // Whoever read has seen enough; `pegel tables | head -1` is no failure.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => code,
            Err(error) => {
                self.words(&Failure::internal("cannot write the answer to stdout").with_cause(&error));
                ExitClass::Internal.exit_code()
            }
        }
    }
}
