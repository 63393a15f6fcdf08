use std::collections::BTreeMap;

use super::*;
use crate::config::file;

/// Checks a file and variables, with a home to put data in.
fn check(text: &str, variables: &[(&str, &str)], overrides: Overrides) -> Result<Settings, Findings> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pegel.toml");
    std::fs::write(&path, text).unwrap();
    let read = file::read(&path).unwrap();
    let variables: BTreeMap<&str, &str> =
        [("HOME", "/people/ann")].iter().chain(variables).copied().collect();
    let place = Path::new("/etc/pegel/pegel.toml");
    read.content
        .into_sections()
        .check(Some((place, &read.text)), overrides, &|name| variables.get(name).map(OsString::from))
}

fn of(text: &str) -> Settings {
    check(text, &[], Overrides::default()).unwrap()
}

fn refuse(text: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let findings = check(text, variables, Overrides::default()).unwrap_err();
    findings.errors.iter().map(Finding::line).collect()
}

/// Returns the keys of the documentation that have a default to compare, put into force.
fn documented_defaults() -> String {
    let mut has_default = true;
    let mut text = String::new();
    for line in DEFAULT_FILE.lines() {
        match line.strip_prefix('#') {
            Some(key) if key.starts_with(|c: char| c.is_ascii_lowercase()) => {
                if has_default {
                    text.push_str(key);
                    text.push('\n');
                }
            }
            Some(words) => {
                has_default &= !["No default.", "Default:", "Only"].iter().any(|no| words.contains(no));
            }
            None => {
                has_default = true;
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    text
}

#[test]
fn documented_defaults_are_the_real_ones() {
    let text = documented_defaults();
    assert!(text.contains("listen = ") && text.contains("change_days = ") && !text.contains("public_url = "));
    assert_eq!(format!("{:?}", of(&text)), format!("{:?}", of("")));
}

/// Whoever takes the comment sign away and nothing else must not run with what everybody knows.
#[test]
fn examples_of_own_secrets_are_refused() {
    for (section, name) in [("store", "secret_key"), ("metrics", "token")] {
        let start = format!("#{name} = ");
        let line = DEFAULT_FILE.lines().find(|line| line.starts_with(&start)).unwrap();
        let told = refuse(&format!("[{section}]\n{}", &line[1..]), &[]);
        assert!(told.iter().any(|line| line.contains(&format!("{section}.{name}: "))), "{told:?}");
    }
}

#[test]
fn variable_of_a_key_is_named_after_it() {
    for (key, variable) in every_key() {
        assert_eq!(variable, format!("PEGEL_{}", key.replace('.', "_").to_uppercase()));
    }
}

#[test]
fn option_beats_variable_beats_file_beats_default() {
    let text = "[server]\nlisten = \"127.0.0.1:1\"";
    let variable = [("PEGEL_SERVER_LISTEN", "127.0.0.1:2")];
    let option = Overrides { listen: Some("127.0.0.1:3".to_owned()), data_dir: None };
    let port = |settings: Settings| settings.server.listen.port();
    assert_eq!(port(of("")), 8420);
    assert_eq!(port(of(text)), 1);
    assert_eq!(port(check(text, &variable, Overrides::default()).unwrap()), 2);
    assert_eq!(port(check(text, &variable, option).unwrap()), 3);
    // What is empty is not set.
    assert_eq!(port(check(text, &[("PEGEL_SERVER_LISTEN", "")], Overrides::default()).unwrap()), 1);
}

#[test]
fn everything_wrong_is_told_at_once_with_its_place() {
    let text =
        "[server]\nlisten = \"localhost\"\n\n[login]\nsession_idle_minutes = 0\n[log]\nformat = \"xml\"\n";
    let variables = [("PEGEL_RETENTION_CHANGE_DAYS", "many"), ("PEGEL_SERVER_MAX_CONNECTIONS", "1")];
    insta::assert_snapshot!(refuse(text, &variables).join("\n"), @r"
    PEGEL_RETENTION_CHANGE_DAYS: retention.change_days: is not a whole number
    /etc/pegel/pegel.toml:2: server.listen: write an IP address and a port, as 127.0.0.1:8420, [::1]:8420 or 0.0.0.0:8420
    PEGEL_SERVER_MAX_CONNECTIONS: server.max_connections: 1 is not within 8 to 100000
    /etc/pegel/pegel.toml:5: login.session_idle_minutes: 0 is not within 5 to 43200
    /etc/pegel/pegel.toml:7: log.format: write text or json
    ");
}

#[test]
fn server_that_others_reach_has_to_know_its_name() {
    for listen in ["0.0.0.0:8420", "[::]:8420", "192.0.2.1:8420"] {
        let text = format!("[server]\nlisten = \"{listen}\"\n");
        let told = refuse(&text, &[]).join("\n");
        assert!(
            told.contains(":2: server.listen: others can reach this address, so that public_url is needed"),
            "{told}"
        );
        let named = of(&format!("{text}public_url = \"https://pegel.example\""));
        assert!(named.warnings.is_empty(), "{:?}", named.warnings);
        let clear = of(&format!("{text}public_url = \"http://pegel.example\""));
        assert!(clear.warnings[0].message.contains("in the clear"), "{:?}", clear.warnings);
    }
    for listen in ["127.0.0.1:1", "[::1]:1", "127.8.8.8:1"] {
        of(&format!("[server]\nlisten = \"{listen}\""));
    }
}

#[test]
fn hosts_and_proxies_are_checked_one_by_one() {
    let text = "[server]\nallowed_hosts = [\"a.example\", \"B\", \"::1\", \"a:1\", \"a/b\", \"\", \"[::1]\"]\n\
                trusted_proxies = [\"10.0.0.0/8\", \"10.0.0.0/0\", \"::/00\", \"proxy\"]";
    let told = refuse(text, &[]);
    assert_eq!(told.len(), 7, "{told:#?}");
    let good = of("[server]\nallowed_hosts = [\"b.example\", \"A\", \"[::1]\"]\ntrusted_proxies = [\"::1\"]");
    assert_eq!(good.server.allowed_hosts, ["[::1]", "a", "b.example"]);
    assert_eq!(good.server.trusted_proxies.len(), 1);
}

#[test]
fn data_lies_where_the_service_manager_or_the_user_keeps_it() {
    let dir = |variables: &[(&str, &str)]| {
        check("", variables, Overrides::default()).unwrap().store.data_dir.display().to_string()
    };
    assert_eq!(dir(&[]), "/people/ann/.local/share/pegel");
    assert_eq!(dir(&[("XDG_DATA_HOME", "/data")]), "/data/pegel");
    assert_eq!(
        dir(&[("XDG_DATA_HOME", "/data"), ("STATE_DIRECTORY", "/var/lib/pegel:/x")]),
        "/var/lib/pegel"
    );
    assert_eq!(dir(&[("STATE_DIRECTORY", "/s"), ("PEGEL_STORE_DATA_DIR", "/d")]), "/d");
    let told = refuse("", &[("HOME", "")]).join("\n");
    assert!(told.contains("store.data_dir: is needed"), "{told}");
    let relative = of("[store]\ndata_dir = \"data\"").store;
    assert_eq!(relative.data_dir, Path::new("/etc/pegel/data"));
    assert_eq!(relative.secret_key.path(), Some(Path::new("/etc/pegel/data/secret.key")));
}

#[test]
fn database_and_its_url_belong_together() {
    let told = |text: &str| refuse(&format!("[store]\n{text}"), &[]).join("\n");
    assert!(told("kind = \"mysql\"").contains("sqlite or postgres"));
    assert!(told("kind = \"postgres\"").contains("needs postgres_url_file"));
    assert!(told("postgres_url_file = \"x\"").contains("no effect"));
    assert!(
        told("kind = \"postgres\"\npostgres_url = \"a\"\npostgres_url_file = \"b\"").contains("both given")
    );
    assert!(told("kind = \"postgres\"\npostgres_url = \"81726354\"").contains("postgres://user"));
    let good = of("[store]\nkind = \"postgres\"\npostgres_url_file = \"db.url\"").store.database;
    assert_eq!(good.kind(), "postgres");
}

#[test]
fn no_finding_and_no_debug_text_shows_a_secret() {
    let text = "[store]\nkind = \"postgres\"\npostgres_url = \"postgres://pegel:81726354@db\"\n\
                secret_key = \"8172635481726354817263548172635481726354817263548172635481726354\"\n\
                [metrics]\ntoken = \"8172635481726354\"";
    let settings = of(text);
    assert!(!format!("{settings:?}").contains("81726354"));
    // The file of this test can be read by others, which is told for each secret in it.
    for bad in ["secret_key = \"81726354\"", "secret_key = 81726354", "postgres_url = [81726354]"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pegel.toml");
        std::fs::write(&path, format!("[store]\n{bad}")).unwrap();
        let told = match file::read(&path) {
            Err(failure) => format!("{failure:?}"),
            Ok(_) => refuse(&format!("[store]\n{bad}"), &[]).join("\n"),
        };
        assert!(!told.contains("81726354"), "{told}");
    }
    let told = refuse("", &[("PEGEL_METRICS_TOKEN", "81726354"), ("PEGEL_STORE_SECRET_KEY", "81726354")]);
    assert_eq!(told.len(), 2);
    assert!(!told.join("\n").contains("81726354"), "{told:?}");
}

#[test]
fn secrets_that_others_can_read_are_warned_about() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    };
    write("open", "sixteen bytes or more", 0o644);
    write("private", "sixteen bytes or more", 0o600);
    let warnings = |text: &str, mode| {
        let path = write("pegel.toml", text, mode);
        let read = file::read(&path).unwrap();
        let home = |name: &str| (name == "HOME").then(|| OsString::from("/people/ann"));
        let sections = read.content.into_sections();
        sections.check(Some((&path, &read.text)), Overrides::default(), &home).unwrap().warnings
    };
    assert_eq!(warnings("[metrics]\ntoken = \"sixteen bytes or more\"", 0o600), []);
    assert_eq!(warnings("[metrics]\ntoken_file = \"private\"", 0o644), []);
    let told = warnings("[metrics]\ntoken = \"sixteen bytes or more\"", 0o644);
    assert!(told[0].line().contains("pegel.toml:2: metrics.token: is a secret in a file"), "{told:?}");
    let told = warnings("[metrics]\ntoken_file = \"open\"", 0o600);
    assert!(told[0].line().contains("pegel.toml:2: metrics.token_file: "), "{told:?}");
}

#[test]
fn times_that_contradict_each_other_are_refused() {
    let told = |text: &str| refuse(&format!("[login]\n{text}"), &[]).join("\n");
    assert!(
        told("session_idle_minutes = 121\nsession_absolute_hours = 2").contains("session_absolute_hours")
    );
    assert!(told("first_lock_seconds = 10\nlongest_lock_seconds = 9").contains("longest_lock_seconds"));
    of("[login]\nsession_idle_minutes = 120\nsession_absolute_hours = 2");
    assert!(refuse("[retention]\naudit_days = 1", &[])[0].contains("30 to 36500"));
    assert_eq!(of("").retention, RetentionPolicy::default());
}
