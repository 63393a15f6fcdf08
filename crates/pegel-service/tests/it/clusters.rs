//! Registered clusters: registering, changing, removing, seeing them.

use std::time::Duration;

use fluss_testkit::fake_server::FakeCluster;
use pegel_api_types::clusters::{ClusterView, RegisterCluster, SavedCluster, TestConnection, UpdateCluster};
use pegel_api_types::operations::connection_test::ConnectionTest;
use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_core::envelope::{Envelope, Status};
use pegel_core::ids::ClusterSlug;
use pegel_service::caller::Caller;
use pegel_service::clusters;
use pegel_service::policy::permission::{ClustersRead, ClustersWrite};
use pegel_service::{Error, Service, ServiceSettings};
use pegel_store::Db;
use pegel_store::audit::AuditRow;
use pegel_store::secret_box::SecretBox;
use secrecy::SecretString;
use serde_json::{Value as Json, json};

use crate::house::{House, Person, code, scope, settings};
use crate::on_both;

on_both!(
    a_cluster_is_registered_after_its_test,
    a_failed_test_saves_nothing_unless_it_is_wanted,
    a_taken_slug_is_found_before_anything_is_dialled,
    a_new_name_alone_dials_nothing,
    a_changed_connection_is_tested_and_told_by_name,
    changes_need_the_version_that_was_seen,
    every_problem_of_a_request_is_told_at_once,
    outside_of_the_scope_there_is_no_cluster,
    a_part_of_a_cluster_shows_no_connection,
    clusters_are_listed_page_by_page_within_the_scope,
    only_those_who_may_change_clusters,
    a_stored_connection_and_a_form_are_tested_and_audited,
);

/// How long anything may take that should happen at once.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// A service with clusters, and an admin.
pub(crate) struct Yard {
    pub(crate) house: House,
    pub(crate) service: Service,
    pub(crate) admin: Person,
}

/// The key of all secrets.
pub(crate) fn secret_box() -> SecretBox {
    SecretBox::from_text(&SecretString::from("a".repeat(64))).unwrap()
}

pub(crate) async fn start(db: Db, test_deadline: Duration) -> Service {
    start_with(db, clusters::Settings { test_deadline, ..clusters::Settings::default() }).await
}

pub(crate) async fn start_with(db: Db, clusters: clusters::Settings) -> Service {
    let settings = ServiceSettings { people: settings(), clusters, ..ServiceSettings::default() };
    Service::start(db, secret_box(), settings).await.unwrap()
}

impl Yard {
    pub(crate) async fn open(house: House) -> Self {
        Self::with_deadline(house, Duration::from_secs(60)).await
    }

    pub(crate) async fn with_deadline(house: House, test_deadline: Duration) -> Self {
        let admin = house.admin().await;
        let service = start(house.db.clone(), test_deadline).await;
        Self { house, service, admin }
    }

    pub(crate) async fn register(&self, request: Json) -> Result<SavedCluster, Error> {
        self.register_as(&self.house.caller(&self.admin).await, request).await
    }

    pub(crate) async fn register_as(&self, caller: &Caller, request: Json) -> Result<SavedCluster, Error> {
        let may = self.service.policy().authorize::<ClustersWrite>(caller, Target::Global).await?;
        let request: RegisterCluster = serde_json::from_value(request).unwrap();
        self.service.clusters().register(&may, &request).await
    }

    pub(crate) async fn update(&self, cluster: &ClusterView, change: Json) -> Result<SavedCluster, Error> {
        self.update_as(&self.house.caller(&self.admin).await, cluster, change).await
    }

    /// Changes a cluster from how it is shown, as a form does.
    pub(crate) async fn update_as(
        &self,
        caller: &Caller,
        cluster: &ClusterView,
        change: Json,
    ) -> Result<SavedCluster, Error> {
        let target = Target::WholeCluster(&cluster.slug);
        let may = self.service.policy().authorize::<ClustersWrite>(caller, target).await?;
        let mut request = json!({
            "version": cluster.version,
            "name": cluster.name,
            "environment": cluster.environment,
            "read_only": cluster.read_only,
            "connection": form_of(cluster),
        });
        for (name, value) in change.as_object().unwrap() {
            if name == "connection" {
                for (name, value) in value.as_object().unwrap() {
                    request["connection"][name] = value.clone();
                }
            } else {
                request[name] = value.clone();
            }
        }
        let request: UpdateCluster = serde_json::from_value(request).unwrap();
        self.service.clusters().update(&may, &request).await
    }

    pub(crate) async fn remove(&self, cluster: &ClusterView) -> Result<(), Error> {
        let caller = self.house.caller(&self.admin).await;
        let target = Target::WholeCluster(&cluster.slug);
        let may = self.service.policy().authorize::<ClustersWrite>(&caller, target).await?;
        self.service.clusters().remove(&may, cluster.version).await
    }

    pub(crate) async fn get(&self, slug: &str) -> Result<ClusterView, Error> {
        self.get_as(&self.house.caller(&self.admin).await, slug).await
    }

    pub(crate) async fn get_as(&self, caller: &Caller, slug: &str) -> Result<ClusterView, Error> {
        let slug: ClusterSlug = slug.parse().unwrap();
        let may = self.service.policy().authorize::<ClustersRead>(caller, Target::Cluster(&slug)).await?;
        self.service.clusters().get(&may).await
    }

    pub(crate) async fn list_as(&self, caller: &Caller, after: Option<&str>, limit: u32) -> Vec<ClusterView> {
        let may = self.service.policy().authorize::<ClustersRead>(caller, Target::Global).await.unwrap();
        let after = after.map(|slug| slug.parse().unwrap());
        self.service.clusters().list(&may, after, limit).await.unwrap()
    }

    pub(crate) async fn test_form(
        &self,
        target: Target<'_>,
        connection: Json,
    ) -> Result<Envelope<ConnectionTest>, Error> {
        let caller = self.house.caller(&self.admin).await;
        let may = self.service.policy().authorize::<ClustersWrite>(&caller, target).await?;
        let request: TestConnection = serde_json::from_value(json!({ "connection": connection })).unwrap();
        self.service.clusters().test_form(&may, &request).await
    }

    /// Returns the audit rows about clusters, oldest first.
    pub(crate) async fn audit(&self) -> Vec<AuditRow> {
        let rows = self.house.audit().await;
        rows.into_iter().filter(|row| row.entry.action.starts_with("clusters.")).collect()
    }
}

/// Returns the cluster without what the watch has seen of it meanwhile.
fn unseen(view: ClusterView) -> ClusterView {
    ClusterView { state: None, ..view }
}

/// Returns what a form would send back of a cluster that is not changed.
fn form_of(cluster: &ClusterView) -> Json {
    let Some(shown) = &cluster.connection else { return json!({}) };
    let mut form = serde_json::to_value(shown).unwrap();
    let fields = form.as_object_mut().unwrap();
    fields.retain(|name, value| !name.starts_with("has_") && !value.is_null());
    form
}

pub(crate) fn request(slug: &str, endpoint: &str) -> Json {
    json!({ "slug": slug, "name": format!("Cluster {slug}"), "environment": "test",
            "connection": { "endpoint": endpoint } })
}

/// Returns an address on which nobody listens.
pub(crate) async fn dead_address() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

fn eu() -> Scope {
    scope(r#"{"clusters":[{"cluster":"eu","tables":"all"}]}"#)
}

async fn a_cluster_is_registered_after_its_test(house: House) {
    let cluster = FakeCluster::builder().tablet_servers(2).start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap();
    let test = saved.connection_test.unwrap();
    assert!(matches!(test.status, Status::Ok | Status::Partial), "{test:?}");
    assert_eq!(test.data.unwrap().tablet_servers_alive_count, 2);
    let view = yard.get("eu").await.unwrap();
    assert_eq!(unseen(view.clone()), unseen(saved.cluster));
    assert_eq!((view.slug.as_str(), view.name.as_str(), view.version), ("eu", "Cluster eu", 1));
    assert!(!view.read_only && view.unusable.is_none());
    let connection = view.connection.unwrap();
    assert_eq!(
        (connection.endpoint, connection.security_protocol.as_str()),
        (cluster.bootstrap(), "PLAINTEXT")
    );
    let limits =
        (connection.dial_timeout_seconds, connection.request_timeout_seconds, connection.read_max_attempts);
    assert_eq!(limits, (10, 15, 2));
    let rows = yard.audit().await;
    let told: Vec<_> = rows
        .iter()
        .map(|row| (row.entry.action.as_str(), row.entry.outcome.as_str(), row.entry.target.as_str()))
        .collect();
    assert_eq!(told, [("clusters.test", "ok", "cluster/eu"), ("clusters.register", "ok", "cluster/eu")]);
    assert_eq!(rows[0].entry.detail["endpoint"], cluster.bootstrap());
    assert_eq!(rows[1].entry.detail["environment"], "test");
}

async fn a_failed_test_saves_nothing_unless_it_is_wanted(house: House) {
    let yard = Yard::open(house).await;
    let mut wanted = request("eu", &dead_address().await);
    let refused = yard.register(wanted.clone()).await.unwrap_err();
    assert_eq!(refused.code().http_status(), 422);
    let Error::ConnectionTestFailed { test } = refused else { panic!("{refused:?}") };
    assert_eq!(test.status, Status::Unavailable);
    assert!(test.evidence.iter().any(|step| step.check == "tcp" && step.code.is_some()), "{test:?}");
    assert_eq!(code(yard.get("eu").await), "not_found");
    let rows = yard.audit().await;
    assert_eq!((rows.len(), rows[0].entry.outcome.as_str()), (1, "connection_test_failed"));
    wanted["save_despite_failure"] = json!(true);
    let saved = yard.register(wanted).await.unwrap();
    assert_eq!(saved.connection_test.unwrap().status, Status::Unavailable);
    assert_eq!(unseen(yard.get("eu").await.unwrap()), unseen(saved.cluster));
}

async fn a_taken_slug_is_found_before_anything_is_dialled(house: House) {
    let (first, second) = (FakeCluster::builder().start().unwrap(), FakeCluster::builder().start().unwrap());
    let yard = Yard::open(house).await;
    yard.register(request("eu", &first.bootstrap())).await.unwrap();
    assert_eq!(code(yard.register(request("eu", &second.bootstrap())).await), "conflict");
    assert_eq!(second.accepted_count(), 0);
}

async fn a_new_name_alone_dials_nothing(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    // Whatever is dialled now fails, and a failed test would keep the change from being saved.
    for server in cluster.servers() {
        server.stop().await.unwrap();
    }
    let change = json!({ "name": "Europe", "environment": "production", "read_only": true });
    let changed = yard.update(&saved, change).await.unwrap();
    assert!(changed.connection_test.is_none());
    let view = changed.cluster;
    assert_eq!(
        (view.name.as_str(), view.environment.as_str(), view.read_only),
        ("Europe", "production", true)
    );
    assert_eq!((view.version, view.connection.clone()), (2, saved.connection));
    let row = yard.audit().await.pop().unwrap().entry;
    assert_eq!(
        (row.action.as_str(), &row.detail["changed"]),
        ("clusters.update", &json!(["name", "environment", "read_only"]))
    );
}

async fn a_changed_connection_is_tested_and_told_by_name(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let change = json!({ "connection": { "dial_timeout_seconds": 3, "request_timeout_seconds": 4 } });
    let changed = yard.update(&saved, change).await.unwrap();
    assert!(changed.connection_test.is_some());
    let row = yard.audit().await.pop().unwrap().entry;
    assert_eq!(row.detail["changed"], json!(["dial_timeout_seconds", "request_timeout_seconds"]));
    let moved = json!({ "connection": { "endpoint": dead_address().await } });
    assert_eq!(code(yard.update(&changed.cluster, moved.clone()).await), "connection_test_failed");
    assert_eq!(unseen(yard.get("eu").await.unwrap()), unseen(changed.cluster.clone()));
    let mut despite = moved;
    despite["save_despite_failure"] = json!(true);
    assert_eq!(yard.update(&changed.cluster, despite).await.unwrap().cluster.version, 3);
}

async fn changes_need_the_version_that_was_seen(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let first = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let second = yard.update(&first, json!({ "name": "Europe" })).await.unwrap().cluster;
    // Had it dialled, the test would have failed before the conflict showed.
    let late = json!({ "name": "Other", "connection": { "endpoint": dead_address().await } });
    assert_eq!(code(yard.update(&first, late).await), "conflict");
    assert_eq!(code(yard.remove(&first).await), "conflict");
    yard.remove(&second).await.unwrap();
    let row = yard.audit().await.pop().unwrap().entry;
    assert_eq!((row.action.as_str(), row.target.as_str()), ("clusters.remove", "cluster/eu"));
    assert_eq!(code(yard.remove(&second).await), "not_found");
    assert_eq!(code(yard.get("eu").await), "not_found");
    // The slug is free again, and what comes under it is another cluster.
    assert_eq!(yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster.version, 1);
}

async fn every_problem_of_a_request_is_told_at_once(house: House) {
    let yard = Yard::open(house).await;
    let bad = json!({ "slug": "eu", "name": " ", "environment": "test", "connection": {
        "endpoint": "169.254.169.254:80", "security_protocol": "SASL_TLS", "sasl_username": "u".repeat(5_000),
        "dial_timeout_seconds": 301, "read_max_attempts": 0 } });
    let Error::Invalid { problems } = yard.register(bad).await.unwrap_err() else { panic!() };
    let mut pointers: Vec<_> =
        problems.iter().map(|problem| problem.pointer.replace("/connection", "")).collect();
    pointers.sort();
    assert_eq!(
        pointers,
        [
            "/dial_timeout_seconds",
            "/endpoint",
            "/name",
            "/read_max_attempts",
            "/sasl_password",
            "/sasl_username"
        ]
    );
    assert!(yard.audit().await.is_empty());
}

async fn outside_of_the_scope_there_is_no_cluster(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    for slug in ["eu", "us"] {
        yard.register(request(slug, &cluster.bootstrap())).await.unwrap();
    }
    let local = yard.house.person(&yard.admin, "local", Role::Admin, eu()).await;
    let caller = yard.house.caller(&local).await;
    let listed = yard.list_as(&caller, None, 10).await;
    assert_eq!(listed.iter().map(|view| view.slug.as_str()).collect::<Vec<_>>(), ["eu"]);
    assert!(listed[0].connection.is_some());
    assert_eq!(code(yard.get_as(&caller, "us").await), "not_found");
    let us = yard.get("us").await.unwrap();
    assert_eq!(code(yard.update_as(&caller, &us, json!({ "name": "mine" })).await), "not_found");
    // A name that is taken and one that is free look the same from outside.
    for slug in ["us", "asia"] {
        let refused = yard.register_as(&caller, request(slug, &cluster.bootstrap())).await;
        assert_eq!(code(refused), "rights_exceeded");
    }
}

async fn a_part_of_a_cluster_shows_no_connection(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    yard.register(request("eu", &cluster.bootstrap())).await.unwrap();
    let part = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*"]}}]}"#);
    let ann = yard.house.person(&yard.admin, "ann", Role::Viewer, part).await;
    let caller = yard.house.caller(&ann).await;
    assert_eq!(yard.get_as(&caller, "eu").await.unwrap().connection, None);
    assert_eq!(yard.list_as(&caller, None, 10).await[0].connection, None);
}

async fn clusters_are_listed_page_by_page_within_the_scope(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    for slug in ["e", "b", "d", "a", "c"] {
        yard.register(request(slug, &cluster.bootstrap())).await.unwrap();
    }
    let some = scope(
        r#"{"clusters":[{"cluster":"a","tables":"all"},{"cluster":"c","tables":"all"},{"cluster":"e","tables":"all"}]}"#,
    );
    let ann = yard.house.person(&yard.admin, "ann", Role::Viewer, some).await;
    let caller = yard.house.caller(&ann).await;
    let slugs = |views: Vec<ClusterView>| views.iter().map(|view| view.slug.to_string()).collect::<Vec<_>>();
    assert_eq!(slugs(yard.list_as(&caller, None, 2).await), ["a", "c"]);
    assert_eq!(slugs(yard.list_as(&caller, Some("c"), 2).await), ["e"]);
    assert_eq!(
        slugs(yard.list_as(&yard.house.caller(&yard.admin).await, Some("b"), 10).await),
        ["c", "d", "e"]
    );
}

async fn only_those_who_may_change_clusters(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    let saved = yard.register(request("eu", &cluster.bootstrap())).await.unwrap().cluster;
    let ann = yard.house.person(&yard.admin, "ann", Role::Editor, Scope::All).await;
    let caller = yard.house.caller(&ann).await;
    assert_eq!(
        code(yard.register_as(&caller, request("us", &cluster.bootstrap())).await),
        "permission_denied"
    );
    assert_eq!(code(yard.update_as(&caller, &saved, json!({ "name": "mine" })).await), "permission_denied");
    assert_eq!(yard.house.last_audit().await, ("access.denied".to_owned(), "permission_denied".to_owned()));
    assert_eq!(unseen(yard.get_as(&caller, "eu").await.unwrap()), unseen(saved));
}

async fn a_stored_connection_and_a_form_are_tested_and_audited(house: House) {
    let cluster = FakeCluster::builder().start().unwrap();
    let yard = Yard::open(house).await;
    yard.register(request("eu", &cluster.bootstrap())).await.unwrap();
    let slug: ClusterSlug = "eu".parse().unwrap();
    let caller = yard.house.caller(&yard.admin).await;
    let may =
        yard.service.policy().authorize::<ClustersRead>(&caller, Target::WholeCluster(&slug)).await.unwrap();
    let test = yard.service.clusters().test_stored(&may).await.unwrap();
    assert_eq!(test.data.unwrap().tablet_servers_alive_count, 1);
    let dead = dead_address().await;
    let test = yard.test_form(Target::Global, json!({ "endpoint": dead })).await.unwrap();
    assert_eq!(test.status, Status::Unavailable);
    let test = yard.test_form(Target::WholeCluster(&slug), json!({ "endpoint": dead })).await.unwrap();
    assert_eq!(test.status, Status::Unavailable);
    let told: Vec<_> = yard
        .audit()
        .await
        .into_iter()
        .map(|row| (row.entry.action, row.entry.target, row.entry.outcome))
        .skip(2)
        .collect();
    let row =
        |target: &str, outcome: &str| ("clusters.test".to_owned(), target.to_owned(), outcome.to_owned());
    assert_eq!(
        told,
        [
            row("cluster/eu", "ok"),
            row("connection", "connection_test_failed"),
            row("cluster/eu", "connection_test_failed")
        ]
    );
}
