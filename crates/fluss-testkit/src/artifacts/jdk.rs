//! Finds a Java development kit.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::Error;
use crate::paths;

/// The oldest Java that is accepted; the embedded programs use its language.
const OLDEST: u32 = 17;

/// A Java development kit of version 17 or newer.
#[derive(Debug, Clone)]
pub struct Jdk {
    java: PathBuf,
    javac: PathBuf,
    version: String,
}

impl Jdk {
    /// Finds a JDK in `JAVA_HOME`, else in `PATH`; takes the first that is new enough.
    ///
    /// # Errors
    /// `jdk_not_found`, or `jdk_too_old` with the last one looked at.
    pub fn find() -> Result<Self, Error> {
        let mut pairs = Vec::new();
        let mut looked_at = Vec::new();
        if let Some(home) = paths::java_home() {
            let bin = home.join("bin");
            looked_at.push(format!("JAVA_HOME {}", home.display()));
            pairs.push((bin.join("java"), bin.join("javac")));
        } else {
            looked_at.push("JAVA_HOME, not set".to_owned());
        }
        looked_at.push("PATH".to_owned());
        if let (Some(java), Some(javac)) = (paths::program("java"), paths::program("javac")) {
            pairs.push((java, javac));
        }
        Self::choose(pairs, &looked_at.join(", then "))
    }

    fn choose(pairs: Vec<(PathBuf, PathBuf)>, looked_at: &str) -> Result<Self, Error> {
        let mut too_old = None;
        for (java, javac) in pairs {
            if !paths::is_executable(&java) || !paths::is_executable(&javac) {
                continue;
            }
            let Some(version) = version_of(&java) else { continue };
            if major(&version).is_some_and(|major| major >= OLDEST) {
                return Ok(Self { java, javac, version });
            }
            too_old = Some(Error::JdkTooOld { path: java, version });
        }
        Err(too_old.unwrap_or_else(|| Error::JdkNotFound { looked_at: looked_at.to_owned() }))
    }

    /// Returns the path of `java`.
    pub fn java(&self) -> &Path {
        &self.java
    }

    /// Returns the path of `javac`.
    pub fn javac(&self) -> &Path {
        &self.javac
    }

    /// Returns the version as the JDK prints it, such as `17.0.15`.
    pub fn version(&self) -> &str {
        &self.version
    }
}

fn version_of(java: &Path) -> Option<String> {
    let output = Command::new(java).arg("-version").output().ok()?;
    // A JVM prints its version on the error stream.
    quoted(&String::from_utf8_lossy(&output.stderr))
}

/// Returns the first text in double quotes.
fn quoted(text: &str) -> Option<String> {
    text.split('"').nth(1).map(str::to_owned)
}

/// Returns the major version; before Java 9 it is the second number.
fn major(version: &str) -> Option<u32> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    match numbers.next()? {
        Ok(1) => numbers.next()?.ok(),
        first => first.ok(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};

    use super::{Jdk, major, quoted};

    fn program(folder: &Path, name: &str, prints: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{prints}' >&2\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn major_versions_are_read_from_old_and_new_forms() {
        let check = |printed: &str, expected| {
            assert_eq!(quoted(printed).as_deref().and_then(major), expected, "{printed}");
        };
        check("openjdk version \"17.0.15\" 2025-04-15", Some(17));
        check("openjdk version \"25\" 2025-09-16", Some(25));
        check("java version \"1.8.0_412\"", Some(8));
        check("openjdk version \"21-ea\" 2023-09-19", Some(21));
        check("no version here", None);
    }

    #[test]
    fn an_old_jdk_is_refused_by_version_and_a_newer_one_after_it_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let javac = program(folder.path(), "javac", "");
        let old = program(folder.path(), "java8", "java version \"1.8.0_412\"");
        let error = Jdk::choose(vec![(old.clone(), javac.clone())], "here").unwrap_err();
        assert_eq!(error.code(), "jdk_too_old");
        assert!(error.to_string().contains("1.8.0_412"), "{error}");
        let new = program(folder.path(), "java21", "openjdk version \"21.0.1\"");
        let jdk = Jdk::choose(vec![(old, javac.clone()), (new.clone(), javac)], "here").unwrap();
        assert_eq!((jdk.java(), jdk.version()), (new.as_path(), "21.0.1"));
    }

    #[test]
    fn a_runtime_without_a_compiler_is_not_a_jdk() {
        let folder = tempfile::tempdir().unwrap();
        let java = program(folder.path(), "java", "openjdk version \"21.0.1\"");
        let error = Jdk::choose(vec![(java, folder.path().join("javac"))], "PATH").unwrap_err();
        assert_eq!(error.code(), "jdk_not_found");
        assert!(error.to_string().contains("looked at PATH"), "{error}");
    }
}
