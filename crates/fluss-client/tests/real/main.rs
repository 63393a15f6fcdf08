//! The client against a real cluster: one coordinator, three tablet servers, SASL
//! inside TLS, an authorizer. One cluster serves all; the parts run in order,
//! since they kill and freeze its servers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and its own time is real time"
)]

mod raw;
mod rows;

use std::time::{Duration, Instant};

use fluss_client::admin::AclFilter;
use fluss_client::bucket_read::{BucketAnswer, BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::connection_test::{self, Check, FindingState, Verdict};
use fluss_client::error::Error;
use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use fluss_codec::codes::{AclOperation, AclPermission, AclResourceType};
use fluss_codec::data_type::{DataType, TypeKind};
use fluss_codec::messages::{
    CreateAclsRequest, CreateDatabaseRequest, CreatePartitionRequest, CreateTableRequest, DropTableRequest,
    PbAclInfo,
};
use fluss_codec::name::TablePath;
use fluss_codec::partition::PartitionSpec;
use fluss_codec::schema::Schema;
use fluss_codec::table::{TableDescriptor, TableKind};
use fluss_testkit::cluster::{ClusterBuilder, RunningCluster, TlsOptions, User};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);
/// One cluster at a time: two of them would slow each other down on a small machine.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());
/// Most time a cluster gets to be whole again after one of its servers came back.
const RECOVERY: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_reads_a_real_cluster_and_survives_its_faults() {
    let _turn = TURN.lock().await;
    let builder = ClusterBuilder::new()
        .tablet_servers(3)
        .sasl([User::new("admin", "admin-pw-1"), User::new("alice", "alice-pw-1")])
        .authorizer(["admin"])
        .tls(TlsOptions::default())
        .session_timeout(Some(Duration::from_secs(6)))
        .default_replication_factor(1)
        .default_min_in_sync_replicas(1);
    let cluster = match builder.start().await {
        Ok(cluster) => cluster,
        Err(error) if error.is_missing_prerequisite() && !is_required() => {
            eprintln!("skipped: no real cluster can run here: {error}");
            return;
        }
        Err(error) => panic!("the cluster did not start: {error}"),
    };
    create_catalog(&cluster).await;
    let admin = client(&cluster, "admin", "admin-pw-1");

    every_read_answers(&cluster, &admin).await;
    connection_test_passes_and_names_wrong_passwords(&cluster).await;
    rights_decide_what_alice_sees(&cluster).await;
    recreated_table_is_not_mistaken_for_the_old_one(&cluster, &admin).await;
    killed_tablet_server_fails_its_buckets_alone_and_comes_back(&cluster, &admin).await;
    frozen_tablet_server_costs_the_request_timeout(&cluster, &admin).await;
    missing_coordinator_is_unavailable_until_it_returns(&cluster, &admin).await;

    cluster.stop().await.expect("cluster stops");
}

fn is_required() -> bool {
    std::env::var("PEGEL_TEST_REQUIRE").is_ok_and(|list| list.split(',').any(|name| name == "fluss"))
}

fn options(cluster: &RunningCluster, user: &str, password: &str) -> ConnectionOptions {
    ConnectionOptions {
        endpoint: Some(cluster.bootstrap()),
        security_protocol: Some("SASL_TLS".to_owned()),
        sasl_username: Some(user.to_owned()),
        sasl_password: Some(password.to_owned().into()),
        tls_ca_cert: Some(cluster.tls().expect("cluster has TLS").ca().certificate_pem()),
        request_timeout_seconds: Some(REQUEST_TIMEOUT.as_secs()),
        ..ConnectionOptions::default()
    }
}

fn client(cluster: &RunningCluster, user: &str, password: &str) -> FlussClient {
    let settings = ConnectionSettings::try_from(options(cluster, user, password)).expect("settings");
    FlussClient::new(settings).expect("client")
}

fn path(text: &str) -> TablePath {
    text.parse().expect("table path")
}

fn column(kind: TypeKind) -> DataType {
    DataType::new(kind).expect("data type")
}

async fn create_table(cluster: &RunningCluster, name: &str, table: &TableDescriptor) {
    let request = CreateTableRequest {
        table_path: (&path(name)).into(),
        table_json: table.to_json().into_bytes().into(),
        ignore_if_exists: false,
    };
    raw::call(cluster.coordinator().internal_address(), &request).await;
}

fn orders(replicas: u32) -> TableDescriptor {
    let schema = Schema::builder()
        .column("id", column(TypeKind::BigInt))
        .column("status", column(TypeKind::String))
        .primary_key(["id"])
        .build()
        .expect("schema");
    TableDescriptor::builder(schema)
        .comment("orders")
        .distributed_by(Some(3), ["id"])
        .property("table.replication.factor", replicas.to_string())
        .build()
        .expect("table")
}

fn clicks() -> TableDescriptor {
    let schema = Schema::builder()
        .column("at", column(TypeKind::BigInt))
        .column("region", column(TypeKind::String))
        .build()
        .expect("schema");
    TableDescriptor::builder(schema)
        .partitioned_by(["region"])
        .distributed_by::<String>(Some(2), [])
        .build()
        .expect("table")
}

async fn create_catalog(cluster: &RunningCluster) {
    let coordinator = cluster.coordinator().internal_address();
    let database = CreateDatabaseRequest {
        database_name: "shop".to_owned(),
        ignore_if_exists: false,
        database_json: Some(
            r#"{"version":1,"comment":"the shop","custom_properties":{"team":"web"}}"#.into(),
        ),
    };
    raw::call(coordinator, &database).await;
    create_table(cluster, "shop.orders", &orders(1)).await;
    create_table(cluster, "shop.orders3", &orders(3)).await;
    create_table(cluster, "shop.clicks", &clicks()).await;
    for region in ["eu", "us"] {
        let spec = PartitionSpec::new([("region", region)]).expect("spec");
        let request = CreatePartitionRequest {
            table_path: (&path("shop.clicks")).into(),
            partition_spec: (&spec).into(),
            ignore_if_not_exists: false,
        };
        raw::call(coordinator, &request).await;
    }
}

/// Repeats a read until it satisfies `good`, since new tables get their leaders a moment later.
async fn eventually<T, F: Future<Output = T>>(
    what: &str,
    read: impl Fn() -> F,
    good: impl Fn(&T) -> bool,
) -> T
where
    T: std::fmt::Debug,
{
    let started = Instant::now();
    loop {
        let value = read().await;
        if good(&value) {
            return value;
        }
        assert!(started.elapsed() < RECOVERY, "{what} did not come true: {value:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn offsets(
    client: &FlussClient,
    path: &TablePath,
    partition: Option<&str>,
    spec: OffsetSpec,
) -> Result<Vec<BucketAnswer<i64>>, Error> {
    client.offsets(&BucketTarget::named(path, partition), spec).await
}

async fn row_counts(
    client: &FlussClient,
    path: &TablePath,
    partition: Option<&str>,
) -> Result<Vec<BucketAnswer<i64>>, Error> {
    client.row_counts(&BucketTarget::named(path, partition)).await
}

fn all_ok(answers: &Result<Vec<BucketAnswer<i64>>, Error>) -> bool {
    answers
        .as_ref()
        .is_ok_and(|answers| !answers.is_empty() && answers.iter().all(|answer| answer.result.is_ok()))
}

fn failed_buckets(answers: &[BucketAnswer<i64>]) -> Vec<i32> {
    answers.iter().filter(|answer| answer.result.is_err()).map(|answer| answer.bucket).collect()
}

async fn every_read_answers(cluster: &RunningCluster, admin: &FlussClient) {
    let orders = path("shop.orders");
    let servers = admin.servers().await.expect("servers");
    assert_eq!(servers.len(), 4);
    assert!(servers.iter().all(|server| server.answer.is_ok()), "{servers:?}");
    let racks: Vec<_> = servers.iter().map(|server| server.node.rack.as_deref()).collect();
    assert_eq!(racks, [None, Some("rack-0"), Some("rack-1"), Some("rack-2")]);

    assert_eq!(admin.list_databases().await.expect("databases"), ["fluss", "shop"]);
    let summaries = admin.list_database_summaries().await.expect("summaries");
    assert_eq!(
        summaries.iter().map(|one| (one.name.as_str(), one.table_count)).collect::<Vec<_>>(),
        [("fluss", 0), ("shop", 3)]
    );
    let info = admin.database_info("shop").await.expect("database");
    assert_eq!(info.descriptor.comment.as_deref(), Some("the shop"));
    assert!(admin.database_exists("shop").await.expect("exists"));
    assert!(!admin.database_exists("nope").await.expect("exists"));

    assert_eq!(admin.list_tables("shop").await.expect("tables"), ["clicks", "orders", "orders3"]);
    let table = admin.table_info(&orders).await.expect("table");
    assert_eq!(table.descriptor.kind(), TableKind::PrimaryKey);
    assert_eq!(table.descriptor.bucket_count(), Some(3));
    let schema = admin.table_schema(&orders, None).await.expect("schema");
    assert_eq!(schema.schema_id, table.schema_id);
    assert_eq!(schema.schema.primary_key(), ["id"]);
    assert!(admin.table_exists(&orders).await.expect("exists"));
    assert_eq!(admin.table_info(&path("shop.nope")).await.unwrap_err().code(), "table_not_found");

    let unknown = [path("shop.orders"), path("shop.gone"), path("shop.clicks"), path("nope.gone")];
    let found = admin.tables_metadata(&unknown).await.expect("metadata");
    let codes: Vec<_> =
        found.iter().map(|(_, result)| result.as_ref().map_or_else(Error::code, |_| "ok")).collect();
    assert_eq!(codes, ["ok", "table_not_found", "ok", "table_not_found"]);

    let clicks = admin.table_info(&path("shop.clicks")).await.expect("table");
    let partitions = admin.list_partitions(&clicks, None).await.expect("partitions");
    assert_eq!(partitions.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["eu", "us"]);
    let only = PartitionSpec::new([("region", "us")]).expect("spec");
    assert_eq!(admin.list_partitions(&clicks, Some(&only)).await.expect("partitions").len(), 1);
    let names = ["eu".to_owned(), "xx".to_owned(), "us".to_owned()];
    let found = admin.partitions_metadata(&clicks.path, &names).await.expect("metadata");
    let codes: Vec<_> =
        found.iter().map(|(_, result)| result.as_ref().map_or_else(Error::code, |_| "ok")).collect();
    assert_eq!(codes, ["ok", "partition_not_found", "ok"]);

    for spec in [OffsetSpec::Earliest, OffsetSpec::Latest, OffsetSpec::Timestamp(0)] {
        let offsets = eventually("offsets", || offsets(admin, &orders, None, spec), all_ok).await;
        let offsets: Vec<_> = offsets.expect("offsets").into_iter().map(|one| one.result.ok()).collect();
        assert_eq!(offsets, [Some(0), Some(0), Some(0)]);
    }
    let far_future = OffsetSpec::Timestamp(4_102_444_800_000);
    let refused = offsets(admin, &orders, None, far_future).await.expect("answers");
    let codes: Vec<_> =
        refused.iter().map(|one| one.result.as_ref().unwrap_err().server_code().unwrap().code()).collect();
    assert_eq!(codes, [38, 38, 38]);
    assert!(all_ok(&eventually("stats", || row_counts(admin, &orders, None), all_ok).await));
    assert!(all_ok(&eventually("stats", || row_counts(admin, &clicks.path, Some("eu")), all_ok).await));

    let config = admin.cluster_config().await.expect("configuration");
    assert!(
        config
            .iter()
            .any(|entry| entry.key == "authorizer.enabled" && entry.value.as_deref() == Some("true"))
    );
    assert_eq!(admin.latest_kv_snapshots(&orders, None).await.expect("snapshots").buckets.len(), 3);
    let no_lake = admin.lake_snapshot(&orders, None).await.unwrap_err();
    assert!(no_lake.server_code().is_some(), "{no_lake}");
    assert!(!cluster.metric_endpoints().is_empty());
}

async fn connection_test_passes_and_names_wrong_passwords(cluster: &RunningCluster) {
    let report = connection_test::run(&client(cluster, "admin", "admin-pw-1")).await.expect("report");
    assert_eq!(report.verdict, Verdict::Passed, "{:?}", report.findings);
    assert_eq!(report.server_line, Some("0.9"));

    let report = connection_test::run(&client(cluster, "admin", "wrong")).await.expect("report");
    assert_eq!(report.verdict, Verdict::Failed);
    for finding in report.findings.iter().filter(|finding| finding.check == Check::Authentication) {
        assert!(
            matches!(&finding.state, FindingState::Failed(error) if error.code() == "authentication_failed"),
            "{finding:?}"
        );
    }
}

/// A name and a type that are swapped would never match an entry made for `User:alice`.
async fn rights_decide_what_alice_sees(cluster: &RunningCluster) {
    let alice = client(cluster, "alice", "alice-pw-1");
    assert!(alice.list_databases().await.expect("a filtered list").is_empty());
    let orders = path("shop.orders");
    let refused = alice.table_info(&orders).await.unwrap_err();
    assert_eq!(refused.server_code().map(|code| code.code()), Some(48), "{refused}");
    // Metadata leaves the table out without a word, so its leaders stay unknown.
    assert_eq!(
        offsets(&alice, &orders, None, OffsetSpec::Latest).await.unwrap_err().code(),
        "table_not_found"
    );
    assert_eq!(alice.cluster_config().await.unwrap_err().server_code().map(|code| code.code()), Some(48));

    let grant = CreateAclsRequest {
        acl: vec![PbAclInfo {
            resource_name: "shop.orders".to_owned(),
            resource_type: AclResourceType::Table.code(),
            principal_name: "alice".to_owned(),
            principal_type: "User".to_owned(),
            host: "*".to_owned(),
            operation_type: AclOperation::Read.code(),
            permission_type: AclPermission::Allow.code(),
        }],
    };
    raw::call(cluster.coordinator().internal_address(), &grant).await;
    let seen = eventually("the new right", || alice.table_info(&orders), Result::is_ok).await;
    assert!(seen.is_ok());
    assert!(all_ok(&eventually("row counts", || row_counts(&alice, &orders, None), all_ok).await));

    let admin = client(cluster, "admin", "admin-pw-1");
    let entries = admin.list_acls(&AclFilter::default()).await.expect("entries");
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].principal.kind.as_str(), entries[0].principal.name.as_str()), ("User", "alice"));
    assert_eq!((entries[0].operation.as_str(), entries[0].resource_name.as_str()), ("READ", "shop.orders"));
}

async fn recreated_table_is_not_mistaken_for_the_old_one(cluster: &RunningCluster, admin: &FlussClient) {
    create_table(cluster, "shop.brief", &orders(1)).await;
    let brief = path("shop.brief");
    eventually("offsets", || offsets(admin, &brief, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
    let coordinator = cluster.coordinator().internal_address();
    let drop = DropTableRequest { table_path: (&brief).into(), ignore_if_not_exists: false };
    raw::call(coordinator, &drop).await;
    create_table(cluster, "shop.brief", &orders(1)).await;
    // The cached leaders carry the old id. Once its buckets are gone from the servers, the next
    // read says so instead of mixing the two tables, and the one after it reads the new table.
    let refused =
        eventually("the new id", || offsets(admin, &brief, None, OffsetSpec::Latest), Result::is_err).await;
    assert_eq!(refused.unwrap_err().code(), "table_recreated");
    eventually("offsets of the new table", || offsets(admin, &brief, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
    raw::call(coordinator, &drop).await;
}

async fn killed_tablet_server_fails_its_buckets_alone_and_comes_back(
    cluster: &RunningCluster,
    admin: &FlussClient,
) {
    let single = path("shop.orders");
    let replicated = path("shop.orders3");
    eventually("offsets", || offsets(admin, &replicated, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
    let before = offsets(admin, &single, None, OffsetSpec::Latest).await.expect("offsets");
    let lost: Vec<i32> = before.iter().filter(|one| one.leader == Some(1)).map(|one| one.bucket).collect();
    assert_eq!(lost.len(), 1, "three buckets are spread over three servers: {before:?}");

    cluster.tablet_server(1).expect("server").kill().await.expect("killed");
    let started = Instant::now();
    let during = offsets(admin, &single, None, OffsetSpec::Latest).await.expect("offsets");
    assert!(started.elapsed() < REQUEST_TIMEOUT + Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(failed_buckets(&during), lost, "{during:?}");
    let servers = admin.servers().await.expect("servers");
    let dead: Vec<i32> = servers.iter().filter(|one| one.answer.is_err()).map(|one| one.node.id).collect();
    assert!(dead == [1] || servers.len() == 3, "listed but not answering, or no longer listed: {servers:?}");

    eventually("new leaders", || offsets(admin, &replicated, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
    cluster.tablet_server(1).expect("server").start().await.expect("started");
    eventually("the lost bucket", || offsets(admin, &single, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
    eventually(
        "all servers",
        || admin.servers(),
        |servers| {
            servers
                .as_ref()
                .is_ok_and(|servers| servers.len() == 4 && servers.iter().all(|one| one.answer.is_ok()))
        },
    )
    .await
    .expect("servers");
}

async fn frozen_tablet_server_costs_the_request_timeout(cluster: &RunningCluster, admin: &FlussClient) {
    let single = path("shop.orders");
    let before = offsets(admin, &single, None, OffsetSpec::Latest).await.expect("offsets");
    let held: Vec<i32> = before.iter().filter(|one| one.leader == Some(2)).map(|one| one.bucket).collect();
    let frozen = cluster.tablet_server(2).expect("server");
    frozen.freeze().await.expect("frozen");
    let started = Instant::now();
    let during = offsets(admin, &single, None, OffsetSpec::Latest).await.expect("offsets");
    let took = started.elapsed();
    assert!(
        took >= REQUEST_TIMEOUT && took < REQUEST_TIMEOUT + Duration::from_secs(1),
        "{took:?} {during:?}"
    );
    assert_eq!(failed_buckets(&during), held);
    for answer in during.iter().filter(|answer| answer.result.is_err()) {
        assert_eq!(answer.result.as_ref().unwrap_err().code(), "request_timeout");
    }
    frozen.thaw().await.expect("thawed");
    eventually("the frozen bucket", || offsets(admin, &single, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
}

async fn missing_coordinator_is_unavailable_until_it_returns(cluster: &RunningCluster, admin: &FlussClient) {
    cluster.coordinator().kill().await.expect("killed");
    for attempt in 0..3 {
        let error = admin.list_databases().await.unwrap_err();
        assert_eq!(error.code(), "coordinator_unavailable", "attempt {attempt}: {error:?}");
    }
    assert_eq!(admin.servers().await.unwrap_err().code(), "coordinator_unavailable");
    let fresh = client(cluster, "admin", "admin-pw-1");
    assert_eq!(fresh.list_databases().await.unwrap_err().code(), "coordinator_unavailable");
    let report = connection_test::run(&client(cluster, "admin", "admin-pw-1")).await.expect("report");
    assert_eq!(report.verdict, Verdict::Failed, "{:?}", report.findings);

    cluster.coordinator().start().await.expect("started");
    eventually("the coordinator", || admin.list_databases(), Result::is_ok).await.expect("databases");
    let orders = path("shop.orders");
    eventually("offsets", || offsets(admin, &orders, None, OffsetSpec::Latest), all_ok)
        .await
        .expect("offsets");
}
