//! The rules no compiler knows: arrows between crates, manifests, file sizes, forbidden words, credentials.
//!
//! Each rule is a pure function of what it reads, so that its test can show it failing. It must not change files.

mod arrows;
mod credentials;
mod manifests;
mod sources;

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::workspace::{self, Metadata};

/// One broken rule and where.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    /// File, relative to the root.
    path: String,
    /// Line from 1, where the rule is about one.
    line: Option<usize>,
    /// What is wrong and what would be right.
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Prints every finding in the checkout at `root`.
///
/// # Errors
/// There is at least one, or the checkout cannot be read.
pub(crate) fn run(root: &Path) -> anyhow::Result<()> {
    let findings = check(root)?;
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} finding(s)", findings.len());
    }
    Ok(())
}

fn check(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let Metadata { packages, .. } = workspace::metadata(root)?;
    let mut findings = arrows::check(&packages);
    findings.extend(manifests::check_root(&read(&root.join("Cargo.toml"))?)?);
    for package in &packages {
        let text = read(&package.manifest_path)?;
        let path = package.manifest_path.strip_prefix(root).unwrap_or(&package.manifest_path);
        findings.extend(manifests::check_member(&path.display().to_string(), &text)?);
    }
    for path in workspace::files(root)? {
        findings.extend(sources::check_path(&path));
        // What is not text has no lines and no words.
        if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
            findings.extend(sources::check_text(&path, &text));
            findings.extend(credentials::check(&path, &text));
        }
    }
    findings.sort();
    Ok(findings)
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let findings = check(&workspace::root().unwrap()).unwrap();
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{}", lines.join("\n"));
    }

    #[test]
    fn a_finding_names_its_line_where_it_has_one() {
        let mut finding = Finding { path: "a.rs".into(), line: Some(3), message: "wrong".into() };
        assert_eq!(finding.to_string(), "a.rs:3: wrong");
        finding.line = None;
        assert_eq!(finding.to_string(), "a.rs: wrong");
    }
}
