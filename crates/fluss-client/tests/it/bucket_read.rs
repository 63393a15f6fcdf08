//! Leader routing: each bucket's own answer, moved leaders, re-created tables.

use fluss_client::bucket_read::{BucketTarget, OffsetSpec};
use fluss_codec::api_key::ApiKey;
use fluss_codec::messages::{GetTableStatsRequest, ListOffsetsRequest};
use fluss_testkit::fake_server::NewTable;
use fluss_testkit::fake_server::Script;

use crate::support::{SECOND, client, client_with, failed, options, path, shop, timed};

#[tokio::test]
async fn each_leader_is_asked_once_for_its_own_buckets() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let answers =
        client.offsets(&BucketTarget::named(&path("shop.orders"), None), OffsetSpec::Latest).await.unwrap();
    assert_eq!(answers.iter().map(|one| one.bucket).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    for server in cluster.tablet_servers() {
        assert_eq!(server.request_count(ApiKey::ListOffsets), 1);
        let asked: ListOffsetsRequest = server.last_request().unwrap();
        let led: Vec<i32> =
            answers.iter().filter(|one| one.leader == Some(server.id())).map(|one| one.bucket).collect();
        assert_eq!(asked.bucket_id, led);
        assert_eq!((asked.follower_server_id, asked.offset_type, asked.start_timestamp), (-1, 1, None));
    }
}

#[tokio::test]
async fn time_and_partition_travel_with_the_request() {
    let cluster =
        shop().table(NewTable::log("shop", "visits").buckets(1).partitions(["eu", "us"])).start().unwrap();
    let client = client(&cluster.bootstrap());
    let visits = path("shop.visits");
    client
        .offsets(&BucketTarget::named(&visits, Some("us")), OffsetSpec::Timestamp(1_700_000_000_123))
        .await
        .unwrap();
    let us = cluster.read(|model| model.table("shop", "visits").unwrap().partitions["us"].id());
    let asked: ListOffsetsRequest =
        cluster.tablet_servers().iter().find_map(|server| server.last_request()).unwrap();
    assert_eq!((asked.offset_type, asked.start_timestamp), (2, Some(1_700_000_000_123)));
    assert_eq!(asked.partition_id, Some(us));
    client.row_counts(&BucketTarget::named(&visits, Some("us"))).await.unwrap();
    let asked: GetTableStatsRequest =
        cluster.tablet_servers().iter().find_map(|server| server.last_request()).unwrap();
    assert_eq!(asked.buckets_req[0].partition_id, Some(us));
    let error =
        client.offsets(&BucketTarget::named(&visits, Some("xx")), OffsetSpec::Latest).await.unwrap_err();
    assert_eq!(error.code(), "partition_not_found");
}

#[tokio::test]
async fn one_refusing_bucket_does_not_spoil_the_others() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| {
        model.table_mut("shop", "orders").unwrap().bucket_mut(None, 4).unwrap().error = Some(48);
    });
    let client = client(&cluster.bootstrap());
    let answers =
        client.offsets(&BucketTarget::named(&path("shop.orders"), None), OffsetSpec::Latest).await.unwrap();
    assert_eq!(failed(&answers), [(4, "server_error")]);
    let counts = client.row_counts(&BucketTarget::named(&path("shop.orders"), None)).await.unwrap();
    assert_eq!(failed(&counts), [(4, "server_error")]);
}

#[tokio::test]
async fn moved_leader_is_found_by_itself() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let orders = path("shop.orders");
    let before = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    let old = before[0].leader.unwrap();
    let new = (old + 1) % 3;
    cluster.change(|model| model.move_leader("shop", "orders", None, 0, Some(new)));
    let after = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert!(failed(&after).is_empty(), "{after:?}");
    assert_eq!(after[0].leader, Some(new));
}

/// Metadata may name a leader minutes before it can serve: few tries with growing pauses, no hot loop.
#[tokio::test]
async fn leader_that_is_not_ready_is_asked_a_few_times_only_and_named() {
    let cluster = shop().start().unwrap();
    for server in cluster.tablet_servers() {
        server.on(ApiKey::ListOffsets, Script::bucket_error(12));
    }
    let mut patient = options(&cluster.bootstrap());
    patient.read_max_attempts = Some(3);
    patient.request_timeout_seconds = Some(5);
    let client = client_with(patient);
    let orders = path("shop.orders");
    let (answers, took) =
        timed(client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest)).await;
    let answers = answers.unwrap();
    assert_eq!(failed(&answers).len(), 6);
    let hint = answers[0].result.as_ref().unwrap_err().hint().unwrap();
    assert!(hint.contains("leader is not ready"), "{hint}");
    // Two pauses: about 100 ms, then about 200 ms.
    assert!(took >= SECOND / 4 && took < SECOND, "{took:?}");
    for server in cluster.tablet_servers() {
        assert_eq!(server.request_count(ApiKey::ListOffsets), 3);
        server.clear_all();
    }
    let later = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert!(failed(&later).is_empty());
}

/// Offsets of a table that was dropped and made again must not be mixed with the old one's.
#[tokio::test]
async fn recreated_table_is_refused_once_and_read_anew_afterwards() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let orders = path("shop.orders");
    client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    let (old, new) = cluster.change(|model| {
        let old = model.table("shop", "orders").unwrap().id();
        (old, model.recreate_table("shop", "orders").unwrap())
    });
    let mixed = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap_err();
    assert_eq!(mixed.code(), "table_recreated");
    let text = mixed.to_string();
    assert!(text.contains(&old.to_string()) && text.contains(&new.to_string()), "{text}");
    let fresh = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert!(failed(&fresh).is_empty());
}

#[tokio::test]
async fn bucket_without_a_leader_is_named_as_such() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| model.move_leader("shop", "orders", None, 3, None));
    let answers = client(&cluster.bootstrap())
        .offsets(&BucketTarget::named(&path("shop.orders"), None), OffsetSpec::Earliest)
        .await
        .unwrap();
    assert_eq!(failed(&answers), [(3, "leader_not_available")]);
}

#[tokio::test]
async fn offsets_stay_exact_to_the_last_bit() {
    let cluster = shop().start().unwrap();
    cluster.change(|model| {
        let table = model.table_mut("shop", "orders").unwrap();
        table.bucket_mut(None, 0).unwrap().latest = i64::MAX;
        table.bucket_mut(None, 1).unwrap().latest = 9_007_199_254_740_993;
    });
    let answers = client(&cluster.bootstrap())
        .offsets(&BucketTarget::named(&path("shop.orders"), None), OffsetSpec::Latest)
        .await
        .unwrap();
    assert_eq!(*answers[0].result.as_ref().unwrap(), i64::MAX);
    assert_eq!(*answers[1].result.as_ref().unwrap(), 9_007_199_254_740_993);
}

/// 0.9.1 lets anyone list offsets; later servers answer 48. Both must come out as they are.
#[tokio::test]
async fn offsets_may_be_allowed_or_refused_without_describe() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let orders = path("shop.orders");
    assert!(
        failed(&client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap())
            .is_empty()
    );
    for server in cluster.tablet_servers() {
        server.on(ApiKey::ListOffsets, Script::error(48, "no DESCRIBE"));
    }
    let refused = client.offsets(&BucketTarget::named(&orders, None), OffsetSpec::Latest).await.unwrap();
    assert_eq!(failed(&refused).len(), 6);
    for answer in refused {
        assert_eq!(answer.result.unwrap_err().server_code().unwrap().code(), 48);
    }
}

/// A partition can be made anew while its table stays the same.
#[tokio::test]
async fn recreated_partition_is_refused_too() {
    let cluster =
        shop().table(NewTable::log("shop", "visits").buckets(2).partitions(["eu"])).start().unwrap();
    let client = client(&cluster.bootstrap());
    let table = client.table_info(&path("shop.visits")).await.unwrap();
    let partition = client.list_partitions(&table, None).await.unwrap().remove(0);
    let target = BucketTarget::of(&table, Some((&partition.name, partition.partition_id)));
    client.offsets(&target, OffsetSpec::Latest).await.unwrap();
    cluster.change(|model| {
        assert!(model.drop_partition("shop", "visits", "eu"));
        model.add_partition("shop", "visits", "eu").unwrap();
    });
    let error = client.offsets(&target, OffsetSpec::Latest).await.unwrap_err();
    assert_eq!(error.code(), "table_recreated");
    assert!(error.to_string().starts_with("partition eu of shop.visits"), "{error}");
}

/// Metadata of a table that was just made may not list all of its buckets yet.
#[tokio::test]
async fn bucket_that_metadata_does_not_list_is_a_failed_answer() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    let table = client.table_info(&path("shop.orders")).await.unwrap();
    cluster.change(|model| model.table_mut("shop", "orders").unwrap().buckets.truncate(4));
    let answers = client.row_counts(&BucketTarget::of(&table, None)).await.unwrap();
    assert_eq!(failed(&answers), [(4, "bucket_missing"), (5, "bucket_missing")]);
}

/// Callers that need the same leaders at the same time ask for them once.
#[tokio::test]
async fn leaders_are_read_once_for_all_who_wait() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.reset_counters();
    let mut reading = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let client = client.clone();
        reading.spawn(async move {
            client.row_counts(&BucketTarget::named(&path("shop.orders"), None)).await.unwrap()
        });
    }
    assert!(reading.join_all().await.iter().all(|answers| failed(answers).is_empty()));
    assert_eq!(cluster.request_count(ApiKey::GetMetadata), 1);
}

/// Even with a single attempt, leaders found wrong are not remembered for the next read.
#[tokio::test]
async fn wrong_leader_is_forgotten_though_nothing_is_tried_again() {
    let cluster = shop().start().unwrap();
    let mut single = options(&cluster.bootstrap());
    single.read_max_attempts = Some(1);
    let client = client_with(single);
    let orders = BucketTarget::named(&path("shop.orders"), None);
    let before = client.offsets(&orders, OffsetSpec::Latest).await.unwrap();
    let new = (before[0].leader.unwrap() + 1) % 3;
    cluster.change(|model| model.move_leader("shop", "orders", None, 0, Some(new)));
    let during = client.offsets(&orders, OffsetSpec::Latest).await.unwrap();
    assert_eq!(failed(&during).len(), 1);
    let after = client.offsets(&orders, OffsetSpec::Latest).await.unwrap();
    assert!(failed(&after).is_empty(), "{after:?}");
}

#[tokio::test]
async fn leader_on_a_host_that_is_not_allowed_says_so() {
    let cluster = shop().start().unwrap();
    cluster.tablet_servers()[1].advertise("elsewhere.example", 9123);
    let mut strict = options(&cluster.bootstrap());
    strict.advertised_host_allow_list = Some(vec!["127.0.0.1".to_owned()]);
    let client = client_with(strict);
    let answers = client.row_counts(&BucketTarget::named(&path("shop.orders"), None)).await.unwrap();
    let codes: Vec<_> = failed(&answers).into_iter().map(|one| one.1).collect();
    assert_eq!(codes, ["host_not_allowed"; 2]);
    let servers = client.servers().await.unwrap();
    let refused: Vec<_> = servers.iter().filter(|one| one.answer.is_err()).map(|one| one.node.id).collect();
    assert_eq!(refused, [1], "the others are listed and answer");
}
