//! Renders the command line as its reference page, and keeps the committed page true.

use std::path::Path;

use clap::{Arg, Command, CommandFactory};
use pegel_core::error_code::ExitClass;

use super::Cli;
use crate::env_vars;

/// Compares a generated page with the committed one, or writes it when `PEGEL_UPDATE` is set.
pub(crate) fn check_page(name: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("PEGEL_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, generated).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/reference/{name} is out of date: PEGEL_UPDATE=1 cargo test -p pegel"
    );
}

fn page() -> String {
    let mut root = Cli::command().term_width(0);
    root.build();
    let mut page = String::from(
        "# Command line\n\nGenerated from the definition of the command line; do not edit.\n\n\
         `pegel --help` and `pegel <command> --help` say the same. Options stand before or after the command.\n\n\
         ## Commands\n\n| command | what it does |\n| --- | --- |\n",
    );
    let mut commands = Vec::new();
    collect(&root, "pegel", &mut commands);
    for (name, command) in &commands {
        page.push_str(&format!("| [`{name}`](#{}) | {} |\n", name.replace(' ', "-"), about(command)));
    }
    page.push_str("\n## Options of every command\n");
    let globals: Vec<&Arg> = root.get_arguments().filter(|arg| arg.is_global_set()).collect();
    for heading in ["Connection", "Server", "Output"] {
        page.push_str(&format!("\n### {heading}\n\n"));
        let of_heading: Vec<&Arg> =
            globals.iter().copied().filter(|arg| arg.get_help_heading() == Some(heading)).collect();
        options(&of_heading, &mut page);
    }
    for (name, command) in &commands {
        page.push_str(&format!("\n## {name}\n\n{}.\n\n", about(command)));
        page.push_str(&format!("```text\n{}\n```\n", usage(name, command)));
        let own: Vec<&Arg> =
            command.get_arguments().filter(|arg| !arg.is_global_set() && !is_builtin(arg)).collect();
        if !own.is_empty() {
            page.push('\n');
            options(&own, &mut page);
        }
    }
    page.push_str("\n## Environment\n\n| variable | meaning |\n| --- | --- |\n");
    for (name, meaning) in env_vars::ALL {
        page.push_str(&format!("| `{name}` | {} |\n", meaning.trim()));
    }
    page.push_str("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n");
    for class in ExitClass::ALL {
        page.push_str(&format!("| {} | {} |\n", class.exit_code(), class.meaning()));
    }
    page.push_str(
        "\nWith `--output json` stdout holds one document: the answer in its envelope; for a cluster that gives \
         no answer the\nenvelope without data; for a wrong question or an internal error a problem in the form of \
         RFC 9457. A malformed command\nline is told on stderr only.\n",
    );
    page
}

fn collect<'a>(command: &'a Command, name: &str, found: &mut Vec<(String, &'a Command)>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
        let name = format!("{name} {}", sub.get_name());
        if sub.has_subcommands() {
            collect(sub, &name, found);
        } else {
            found.push((name, sub));
        }
    }
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn is_builtin(arg: &Arg) -> bool {
    matches!(arg.get_id().as_str(), "help" | "version") || arg.is_hide_set()
}

fn usage(name: &str, command: &Command) -> String {
    let mut usage = name.to_owned();
    for arg in command.get_positionals() {
        let value = arg.get_id().as_str().to_uppercase();
        usage.push_str(&if arg.is_required_set() { format!(" <{value}>") } else { format!(" [{value}]") });
    }
    usage.push_str(" [OPTIONS]");
    usage
}

fn options(args: &[&Arg], page: &mut String) {
    page.push_str("| option | meaning |\n| --- | --- |\n");
    for arg in args {
        let value = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        let takes_value = arg.get_action().takes_values();
        let mut name = match (arg.get_long(), arg.get_short()) {
            (Some(long), Some(short)) => format!("-{short}, --{long}"),
            (Some(long), None) => format!("--{long}"),
            _ => format!("<{}>", arg.get_id().as_str().to_uppercase()),
        };
        if let Some(value) = value.filter(|_| takes_value && arg.get_long().is_some()) {
            name.push_str(&format!(" <{value}>"));
        }
        let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default();
        if !meaning.ends_with('.') {
            meaning.push('.');
        }
        let values: Vec<String> = match arg.get_id().as_str() {
            "tls_skip_verify" => Vec::new(),
            _ => arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect(),
        };
        if takes_value && !values.is_empty() {
            meaning.push_str(&format!(" One of {}.", values.join(", ")));
        }
        let defaults: Vec<String> =
            arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
        if takes_value && !defaults.is_empty() {
            meaning.push_str(&format!(" Default: {}.", defaults.join(", ")));
        }
        if let Some(env) = arg.get_env() {
            meaning.push_str(&format!(" Variable: `{}`.", env.to_string_lossy()));
        }
        page.push_str(&format!("| `{}` | {} |\n", name.replace('|', "\\|"), meaning.replace('|', "\\|")));
    }
}

#[test]
fn committed_command_line_page_is_the_generated_one() {
    check_page("cli.md", &page());
}

#[test]
fn every_command_and_option_is_explained() {
    let mut root = Cli::command();
    root.build();
    let mut commands = Vec::new();
    collect(&root, "pegel", &mut commands);
    assert!(commands.len() >= 14, "{commands:?}");
    for (name, command) in commands {
        assert!(command.get_about().is_some(), "{name}");
        for arg in command.get_arguments() {
            assert!(arg.get_help().is_some(), "{name} {}", arg.get_id());
        }
    }
}
