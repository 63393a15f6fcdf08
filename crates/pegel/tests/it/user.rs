//! A lost password.

use crate::serving::{PASSWORD, Place};

#[tokio::test(flavor = "multi_thread")]
async fn lost_password_is_replaced_while_no_server_runs_and_shown_once() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let data = place.data();
    let reset = format!("user reset-password admin --data-dir {}", data.display());
    let ran = place.run(&reset).await;
    assert_eq!(ran.code, 2, "{ran:#?}");
    ran.tells(&["error[data_dir_in_use]: another server (process "]);
    assert_eq!(place.run("cluster list").await.code, 0, "nothing was changed");
    server.stop().await;

    let ran = place.run(&format!("{reset} -o json -v")).await;
    let json = ran.json(0);
    assert_eq!((&json["username"], &json["ended_session_count"]), (&"admin".into(), &1.into()));
    let password = ran.stderr.lines().find_map(|line| line.strip_prefix("    ")).unwrap().to_owned();
    assert_eq!(password.len(), 27, "{ran:#?}");
    assert_eq!(ran.stderr.matches(&password).count(), 1, "{ran:#?}");
    assert!(!ran.stdout.contains(&password), "{ran:#?}");

    let server = place.serve().await;
    let old = place.file("old", PASSWORD).await;
    let new = place.file("new", &password).await;
    let login = format!("login --server {} --username admin --password-file", server.url());
    let ran = place.run(&format!("{login} {old}")).await;
    assert_eq!(ran.code, 5, "{ran:#?}");
    ran.tells(&["error[login_failed]"]);
    let chosen = place.file("chosen", "another battery staple horse").await;
    let ran = place.run(&format!("{login} {new} --new-password-file {chosen}")).await;
    assert_eq!(ran.code, 0, "{ran:#?}");
    let json = place.run("audit list --action password.reset -o json").await.json(0);
    assert_eq!(
        (json["items"].as_array().unwrap().len(), &json["items"][0]["principal_name"]),
        (1, &"pegel".into())
    );
    assert_eq!(place.run("audit verify").await.code, 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_user_and_absent_store_are_told_and_nothing_is_made() {
    let place = Place::new();
    let absent = place.path().join("mistyped");
    let ran = place.run(&format!("user reset-password admin --data-dir {}", absent.display())).await;
    assert_ne!(ran.code, 0, "{ran:#?}");
    ran.tells(&["error[store_unavailable]", "mistyped"]);
    assert!(!absent.exists(), "a mistyped folder is not made");
    place.serve().await.stop().await;
    let line = format!("user reset-password nobody --data-dir {}", place.data().display());
    let ran = place.run(&line).await;
    assert_eq!(ran.code, 6, "{ran:#?}");
    ran.tells(&["error[not_found]: user nobody does not exist"]);
}
