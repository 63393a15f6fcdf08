//! Which crate may depend on which. Arrows point down only: wire, client, domain, service, façades.

use crate::tidy::Finding;
use crate::workspace::Package;

/// What a crate may depend on inside the workspace.
enum Below {
    /// Exactly these.
    Only(&'static [&'static str]),
    /// Anything but the build tasks.
    Anything,
}

/// The table. A crate that is not in it does not belong to the workspace yet.
const ALLOWED: &[(&str, Below)] = &[
    ("fluss-codec", Below::Only(&[])),
    ("fluss-client", Below::Only(&["fluss-codec"])),
    ("pegel-core", Below::Only(&[])),
    ("pegel-store", Below::Only(&["pegel-core"])),
    ("pegel-http", Below::Only(&["pegel-core"])),
    ("pegel-metrics", Below::Only(&["pegel-core", "pegel-store", "pegel-http"])),
    (
        "pegel-monitor",
        Below::Only(&["pegel-core", "pegel-store", "pegel-http", "pegel-metrics", "fluss-client"]),
    ),
    ("pegel-diagnostics", Below::Only(&["pegel-core", "pegel-store", "pegel-metrics", "fluss-client"])),
    (
        "pegel-service",
        Below::Only(&[
            "fluss-codec",
            "fluss-client",
            "pegel-core",
            "pegel-store",
            "pegel-http",
            "pegel-metrics",
            "pegel-monitor",
            "pegel-diagnostics",
            "pegel-api-types",
        ]),
    ),
    ("pegel-api-types", Below::Only(&["pegel-core"])),
    ("pegel-api", Below::Only(&["pegel-core", "pegel-api-types", "pegel-service"])),
    ("pegel", Below::Anything),
    ("fluss-testkit", Below::Anything),
    ("pegel-testkit", Below::Anything),
    ("xtask", Below::Anything),
];

/// Crates any other may use in its tests.
const TEST_KITS: &[&str] = &["fluss-testkit", "pegel-testkit"];

/// Outside crates that would break what a crate promises.
const BANNED_OUTSIDE: &[(&str, &[&str], &str)] = &[
    ("fluss-codec", &["tokio", "rustls", "hyper"], "it does no I/O"),
    ("pegel-core", &["tokio", "rustls", "hyper", "sqlx"], "it is pure"),
];

/// Returns every arrow that the table does not hold.
pub(super) fn check(packages: &[Package]) -> Vec<Finding> {
    let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
    let mut findings = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let mut report = |message: String| {
            findings.push(Finding { path: name.to_owned(), line: None, message });
        };
        let Some((_, below)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            report("not in the table of crates: say there what it may depend on".to_owned());
            continue;
        };
        for dependency in &package.dependencies {
            let to = dependency.name.as_str();
            let in_tests = dependency.kind.as_deref() == Some("dev");
            if is_ours(to) && !(in_tests && TEST_KITS.contains(&to)) && !may_depend(below, to) {
                report(format!("may not depend on {to}"));
            }
            let banned = BANNED_OUTSIDE.iter().find(|(of, outside, _)| *of == name && outside.contains(&to));
            if let (false, Some((_, _, why))) = (in_tests, banned) {
                report(format!("may not depend on {to}: {why}"));
            }
        }
    }
    findings
}

fn may_depend(below: &Below, to: &str) -> bool {
    match below {
        Below::Only(names) => names.contains(&to),
        Below::Anything => to != "xtask",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Package {
        Package {
            name: name.to_owned(),
            manifest_path: format!("{name}/Cargo.toml").into(),
            dependencies: dependencies
                .iter()
                .map(|(name, kind)| Dependency { name: (*name).to_owned(), kind: kind.map(str::to_owned) })
                .collect(),
        }
    }

    fn findings_of(name: &str, dependencies: &[(&str, Option<&str>)]) -> Vec<String> {
        let mut packages: Vec<Package> = ALLOWED.iter().map(|(name, _)| package(name, &[])).collect();
        packages.retain(|other| other.name != name);
        packages.push(package(name, dependencies));
        check(&packages).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn arrows_down_are_allowed() {
        assert!(findings_of("fluss-client", &[("fluss-codec", None), ("tokio", None)]).is_empty());
        assert!(findings_of("pegel", &[("fluss-testkit", None), ("pegel-api", None)]).is_empty());
        assert!(findings_of("fluss-client", &[("fluss-testkit", Some("dev"))]).is_empty());
    }

    #[test]
    fn an_arrow_up_is_found() {
        assert_eq!(
            findings_of("fluss-codec", &[("fluss-client", None)]),
            ["fluss-codec: may not depend on fluss-client"]
        );
        assert_eq!(
            findings_of("pegel-api", &[("pegel-store", None)]),
            ["pegel-api: may not depend on pegel-store"]
        );
    }

    #[test]
    fn a_test_kit_outside_of_tests_is_found() {
        assert_eq!(
            findings_of("fluss-client", &[("fluss-testkit", None)]),
            ["fluss-client: may not depend on fluss-testkit"]
        );
    }

    #[test]
    fn an_arrow_of_tests_to_anything_but_a_test_kit_is_found() {
        assert_eq!(
            findings_of("fluss-codec", &[("fluss-client", Some("dev"))]),
            ["fluss-codec: may not depend on fluss-client"]
        );
    }

    #[test]
    fn nothing_depends_on_the_build_tasks() {
        assert_eq!(findings_of("pegel", &[("xtask", None)]), ["pegel: may not depend on xtask"]);
    }

    #[test]
    fn an_unknown_crate_is_found() {
        assert_eq!(
            findings_of("pegel-utils", &[]),
            ["pegel-utils: not in the table of crates: say there what it may depend on"]
        );
    }

    #[test]
    fn input_and_output_in_a_pure_crate_is_found() {
        assert_eq!(
            findings_of("fluss-codec", &[("tokio", None)]),
            ["fluss-codec: may not depend on tokio: it does no I/O"]
        );
    }
}
