//! `pegel config`: checking and printing the server's settings.

use std::os::unix::fs::PermissionsExt;

use crate::serving::Place;

#[tokio::test(flavor = "multi_thread")]
async fn printed_defaults_can_be_used_as_they_are() {
    let place = Place::new();
    let printed = place.run("config default").await;
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    for key in ["#listen = \"127.0.0.1:8420\"", "#data_dir = ", "#endpoint = ", "[retention]"] {
        printed.shows(&[key]);
    }
    let file = place.file("pegel.toml", &printed.stdout).await;
    let checked = place.run(&format!("config check --config {file}")).await;
    assert_eq!((checked.code, checked.stdout), (0, format!("{file} can be used.\n")));
    assert_eq!(place.run("config check").await.code, 0, "no file is needed");
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_wrong_is_told_at_once_with_file_and_line() {
    let place = Place::new();
    let file = place
        .file(
            "pegel.toml",
            "[server]\nlisten = \"0.0.0.0:8420\"\nbody_limit_bytes = 1\ntrusted_proxies = [\"proxy\"]\n\n\
             [store]\nkind = \"postgres\"\nsecret_key = \"short\"\n\n[metrics]\ntoken_file = \"absent\"\n\n\
             [connection]\nsasl_username = \"a\"\n",
        )
        .await;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = place.command(&format!("config check --config {file}"));
    command.env("PEGEL_RETENTION_AUDIT_DAYS", "1");
    let ran = crate::pegel::finish(command).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    let told = ran.stdout.replace(&place.path().display().to_string(), "DIR");
    insta::assert_snapshot!(told);
    let json = place.run(&format!("config check -o json --config {file}")).await.json(2);
    assert_eq!(json["is_usable"], false);
    assert_eq!(json["findings"][0]["severity"], "error");
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_key_is_told_with_its_line_and_no_value() {
    let place = Place::new();
    for (text, part) in [
        ("[server]\n\nlitsen = \"81726354\"\n", "line 3: unknown field `litsen`"),
        ("[sever]\n", "line 1: unknown field `sever`"),
        ("[store]\nsecret_key = 81726354\n", "line 2: the value must be a string in quotes"),
        ("[metrics]\ntoken = \"81726354", "line 2"),
    ] {
        let file = place.file("pegel.toml", text).await;
        let ran = place.run(&format!("config check --config {file}")).await;
        assert_eq!(ran.code, 2, "{ran:#?}");
        ran.shows(&[part, "cannot be used"]);
        assert!(!format!("{ran:?}").contains("81726354"), "{ran:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_that_others_can_read_are_warned_about() {
    let place = Place::new();
    let token = place.file("token", "sixteen bytes or more").await;
    let file = place.file("pegel.toml", "[metrics]\ntoken_file = \"token\"\n").await;
    assert_eq!(place.run(&format!("config check --config {file}")).await.stdout.lines().count(), 1);
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = place.run(&format!("config check --config {file}")).await;
    assert_eq!(ran.code, 0, "{ran:#?}");
    ran.shows(&["warning: ", "pegel.toml:2: metrics.token_file: ", "chmod 600", "can be used"]);
    assert!(!ran.stdout.contains("sixteen"));
}
