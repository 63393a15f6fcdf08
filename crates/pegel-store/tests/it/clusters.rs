//! Registered clusters.

use pegel_core::ids::{ClusterSlug, Environment};
use pegel_store::clusters::{self, MAX_OPTIONS_BYTES, Settings};
use pegel_store::secret_box::SecretBox;
use pegel_store::secrets;
use secrecy::SecretString;
use serde_json::json;

use crate::on_both;
use crate::stores::{Store, write};

on_both!(
    a_cluster_is_read_back_as_it_was_written,
    a_slug_is_taken_once,
    of_two_updates_of_one_version_one_is_a_conflict,
    clusters_are_listed_page_by_page,
    a_cluster_goes_with_its_secrets,
    endless_options_are_refused,
    options_that_cannot_be_read_hide_no_cluster,
);

pub(crate) fn settings(name: &str) -> Settings {
    Settings {
        name: name.to_owned(),
        environment: Environment::Staging,
        read_only: true,
        options: (&json!({ "endpoint": "localhost:9123", "dial_timeout_seconds": 10 })).into(),
    }
}

fn slug(text: &str) -> ClusterSlug {
    text.parse().unwrap()
}

pub(crate) async fn create(store: &Store, name: &str) {
    let (slug, settings) = (slug(name), settings(name));
    write!(store, [slug, settings], |tx| clusters::create(tx, &slug, &settings).await).unwrap();
}

async fn a_cluster_is_read_back_as_it_was_written(store: Store) {
    create(&store, "eu").await;
    let read = store.db.read(|tx| Box::pin(async { clusters::get(tx, &slug("eu")).await })).await.unwrap();
    assert_eq!((read.slug, read.settings, read.version), (slug("eu"), settings("eu"), 1));
    let missing = store.db.read(|tx| Box::pin(async { clusters::get(tx, &slug("us")).await })).await;
    assert_eq!(missing.unwrap_err().to_string(), "cluster us does not exist");
}

async fn a_slug_is_taken_once(store: Store) {
    create(&store, "eu").await;
    let (slug, other) = (slug("eu"), settings("other"));
    let error = write!(store, [slug, other], |tx| clusters::create(tx, &slug, &other).await).unwrap_err();
    assert_eq!(error.code(), "conflict");
}

async fn of_two_updates_of_one_version_one_is_a_conflict(store: Store) {
    create(&store, "eu").await;
    let slug = slug("eu");
    let (one, two) = (settings("one"), settings("two"));
    let (first, second) = tokio::join!(
        async { write!(store, [slug, one], |tx| clusters::update(tx, &slug, 1, &one).await) },
        async { write!(store, [slug, two], |tx| clusters::update(tx, &slug, 1, &two).await) },
    );
    let mut codes = [first, second].map(|outcome| outcome.map_err(|error| error.code()));
    codes.sort();
    assert_eq!(codes, [Ok(2), Err("conflict")]);
    let late = write!(store, [slug], |tx| clusters::delete(tx, &slug, 1).await);
    assert_eq!(late.unwrap_err().code(), "conflict");
}

async fn clusters_are_listed_page_by_page(store: Store) {
    for name in ["c", "a", "b"] {
        create(&store, name).await;
    }
    let slugs = |clusters: Vec<clusters::Cluster>| {
        clusters.iter().map(|cluster| cluster.slug.to_string()).collect::<Vec<_>>()
    };
    let first = store.db.read(|tx| Box::pin(clusters::list(tx, None, 2))).await.unwrap();
    assert_eq!(slugs(first), ["a", "b"]);
    let next = store.db.read(|tx| Box::pin(async { clusters::list(tx, Some(&slug("b")), 2).await })).await;
    assert_eq!(slugs(next.unwrap()), ["c"]);
}

async fn a_cluster_goes_with_its_secrets(store: Store) {
    create(&store, "eu").await;
    let slug = slug("eu");
    let owner = clusters::resource_key(&slug);
    write!(store, [owner], |tx| {
        let secrets = SecretBox::from_text(&SecretString::from("a".repeat(64)))?;
        secrets::put(tx, &secrets, &owner, "sasl_password", &SecretString::from("pw")).await
    })
    .unwrap();
    write!(store, [slug], |tx| clusters::delete(tx, &slug, 1).await).unwrap();
    assert_eq!(store.count("SELECT count(*) AS n FROM secret").await, 0);
    let gone = write!(store, [slug], |tx| clusters::delete(tx, &slug, 1).await);
    assert_eq!(gone.unwrap_err().code(), "not_found");
}

async fn endless_options_are_refused(store: Store) {
    let (slug, mut long) = (slug("eu"), settings("eu"));
    long.options = (&json!("x".repeat(MAX_OPTIONS_BYTES))).into();
    let error = write!(store, [slug, long], |tx| clusters::create(tx, &slug, &long).await).unwrap_err();
    assert_eq!(error.code(), "too_large");
}

async fn options_that_cannot_be_read_hide_no_cluster(store: Store) {
    for name in ["eu", "us"] {
        create(&store, name).await;
    }
    let sql = "UPDATE cluster SET options = '{\"endpoint\": \"secret' WHERE slug = 'eu'";
    write!(store, [], |tx| tx.execute(sql, &[]).await).unwrap();
    let listed = store.db.read(|tx| Box::pin(clusters::list(tx, None, 10))).await.unwrap();
    let [eu, us] = &listed[..] else { panic!("{listed:?}") };
    assert!(us.settings.options.read().is_ok());
    let error = eu.settings.options.read().unwrap_err();
    assert_eq!(error.code(), "corrupt_row");
    assert!(!error.to_string().contains("secret"), "{error}");
}
