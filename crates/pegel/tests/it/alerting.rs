//! Silences and incidents of a server.

use crate::serving::Place;

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_added_listed_and_removed() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(place.run("silence list").await.stdout, "There is no silence.\n");
    let add = "silence add --match cluster=eu,us --match kind!=http --for 2h --comment maintenance -o json";
    let made = place.run(add).await.json(0);
    assert_eq!((&made["is_active"], &made["created_by"]), (&true.into(), &"admin".into()));
    place.run("silence list").await.shows(&["active", "cluster=eu,us kind!=http", "maintenance"]);
    let id = made["id"].as_str().unwrap();
    assert_eq!(place.run(&format!("silence remove {id}")).await.code, 0);
    assert_eq!(place.run(&format!("silence remove {id}")).await.code, 6);
    assert_eq!(place.run("silence list").await.stdout, "There is no silence.\n");
    let over = place.run("silence add --match a=b --until 2001-01-01T00:00:00Z --comment late").await;
    assert_eq!(over.code, 2, "{over:#?}");
    over.tells(&["error[invalid]", "ends_at"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn incidents_that_are_not_there_are_not_there() {
    let place = Place::new();
    let server = place.serve_signed_in().await;
    assert_eq!(place.run("incident list").await.stdout, "There is no incident.\n");
    assert_eq!(place.run("incident list --open --cluster eu").await.stdout, "No incident is open.\n");
    let nothing = "01900000-0000-7000-8000-000000000009";
    assert_eq!(place.run(&format!("incident show {nothing}")).await.code, 6);
    assert_eq!(place.run(&format!("incident comment {nothing} seen")).await.code, 6);
    server.stop().await;
}
