//! No credential stands in what ships: a password or key that is published is everybody's.
//!
//! Tests may hold made-up ones; they open nothing.

use crate::tidy::Finding;

/// What the name of something secret ends in, in lower case.
const NAMES: &[&str] = &["password", "passwd", "secret", "token", "secret_key", "private_key", "api_key"];
/// Shorter texts are words about credentials.
const MIN_VALUE_CHARS: usize = 6;
/// How long a line of an encoded key is at least.
const MIN_KEY_LINE_CHARS: usize = 40;

/// Checks a file's content; `path` is relative to the root.
pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line, message: &str| {
        findings.push(Finding { path: path.to_owned(), line: Some(line), message: message.to_owned() });
    };
    let lines: Vec<&str> = text.lines().collect();
    let tests_begin = lines.iter().position(|line| line.trim() == "#[cfg(test)]").unwrap_or(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let begins_key = line.contains(concat!("PRIVATE ", "KEY-----")) && line.contains("-----BEGIN");
        if begins_key && lines.get(index + 1).is_some_and(|next| is_encoded(next)) {
            report(index + 1, "a private key is never committed: make it when it is needed");
        }
        if index < tests_begin && ships(path) && assigns_credential(line) {
            report(
                index + 1,
                "what looks like a credential stands in what ships: generate it, or have it set",
            );
        }
    }
    findings
}

/// Whether a file becomes part of what people run or read, and is not a test.
fn ships(path: &str) -> bool {
    let is_place = ["crates/", "web/src/", "docs/"].iter().any(|place| path.starts_with(place));
    let is_test = path.contains("/tests/")
        || path.contains("/test/")
        || path.contains(".test.")
        || path.ends_with("/tests.rs")
        || path.contains("/snapshots/")
        || path.contains("/fixtures/");
    is_place && !is_test
}

/// Whether a line gives something with the name of a secret a text that could be one.
fn assigns_credential(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        lower.match_indices(name).any(|(index, _)| {
            let rest = lower.get(index + name.len()..).unwrap_or_default();
            let Some((between, value)) = rest.trim_start_matches('"').split_once('"') else { return false };
            let sign = between.trim().trim_end_matches("&str").trim_end_matches("=").trim();
            let sign = sign.trim_end_matches("&str").trim();
            let assigns = matches!(sign, "" | ":" | "=") && between.contains(['=', ':']);
            assigns && value.split_once('"').is_some_and(|(value, _)| is_value(value))
        })
    })
}

/// Whether a text could be a credential: one word that is no name of a field or a code.
fn is_value(value: &str) -> bool {
    value.chars().count() >= MIN_VALUE_CHARS
        && !NAMES.contains(&value)
        && value.chars().all(|c| c.is_ascii_graphic() && !matches!(c, '/' | '{' | '<' | '$' | '.' | '_'))
}

fn is_encoded(line: &str) -> bool {
    let line = line.trim().trim_end_matches("\\n\\");
    line.len() >= MIN_KEY_LINE_CHARS
        && line.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(path, text).len()
    }

    #[test]
    fn a_credential_in_what_ships_is_found() {
        for line in [
            r#"const ADMIN_PASSWORD: &str = "changeme";"#,
            r#"secret_key = "0000000000000000""#,
            r##"#token = "sixteen-bytes-or-more""##,
            r#"  "jwt_secret": "pegel-secret","#,
            r#"const apiToken = "pgl-0123456789";"#,
        ] {
            assert_eq!(count("crates/a/src/b.rs", line), 1, "{line}");
            assert_eq!(count("crates/a/tests/it/b.rs", line), 0, "{line}");
            assert_eq!(count("crates/a/src/b.rs", &format!("#[cfg(test)]\n{line}")), 0, "{line}");
        }
    }

    #[test]
    fn words_about_credentials_are_none() {
        for line in [
            r#"sasl_password_file = "pegel.password""#,
            r#"#token = "a random text""#,
            r#"token: "/api/v1/tokens","#,
            r#"pub(crate) const SASL_PASSWORD: &str = "sasl_password";"#,
            r#"#sasl_password = "password""#,
            r#"("password", "has 12 characters or more")"#,
        ] {
            assert_eq!(count("crates/a/src/b.rs", line), 0, "{line}");
        }
    }

    #[test]
    fn a_private_key_is_found_wherever_it_is() {
        let key = concat!("-----BEGIN PRIVATE ", "KEY-----\n");
        let body = "MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n";
        assert_eq!(count("crates/a/tests/x.pem", &format!("{key}{body}")), 1);
        assert_eq!(count("crates/a/src/b.rs", &format!("let start = \"{key}\";\n")), 0);
    }
}
