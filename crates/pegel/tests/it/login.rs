//! Signing in and out.

use std::os::unix::fs::PermissionsExt;

use crate::pegel::finish;
use crate::serving::{PASSWORD, Place};

#[tokio::test(flavor = "multi_thread")]
async fn first_password_has_to_be_changed_and_then_opens_nothing() {
    let place = Place::new();
    let server = place.serve().await;
    let first = place.file("first", &server.first_password().unwrap()).await;
    let login = format!("login --server {} --username admin --password-file", server.url());
    // Without a terminal nobody can be asked for the new one.
    let ran = place.run(&format!("{login} {first}")).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[invalid]: there is no terminal", "--new-password-file"]);
    let short = place.file("short", "too short").await;
    let ran = place.run(&format!("{login} {first} --new-password-file {short}")).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[invalid]", "/new_password: a password has 12"]);
    let chosen = place.file("chosen", PASSWORD).await;
    let json = place.run(&format!("{login} {first} --new-password-file {chosen} -o json")).await.json(0);
    assert_eq!((&json["username"], &json["role"]), (&"admin".into(), &"admin".into()));
    assert_eq!(place.run(&format!("{login} {first}")).await.code, 5);
    assert_eq!(place.run(&format!("{login} {chosen}")).await.code, 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_password_is_refused_without_saying_what_is_wrong() {
    let place = Place::new();
    let server = place.serve().await;
    let wrong = place.file("wrong", "not the password").await;
    for name in ["admin", "nobody"] {
        let line = format!("login --server {} --username {name} --password-file {wrong}", server.url());
        let ran = place.run(&line).await;
        assert_eq!(ran.code, 5, "{ran:#?}");
        ran.tells(&["error[login_failed]: the name or the password is wrong"]);
        assert!(!format!("{ran:?}").contains("not the password"));
    }
    assert!(!place.path().join("home/.config/pegel/credentials.json").exists());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn login_is_kept_for_its_owner_alone_and_logout_ends_it() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let credentials = place.path().join("home/.config/pegel/credentials.json");
    assert_eq!(std::fs::metadata(&credentials).unwrap().permissions().mode() & 0o777, 0o600);
    let kept = std::fs::read_to_string(&credentials).unwrap();
    assert!(!kept.contains(PASSWORD));
    assert_eq!(place.run("cluster list").await.code, 0);
    std::fs::set_permissions(&credentials, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = place.run("cluster list").await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[credentials_unusable]", "chmod 600"]);
    std::fs::set_permissions(&credentials, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(place.run("logout").await.stdout.starts_with("Signed out at http://127.0.0.1:"));
    // The session is over at the server too, not only forgotten here.
    std::fs::write(&credentials, &kept).unwrap();
    let ran = place.run("cluster list").await;
    assert_eq!(ran.code, 5, "{ran:#?}");
    ran.tells(&["error[sign_in_required]", "pegel login --server http://127.0.0.1:"]);
    assert_eq!(place.run("logout").await.code, 0, "what is over can be forgotten");
    let ran = place.run(&format!("logout --server {}", server.url())).await;
    assert_eq!(ran.code, 5, "{ran:#?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn password_may_come_through_a_pipe() {
    use tokio::io::AsyncWriteExt;
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let mut command =
        place.command(&format!("login --server {} --username admin --password-file -", server.url()));
    let piped = std::process::Stdio::piped;
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{PASSWORD}\n").as_bytes()).await.unwrap();
    drop(stdin);
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn token_of_the_environment_needs_neither_login_nor_home() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let mut command = place.command("cluster list");
    command.env_remove("HOME").env("PEGEL_SERVER", server.url()).env("PEGEL_TOKEN", "pgl_mistyped");
    let ran = finish(command).await;
    assert_eq!(ran.code, 5, "{ran:#?}");
    ran.tells(&["error[sign_in_required]"]);
    assert!(!format!("{ran:?}").contains("pgl_mistyped"));
    let mut command = place.command("cluster list");
    command.env_remove("HOME").env("PEGEL_SERVER", server.url());
    let ran = finish(command).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[credentials_unusable]", "neither HOME nor XDG_CONFIG_HOME"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passwords_go_to_other_machines_encrypted_only() {
    let place = Place::new();
    let password = place.file("password", PASSWORD).await;
    let line = format!("login --server http://192.0.2.1:8420 --username admin --password-file {password}");
    let ran = place.run(&line).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[invalid]", "unencrypted", "--insecure-http"]);
}
