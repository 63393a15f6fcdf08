//! What callers get of a cluster: within their scope, as far as they may know, and told by field what is wrong.

use fluss_codec::api_key::ApiKey;
use fluss_testkit::fake_server::{FakeCluster, FakeClusterBuilder, NewTable, Script};
use pegel_api_types::for_each_operation;
use pegel_api_types::operation::Operation;
use pegel_api_types::operations::acls::ListAcls;
use pegel_api_types::operations::cluster_config::ListClusterConfig;
use pegel_api_types::operations::database::GetDatabase;
use pegel_api_types::operations::databases::ListDatabases;
use pegel_api_types::operations::offsets::GetTableOffsets;
use pegel_api_types::operations::servers::ListServers;
use pegel_api_types::operations::table::GetTable;
use pegel_api_types::operations::tables::ListTables;
use pegel_core::access::scope::Scope;
use pegel_core::envelope::{SourceKind, Status};
use pegel_service::Error;
use pegel_service::policy::permission::UsersWrite;
use serde_json::json;

use crate::catalog_house::{Console, on_demand};
use crate::house::{code, scope};
use crate::users::as_is;

fn shop() -> FakeClusterBuilder {
    FakeCluster::builder()
        .tablet_servers(2)
        .table(NewTable::primary_key("shop", "orders").buckets(4))
        .table(NewTable::log("shop", "clicks").buckets(2).partitions(["20260101", "20260102"]))
        .table(NewTable::log("hr", "payroll").buckets(1))
        .table(NewTable::log("hr", "audit").buckets(1))
}

/// A scope of one table, and of all tables of another database.
fn some() -> Scope {
    scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["shop.*","hr.audit"]}}]}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_answers() {
    let cluster = shop().authorizer(true).start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    macro_rules! ask_each {
        ($($operation:ty),* $(,)?) => {
            $(
                let meta = <$operation as Operation>::META;
                let input = match meta.route {
                    "operations/databases/detail" => json!({"database": "shop"}),
                    "operations/partitions" => json!({"database": "shop", "table": "clicks"}),
                    route if route.starts_with("operations/tables/") => json!({"database": "shop", "table": "orders"}),
                    _ => json!({}),
                };
                let envelope = console.ask::<$operation>(input).await;
                assert!(matches!(envelope.status, Status::Ok | Status::Empty), "{}: {:?}", meta.id, envelope.evidence);
                assert!(envelope.data.is_some(), "{}", meta.id);
                assert_eq!(envelope.source.cluster, "eu");
                assert_eq!(envelope.execution_id, console.admin.request_id());
                let is_kept = matches!(meta.id, "get_cluster" | "list_servers" | "list_databases" | "list_tables");
                let kind = if is_kept { SourceKind::Cache } else { SourceKind::Live };
                assert_eq!(envelope.source.kind, kind, "{}", meta.id);
            )*
        };
    }
    for_each_operation!(ask_each);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_counts_hold_what_the_scope_allows_and_nothing_else() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let ann = console.viewer("ann", some()).await;
    let tables = console.ask_as::<ListTables>(&ann, json!({})).await.unwrap().data.unwrap().tables;
    let names: Vec<String> =
        tables.items.iter().map(|row| format!("{}.{}", row.database, row.name)).collect();
    assert_eq!(names, ["hr.audit", "shop.clicks", "shop.orders"]);
    assert_eq!((tables.total_count, tables.matched_count), (3, 3));
    let searched = console.ask_as::<ListTables>(&ann, json!({"search": "payroll"})).await.unwrap();
    assert_eq!((searched.status, searched.data.unwrap().tables.total_count), (Status::Empty, 3));
    let databases = console.ask_as::<ListDatabases>(&ann, json!({})).await.unwrap().data.unwrap();
    let counts: Vec<_> =
        databases.items.iter().map(|database| (database.name.as_str(), database.table_count)).collect();
    assert_eq!(counts, [("hr", Some(1)), ("shop", Some(2))]);
    let detail = console.ask_as::<GetDatabase>(&ann, json!({"database": "hr"})).await.unwrap();
    assert_eq!(detail.data.unwrap().table_count, Some(1));
    let of_one = console.ask_as::<ListTables>(&ann, json!({"database": "hr"})).await.unwrap();
    assert_eq!(of_one.data.unwrap().tables.total_count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_scope_nothing_exists_and_within_it_the_pattern_is_named() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let ann = console.viewer("ann", some()).await;
    for table in ["payroll", "nothing"] {
        let asked = console.ask_as::<GetTable>(&ann, json!({"database": "hr", "table": table})).await;
        assert_eq!(code(asked), "not_found");
    }
    assert_eq!(code(console.ask_as::<ListTables>(&ann, json!({"database": "bank"})).await), "not_found");
    assert_eq!(code(console.ask_as::<ListClusterConfig>(&ann, json!({})).await), "not_found");
    let bob = console.viewer("bob", Scope::All).await;
    match console.ask_as::<ListAcls>(&bob, json!({})).await {
        Err(Error::PermissionDenied { pattern, .. }) => {
            assert_eq!(pattern, "fluss-plugin.operations.security.read");
        }
        other => panic!("{other:?}"),
    }
    let missing = console.ask_as::<GetTable>(&ann, json!({"database": "shop", "table": "nothing"})).await;
    assert_eq!(code(missing), "table_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_question_is_told_with_its_field() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let pointer = async |outcome: Error| match outcome {
        Error::Invalid { problems } => problems[0].pointer.to_string(),
        Error::Failed(failure) => failure.pointer.unwrap_or_default().to_owned(),
        other => panic!("{other:?}"),
    };
    let admin = &console.admin;
    let limit = console.ask_as::<ListTables>(admin, json!({"limit": 0})).await.unwrap_err();
    assert_eq!(pointer(limit).await, "/limit");
    let search = console.ask_as::<ListDatabases>(admin, json!({"search": "x".repeat(201)})).await;
    assert_eq!(pointer(search.unwrap_err()).await, "/search");
    let database = console.ask_as::<GetDatabase>(admin, json!({"database": "a/b"})).await.unwrap_err();
    assert_eq!(pointer(database).await, "/database");
    let table = console.ask_as::<GetTable>(admin, json!({"database": "shop", "table": ""})).await;
    assert_eq!(pointer(table.unwrap_err()).await, "/table");
    let filter = json!({"database": "shop", "table": "clicks", "partition_spec_json": "{\"month\":\"1\"}"});
    let spec = console.ask_as::<GetTableOffsets>(admin, filter).await.unwrap_err();
    assert_eq!(
        (spec.code().as_str(), pointer(spec).await.as_str()),
        ("partition_spec_invalid", "/partition_spec_json")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_see_servers_reads_no_address() {
    let cluster = shop().start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    let person =
        console.yard.house.person(&console.yard.admin, "ann", pegel_core::access::Role::Viewer, Scope::All);
    let person = person.await;
    let may = console.yard.house.may::<UsersWrite>(&console.admin).await;
    let grants = Some(vec!["fluss-plugin.operations.catalog.read".parse().unwrap()]);
    let narrowed = pegel_api_types::people::UpdateUser { grants, ..as_is(&person.user) };
    console.yard.house.people.update_user(&may, person.user.id, &narrowed).await.unwrap();
    let ann = console.yard.house.caller(&person).await;
    assert_eq!(code(console.ask_as::<ListServers>(&ann, json!({})).await), "permission_denied");
    cluster.tablet_servers()[0].stop().await.unwrap();
    let trace = "boom at 10.9.8.7\n\tat org.apache.fluss.Inner(Inner.java:1)";
    cluster.tablet_servers()[1].on(ApiKey::ListOffsets, Script::error(-1, trace));
    let input = json!({"database": "shop", "table": "orders"});
    let seen = console.ask_as::<GetTableOffsets>(&ann, input.clone()).await.unwrap();
    assert_eq!(seen.status, Status::Unavailable);
    let text = serde_json::to_string(&seen).unwrap();
    assert!(!text.contains("127.0.0.1") && !text.contains("boom"), "{text}");
    assert!(text.contains("connect_failed") && text.contains("server_error"), "{text}");
    let bob = console.viewer("bob", Scope::All).await;
    let text = serde_json::to_string(&console.ask_as::<GetTableOffsets>(&bob, input).await.unwrap()).unwrap();
    assert!(text.contains("127.0.0.1") && !text.contains("boom") && !text.contains("Inner"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_executions_at_once_tell_each_of_its_own_requests_only() {
    let cluster = shop().authorizer(true).start().unwrap();
    let console = Console::of(&cluster, on_demand()).await;
    // The coordinator is found before.
    console.ask::<ListServers>(json!({})).await;
    let (config, acls) =
        tokio::join!(console.ask::<ListClusterConfig>(json!({})), console.ask::<ListAcls>(json!({})));
    let answered = |source: &pegel_core::envelope::Source| source.servers[0].answered.concat();
    assert_eq!(answered(&config.source), "DESCRIBE_CLUSTER_CONFIGS");
    assert_eq!(answered(&acls.source), "LIST_ACLS");
}
