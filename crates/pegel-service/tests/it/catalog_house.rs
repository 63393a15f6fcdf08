//! A service with one live cluster, and people who ask it.

use std::time::{Duration, Instant};

use fluss_testkit::fake_server::FakeCluster;
use pegel_core::access::Role;
use pegel_core::access::scope::Scope;
use pegel_core::envelope::Envelope;
use pegel_core::ids::ClusterSlug;
use pegel_service::caller::Caller;
use pegel_service::catalog::{Execute, inventory, liveness};
use pegel_service::{Error, clusters};
use serde_json::Value as Json;
use tokio::time::{sleep, timeout};

use crate::clusters::{SOON, Yard, request, start_with};
use crate::house::House;

/// Returns the present moment, to see how long something takes.
#[expect(clippy::disallowed_methods, reason = "what a test measures takes real time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A service that knows one cluster as `eu`.
pub(crate) struct Console {
    pub(crate) yard: Yard,
    pub(crate) admin: Caller,
    pub(crate) slug: ClusterSlug,
}

/// Settings under which nothing is read but what somebody asks for, and that at any time.
pub(crate) fn on_demand() -> clusters::Settings {
    let long = Duration::from_secs(3_600);
    clusters::Settings {
        inventory: inventory::Settings {
            refresh_every: long,
            least_gap: Duration::ZERO,
            first_retry: long,
            longest_retry: long,
            first_pause: long,
        },
        liveness: liveness::Settings { look_every: long, ..liveness::Settings::default() },
        ..clusters::Settings::default()
    }
}

/// Settings under which the servers are looked at many times a second.
pub(crate) fn watchful() -> clusters::Settings {
    let quick = Duration::from_millis(200);
    let look = liveness::Settings {
        look_every: quick,
        fresh_for: quick,
        answer_limit: quick,
        ..liveness::Settings::default()
    };
    clusters::Settings { liveness: look, ..on_demand() }
}

impl Console {
    /// Registers a cluster that may be down, and starts the service anew with these settings.
    pub(crate) async fn of(cluster: &FakeCluster, settings: clusters::Settings) -> Self {
        let yard = Yard::open(House::sqlite().await).await;
        let mut form = request("eu", &cluster.bootstrap());
        form["save_despite_failure"] = true.into();
        form["connection"]["request_timeout_seconds"] = 2.into();
        yard.register(form).await.unwrap();
        yard.service.shutdown().await;
        for server in cluster.servers() {
            timeout(SOON, server.until(|server| server.open_count() == 0)).await.unwrap();
        }
        cluster.reset_counters();
        let yard = Yard { service: start_with(yard.house.db.clone(), settings).await, ..yard };
        let admin = yard.house.caller(&yard.admin).await;
        Self { yard, admin, slug: "eu".parse().unwrap() }
    }

    /// Asks as the admin.
    pub(crate) async fn ask<O: Execute>(&self, input: Json) -> Envelope<O::Output> {
        self.ask_as::<O>(&self.admin, input).await.unwrap()
    }

    pub(crate) async fn ask_as<O: Execute>(
        &self,
        caller: &Caller,
        input: Json,
    ) -> Result<Envelope<O::Output>, Error> {
        let input = serde_json::from_value(input).unwrap();
        timeout(SOON * 3, Box::pin(self.yard.service.run::<O>(caller, &self.slug, input))).await.unwrap()
    }

    /// Makes a viewer within a scope.
    pub(crate) async fn viewer(&self, name: &str, scope: Scope) -> Caller {
        let person = self.yard.house.person(&self.yard.admin, name, Role::Viewer, scope).await;
        self.yard.house.caller(&person).await
    }

    /// Asks until the answer is as wanted, and returns it.
    pub(crate) async fn until<O: Execute>(
        &self,
        input: Json,
        is_wanted: impl Fn(&Envelope<O::Output>) -> bool,
    ) -> Envelope<O::Output> {
        let asking = async {
            loop {
                let envelope = self.ask::<O>(input.clone()).await;
                if is_wanted(&envelope) {
                    return envelope;
                }
                sleep(Duration::from_millis(20)).await;
            }
        };
        timeout(SOON, asking).await.expect("the answer comes to be as wanted")
    }
}
