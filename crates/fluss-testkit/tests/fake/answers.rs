//! Each served request is answered as the real server does.

use bytes::Bytes;
use fluss_codec::api_key::ApiKey;
use fluss_codec::database::DatabaseDescriptor;
use fluss_codec::messages::{
    AlterTableRequest, CreateDatabaseRequest, DatabaseExistsRequest, DescribeClusterConfigsRequest,
    GetClusterHealthRequest, GetDatabaseInfoRequest, GetKvSnapshotMetadataRequest, GetLakeSnapshotRequest,
    GetLatestKvSnapshotsRequest, GetTableInfoRequest, GetTableSchemaRequest, GetTableStatsRequest,
    ListDatabasesRequest, ListOffsetsRequest, ListPartitionInfosRequest, ListTablesRequest, MetadataRequest,
    PbKeyValue, PbLakeSnapshotForBucket, PbPartitionSpec, PbPhysicalTablePath, PbTableStatsReqForBucket,
    TableExistsRequest,
};
use fluss_codec::schema::Schema;
use fluss_codec::server_type::ServerType;
use fluss_codec::table::TableDescriptor;
use fluss_codec::versions::ApiVersionTable;
use fluss_testkit::fake_server::{
    Config, FakeCluster, KvSnapshot, LakeSnapshot, NewTable, ServerLine, Visibility,
};

use super::{Peer, hello, path};

/// A shop with a log table, a primary key table and a partitioned one, over two tablet servers.
fn shop() -> FakeCluster {
    FakeCluster::builder()
        .tablet_servers(2)
        .rack(1, "west")
        .table(NewTable::log("shop", "clicks").buckets(2))
        .table(NewTable::primary_key("shop", "orders").buckets(2))
        .table(NewTable::log("shop", "days").partitions(["20240101", "20240102"]))
        .table(NewTable::log("shop", "secret").visible_to(Visibility::Nobody))
        .start()
        .unwrap()
}

fn tables(names: &[&str]) -> MetadataRequest {
    MetadataRequest {
        table_path: names.iter().map(|name| path("shop", name)).collect(),
        ..MetadataRequest::default()
    }
}

fn physical(table: &str, partition: &str) -> PbPhysicalTablePath {
    PbPhysicalTablePath {
        database_name: "shop".to_owned(),
        table_name: table.to_owned(),
        partition_name: Some(partition.to_owned()),
    }
}

#[tokio::test]
async fn servers_list_the_keys_of_their_type_and_line() {
    for (line, coordinator_keys, tablet_keys, display) in
        [(ServerLine::Released, 45, 32, "0.9"), (ServerLine::Main, 49, 34, "1.0")]
    {
        let cluster = FakeCluster::builder().line(line).start().unwrap();
        for (server, keys, server_type) in [
            (cluster.coordinator(), coordinator_keys, ServerType::Coordinator),
            (&cluster.tablet_servers()[0], tablet_keys, ServerType::TabletServer),
        ] {
            let answer = Peer::connect(server.address()).await.versions().await;
            assert_eq!(answer.api_versions.len(), keys);
            let table = ApiVersionTable::from_response(&answer).unwrap();
            assert_eq!((table.server_type(), table.server_line()), (Some(server_type), display));
            let highest = if line == ServerLine::Main { Ok(2) } else { Ok(1) };
            if server_type == ServerType::TabletServer {
                assert_eq!(table.negotiate(ApiKey::PutKv), highest);
            }
        }
    }
}

#[tokio::test]
async fn listed_versions_can_be_changed() {
    let cluster = shop();
    cluster.coordinator().hides_api(ApiKey::ListAcls);
    cluster.coordinator().lists_api(ApiKey::ListTables, 3..=7);
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let table = ApiVersionTable::from_response(&peer.versions().await).unwrap();
    assert!(!table.supports(ApiKey::ListAcls));
    assert_eq!(table.negotiate(ApiKey::ListTables).unwrap_err().code(), "api_version_unsupported");
}

#[tokio::test]
async fn metadata_names_servers_tables_and_leaders() {
    let cluster = shop();
    let mut peer = Peer::connect(cluster.tablet_servers()[0].address()).await;
    let answer = peer.ask(&tables(&["orders", "clicks", "days", "secret"])).await.unwrap();

    let coordinator = answer.coordinator_server.unwrap();
    assert_eq!(coordinator.port, i32::from(cluster.coordinator().address().port()));
    let nodes: Vec<_> =
        answer.tablet_servers.iter().map(|node| (node.node_id, node.rack.as_deref())).collect();
    assert_eq!(nodes, [(0, None), (1, Some("west"))]);
    assert_eq!(answer.tablet_servers[1].port, i32::from(cluster.tablet_servers()[1].address().port()));

    let names: Vec<_> =
        answer.table_metadata.iter().map(|table| table.table_path.table_name.as_str()).collect();
    assert_eq!(names, ["orders", "clicks", "days"], "the hidden table is left out");
    let orders = &answer.table_metadata[0];
    assert!(TableDescriptor::from_json(&orders.table_json).unwrap().schema().has_primary_key());
    let mut leaders: Vec<_> = orders.bucket_metadata.iter().map(|bucket| bucket.leader_id.unwrap()).collect();
    leaders.sort_unstable();
    assert_eq!(leaders, [0, 1]);
    assert_eq!(orders.bucket_metadata[1].bucket_id, 1);
    assert!(answer.table_metadata[2].bucket_metadata.is_empty(), "partitions have the buckets");
}

#[tokio::test]
async fn unknown_table_fails_the_whole_metadata_request_with_a_stack_trace() {
    let cluster = shop();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let (code, message) = peer.ask(&tables(&["orders", "nope"])).await.unwrap_err();
    assert_eq!(code, -1);
    assert!(message.contains("TableNotExistException: Table 'shop.nope' does not exist."), "{message}");
    assert!(message.contains("\n\tat org.apache.fluss."), "{message}");

    let long = "x".repeat(5000);
    let (_, message) = peer.ask(&tables(&[long.as_str()])).await.unwrap_err();
    assert_eq!(message.len(), 2048);
}

#[tokio::test]
async fn partitions_are_found_by_path_and_by_id() {
    let cluster = shop();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let (first, second) = cluster.read(|model| {
        let partitions = &model.table("shop", "days").unwrap().partitions;
        (partitions["20240101"].id(), partitions["20240102"].id())
    });
    let request = MetadataRequest {
        partitions_path: vec![physical("days", "20240101"), physical("days", "20240101")],
        partitions_id: vec![second, second],
        ..MetadataRequest::default()
    };
    let answer = peer.ask(&request).await.unwrap();
    let mut found: Vec<_> = answer
        .partition_metadata
        .iter()
        .map(|partition| {
            (partition.partition_name.as_str(), partition.partition_id, partition.bucket_metadata.len())
        })
        .collect();
    found.sort_unstable();
    assert_eq!(found, [("20240101", first, 1), ("20240102", second, 1)]);

    for request in [
        MetadataRequest { partitions_id: vec![first, 999], ..MetadataRequest::default() },
        MetadataRequest { partitions_path: vec![physical("days", "nope")], ..MetadataRequest::default() },
        MetadataRequest { partitions_path: vec![physical("nope", "x")], ..MetadataRequest::default() },
    ] {
        assert_eq!(peer.ask(&request).await.unwrap_err().0, 36, "{request:?}");
    }
}

#[tokio::test]
async fn databases_are_listed_by_name_or_with_a_summary() {
    let cluster = shop();
    cluster.change(|model| {
        model.add_database("empty");
        model.add_database("hidden").visibility = Visibility::Nobody;
    });
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let plain = peer.ask(&ListDatabasesRequest { include_summary: None }).await.unwrap();
    assert_eq!(plain.database_name, ["empty", "shop"]);
    assert!(plain.database_summary.is_empty());
    let summary = peer.ask(&ListDatabasesRequest { include_summary: Some(true) }).await.unwrap();
    assert!(summary.database_name.is_empty());
    let counts: Vec<_> =
        summary.database_summary.iter().map(|it| (it.database_name.as_str(), it.table_count)).collect();
    assert_eq!(counts, [("empty", 0), ("shop", 4)]);

    let exists = async |peer: &mut Peer, name: &str| {
        peer.ask(&DatabaseExistsRequest { database_name: name.to_owned() }).await.unwrap().exists
    };
    assert!(exists(&mut peer, "shop").await);
    assert!(exists(&mut peer, "hidden").await, "0.9.1 tells everyone");
    assert!(!exists(&mut peer, "nope").await);

    let info = peer.ask(&GetDatabaseInfoRequest { database_name: "shop".to_owned() }).await.unwrap();
    DatabaseDescriptor::from_json(&info.database_json).unwrap();
    let missing = peer.ask(&GetDatabaseInfoRequest { database_name: "nope".to_owned() }).await;
    assert_eq!(missing.unwrap_err().0, 4);
}

#[tokio::test]
async fn tables_and_schemas_are_described() {
    let cluster = shop();
    cluster.change(|model| {
        let table = model.table_mut("shop", "orders").unwrap();
        table.schemas.insert(2, Bytes::from_static(b"{}"));
        table.schema_id = 2;
    });
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let listed = peer.ask(&ListTablesRequest { database_name: "shop".to_owned() }).await.unwrap();
    assert_eq!(listed.table_name, ["clicks", "days", "orders"]);
    assert_eq!(peer.ask(&ListTablesRequest { database_name: "no".to_owned() }).await.unwrap_err().0, 4);

    let info = peer.ask(&GetTableInfoRequest { table_path: path("shop", "orders") }).await.unwrap();
    assert_eq!(info.table_id, cluster.read(|model| model.table("shop", "orders").unwrap().id()));
    assert_eq!(info.schema_id, 2);
    assert_eq!(TableDescriptor::from_json(&info.table_json).unwrap().bucket_count(), Some(2));
    let missing = peer.ask(&GetTableInfoRequest { table_path: path("shop", "nope") }).await.unwrap_err();
    assert_eq!(missing, (7, "Table 'shop.nope' does not exist.".to_owned()));
    let hidden = peer.ask(&GetTableInfoRequest { table_path: path("shop", "secret") }).await.unwrap_err();
    assert_eq!(hidden.0, 48);

    let schema = |schema_id| GetTableSchemaRequest { table_path: path("shop", "orders"), schema_id };
    let first = peer.ask(&schema(Some(1))).await.unwrap();
    assert_eq!(Schema::from_json(&first.schema_json).unwrap().primary_key(), ["id"]);
    let latest = peer.ask(&schema(None)).await.unwrap();
    assert_eq!((latest.schema_id, &latest.schema_json[..]), (2, &b"{}"[..]));
    assert_eq!(peer.ask(&schema(Some(3))).await.unwrap_err().0, 9);

    for (name, expected) in [("orders", true), ("secret", true), ("nope", false)] {
        let answer = peer.ask(&TableExistsRequest { table_path: path("shop", name) }).await.unwrap();
        assert_eq!(answer.exists, expected, "{name}");
    }
    cluster.change(|model| model.line = ServerLine::Main);
    let answer = peer.ask(&TableExistsRequest { table_path: path("shop", "secret") }).await.unwrap();
    assert!(!answer.exists, "main tells only who may know");
}

#[tokio::test]
async fn partitions_are_listed_by_a_partial_specification() {
    let cluster = FakeCluster::builder()
        .table(NewTable::log("shop", "clicks"))
        .table(NewTable::primary_key("shop", "days").partitions(["20240101", "20240102"]))
        .generated_tables(1, 10, 6)
        .start()
        .unwrap();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let list = |table: &str, filter: &[(&str, &str)]| ListPartitionInfosRequest {
        table_path: path("shop", table),
        partial_partition_spec: (!filter.is_empty()).then(|| PbPartitionSpec {
            partition_key_values: filter
                .iter()
                .map(|(key, value)| PbKeyValue { key: (*key).to_owned(), value: (*value).to_owned() })
                .collect(),
        }),
    };
    assert_eq!(peer.ask(&list("days", &[])).await.unwrap().partitions_info.len(), 2);
    let one = peer.ask(&list("days", &[("day", "20240102")])).await.unwrap().partitions_info;
    assert_eq!(one.len(), 1);
    assert_eq!(one[0].partition_spec.partition_key_values[0].value, "20240102");
    assert!(peer.ask(&list("days", &[("day", "2023")])).await.unwrap().partitions_info.is_empty());
    let wrong_key = peer.ask(&list("days", &[("hour", "1")])).await.unwrap_err();
    assert!(wrong_key.0 == -1 && wrong_key.1.contains("InvalidPartitionException"), "{wrong_key:?}");
    assert_eq!(peer.ask(&list("clicks", &[])).await.unwrap_err().0, 37);
    assert_eq!(peer.ask(&list("nope", &[])).await.unwrap_err().0, 7);

    let (database, table) = cluster.read(|model| {
        let table = model.tables().find(|table| table.partition_keys().len() == 2).unwrap();
        (table.database().to_owned(), table.name().to_owned())
    });
    let request = ListPartitionInfosRequest {
        table_path: path(&database, &table),
        partial_partition_spec: Some(PbPartitionSpec {
            partition_key_values: vec![PbKeyValue { key: "region".to_owned(), value: "eu".to_owned() }],
        }),
    };
    let listed = peer.ask(&request).await.unwrap().partitions_info;
    assert_eq!(listed.len(), 6);
    let keys: Vec<_> =
        listed[0].partition_spec.partition_key_values.iter().map(|pair| pair.key.as_str()).collect();
    assert_eq!(keys, ["day", "region"]);
}

#[tokio::test]
async fn offsets_come_from_servers_that_have_a_replica() {
    let cluster = shop();
    let (id, here, elsewhere) = cluster.change(|model| {
        model.now_ms = Some(5_000);
        let table = model.table_mut("shop", "clicks").unwrap();
        let here = i32::from(table.buckets[0].leader != Some(0));
        let bucket = &mut table.buckets[usize::try_from(here).unwrap()];
        (bucket.earliest, bucket.latest) = (10, 100);
        bucket.timestamps = vec![(1_000, 10), (2_000, 50)];
        (table.id(), here, 1 - here)
    });
    let mut peer = Peer::connect(cluster.tablet_servers()[0].address()).await;
    let ask = |offset_type, start_timestamp, bucket_id: Vec<i32>| ListOffsetsRequest {
        follower_server_id: -1,
        offset_type,
        table_id: id,
        partition_id: None,
        bucket_id,
        start_timestamp,
    };
    for (offset_type, timestamp, expected) in [
        (0, None, Ok(10)),
        (1, None, Ok(100)),
        (2, Some(500), Ok(10)),
        (2, Some(1_001), Ok(50)),
        (2, Some(5_000), Ok(100)),
        (2, Some(5_001), Err(38)),
        (2, None, Err(-1)),
        (9, None, Err(-1)),
    ] {
        let answer = peer.ask(&ask(offset_type, timestamp, vec![here])).await.unwrap();
        let bucket = &answer.buckets_resp[0];
        let result = bucket.offset.ok_or_else(|| bucket.error_code.unwrap());
        assert_eq!(result, expected, "{offset_type} {timestamp:?}");
        assert_eq!(bucket.offset.is_none(), bucket.error_code.is_some());
    }

    let answer = peer.ask(&ask(1, None, vec![7, elsewhere, here])).await.unwrap();
    let codes: Vec<_> =
        answer.buckets_resp.iter().map(|bucket| (bucket.bucket_id, bucket.error_code.unwrap_or(0))).collect();
    let mut expected = vec![(here, 0), (elsewhere, 12), (7, 21)];
    expected.sort_unstable();
    assert_eq!(codes, expected);

    cluster.change(|model| model.move_leader("shop", "clicks", None, here, Some(1)));
    let answer = peer.ask(&ask(1, None, vec![here])).await.unwrap();
    assert_eq!(answer.buckets_resp[0].error_code, Some(12));
    cluster.change(|model| model.recreate_table("shop", "clicks"));
    let answer = peer.ask(&ask(1, None, vec![here])).await.unwrap();
    assert_eq!(answer.buckets_resp[0].error_code, Some(21));
}

#[tokio::test]
async fn row_counts_are_kept_or_follow_from_offsets() {
    let cluster = shop();
    let ids = cluster.change(|model| {
        let mut ids = Vec::new();
        for name in ["clicks", "orders"] {
            model.move_leader("shop", name, None, 0, Some(0));
            model.move_leader("shop", name, None, 1, Some(0));
            let table = model.table_mut("shop", name).unwrap();
            (table.buckets[0].earliest, table.buckets[0].latest) = (10, 100);
            ids.push(table.id());
        }
        let orders = model.table_mut("shop", "orders").unwrap();
        orders.buckets[0].row_count = Some(7);
        orders.buckets[1].row_count = None;
        ids
    });
    let mut peer = Peer::connect(cluster.tablet_servers()[0].address()).await;
    let ask = |table_id| GetTableStatsRequest {
        table_id,
        buckets_req: vec![
            PbTableStatsReqForBucket { partition_id: None, bucket_id: 0 },
            PbTableStatsReqForBucket { partition_id: None, bucket_id: 1 },
        ],
        target_columns: vec![],
    };
    let counts = async |peer: &mut Peer, id| {
        let answer = peer.ask(&ask(id)).await.unwrap();
        answer.buckets_resp.iter().map(|bucket| (bucket.row_count, bucket.error_code)).collect::<Vec<_>>()
    };
    assert_eq!(counts(&mut peer, ids[0]).await, [(Some(90), None), (Some(0), None)]);
    assert_eq!(counts(&mut peer, ids[1]).await, [(Some(7), None), (None, Some(15))]);

    cluster.change(|model| {
        model.table_mut("shop", "clicks").unwrap().bucket_mut(None, 1).unwrap().error = Some(44);
    });
    assert_eq!(counts(&mut peer, ids[0]).await, [(Some(90), None), (None, Some(44))]);
}

#[tokio::test]
async fn configuration_is_that_of_the_answering_server() {
    let cluster = FakeCluster::builder()
        .config(Config::dynamic("kv.rocksdb.shared-rate-limiter.bytes-per-sec", "1mb"))
        .model(|model| model.tablet_servers[0].configs.push(Config::initial("tablet-server.id", "0")))
        .start()
        .unwrap();
    for (server, keys) in [(cluster.coordinator(), 1), (&cluster.tablet_servers()[0], 2)] {
        let mut peer = Peer::connect(server.address()).await;
        let configs = peer.ask(&DescribeClusterConfigsRequest::default()).await.unwrap().configs;
        assert_eq!(configs.len(), keys);
        assert_eq!(configs[0].config_source, "DYNAMIC_SERVER_CONFIG");
    }
}

#[tokio::test]
async fn kv_snapshots_are_named_and_described() {
    let cluster = FakeCluster::builder()
        .table(NewTable::log("shop", "clicks"))
        .table(NewTable::primary_key("shop", "orders").buckets(2))
        .table(NewTable::primary_key("shop", "days").partitions(["20240101"]))
        .start()
        .unwrap();
    let id = cluster.change(|model| {
        let table = model.table_mut("shop", "orders").unwrap();
        let files = vec![("file:///remote/000001.sst".to_owned(), "000001.sst".to_owned())];
        for (id, log_offset) in [(1, 10), (2, 20)] {
            table.buckets[1].kv_snapshots.push(KvSnapshot { id, log_offset, files: files.clone() });
        }
        table.id()
    });
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let latest = |name: &str, partition: Option<&str>| GetLatestKvSnapshotsRequest {
        table_path: path("shop", name),
        partition_name: partition.map(str::to_owned),
    };
    let answer = peer.ask(&latest("orders", None)).await.unwrap();
    let found: Vec<_> =
        answer.latest_snapshots.iter().map(|it| (it.bucket_id, it.snapshot_id, it.log_offset)).collect();
    assert_eq!(found, [(0, None, None), (1, Some(2), Some(20))]);
    assert!(peer.ask(&latest("days", Some("20240101"))).await.unwrap().partition_id.is_some());
    for (name, partition, code) in [
        ("clicks", None, 20),
        ("orders", Some("x"), 37),
        ("days", None, 36),
        ("days", Some("nope"), -1),
        ("nope", None, 7),
    ] {
        assert_eq!(peer.ask(&latest(name, partition)).await.unwrap_err().0, code, "{name} {partition:?}");
    }

    let describe = |bucket_id, snapshot_id| GetKvSnapshotMetadataRequest {
        table_id: id,
        partition_id: None,
        bucket_id,
        snapshot_id,
    };
    let files = peer.ask(&describe(1, 1)).await.unwrap();
    assert_eq!((files.log_offset, files.snapshot_files.len()), (10, 1));
    assert_eq!(peer.ask(&describe(1, 3)).await.unwrap_err().0, 41);
    assert_eq!(peer.ask(&describe(0, 1)).await.unwrap_err().0, 41);
}

#[tokio::test]
async fn lake_snapshots_are_found_by_id_or_readability() {
    let cluster = shop();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let ask = |snapshot_id, readable| GetLakeSnapshotRequest {
        table_path: path("shop", "orders"),
        snapshot_id,
        readable,
    };
    assert_eq!(peer.ask(&ask(None, None)).await.unwrap_err().0, 53);
    cluster.change(|model| {
        let table = model.table_mut("shop", "orders").unwrap();
        for (id, is_readable) in [(1, true), (2, false)] {
            let buckets =
                vec![PbLakeSnapshotForBucket { bucket_id: 0, log_offset: Some(id), ..Default::default() }];
            table.lake_snapshots.push(LakeSnapshot { id, is_readable, buckets });
        }
    });
    assert_eq!(peer.ask(&ask(None, None)).await.unwrap().snapshot_id, 2);
    assert_eq!(peer.ask(&ask(None, Some(true))).await.unwrap().snapshot_id, 1);
    assert_eq!(peer.ask(&ask(Some(1), None)).await.unwrap().bucket_snapshots[0].log_offset, Some(1));
    assert_eq!(peer.ask(&ask(Some(3), None)).await.unwrap_err().0, 53);
    assert_eq!(peer.ask(&ask(Some(1), Some(true))).await.unwrap_err().0, -1);
    cluster.change(|model| model.lacks_lake = true);
    assert_eq!(peer.ask(&ask(None, None)).await.unwrap_err().0, 40);
}

#[tokio::test]
async fn health_of_main_follows_the_registered_servers() {
    let cluster = FakeCluster::builder()
        .line(ServerLine::Main)
        .tablet_servers(2)
        .table(NewTable::log("shop", "clicks").buckets(4).replicas(2))
        .start()
        .unwrap();
    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    let health = peer.ask(&GetClusterHealthRequest::default()).await.unwrap();
    assert_eq!((health.num_replicas, health.in_sync_replicas, health.status), (8, 8, 0));
    cluster.change(|model| model.lose_tablet_server(0));
    let health = peer.ask(&GetClusterHealthRequest::default()).await.unwrap();
    assert_eq!((health.in_sync_replicas, health.active_leader_replicas, health.status), (4, 4, 1));
    cluster.change(|model| model.lose_tablet_server(1));
    let health = peer.ask(&GetClusterHealthRequest::default()).await.unwrap();
    assert_eq!((health.active_leader_replicas, health.status), (0, 2));
}

#[tokio::test]
async fn what_is_not_served_is_met_with_silence() {
    let cluster = shop();
    let mut peer = Peer::connect(cluster.tablet_servers()[0].address()).await;
    let create = CreateDatabaseRequest { database_name: "x".to_owned(), ..CreateDatabaseRequest::default() };
    peer.send(&create).await;
    peer.expect_silence().await;

    let mut peer = Peer::connect(cluster.coordinator().address()).await;
    peer.send(&AlterTableRequest::default()).await;
    peer.expect_silence().await;
    peer.send(&GetClusterHealthRequest::default()).await;
    peer.expect_silence().await;
    // A key nobody knows, and a known one with a body that lacks its required field.
    peer.write(&[0, 0, 0, 8, 0x7f, 0xff, 0, 0, 0, 0, 0, 1]).await;
    peer.expect_silence().await;
    peer.write(&[0, 0, 0, 8, 0x03, 0xf0, 0, 0, 0, 0, 0, 2]).await;
    peer.expect_silence().await;
    peer.write(&[0, 0, 0, 10, 0x03, 0xeb, 0, 0, 0, 0, 0, 3, 0xff, 0xff]).await;
    peer.expect_silence().await;
}

#[tokio::test]
async fn stream_that_cannot_be_followed_ends_with_a_server_failure() {
    let cluster = shop();
    for bytes in [[0xff_u8, 0xff, 0xff, 0xff], [0, 0, 0, 0], 200_000_000_i32.to_be_bytes()] {
        let mut peer = Peer::connect(cluster.coordinator().address()).await;
        peer.send(&hello()).await;
        peer.receive().await;
        peer.write(&bytes).await;
        let rest = peer.rest().await.unwrap();
        assert_eq!(rest[4], 2, "{bytes:?} is answered with type 2, then the connection is closed");
    }
}
