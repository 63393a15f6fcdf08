//! Metadata in batches: halving around unknown tables, the request budget, hidden tables.

use fluss_client::metadata::METADATA_BATCH;
use fluss_codec::api_key::ApiKey;
use fluss_codec::name::TablePath;
use fluss_testkit::fake_server::FakeCluster;
use fluss_testkit::fake_server::NewTable;
use fluss_testkit::fake_server::Script;
use fluss_testkit::fake_server::Visibility;

use crate::support::{SECOND, client, path, shop, timed};

fn all_tables(cluster: &FakeCluster) -> Vec<TablePath> {
    cluster.read(|model| {
        model.tables().map(|table| TablePath::new(table.database(), table.name()).unwrap()).collect()
    })
}

#[tokio::test]
async fn batches_hold_two_hundred_tables() {
    let cluster = FakeCluster::builder().tablet_servers(3).generated_tables(1, 450, 2).start().unwrap();
    let tables = all_tables(&cluster);
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.reset_counters();
    let found = client.tables_metadata(&tables).await.unwrap();
    assert!(found.iter().all(|(_, result)| result.is_ok()));
    assert_eq!(found.iter().map(|(path, _)| path).collect::<Vec<_>>(), tables.iter().collect::<Vec<_>>());
    let batches = u64::try_from(tables.len().div_ceil(METADATA_BATCH)).unwrap();
    assert_eq!(cluster.request_count(ApiKey::GetMetadata), batches);
}

/// Two tables vanish between listing and asking: they alone are missing, the others are there.
#[tokio::test]
async fn vanished_tables_are_found_by_halving() {
    let cluster = FakeCluster::builder().tablet_servers(3).generated_tables(1, 200, 2).start().unwrap();
    let tables = all_tables(&cluster);
    cluster.change(|model| {
        for gone in [&tables[17], &tables[150]] {
            assert!(model.drop_table(gone.database(), gone.table()));
        }
    });
    let found = client(&cluster.bootstrap()).tables_metadata(&tables).await.unwrap();
    let missing: Vec<usize> = (0..found.len()).filter(|index| found[*index].1.is_err()).collect();
    assert_eq!(missing, [17, 150]);
    for index in missing {
        assert_eq!(found[index].1.as_ref().unwrap_err().code(), "table_not_found");
    }
    let requests = cluster.request_count(ApiKey::GetMetadata);
    assert!(requests < 40, "{requests} requests for two missing tables");
}

/// A server that refuses everything must not be asked once for each of thousands of tables.
#[tokio::test]
async fn halving_stops_when_everything_is_refused() {
    let cluster = FakeCluster::builder().tablet_servers(1).generated_tables(1, 600, 1).start().unwrap();
    let tables = all_tables(&cluster);
    let client = client(&cluster.bootstrap());
    client.list_databases().await.unwrap();
    cluster.coordinator().on(ApiKey::GetMetadata, Script::error(-1, "java.lang.OutOfMemoryError"));
    cluster.reset_counters();
    let error = client.tables_metadata(&tables).await.unwrap_err();
    assert_eq!(error.server_code().unwrap().code(), -1);
    let requests = cluster.total_request_count();
    assert!(requests <= 64, "{requests} requests");
}

/// What was never asked for alone is not known to be missing.
#[tokio::test]
async fn partitions_that_were_given_up_are_not_called_missing() {
    let names: Vec<String> = (0..200).map(|number| format!("p{number:03}")).collect();
    let cluster = shop().table(NewTable::log("shop", "visits").partitions(names.clone())).start().unwrap();
    // So many gone that the halving does not get to the end.
    let gone: Vec<&String> = names.iter().step_by(6).collect();
    cluster.change(|model| {
        for name in &gone {
            assert!(model.drop_partition("shop", "visits", name));
        }
    });
    let found = client(&cluster.bootstrap()).partitions_metadata(&path("shop.visits"), &names).await.unwrap();
    let missing: Vec<&String> = found
        .iter()
        .filter(|(_, result)| result.as_ref().is_err_and(|error| error.code() == "partition_not_found"))
        .map(|(name, _)| name)
        .collect();
    assert!(missing.iter().all(|name| gone.contains(name)), "{missing:?}");
    let unknown =
        found.iter().filter(|(_, result)| result.as_ref().is_err_and(|error| error.code() == "server_error"));
    assert!(unknown.count() > 0, "the case needs a batch that is not asked to the end");
}

#[tokio::test]
async fn background_reads_keep_to_twenty_requests_a_second() {
    let cluster = FakeCluster::builder().tablet_servers(1).generated_tables(30, 1, 1).start().unwrap();
    let client = client(&cluster.bootstrap());
    let databases = client.list_databases().await.unwrap();
    cluster.reset_counters();
    let listing = async {
        for database in &databases {
            client.list_tables(database).await.unwrap();
        }
    };
    let ((), took) = timed(listing).await;
    // Three at once, then twenty-seven at 72 ms each.
    assert!(took >= SECOND * 3 / 2 && took < SECOND * 3, "{took:?}");
    assert!(cluster.coordinator().peak_count(SECOND) <= 20, "{}", cluster.coordinator().peak_count(SECOND));
    assert_eq!(cluster.request_count(ApiKey::ListTables), 30);
}

#[tokio::test]
async fn hidden_table_is_not_found_rather_than_empty() {
    let cluster =
        shop().table(NewTable::log("shop", "secret").visible_to(Visibility::Nobody)).start().unwrap();
    let asked = [path("shop.orders"), path("shop.secret"), path("shop.clicks")];
    let found = client(&cluster.bootstrap()).tables_metadata(&asked).await.unwrap();
    assert!(found[0].1.is_ok() && found[2].1.is_ok());
    assert_eq!(found[1].1.as_ref().unwrap_err().code(), "table_not_found");
}

#[tokio::test]
async fn unreadable_description_fails_its_own_table_alone() {
    let cluster =
        shop().table(NewTable::raw("shop", "odd", "{\"version\":1}".into(), "{}".into())).start().unwrap();
    let asked = [path("shop.orders"), path("shop.odd")];
    let found = client(&cluster.bootstrap()).tables_metadata(&asked).await.unwrap();
    assert!(found[0].1.is_ok());
    assert_eq!(found[1].1.as_ref().unwrap_err().code(), "corrupt_answer");
}
