//! Monitors as people make, change, pause and remove them. A caller sees those of clusters in scope, and those of no
//! cluster only with every cluster in scope.

use std::sync::Arc;

use pegel_api_types::monitoring::SecretValues;
use pegel_api_types::monitoring::monitors::{
    CreateMonitor, HeartbeatKey, MonitorForm, MonitorTrial, MonitorView, UpdateMonitor,
};
use pegel_api_types::people::ShownOnce;
use pegel_api_types::problem::FieldProblem;
use pegel_core::ids::ClusterSlug;
use pegel_core::monitor::kind::MonitorKind;
use pegel_monitor::channel::secret::names;
use pegel_monitor::judge::Change;
use pegel_monitor::target::Target;
use pegel_store::audit::{self, Entry};
use pegel_store::error::Error as StoreError;
use pegel_store::monitors::{self as table, MAX_PAGE, Monitor, Settings};
use pegel_store::secret_box::SecretBox;
use pegel_store::tx::Tx;
use pegel_store::{pings, secrets, token};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use uuid::Uuid;

use crate::caller::Caller;
use crate::error::Error;
use crate::journal;
use crate::monitoring::{Monitoring, view};
use crate::policy::Authorized;
use crate::policy::permission::{MonitorsRead, MonitorsWrite};
use crate::policy::rights::is_in_scope;

/// Kinds that can be made; the others wait for what they look at.
const KINDS: [MonitorKind; 5] = [
    MonitorKind::Http,
    MonitorKind::Tcp,
    MonitorKind::Heartbeat,
    MonitorKind::FlussProbe,
    MonitorKind::Coordinator,
];

impl Monitoring {
    /// Returns the monitors of the caller's scope in the order in which they were made, after `after`, at most
    /// `limit` (up to 1,000). Fewer than that are the last.
    ///
    /// # Errors
    /// As the store.
    pub async fn list(
        &self,
        may: &Authorized<MonitorsRead>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<MonitorView>, Error> {
        let scope = may.caller().principal().scope.clone();
        let most = usize::try_from(limit.clamp(1, MAX_PAGE)).unwrap_or(1);
        let found = self.inner.db.read(move |tx| {
            let (scope, mut after) = (scope.clone(), after);
            Box::pin(async move {
                let mut found = Vec::new();
                loop {
                    let page = table::list(tx, after, MAX_PAGE).await?;
                    let is_last = u32::try_from(page.len()).unwrap_or(MAX_PAGE) < MAX_PAGE;
                    after = page.last().map(|monitor| monitor.id);
                    let wanted = page.into_iter().filter(|one| is_in_scope(&scope, one.cluster.as_ref()));
                    for monitor in wanted.take(most - found.len()) {
                        let state = table::state(tx, monitor.id).await?;
                        found.push((monitor, state));
                    }
                    if is_last || found.len() == most {
                        return Ok(found);
                    }
                }
            })
        });
        let now = self.inner.db.clock().now();
        Ok(found.await?.into_iter().map(|(monitor, state)| view::monitor(monitor, &state, now)).collect())
    }

    /// Returns a monitor.
    ///
    /// # Errors
    /// `not_found`, also outside of the caller's scope; or as the store.
    pub async fn get(&self, may: &Authorized<MonitorsRead>, id: Uuid) -> Result<MonitorView, Error> {
        self.seen(may.caller(), id).await?;
        self.shown(id).await
    }

    /// Makes a monitor.
    ///
    /// # Errors
    /// `invalid`, with every field that breaks a rule; `not_found` for a cluster outside of the caller's scope; or as
    /// the store.
    pub async fn create(
        &self,
        may: &Authorized<MonitorsWrite>,
        request: &CreateMonitor,
    ) -> Result<MonitorView, Error> {
        let CreateMonitor { kind, cluster, monitor: form } = request;
        let settings = checked(*kind, cluster.as_ref(), form)?;
        check_secrets(form, &[])?;
        if !is_in_scope(&may.caller().principal().scope, cluster.as_ref()) {
            let what = cluster.as_ref().map_or("cluster", ClusterSlug::as_str);
            return Err(Error::not_found("cluster", what));
        }
        let entry = journal::of_caller(may.caller(), "monitors.create", String::new());
        let (kind, cluster, values) = (*kind, cluster.clone(), form.secrets.clone());
        let secret_box = Arc::clone(&self.inner.secrets);
        let made = self.inner.db.write(move |tx| {
            let (cluster, settings, values, entry) =
                (cluster.clone(), settings.clone(), values.clone(), entry.clone());
            let secret_box = Arc::clone(&secret_box);
            Box::pin(async move {
                let made = table::create(tx, cluster.as_ref(), kind, &settings).await?;
                keep_secrets(tx, &secret_box, &made, &values).await?;
                let entry = Entry { target: table::resource_key(made.id), ..entry };
                let detail = json!({ "name": settings.name, "kind": kind, "cluster": cluster });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                Ok(made.id)
            })
        });
        let id = made.await.map_err(|error| cluster_missing(error, request.cluster.as_ref()))?;
        self.shown(id).await
    }

    /// Changes a monitor, all of it at once but the secrets. A new rule never makes it worse than it was at once.
    ///
    /// # Errors
    /// `invalid`; `secret_required` if a stored secret would go to a new place; `conflict` for another version;
    /// `not_found`; or as the store.
    pub async fn update(
        &self,
        may: &Authorized<MonitorsWrite>,
        id: Uuid,
        request: &UpdateMonitor,
    ) -> Result<MonitorView, Error> {
        let before = self.seen(may.caller(), id).await?;
        let form = &request.monitor;
        let settings = checked(before.kind, before.cluster.as_ref(), form)?;
        let stored = self.secret_fields(id).await?;
        check_secrets(form, &stored)?;
        if settings.target != before.settings.target {
            require_again(form)?;
        }
        let entry = journal::of_caller(may.caller(), "monitors.update", table::resource_key(id));
        let detail = json!({ "version": request.version.saturating_add(1), "name": settings.name });
        let entry = journal::with(entry, "ok", detail);
        let (version, values) = (request.version, form.secrets.clone());
        let (judge, secret_box) = (self.inner.judge.clone(), Arc::clone(&self.inner.secrets));
        let actor = may.caller().principal().name.clone();
        let changed = self.inner.db.write(move |tx| {
            let (settings, values, entry) = (settings.clone(), values.clone(), entry.clone());
            let (judge, secret_box, actor) = (judge.clone(), Arc::clone(&secret_box), actor.clone());
            Box::pin(async move {
                table::update(tx, id, version, &settings).await?;
                let monitor = table::get(tx, id).await?;
                keep_secrets(tx, &secret_box, &monitor, &values).await?;
                judge.apply(tx, id, &Change::Edited, &actor).await?;
                audit::append(tx, &entry).await
            })
        });
        changed.await?;
        self.shown(id).await
    }

    /// Pauses a monitor. What it fires ends, and those who were told are told so.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn pause(&self, may: &Authorized<MonitorsWrite>, id: Uuid) -> Result<MonitorView, Error> {
        self.change(may, id, "monitors.pause", Change::Pause).await?;
        self.shown(id).await
    }

    /// Resumes a monitor; what it knew before counts no more.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn resume(&self, may: &Authorized<MonitorsWrite>, id: Uuid) -> Result<MonitorView, Error> {
        self.change(may, id, "monitors.resume", Change::Resume).await?;
        self.shown(id).await
    }

    /// Removes a monitor with its samples and keys. What it fires ends, and those who were told are told so; its
    /// incidents stay.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove(&self, may: &Authorized<MonitorsWrite>, id: Uuid, version: i64) -> Result<(), Error> {
        self.change(may, id, "monitors.remove", Change::Delete { version }).await
    }

    /// Makes a new key of a heartbeat, shown this once. Keys from before go on to work until they are revoked.
    ///
    /// # Errors
    /// `invalid` for a monitor that is no heartbeat; `too_large` if it has ten; `not_found`; or as the store.
    pub async fn create_heartbeat_key(
        &self,
        may: &Authorized<MonitorsWrite>,
        id: Uuid,
    ) -> Result<HeartbeatKey, Error> {
        self.heartbeat(may.caller(), id).await?;
        let (key, hash) = token::generate("")?;
        let entry = journal::of_caller(may.caller(), "monitors.create_key", table::resource_key(id));
        let hash = hash.to_bytes();
        let made = self.inner.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                pings::add_key(tx, id, hash).await?;
                audit::append(tx, &entry).await
            })
        });
        made.await?;
        let path = SecretString::from(format!("/heartbeat/{}", key.expose_secret()));
        Ok(HeartbeatKey { key: ShownOnce::new(key), path: ShownOnce::new(path) })
    }

    /// Looks at a target once and keeps nothing of it. The target's secrets are those of the form.
    ///
    /// # Errors
    /// `invalid`, `not_found`, or as the store.
    pub async fn try_out(&self, may: &Authorized<MonitorsWrite>, id: Uuid) -> Result<MonitorTrial, Error> {
        let monitor = self.seen(may.caller(), id).await?;
        if !Target::read(monitor.kind, &monitor.settings.target)?.is_probed() {
            let what = "there is nothing to look at: this monitor reports itself";
            return Err(Error::Invalid { problems: vec![FieldProblem::new("/kind", "value", what)] });
        }
        let entry = journal::of_caller(may.caller(), "monitors.try", table::resource_key(id));
        self.inner
            .db
            .write(move |tx| {
                let entry = entry.clone();
                Box::pin(async move { audit::append(tx, &entry).await })
            })
            .await?;
        let seen = self.inner.engine.try_out(&monitor).await?;
        Ok(MonitorTrial {
            outcome: seen.outcome,
            duration_us: seen.duration_us,
            summary: seen.summary,
            evidence: seen.evidence,
        })
    }

    async fn change(
        &self,
        may: &Authorized<MonitorsWrite>,
        id: Uuid,
        action: &str,
        change: Change,
    ) -> Result<(), Error> {
        self.seen(may.caller(), id).await?;
        let entry = journal::of_caller(may.caller(), action, table::resource_key(id));
        self.judged(may.caller(), id, change, entry).await
    }

    /// Brings a change before the judge, in one transaction with its audit row.
    pub(super) async fn judged(
        &self,
        caller: &Caller,
        id: Uuid,
        change: Change,
        entry: Entry,
    ) -> Result<(), Error> {
        let (judge, actor) = (self.inner.judge.clone(), caller.principal().name.clone());
        let done = self.inner.db.write(move |tx| {
            let (judge, change, actor, entry) = (judge.clone(), change.clone(), actor.clone(), entry.clone());
            Box::pin(async move {
                let applied = judge.apply(tx, id, &change, &actor).await?;
                audit::append(tx, &entry).await?;
                Ok(applied.queued_count)
            })
        });
        if done.await? > 0 {
            self.inner.delivery_bell.notify_one();
        }
        Ok(())
    }

    /// Returns a monitor that the caller may see.
    async fn seen(&self, caller: &Caller, id: Uuid) -> Result<Monitor, Error> {
        let monitor = self.inner.db.read(move |tx| Box::pin(table::get(tx, id))).await?;
        if is_in_scope(&caller.principal().scope, monitor.cluster.as_ref()) {
            Ok(monitor)
        } else {
            Err(Error::not_found("monitor", id))
        }
    }

    async fn heartbeat(&self, caller: &Caller, id: Uuid) -> Result<(), Error> {
        if self.seen(caller, id).await?.kind == MonitorKind::Heartbeat {
            return Ok(());
        }
        let what = "only a heartbeat is pinged under a key";
        Err(Error::Invalid { problems: vec![FieldProblem::new("/kind", "value", what)] })
    }

    async fn shown(&self, id: Uuid) -> Result<MonitorView, Error> {
        let read = self.inner.db.read(move |tx| {
            Box::pin(async move { Ok((table::get(tx, id).await?, table::state(tx, id).await?)) })
        });
        let (monitor, state) = read.await?;
        Ok(view::monitor(monitor, &state, self.inner.db.clock().now()))
    }

    async fn secret_fields(&self, id: Uuid) -> Result<Vec<String>, Error> {
        let owner = table::resource_key(id);
        let fields = self.inner.db.read(move |tx| {
            let owner = owner.clone();
            Box::pin(async move { secrets::fields(tx, &owner).await })
        });
        Ok(fields.await?)
    }
}

/// Checks what somebody wrote and makes the settings of it.
fn checked(kind: MonitorKind, cluster: Option<&ClusterSlug>, form: &MonitorForm) -> Result<Settings, Error> {
    if !KINDS.contains(&kind) {
        let what = "monitors of this kind cannot be made yet";
        return Err(Error::Invalid { problems: vec![FieldProblem::new("/kind", "value", what)] });
    }
    form.validate(kind).map_err(|problems| Error::invalid_below(problems, "/monitor"))?;
    if matches!(kind, MonitorKind::FlussProbe | MonitorKind::Coordinator) && cluster.is_none() {
        let what = "a monitor of this kind looks at a registered cluster";
        return Err(Error::Invalid { problems: vec![FieldProblem::new("/cluster", "missing", what)] });
    }
    Target::read(kind, &form.target).map_err(|error| match Error::from(error) {
        Error::Invalid { problems } => Error::invalid_below(problems, "/monitor"),
        other => other,
    })?;
    let rule = match &form.heartbeat_rule {
        Some(heartbeat) => heartbeat.verdict_rule(form.rule.severity, form.rule.remind_every_ms),
        None => form.rule.clone(),
    };
    Ok(Settings {
        name: form.name.clone(),
        target: form.target.clone(),
        rule,
        heartbeat_rule: form.heartbeat_rule.clone(),
        labels: form.labels.clone(),
    })
}

/// Checks that each secret that the target names has a value, and that no other is given.
fn check_secrets(form: &MonitorForm, stored: &[String]) -> Result<(), Error> {
    let named = names(&form.target);
    let mut problems: Vec<FieldProblem> = Vec::new();
    for name in &named {
        if !form.secrets.contains_key(name) && !stored.contains(name) {
            let pointer = format!("/monitor/secrets/{name}");
            problems.push(FieldProblem::new(pointer, "missing", "the target names this secret"));
        }
    }
    for name in form.secrets.keys().filter(|name| !named.contains(name)) {
        let pointer = format!("/monitor/secrets/{name}");
        problems.push(FieldProblem::new(pointer, "value", "the target does not name this secret"));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::Invalid { problems }) }
}

/// A stored secret must not follow its target to another place.
fn require_again(form: &MonitorForm) -> Result<(), Error> {
    let missing = names(&form.target).into_iter().filter(|name| !form.secrets.contains_key(name));
    let problems: Vec<FieldProblem> = missing
        .map(|name| {
            let pointer = format!("/monitor/secrets/{name}");
            FieldProblem::new(pointer, "secret", "the target changes, so the secret has to be given again")
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(Error::SecretRequired { problems }) }
}

async fn keep_secrets(
    tx: &mut Tx<'_>,
    secret_box: &SecretBox,
    monitor: &Monitor,
    values: &SecretValues,
) -> Result<(), StoreError> {
    let owner = table::resource_key(monitor.id);
    for (field, value) in values {
        secrets::put(tx, secret_box, &owner, field, value).await?;
    }
    let named = names(&monitor.settings.target);
    for field in secrets::fields(tx, &owner).await? {
        if !named.contains(&field) {
            secrets::remove(tx, &owner, &field).await?;
        }
    }
    Ok(())
}

fn cluster_missing(error: StoreError, cluster: Option<&ClusterSlug>) -> Error {
    match (error.code(), cluster) {
        ("integrity_violation", Some(slug)) => Error::not_found("cluster", slug),
        _ => error.into(),
    }
}
