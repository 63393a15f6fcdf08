//! Fetches jars with the user's own Maven, so that mirrors, proxies and credentials of the user hold.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::artifacts::FLUSS_VERSION;
use crate::error::Error;
use crate::paths;
use crate::process;

/// The oldest plugin that later Maven versions still run; newer ones read the parent pom of a
/// single jar, and the parent of the Prometheus reporter is not published.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:2.8";

/// How many of Maven's last lines go into an error.
const TAIL_LINES: usize = 12;

/// Copies the jars of servers, client, reporter and logging into `jars`; `work` takes the pom.
pub(super) fn copy_jars(work: &Path, jars: &Path) -> Result<(), Error> {
    let maven = paths::program("mvn").ok_or(Error::MavenNotFound)?;
    let pom = work.join("pom.xml");
    paths::write(&pom, &pom_text())?;
    let output = Command::new(&maven)
        .arg("--batch-mode")
        .arg("--strict-checksums")
        .arg("-Dstyle.color=never")
        .arg("--file")
        .arg(&pom)
        .arg(format!("{PLUGIN}:copy-dependencies"))
        .arg(format!("{PLUGIN}:copy"))
        .arg("-DincludeScope=runtime")
        .arg(format!("-DoutputDirectory={}", jars.display()))
        .arg(format!("-Dartifact=org.apache.fluss:fluss-metrics-prometheus:{FLUSS_VERSION}"))
        .current_dir(work)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| Error::SpawnFailed { process: maven.display().to_string(), source })?;
    if output.status.success() {
        return Ok(());
    }
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(Error::DownloadFailed { output: causes(&text) })
}

/// Returns what Maven says went wrong, without its advice on how to see more; its last lines if it says nothing.
fn causes(text: &str) -> String {
    let advice = ["To see the full", "Re-run Maven", "For more information", "[Help "];
    let causes: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("[ERROR] "))
        .filter(|line| !line.trim().is_empty() && !advice.iter().any(|start| line.starts_with(start)))
        .collect();
    process::last_lines(
        if causes.is_empty() { text.to_owned() } else { causes.join("\n") }.as_str(),
        TAIL_LINES,
    )
}

fn pom_text() -> String {
    let dependency = |group: &str, artifact: &str, version: &str| {
        format!(
            "<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>\
             <version>{version}</version></dependency>"
        )
    };
    format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
         <groupId>org.pegel</groupId><artifactId>fluss-jars</artifactId><version>1</version>\
         <packaging>pom</packaging><dependencies>{}{}{}</dependencies></project>\n",
        dependency("org.apache.fluss", "fluss-server", FLUSS_VERSION),
        dependency("org.apache.fluss", "fluss-client", FLUSS_VERSION),
        dependency("org.slf4j", "slf4j-simple", "1.7.36"),
    )
}

#[cfg(test)]
mod tests {
    use super::causes;

    #[test]
    fn the_cause_is_kept_and_the_advice_is_not() {
        let printed = "[INFO] BUILD FAILURE\n[ERROR] Could not resolve fluss-server\n[ERROR] \n\
                       [ERROR] Re-run Maven using the -X switch\n[ERROR] [Help 1] http://example.test\n";
        assert_eq!(causes(printed), "Could not resolve fluss-server");
        assert_eq!(causes("java: not found\n\n"), "java: not found");
    }
}
