//! Renders the configuration file as its reference page, and keeps page and file true.

use super::file;
use crate::settings::DEFAULT_FILE;

fn page() -> String {
    format!(
        "# Configuration file\n\nGenerated from `default.toml`, which the binary carries; do not edit. `pegel config \
         default` prints it, and\n`pegel config check --config pegel.toml` tells what is wrong with yours, with the \
         line.\n\n`pegel serve --config pegel.toml` (or `PEGEL_CONFIG`) reads all sections but `[connection]`; the \
         commands that ask a cluster\nwithout a server read `[connection]` only. The options and environment variables \
         are on the page of the\n[command line](cli.md).\n\n```toml\n{DEFAULT_FILE}```\n"
    )
}

/// Returns the text with its keys put into force, and the keys, as `server.listen`.
fn in_force(text: &str) -> (String, Vec<String>) {
    let mut section = String::new();
    let mut keys = Vec::new();
    let lines = text.lines().map(|line| {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']').to_owned();
        }
        let assignment =
            line.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
        if let Some(name) = assignment.and_then(|rest| rest.split_once(" = ")).map(|(name, _)| name) {
            keys.push(format!("{section}.{name}"));
        }
        assignment.unwrap_or(line).to_owned()
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    (text, keys)
}

#[test]
fn committed_configuration_page_is_the_generated_one() {
    crate::cli::check_page("config.md", &page());
}

#[test]
fn default_file_and_its_examples_are_legal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pegel.toml");
    for text in [DEFAULT_FILE.to_owned(), in_force(DEFAULT_FILE).0] {
        std::fs::write(&path, &text).unwrap();
        file::read(&path).unwrap();
    }
}

#[test]
fn every_key_is_documented_and_no_documented_key_is_unknown() {
    let (_, documented) = in_force(DEFAULT_FILE);
    let mut known: Vec<String> = crate::settings::every_key().map(|(key, _)| key).collect();
    // The keys of the connection are named by the error about one that is unknown.
    let error = toml::from_str::<file::ConfigFile>("[connection]\nnothing = 1").unwrap_err();
    let of_connection = error.message().split('`').skip(3).step_by(2);
    known.extend(of_connection.map(|key| format!("connection.{key}")));
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    assert_eq!(sorted(documented), sorted(known));
}
