//! Rules on `Cargo.toml` files: shared lints, one version of everything, a reason for every crate from outside.

use anyhow::Context as _;
use toml::{Table, Value};

use crate::tidy::Finding;

const ROOT: &str = "Cargo.toml";
const SECTIONS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks a crate's manifest.
///
/// # Errors
/// It is no TOML.
pub(super) fn check_member(path: &str, text: &str) -> anyhow::Result<Vec<Finding>> {
    let manifest: Table = text.parse().with_context(|| format!("reading {path}"))?;
    let mut findings = Vec::new();
    let mut report = |line, message| findings.push(Finding { path: path.to_owned(), line, message });
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace"));
    if lints != Some(&Value::Boolean(true)) {
        report(None, "lacks `[lints] workspace = true`".to_owned());
    }
    for (name, value) in dependencies(&manifest) {
        if value.get("workspace") != Some(&Value::Boolean(true)) {
            report(
                line_of(text, name),
                format!("{name} must be `{name}.workspace = true`; versions stand in the root manifest"),
            );
        }
    }
    Ok(findings)
}

/// Checks the workspace's manifest.
///
/// # Errors
/// It is no TOML.
pub(super) fn check_root(text: &str) -> anyhow::Result<Vec<Finding>> {
    let manifest: Table = text.parse().with_context(|| format!("reading {ROOT}"))?;
    let shared = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    let shared = shared.and_then(Value::as_table).context("the root manifest shares no dependencies")?;
    let mut findings = Vec::new();
    for (name, value) in shared {
        if value.get("path").is_some() {
            continue;
        }
        let mut report =
            |line, message: String| findings.push(Finding { path: ROOT.to_owned(), line, message });
        match line_of(text, name) {
            Some(line) => {
                let reason = text.lines().nth(line - 1).and_then(comment).unwrap_or_default();
                if reason.split_whitespace().count() < 2 {
                    report(Some(line), format!("{name} comes from outside and needs a reason beside it"));
                }
            }
            None => report(None, format!("{name} needs one line with its reason beside it")),
        }
    }
    Ok(findings)
}

/// Every dependency a manifest declares, those for one platform too.
fn dependencies(manifest: &Table) -> Vec<(&String, &Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table);
    let tables = platforms.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let tables = std::iter::once(manifest).chain(tables);
    tables
        .flat_map(|table| SECTIONS.iter().filter_map(|section| table.get(*section)?.as_table()))
        .flat_map(Table::iter)
        .collect()
}

/// Number of the line that sets `name`, from 1.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let sets = |line: &str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    text.lines().position(sets).map(|index| index + 1)
}

/// What follows the first `#` outside a basic string. Manifests here use no literal strings and no escapes.
fn comment(line: &str) -> Option<&str> {
    let mut in_string = false;
    for (index, c) in line.char_indices() {
        match c {
            '"' => in_string = !in_string,
            '#' if !in_string => return line.get(index + 1..),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(text: &str) -> Vec<String> {
        check_member("a/Cargo.toml", text).unwrap().iter().map(ToString::to_string).collect()
    }

    fn root(dependencies: &str) -> Vec<String> {
        let text = format!("[workspace.dependencies]\n{dependencies}");
        check_root(&text).unwrap().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_member_that_shares_lints_and_versions_passes() {
        assert!(member("[lints]\nworkspace = true\n[dependencies]\nbytes.workspace = true\n").is_empty());
        assert!(
            member(
                "lints.workspace = true\n[dependencies]\nprost = { workspace = true, features = [\"x\"] }\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn a_member_without_the_shared_lints_is_found() {
        assert_eq!(member("[package]\nname = \"a\"\n"), ["a/Cargo.toml: lacks `[lints] workspace = true`"]);
        assert_eq!(
            member("[lints.rust]\nunsafe_code = \"allow\"\n"),
            ["a/Cargo.toml: lacks `[lints] workspace = true`"]
        );
    }

    #[test]
    fn a_version_in_a_member_is_found() {
        let of =
            |section: &str, entry: &str| member(&format!("lints.workspace = true\n[{section}]\n{entry}\n"));
        let expected =
            ["a/Cargo.toml:3: bytes must be `bytes.workspace = true`; versions stand in the root manifest"];
        assert_eq!(of("dependencies", "bytes = \"1\""), expected);
        assert_eq!(of("dev-dependencies", "bytes = { version = \"1\" }"), expected);
        assert_eq!(of("build-dependencies", "bytes = { path = \"../bytes\" }"), expected);
        assert_eq!(of("target.'cfg(unix)'.dependencies", "bytes = \"1\""), expected);
    }

    #[test]
    fn a_reason_beside_each_outside_crate_passes() {
        assert!(root("mine = { path = \"crates/mine\" }\nbytes = \"1\" # zero-copy slices\n").is_empty());
    }

    #[test]
    fn an_outside_crate_without_a_reason_is_found() {
        let expected = ["Cargo.toml:2: bytes comes from outside and needs a reason beside it"];
        assert_eq!(root("bytes = \"1\"\n"), expected);
        assert_eq!(root("bytes = \"1\" #\n"), expected);
        assert_eq!(root("bytes = { version = \"1\", features = [\"a # b c\"] }\n"), expected);
    }

    #[test]
    fn an_outside_crate_in_a_table_of_its_own_is_found() {
        assert_eq!(
            root("[workspace.dependencies.bytes]\nversion = \"1\" # zero-copy slices\n"),
            ["Cargo.toml: bytes needs one line with its reason beside it"]
        );
    }
}
