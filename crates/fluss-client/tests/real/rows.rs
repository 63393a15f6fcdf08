//! Rows written to and read from a real cluster, in all formats, and those the Java client has written.

use std::collections::BTreeMap;
use std::time::Duration;

use fluss_client::bucket_read::{BucketTarget, OffsetSpec};
use fluss_client::client::FlussClient;
use fluss_client::limit_scan::LimitedRows;
use fluss_client::scan::LogRecord;
use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use fluss_client::table::Table;
use fluss_client::write::{BatchOutcome, RowChange, WriteOptions, WriteOutcome};
use fluss_codec::change_type::ChangeType;
use fluss_codec::data_type::{DataType, RowField, TypeKind};
use fluss_codec::messages::{
    AlterTableRequest, CreateDatabaseRequest, CreatePartitionRequest, CreateTableRequest, PbAddColumn,
};
use fluss_codec::partition::PartitionSpec;
use fluss_codec::row::{Decimal, Timestamp, Value};
use fluss_codec::schema::Schema;
use fluss_codec::table::TableDescriptor;
use fluss_testkit::cluster::{ClusterBuilder, RunningCluster};
use fluss_testkit::java::JavaPeer;

use crate::{RECOVERY, TURN, all_ok, column, eventually, is_required, path, raw};

const WAIT: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_are_written_and_read_in_all_formats() {
    let _turn = TURN.lock().await;
    let builder = ClusterBuilder::new().tablet_servers(2).default_replication_factor(1);
    let cluster = match builder.start().await {
        Ok(cluster) => cluster,
        Err(error) if error.is_missing_prerequisite() && !is_required() => {
            eprintln!("skipped: no real cluster can run here: {error}");
            return;
        }
        Err(error) => panic!("the cluster did not start: {error}"),
    };
    let options = ConnectionOptions { endpoint: Some(cluster.bootstrap()), ..ConnectionOptions::default() };
    let client = FlussClient::new(ConnectionSettings::try_from(options).expect("settings")).expect("client");
    let database = CreateDatabaseRequest {
        database_name: "rows".to_owned(),
        ignore_if_exists: false,
        database_json: None,
    };
    raw::call(cluster.coordinator().internal_address(), &database).await;

    logs_keep_what_is_appended(&cluster, &client).await;
    projected_logs_survive_an_added_column(&cluster, &client).await;
    keyed_rows_are_upserted_updated_in_part_and_deleted(&cluster, &client).await;
    prefixes_find_their_rows(&cluster, &client).await;
    partitions_get_their_rows(&cluster, &client).await;
    rows_of_java_are_read(&cluster, &client).await;

    cluster.stop().await.expect("cluster stops");
}

/// Starts a cluster with the database `rows`; nothing where none can run.
async fn start(builder: ClusterBuilder) -> Option<(RunningCluster, FlussClient)> {
    let cluster = match builder.default_replication_factor(1).start().await {
        Ok(cluster) => cluster,
        Err(error) if error.is_missing_prerequisite() && !is_required() => {
            eprintln!("skipped: no real cluster can run here: {error}");
            return None;
        }
        Err(error) => panic!("the cluster did not start: {error}"),
    };
    let options = ConnectionOptions {
        endpoint: Some(cluster.bootstrap()),
        request_timeout_seconds: Some(4),
        ..ConnectionOptions::default()
    };
    let client = FlussClient::new(ConnectionSettings::try_from(options).expect("settings")).expect("client");
    let database = CreateDatabaseRequest {
        database_name: "rows".to_owned(),
        ignore_if_exists: false,
        database_json: None,
    };
    raw::call(cluster.coordinator().internal_address(), &database).await;
    Some((cluster, client))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn acknowledged_rows_survive_their_leader_and_none_is_there_twice() {
    const BATCHES: i32 = 150;
    let _turn = TURN.lock().await;
    let builder = ClusterBuilder::new().tablet_servers(3).session_timeout(Some(Duration::from_secs(6)));
    let Some((cluster, client)) = start(builder).await else { return };
    let schema = Schema::builder().column("id", column(TypeKind::Int)).build().expect("schema");
    let descriptor = TableDescriptor::builder(schema)
        .distributed_by::<String>(Some(1), [])
        .property("table.replication.factor", "3")
        .build()
        .expect("table");
    let table = create(&cluster, &client, "replicated", descriptor).await;
    let target = BucketTarget::named(&table.info().path, None);
    let offsets = client.offsets(&target, OffsetSpec::Latest).await.expect("offsets");
    let leader = usize::try_from(offsets[0].leader.expect("leader")).unwrap();

    let options = WriteOptions { max_attempts: 3, ..WriteOptions::default() };
    let mut writer = table.writer(options).expect("writer");
    let mut outcomes: BTreeMap<i32, &str> = BTreeMap::new();
    let mut after_the_kill = 0;
    for number in 0..BATCHES {
        if number == 50 {
            cluster.tablet_server(leader).expect("server").kill().await.expect("killed");
        }
        let changes = [RowChange::Append(vec![Value::Int(number)])];
        let outcome = match writer.write(&changes).await {
            Ok(outcomes) => match &outcomes[0].outcome {
                WriteOutcome::Written { .. } => "written",
                WriteOutcome::Unknown(_) => "unknown",
                WriteOutcome::Refused(_) | WriteOutcome::NotSent => "not written",
            },
            Err(error) if error.is_retryable() => "not written",
            Err(error) => panic!("{error:?}"),
        };
        after_the_kill += i32::from(number >= 50 && outcome == "written");
        outcomes.insert(number, outcome);
    }
    assert!(after_the_kill > 0, "{outcomes:?}");
    let written = outcomes.values().filter(|outcome| **outcome == "written").count();
    let (records, _) = scan(&table, None, &[0], written).await;
    for (number, outcome) in &outcomes {
        let found = records.iter().filter(|record| record.values[0] == Value::Int(*number)).count();
        match *outcome {
            "written" => assert_eq!(found, 1, "{number}: {outcomes:?}"),
            "unknown" => assert!(found <= 1, "{number}: {outcomes:?}"),
            _ => assert_eq!(found, 0, "{number}: {outcomes:?}"),
        }
    }
    let count = |kind: &str| outcomes.values().filter(|outcome| **outcome == kind).count();
    println!("written {written}, unknown {}, not written {}", count("unknown"), count("not written"));
    cluster.stop().await.expect("cluster stops");
}

/// Creates a table and opens it once its leaders are there.
async fn create(cluster: &RunningCluster, client: &FlussClient, name: &str, table: TableDescriptor) -> Table {
    let table_path = path(&format!("rows.{name}"));
    let request = CreateTableRequest {
        table_path: (&table_path).into(),
        table_json: table.to_json().into_bytes().into(),
        ignore_if_exists: false,
    };
    raw::call(cluster.coordinator().internal_address(), &request).await;
    let table = client.table(&table_path).await.expect("table");
    if !table.info().descriptor.is_partitioned() {
        led(&table, client, None).await;
    }
    table
}

fn written(outcomes: &[BatchOutcome]) -> bool {
    !outcomes.is_empty()
        && outcomes.iter().all(|outcome| matches!(outcome.outcome, WriteOutcome::Written { .. }))
}

/// Waits until all buckets have leaders that answer.
async fn led(table: &Table, client: &FlussClient, partition: Option<&str>) {
    let target = BucketTarget::named(&table.info().path, partition);
    eventually("leaders", || client.offsets(&target, OffsetSpec::Latest), all_ok).await.expect("offsets");
}

/// Writes, with success.
async fn write(table: &Table, options: WriteOptions, changes: &[RowChange]) -> Vec<BatchOutcome> {
    let mut writer = table.writer(options).expect("writer");
    let outcomes = writer.write(changes).await.expect("valid rows");
    assert!(written(&outcomes), "{outcomes:?}");
    outcomes
}

/// Reads all buckets from the start until so many records are there, in the order of buckets and offsets.
async fn scan(
    table: &Table,
    partition: Option<&str>,
    columns: &[usize],
    count: usize,
) -> (Vec<LogRecord>, bool) {
    let buckets = table.info().descriptor.bucket_count().expect("buckets");
    let start: BTreeMap<i32, i64> = (0..i32::try_from(buckets).unwrap()).map(|bucket| (bucket, 0)).collect();
    let mut scanner = table.log_scanner(partition, columns, start).await.expect("scanner");
    let mut found: BTreeMap<i32, Vec<LogRecord>> = BTreeMap::new();
    let deadline = std::time::Instant::now() + RECOVERY;
    while found.values().map(Vec::len).sum::<usize>() < count {
        assert!(std::time::Instant::now() < deadline, "only {found:?}");
        for records in scanner.poll(WAIT).await.expect("poll") {
            match records {
                Ok(records) => found.entry(records.bucket).or_default().extend(records.records),
                Err((_, error)) if error.is_retryable() => {}
                Err((bucket, error)) => panic!("bucket {bucket}: {error:?}"),
            }
        }
    }
    (found.into_values().flatten().collect(), scanner.is_pushed_down())
}

fn row(number: i32) -> Vec<Value> {
    let null = number % 7 == 3;
    let or_null = |value: Value| if null { Value::Null } else { value };
    vec![
        Value::Int(number),
        or_null(Value::String(format!(
            "text {number} {}",
            "é".repeat(usize::try_from(number % 50).unwrap())
        ))),
        or_null(Value::Decimal(Decimal::new(i128::from(number) * 10_i128.pow(25), 38, 4).unwrap())),
        or_null(Value::Timestamp(Timestamp::new(i64::from(number) * 1000, 123_000).unwrap())),
        or_null(Value::Array(vec![Value::Int(number), Value::Null])),
        or_null(Value::Map(vec![(Value::String("k".into()), Value::BigInt(i64::from(number)))])),
        or_null(Value::Row(vec![Value::Boolean(number % 2 == 0), Value::Double(0.5)])),
    ]
}

fn log_schema() -> Schema {
    let row =
        vec![RowField::new("x", column(TypeKind::Boolean)), RowField::new("y", column(TypeKind::Double))];
    let map = TypeKind::Map(Box::new(column(TypeKind::String)), Box::new(column(TypeKind::BigInt)));
    Schema::builder()
        .column("id", column(TypeKind::Int).not_null())
        .column("text", column(TypeKind::String))
        .column("amount", column(TypeKind::Decimal { precision: 38, scale: 4 }))
        .column("at", column(TypeKind::Timestamp { precision: 6 }))
        .column("list", column(TypeKind::Array(Box::new(column(TypeKind::Int)))))
        .column("map", column(map))
        .column("row", column(TypeKind::Row(row)))
        .build()
        .expect("schema")
}

fn values(records: &[LogRecord]) -> Vec<String> {
    let mut values: Vec<String> = records.iter().map(|record| format!("{:?}", record.values)).collect();
    values.sort();
    values
}

async fn logs_keep_what_is_appended(cluster: &RunningCluster, client: &FlussClient) {
    let rows: Vec<Vec<Value>> = (0..500).map(row).collect();
    let changes: Vec<RowChange> = rows.iter().cloned().map(RowChange::Append).collect();
    for (format, compression) in [
        ("ARROW", "NONE"),
        ("ARROW", "LZ4_FRAME"),
        ("ARROW", "ZSTD"),
        ("INDEXED", "NONE"),
        ("COMPACTED", "NONE"),
    ] {
        let name = format!("log_{}_{}", format.to_lowercase(), compression.to_lowercase());
        let descriptor = TableDescriptor::builder(log_schema())
            .distributed_by(Some(3), ["id"])
            .property("table.log.format", format)
            .property("table.log.arrow.compression.type", compression)
            .build()
            .expect("table");
        let table = create(cluster, client, &name, descriptor).await;
        write(&table, WriteOptions::default(), &changes).await;

        let all: Vec<usize> = (0..7).collect();
        let (records, _) = scan(&table, None, &all, rows.len()).await;
        let mut expected: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
        expected.sort();
        assert_eq!(values(&records), expected, "{name}");
        assert!(
            records.iter().all(|record| record.change == ChangeType::Append && record.committed_at_ms > 0)
        );

        let limited = table.limit_scan(None, 1, 5).await.expect("limit scan");
        let LimitedRows::Log(newest) = limited else { panic!("{limited:?}") };
        // Records of a bucket have the offsets from 0 on, and buckets come one after the other.
        let of_bucket = records.split(|record| record.offset == 0).nth(2).expect("bucket 1");
        assert_eq!(newest, of_bucket[of_bucket.len() - 5..], "{name}");

        // The server cuts columns out of batches that were written here, without decoding them.
        let (records, is_pushed_down) = scan(&table, None, &[5, 1, 0], rows.len()).await;
        let pick = |row: &Vec<Value>| format!("{:?}", [&row[5], &row[1], &row[0]]);
        let mut expected: Vec<String> = rows.iter().map(pick).collect();
        expected.sort();
        assert_eq!(values(&records), expected, "{name}");
        assert_eq!(is_pushed_down, format == "ARROW");
    }
}

async fn projected_logs_survive_an_added_column(cluster: &RunningCluster, client: &FlussClient) {
    let schema =
        Schema::builder().column("id", column(TypeKind::Int)).column("text", column(TypeKind::String));
    let descriptor = TableDescriptor::builder(schema.build().expect("schema"))
        .distributed_by::<String>(Some(1), [])
        .build()
        .expect("table");
    let old = create(cluster, client, "evolving", descriptor).await;
    let changes = [RowChange::Append(vec![Value::Int(1), Value::String("old".into())])];
    write(&old, WriteOptions::default(), &changes).await;
    let request = AlterTableRequest {
        table_path: (&old.info().path).into(),
        add_columns: vec![PbAddColumn {
            column_name: "more".to_owned(),
            data_type_json: column(TypeKind::BigInt).to_json().into_bytes().into(),
            column_position_type: 0,
            ..PbAddColumn::default()
        }],
        ..AlterTableRequest::default()
    };
    raw::call(cluster.coordinator().internal_address(), &request).await;
    let new = eventually(
        "new schema",
        || async { client.table(&old.info().path).await.expect("table").info().schema_id },
        |id| *id == 2,
    );
    new.await;
    let new = client.table(&old.info().path).await.expect("table");
    let changes = [RowChange::Append(vec![Value::Int(2), Value::String("new".into()), Value::BigInt(5)])];
    write(&new, WriteOptions::default(), &changes).await;

    let (records, is_pushed_down) = scan(&new, None, &[2, 0], 2).await;
    let found: Vec<_> = records.iter().map(|record| record.values.clone()).collect();
    assert_eq!(found, [[Value::Null, Value::Int(1)], [Value::BigInt(5), Value::Int(2)]]);
    assert!(!is_pushed_down, "batches without the column would fail");
    let (records, is_pushed_down) = scan(&new, None, &[1], 2).await;
    let found: Vec<_> = records.iter().map(|record| record.values.clone()).collect();
    assert_eq!(found, [[Value::String("old".into())], [Value::String("new".into())]]);
    assert!(is_pushed_down);
}

fn keyed(format: &str, log_format: &str) -> TableDescriptor {
    let schema = Schema::builder()
        .column("id", column(TypeKind::BigInt))
        .column("text", column(TypeKind::String))
        .column("amount", column(TypeKind::Decimal { precision: 38, scale: 4 }))
        .primary_key(["id"]);
    TableDescriptor::builder(schema.build().expect("schema"))
        .distributed_by(Some(3), ["id"])
        .property("table.kv.format", format)
        .property("table.log.format", log_format)
        .build()
        .expect("table")
}

async fn keyed_rows_are_upserted_updated_in_part_and_deleted(cluster: &RunningCluster, client: &FlussClient) {
    let decimal = |number: i128| Value::Decimal(Decimal::new(number, 38, 4).unwrap());
    let of =
        |id: i64, text: &str| vec![Value::BigInt(id), Value::String(text.into()), decimal(i128::from(id))];
    for (format, log_format) in [("COMPACTED", "ARROW"), ("INDEXED", "ARROW"), ("COMPACTED", "COMPACTED")] {
        let name = format!("kv_{}_{}", format.to_lowercase(), log_format.to_lowercase());
        let table = create(cluster, client, &name, keyed(format, log_format)).await;
        let upserts: Vec<RowChange> = (0..100).map(|id| RowChange::Upsert(of(id, "first"))).collect();
        write(&table, WriteOptions::default(), &upserts).await;
        let partly = WriteOptions { target_columns: Some(vec![0, 1]), ..WriteOptions::default() };
        let part = vec![Value::BigInt(7), Value::String("second".into()), Value::Null];
        write(&table, partly, &[RowChange::Upsert(part)]).await;
        write(&table, WriteOptions::default(), &[RowChange::Delete(vec![Value::BigInt(8)])]).await;

        let keys: Vec<Vec<Value>> = [7, 8, 9, 1000].into_iter().map(|id| vec![Value::BigInt(id)]).collect();
        let found = table.lookup(&keys).await.expect("lookup");
        assert_eq!(found, [Some(of(7, "second")), None, Some(of(9, "first")), None], "{name}");

        let mut rows = Vec::new();
        for bucket in 0..3 {
            let limited = table.limit_scan(None, bucket, 1000).await.expect("limit scan");
            let LimitedRows::Keyed(of_bucket) = limited else { panic!("{limited:?}") };
            rows.extend(of_bucket);
        }
        assert_eq!(
            (rows.len(), rows.iter().filter(|row| row[1] == Value::String("second".into())).count()),
            (99, 1)
        );

        let (records, _) = scan(&table, None, &[0, 1, 2], 103).await;
        let of_seven: Vec<_> = records
            .iter()
            .filter(|record| record.values[0] == Value::BigInt(7))
            .map(|record| (record.change, record.values.clone()))
            .collect();
        let expected = [
            (ChangeType::Insert, of(7, "first")),
            (ChangeType::UpdateBefore, of(7, "first")),
            (ChangeType::UpdateAfter, of(7, "second")),
        ];
        assert_eq!(of_seven, expected, "{name}");
        let deleted: Vec<_> = records.iter().filter(|record| record.change == ChangeType::Delete).collect();
        assert_eq!((deleted.len(), deleted[0].values.clone()), (1, of(8, "first")), "{name}");
    }
}

async fn prefixes_find_their_rows(cluster: &RunningCluster, client: &FlussClient) {
    let schema = Schema::builder()
        .column("region", column(TypeKind::String))
        .column("shop", column(TypeKind::String))
        .column("count", column(TypeKind::Int))
        .primary_key(["region", "shop"]);
    let descriptor = TableDescriptor::builder(schema.build().expect("schema"))
        .distributed_by(Some(3), ["region"])
        .build()
        .expect("table");
    let table = create(cluster, client, "prefixes", descriptor).await;
    let of = |region: &str, shop: &str, count| {
        vec![Value::String(region.into()), Value::String(shop.into()), Value::Int(count)]
    };
    let rows = [
        of("a region of many letters", "one", 1),
        of("a region of many letters", "two", 2),
        of("eu", "one", 3),
        of("eu", "another shop of many letters", 4),
    ];
    let changes: Vec<RowChange> = rows.iter().cloned().map(RowChange::Upsert).collect();
    write(&table, WriteOptions::default(), &changes).await;
    let prefix = |region: &str| vec![Value::String(region.into())];
    let prefixes = [prefix("eu"), prefix("nowhere"), prefix("a region of many letters")];
    let mut found = table.prefix_lookup(&prefixes).await.expect("lookup");
    for rows in &mut found {
        rows.sort_by_key(|row| format!("{:?}", row[2]));
    }
    assert_eq!(found, [rows[2..].to_vec(), Vec::new(), rows[..2].to_vec()]);
    let key = vec![Value::String("eu".into()), Value::String("one".into())];
    assert_eq!(table.lookup(&[key]).await.expect("lookup"), [Some(rows[2].clone())]);
}

async fn partitions_get_their_rows(cluster: &RunningCluster, client: &FlussClient) {
    let schema = Schema::builder()
        .column("day", column(TypeKind::Date))
        .column("id", column(TypeKind::Int))
        .primary_key(["day", "id"]);
    let descriptor = TableDescriptor::builder(schema.build().expect("schema"))
        .partitioned_by(["day"])
        .distributed_by(Some(2), ["id"])
        .build()
        .expect("table");
    let table = create(cluster, client, "days", descriptor).await;
    let request = CreatePartitionRequest {
        table_path: (&table.info().path).into(),
        partition_spec: (&PartitionSpec::new([("day", "2024-02-29")]).expect("spec")).into(),
        ignore_if_not_exists: false,
    };
    raw::call(cluster.coordinator().internal_address(), &request).await;
    led(&table, client, Some("2024-02-29")).await;
    let of = |day, id| vec![Value::Date(day), Value::Int(id)];
    let changes: Vec<RowChange> = (0..20).map(|id| RowChange::Upsert(of(19_782, id))).collect();
    let outcomes = write(&table, WriteOptions::default(), &changes).await;
    assert!(outcomes.iter().all(|outcome| outcome.partition.as_deref() == Some("2024-02-29")));
    let found = table.lookup(&[of(19_782, 3), of(19_783, 3)]).await.expect("lookup");
    assert_eq!(found, [Some(of(19_782, 3)), None]);
    let mut writer = table.writer(WriteOptions::default()).expect("writer");
    let error = writer.write(&[RowChange::Upsert(of(19_783, 1))]).await.unwrap_err();
    assert_eq!(error.code(), "partition_not_found");
}

async fn rows_of_java_are_read(cluster: &RunningCluster, client: &FlussClient) {
    let java = JavaPeer::prepare_async(cluster.artifacts()).await.expect("Java programs");
    java.write_samples(&cluster.java_login(None), cluster.dir()).await.expect("samples");
    let table = client.table(&path("types.every_type_log")).await.expect("table");
    let columns: Vec<usize> = (0..table.info().descriptor.schema().columns().len()).collect();
    let (records, _) = scan(&table, None, &columns, 400).await;
    assert_eq!(records.len(), 400);
    let types: Vec<DataType> = table.info().descriptor.schema().data_types().into_iter().cloned().collect();
    for record in &records {
        let Value::BigInt(id) = record.values[0] else { panic!("{record:?}") };
        let nulls = record.values.iter().filter(|value| value.is_null()).count();
        // Every eighth row is null but for its number.
        assert_eq!(nulls == types.len() - 1, id % 8 == 2, "{record:?}");
        if id % 8 == 0 {
            assert_eq!(record.values[4], Value::Int(i32::MIN));
            assert_eq!(record.values[11].to_owned(), least_decimal());
        }
    }
    let table = client.table(&path("types.every_type_pk")).await.expect("table");
    let keys: Vec<Vec<Value>> = (0..401).map(|id| vec![Value::BigInt(id)]).collect();
    let found = table.lookup(&keys).await.expect("lookup");
    assert!(found[..400].iter().all(Option::is_some) && found[400].is_none());
}

fn least_decimal() -> Value {
    Value::Decimal(Decimal::new(1 - 10_i128.pow(38), 38, 18).unwrap())
}
