//! `pegel audit`: reading the log and proving it.

use crate::serving::Place;

#[tokio::test(flavor = "multi_thread")]
async fn log_is_listed_newest_first_and_page_by_page() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let whole = place.run("audit list -o json").await.json(0);
    let actions: Vec<&str> =
        whole["items"].as_array().unwrap().iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["password.change", "login", "users.create"]);
    let first = place.run("audit list -o json --limit 2").await.json(0);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = place.run(&format!("audit list -o json --limit 2 --before {cursor}")).await.json(0);
    assert_eq!(rest["items"][0]["action"], "users.create");
    let text = place.run("audit list --action login").await;
    text.shows(&["login", "admin", "ok"]);
    assert!(!text.stdout.contains("users.create"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn log_is_proved_through_a_server_beside_it_and_without_it() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    let offline = format!("audit verify -o json --data-dir {}", place.data().display());
    let through = place.run("audit verify -o json").await.json(0);
    let beside = place.run(&offline).await.json(0);
    assert_eq!((&through, &through["row_count"]), (&beside, &3.into()));
    server.stop().await;
    assert_eq!(place.run(&offline).await.json(0), beside);
    place
        .tamper(&[
            "DROP TRIGGER audit_is_never_changed",
            "UPDATE audit SET outcome = 'ok, nothing to see' WHERE seq = 2",
        ])
        .await;
    let broken = place.run(&offline).await;
    assert_eq!(broken.json(3)["seq"], 2);
    broken.tells(&["error[audit_broken]: the audit log is broken at row 2", "hint: "]);
}

#[tokio::test(flavor = "multi_thread")]
async fn store_that_is_not_there_is_not_made() {
    let place = Place::new();
    let ran = place.run(&format!("audit verify --data-dir {}", place.data().display())).await;
    assert_eq!(ran.code, 4, "{ran:#?}");
    ran.tells(&["error[store_unavailable]"]);
    assert!(!place.data().exists());
}
