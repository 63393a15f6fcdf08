//! The command line on the demo against the official Java client: the same questions,
//! the same answers.
//!
//! The Java client is the judge. Both log in as the demo's administrator; the demo's
//! steady workload is frozen first, so that offsets stand still between the two.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test that panics has failed, and its own time is real time"
)]

mod demo;

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use fluss_testkit::Progress;
use fluss_testkit::demo::{Demo, DemoOptions};
use fluss_testkit::java::{JavaLogin, JavaPeer};
use fluss_testkit::ports::FreePorts;
use serde_json::{Map, Value, json};

/// Time the servers get to let in-flight writes settle after the workload is frozen.
const SETTLED_WITHIN: Duration = Duration::from_secs(30);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn command_line_and_java_client_give_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let base = FreePorts::claim(1).unwrap().ports()[0];
    let options = DemoOptions {
        sasl: true,
        tls: true,
        port_base: base - 10_000,
        ..DemoOptions::new(folder.path().join("demo"))
    };
    let demo = match Demo::start(options, Progress::silent()).await {
        Ok(demo) => demo,
        Err(error) if error.is_missing_prerequisite() && !is_required() => {
            eprintln!("skipped: no demo can run here: {error}");
            return;
        }
        Err(error) => panic!("the demo did not start: {error}"),
    };
    let java = Java {
        peer: JavaPeer::prepare_async(demo.cluster().artifacts()).await.unwrap(),
        login: demo.cluster().java_login(demo.cluster().user("admin")),
    };
    let pegel = Pegel::of(&demo);
    freeze(demo.record().workload_pid);

    let tables = names_agree(&java, &pegel).await;
    servers_agree(&java, &pegel).await;
    tables_agree(&java, &pegel, &tables).await;
    partitions_agree(&java, &pegel, &tables).await;
    offsets_agree(&java, &pegel, &tables).await;
    row_counts_agree(&java, &pegel, &tables).await;
    configuration_agrees(&java, &pegel).await;
    acls_agree(&java, &pegel).await;
    demo.stop().await.unwrap();
}

fn is_required() -> bool {
    std::env::var("PEGEL_TEST_REQUIRE").is_ok_and(|list| list.split(',').any(|name| name == "fluss"))
}

fn freeze(pid: u32) {
    let stopped = Command::new("sh").args(["-c", &format!("kill -STOP {pid}")]).status().unwrap();
    assert!(stopped.success());
}

/// The judge.
struct Java {
    peer: JavaPeer,
    login: JavaLogin,
}

impl Java {
    async fn ask(&self, questions: &[Value]) -> Vec<Value> {
        let answers = self.peer.ask(&self.login, questions).await.unwrap();
        assert_eq!(answers.len(), questions.len());
        answers
    }

    async fn one(&self, question: Value) -> Value {
        let shown = question.to_string();
        let answer = self.ask(&[question]).await.remove(0);
        answer.get("ok").unwrap_or_else(|| panic!("{shown}: {answer}")).clone()
    }
}

/// The command under test, with the connection of the demo's administrator.
struct Pegel {
    bootstrap: String,
    ca_path: String,
    password: String,
}

impl Pegel {
    fn of(demo: &Demo) -> Self {
        let record = demo.record();
        let admin = record.users.iter().find(|user| user.name == "admin").unwrap();
        Self {
            bootstrap: record.bootstrap.clone(),
            ca_path: record.ca_path.as_ref().unwrap().display().to_string(),
            password: admin.password.clone(),
        }
    }

    /// Runs one command and returns its whole JSON answer.
    fn envelope(&self, arguments: &[&str]) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_pegel"))
            .args(arguments)
            .args(["--output", "json", "--bootstrap", &self.bootstrap])
            .args([
                "--security-protocol",
                "SASL_TLS",
                "--sasl-username",
                "admin",
                "--tls-ca-cert",
                &self.ca_path,
            ])
            .env("PEGEL_SASL_PASSWORD", &self.password)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}: {text} {}", String::from_utf8_lossy(&output.stderr))
        })
    }

    /// Runs one command that must succeed and returns its data.
    fn data(&self, arguments: &[&str]) -> Value {
        let mut envelope = self.envelope(arguments);
        assert_eq!(envelope["status"], "ok", "{arguments:?}: {envelope}");
        envelope["data"].take()
    }
}

fn items(page: &Value) -> &Vec<Value> {
    page["items"].as_array().unwrap_or_else(|| panic!("no items in {page}"))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A time in milliseconds, as RFC 3339 says it.
fn millis(value: &Value) -> i64 {
    value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond()
}

/// Compares the databases and the tables of each; returns all tables as `db.table`.
async fn names_agree(java: &Java, pegel: &Pegel) -> Vec<String> {
    let mut expected: Vec<(String, i64, i64)> = java
        .one(json!({"ask": "database_summaries"}))
        .await
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (text(&one["name"]), one["table_count"].as_i64().unwrap(), one["created_at_ms"].as_i64().unwrap())
        })
        .collect();
    expected.sort();
    let found: Vec<(String, i64, i64)> = items(&pegel.data(&["databases"]))
        .iter()
        .map(|one| (text(&one["name"]), one["table_count"].as_i64().unwrap(), millis(&one["created_at"])))
        .collect();
    assert_eq!(found, expected);
    assert!(expected.len() >= 3, "the demo has several databases: {expected:?}");

    let mut tables = Vec::new();
    for (database, _, _) in &expected {
        let answer = java.one(json!({"ask": "tables", "database": database})).await;
        tables.extend(answer.as_array().unwrap().iter().map(|name| format!("{database}.{}", text(name))));
    }
    tables.sort();
    let listed: Vec<String> = items(&pegel.data(&["tables"]))
        .iter()
        .map(|one| format!("{}.{}", text(&one["database"]), text(&one["name"])))
        .collect();
    let mut sorted = listed.clone();
    sorted.sort();
    assert_eq!(sorted, tables);
    assert!(tables.len() >= 10, "{tables:?}");
    tables
}

async fn servers_agree(java: &Java, pegel: &Pegel) {
    let answer = java.one(json!({"ask": "servers"})).await;
    let mut expected: Vec<(String, i64, Value)> = answer
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (text(&node["type"]).to_lowercase(), node["id"].as_i64().unwrap(), node["rack"].clone()))
        .collect();
    expected.sort_by_key(|(role, id, _)| (role.clone(), *id));
    let data = pegel.data(&["servers"]);
    let servers = data["servers"].as_array().unwrap();
    let mut found: Vec<(String, i64, Value)> = servers
        .iter()
        .map(|one| (text(&one["role"]), one["id"].as_i64().unwrap(), one["rack"].clone()))
        .collect();
    found.sort_by_key(|(role, id, _)| (role.clone(), *id));
    assert_eq!(found, expected);
    // Java sees the listener without TLS, so addresses differ and are judged by answering.
    assert!(servers.iter().all(|one| one["answers"] == true), "{data}");
}

fn question(ask: &str, table: &str) -> Value {
    let (database, name) = table.split_once('.').unwrap();
    json!({"ask": ask, "database": database, "table": name})
}

async fn tables_agree(java: &Java, pegel: &Pegel, tables: &[String]) {
    let questions: Vec<Value> = tables.iter().map(|table| question("table", table)).collect();
    let listed = pegel.data(&["tables"]);
    for (table, answer) in tables.iter().zip(java.ask(&questions).await) {
        // A table the Java client cannot describe proves nothing about ours.
        let expected = answer.get("ok").unwrap_or_else(|| panic!("{table}: {answer}"));
        let found = pegel.data(&["table", table]);
        assert_eq!(text(&found["table_id"]), expected["table_id"].to_string(), "{table}");
        assert_eq!(found["schema_id"], expected["schema_id"], "{table}");
        assert_eq!(found["comment"], expected["comment"], "{table}");
        assert_eq!(millis(&found["created_at"]), expected["created_at_ms"].as_i64().unwrap(), "{table}");
        assert_eq!(millis(&found["modified_at"]), expected["modified_at_ms"].as_i64().unwrap(), "{table}");
        assert_eq!(found["primary_key"], expected["primary_key"], "{table}");
        assert_eq!(found["bucket_keys"], expected["bucket_key"], "{table}");
        assert_eq!(found["partition_keys"], expected["partition_key"], "{table}");
        assert_eq!(found["bucket_count"], expected["bucket_count"], "{table}");
        assert_eq!(properties(&found["properties"]), properties_of_java(&expected["properties"]), "{table}");
        assert_eq!(
            properties(&found["custom_properties"]),
            properties_of_java(&expected["custom_properties"]),
            "{table}"
        );
        columns_agree(table, &found, expected);
        let row = items(&listed)
            .iter()
            .find(|one| format!("{}.{}", text(&one["database"]), text(&one["name"])) == *table)
            .unwrap();
        for field in
            ["kind", "table_id", "schema_id", "bucket_count", "partition_keys", "primary_key", "created_at"]
        {
            assert_eq!(row[field], found[field], "{table} {field}");
        }
    }
}

/// Compares names, comments and types; the types by Java's own summary of the whole row.
fn columns_agree(table: &str, found: &Value, expected: &Value) {
    let columns = found["columns"].as_array().unwrap();
    let judged = expected["schema"]["columns"].as_array().unwrap();
    assert_eq!(columns.len(), judged.len(), "{table}");
    let mut summary = Vec::new();
    for (column, judge) in columns.iter().zip(judged) {
        assert_eq!(column["name"], judge["name"], "{table}");
        assert_eq!(column["comment"], judge.get("comment").cloned().unwrap_or(Value::Null), "{table}");
        let nullable = judge["data_type"].get("nullable").is_none_or(|value| value == true);
        assert_eq!(column["is_nullable"], nullable, "{table}.{}", column["name"]);
        let not_null = if nullable { "" } else { " NOT NULL" };
        summary.push(format!("`{}` {}{not_null}", text(&column["name"]), text(&column["type"])));
    }
    let java = text(&expected["row_type"]);
    let inner = java.strip_prefix("ROW<").and_then(|rest| rest.rsplit_once('>')).unwrap().0;
    assert_eq!(plain(&summary.join(", ")), plain(inner), "{table}");
}

/// Takes out what is a matter of style: quotes, blanks, and Java's hint that a nested field has a comment.
fn plain(type_text: &str) -> String {
    type_text.replace("'...'", "").chars().filter(|letter| !matches!(letter, '`' | ' ')).collect()
}

fn properties(list: &Value) -> BTreeMap<String, String> {
    list.as_array().unwrap().iter().map(|one| (text(&one["key"]), text(&one["value"]))).collect()
}

fn properties_of_java(map: &Value) -> BTreeMap<String, String> {
    map.as_object().unwrap().iter().map(|(key, value)| (key.clone(), text(value))).collect()
}

async fn partitions_agree(java: &Java, pegel: &Pegel, tables: &[String]) {
    let questions: Vec<Value> = tables.iter().map(|table| question("partitions", table)).collect();
    let mut seen = 0;
    for (table, answer) in tables.iter().zip(java.ask(&questions).await) {
        // Of a table without partitions Java says nothing of use; ours must not invent any.
        let judged = answer.get("ok").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut expected: Vec<(String, String, BTreeMap<String, String>)> = judged
            .iter()
            .map(|one| {
                (text(&one["name"]), one["partition_id"].to_string(), properties_of_java(&one["spec"]))
            })
            .collect();
        expected.sort();
        let envelope = pegel.envelope(&["partitions", table]);
        let found: Vec<(String, String, BTreeMap<String, String>)> = envelope["data"]["items"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| (text(&one["name"]), text(&one["partition_id"]), properties(&one["spec"])))
            .collect();
        assert_eq!(found, expected, "{table}");
        seen += found.len();
    }
    assert!(seen >= 4, "the demo has partitions: {seen}");
}

/// Offsets by partition and bucket, as text; a table without partitions has the partition "".
type Offsets = BTreeMap<(String, i64), String>;

fn java_offsets(answer: &Value) -> Offsets {
    let mut offsets = Offsets::new();
    let mut take = |partition: &str, buckets: &Map<String, Value>| {
        for (bucket, offset) in buckets {
            offsets.insert((partition.to_owned(), bucket.parse().unwrap()), offset.to_string());
        }
    };
    let map = answer.as_object().unwrap();
    for (key, value) in map {
        match value {
            Value::Object(buckets) => take(key, buckets),
            _ => {
                take("", map);
                break;
            }
        }
    }
    offsets
}

fn pegel_offsets(data: &Value, field: &str) -> Offsets {
    let mut offsets = Offsets::new();
    for partition in data["partitions"].as_array().unwrap() {
        let name = partition["partition"].as_str().unwrap_or_default();
        for bucket in partition["buckets"].as_array().unwrap() {
            offsets.insert((name.to_owned(), bucket["bucket"].as_i64().unwrap()), text(&bucket[field]));
        }
    }
    offsets
}

async fn offsets_agree(java: &Java, pegel: &Pegel, tables: &[String]) {
    let started = Instant::now();
    // Writes of the frozen workload that were under way may still land.
    loop {
        let at = jiff::Timestamp::now() - Duration::from_secs(5);
        let moments = [json!("earliest"), json!("latest"), json!(at.as_millisecond())];
        let questions: Vec<Value> = tables
            .iter()
            .flat_map(|table| {
                moments.iter().map(|moment| {
                    let mut question = question("offsets", table);
                    question["at"] = moment.clone();
                    question
                })
            })
            .collect();
        let expected: Vec<Offsets> =
            java.ask(&questions).await.iter().map(|answer| java_offsets(&answer["ok"])).collect();
        let mut found: Vec<Offsets> = Vec::new();
        for table in tables {
            let now = pegel.data(&["offsets", table]);
            let then = pegel.data(&["offsets", table, "--at", &at.to_string()]);
            found.extend([
                pegel_offsets(&now, "start"),
                pegel_offsets(&now, "latest"),
                pegel_offsets(&then, "start"),
            ]);
        }
        if found == expected {
            let buckets: usize = found.iter().map(BTreeMap::len).sum();
            assert!(buckets >= 60, "{buckets} offsets compared");
            return;
        }
        assert!(started.elapsed() < SETTLED_WITHIN, "{found:?} but Java says {expected:?}");
    }
}

async fn row_counts_agree(java: &Java, pegel: &Pegel, tables: &[String]) {
    let questions: Vec<Value> = tables.iter().map(|table| question("stats", table)).collect();
    let mut compared = 0;
    for (table, answer) in tables.iter().zip(java.ask(&questions).await) {
        let envelope = pegel.envelope(&["stats", table]);
        match answer.get("ok") {
            Some(expected) => {
                assert_eq!(
                    text(&envelope["data"]["row_count"]),
                    expected["row_count"].to_string(),
                    "{table}"
                );
                compared += 1;
            }
            // What the Java client is refused, we are refused too, and never as a zero.
            None => {
                assert_ne!(envelope["status"], "ok", "{table}: {answer}");
                assert!(envelope["data"]["row_count"].is_null(), "{table}");
            }
        }
    }
    assert!(compared >= 8, "{compared} row counts compared");
}

async fn configuration_agrees(java: &Java, pegel: &Pegel) {
    let answer = java.one(json!({"ask": "configs"})).await;
    let mut redacted = 0;
    let data = pegel.data(&["cluster-config"]);
    let found: BTreeMap<String, &Value> = items(&data).iter().map(|one| (text(&one["key"]), one)).collect();
    let expected = answer.as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    for entry in expected {
        let ours = found[&text(&entry["key"])];
        assert_eq!(text(&ours["source"]), text(&entry["source"]), "{entry}");
        if ours["is_redacted"] == true {
            redacted += 1;
            assert!(!data.to_string().contains(&text(&entry["value"])), "a secret is shown");
        } else {
            assert_eq!(ours["value"], entry["value"], "{}", entry["key"]);
        }
    }
    assert!(redacted >= 1, "the demo's passwords are part of the configuration");
    assert!(!data.to_string().contains(&pegel.password));
}

async fn acls_agree(java: &Java, pegel: &Pegel) {
    let fields = [
        "resource_type",
        "resource_name",
        "principal_type",
        "principal_name",
        "host",
        "operation",
        "permission",
    ];
    let row = |one: &Value| fields.map(|field| text(&one[field]));
    let answer = java.one(json!({"ask": "acls"})).await;
    let mut expected: Vec<_> = answer.as_array().unwrap().iter().map(row).collect();
    let data = pegel.data(&["acls"]);
    let mut found: Vec<_> = items(&data).iter().map(row).collect();
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert!(!expected.is_empty(), "the demo grants rights");
}
