//! Renders the table of codes as the reference page.

use std::fmt::Write;

use super::{ErrorCode, ExitClass};

/// Renders the reference page of error codes as Markdown.
pub fn reference_page() -> String {
    let mut page = String::from(
        "# Error codes\n\n\
         Generated from the table of error codes; do not edit.\n\n\
         Codes are never renamed or reused. `pegel errors <code>` prints a section of this page.\n\n\
         | code | meaning | exit code | HTTP status |\n| --- | --- | --- | --- |\n",
    );
    for code in ErrorCode::ALL {
        let (exit, http) = (code.exit_class().exit_code(), code.http_status());
        line(&mut page, format_args!("| [`{code}`](#{code}) | {} | {exit} | {http} |", code.title()));
    }
    for code in ErrorCode::ALL {
        line(&mut page, format_args!("\n## `{code}`\n\n**{}.** {}\n", code.title(), code.meaning()));
        line(&mut page, format_args!("- Likely cause: {}", code.likely_cause()));
        line(&mut page, format_args!("- What to do: {}", code.what_to_do()));
    }
    page
}

/// Renders the reference page of exit codes as Markdown.
pub fn exit_code_page() -> String {
    let mut page = String::from(
        "# Exit codes\n\n\
         Generated from the table of error codes; do not edit.\n\n\
         | exit code | meaning | error codes |\n| --- | --- | --- |\n",
    );
    for class in ExitClass::ALL {
        let codes: Vec<String> = ErrorCode::ALL
            .iter()
            .filter(|code| code.exit_class() == class)
            .map(|code| format!("[`{code}`](errors.md#{code})"))
            .collect();
        let codes = if codes.is_empty() { "–".to_owned() } else { codes.join(", ") };
        line(&mut page, format_args!("| {} | {} | {codes} |", class.exit_code(), class.meaning()));
    }
    page.push_str(
        "\nA command that reads many things ends with 3 when a part of the answer is missing: a bucket whose \
         leader does not\nanswer, a tablet server that is registered but silent. What is missing stands in the \
         answer, never as zero.\n",
    );
    page
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn check(name: &str, generated: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
        if std::env::var_os("PEGEL_UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == generated, "{name} is out of date: PEGEL_UPDATE=1 cargo test -p pegel-core");
    }

    #[test]
    fn committed_pages_are_the_generated_ones() {
        check("errors.md", &reference_page());
        check("exit-codes.md", &exit_code_page());
    }
}
