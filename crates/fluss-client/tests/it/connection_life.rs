//! What happens to a connection over time: loss, replacement, order of answers.

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::Script;

use crate::support::{SECOND, client, shop, timed};

#[tokio::test]
async fn lost_connection_is_replaced_for_the_next_read() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().close_connections().await.unwrap();
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
}

#[tokio::test]
async fn answers_may_come_in_another_order_than_their_requests() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().on(ApiKey::ListDatabases, Script::Delay(SECOND / 4).times(1));
    let (slow, quick) = tokio::join!(timed(client.list_databases()), timed(client.list_tables("shop")));
    assert_eq!(slow.0.unwrap(), ["shop"]);
    assert_eq!(quick.0.unwrap().len(), 2);
    assert!(quick.1 < slow.1, "{:?} {:?}", quick.1, slow.1);
    assert_eq!(cluster.coordinator().open_count(), 1);
}

#[tokio::test]
async fn answer_that_comes_too_late_is_dropped_and_the_connection_lives_on() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().on(ApiKey::ListTables, Script::LateAnswer(SECOND + SECOND / 2).times(1));
    // Something else is answered meanwhile, so the connection is not silent.
    let (late, ()) = tokio::join!(client.list_tables("shop"), async {
        tokio::time::sleep(SECOND / 2).await;
        client.list_databases().await.unwrap();
    });
    assert!(late.is_err());
    let accepted = cluster.coordinator().accepted_count();
    tokio::time::sleep(SECOND).await;
    assert_eq!(client.list_databases().await.unwrap(), ["shop"]);
    assert_eq!(cluster.coordinator().accepted_count(), accepted, "no new connection was needed");
}

/// Many callers meet a dead server: one dial after another with growing pauses, not one per caller.
#[tokio::test]
async fn dead_server_is_not_hammered() {
    let cluster = shop().start().unwrap();
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().accept_and_close();
    cluster.coordinator().close_connections().await.unwrap();
    let before = cluster.coordinator().accepted_count();
    let (_, took) = timed(async {
        for _ in 0..50 {
            let mut set = tokio::task::JoinSet::new();
            for _ in 0..20 {
                let client = client.clone();
                set.spawn(async move { client.list_databases().await.is_err() });
            }
            assert!(set.join_all().await.into_iter().all(|failed| failed));
        }
    })
    .await;
    let dials = cluster.coordinator().accepted_count() - before;
    // Each dial of a plaintext port that closes is followed by one look whether it speaks TLS. The
    // coordinator is dialled as bootstrap address and as coordinator: the same slot.
    let most = 2 * (u64::try_from(took.as_millis()).unwrap() / 80 + 2);
    assert!(dials <= most, "{dials} dials in {took:?}");
    cluster.coordinator().accept_normally();
    let ((), took) = timed(async {
        while client.list_databases().await.is_err() {
            tokio::time::sleep(SECOND / 20).await;
        }
    })
    .await;
    assert!(took < SECOND * 7, "{took:?}");
}

#[tokio::test]
async fn api_that_the_server_does_not_list_is_not_sent() {
    let cluster = shop().start().unwrap();
    cluster.coordinator().hides_api(ApiKey::DescribeClusterConfigs);
    let error = client(&cluster.bootstrap()).cluster_config().await.unwrap_err();
    assert_eq!(error.code(), "unsupported_api");
    assert_eq!(cluster.coordinator().request_count(ApiKey::DescribeClusterConfigs), 0);
}
