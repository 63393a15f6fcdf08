//! Silences and maintenance windows. Both are kept alike and differ in what people say of them.

use jiff::Timestamp;
use pegel_api_types::alerting::quiet_times::{
    MaintenanceForm, MaintenanceView, SilenceForm, SilenceView, UpdateMaintenance, UpdateSilence,
};
use pegel_core::monitor::quiet::{Maintenance, Silence};
use pegel_core::monitor::span::Span;
use pegel_store::audit::{self, Entry};
use pegel_store::quiet_times::{self as table, Definition, MAX_PAGE, QuietTime};
use serde_json::json;
use uuid::Uuid;

use crate::alerting::Alerting;
use crate::error::Error;
use crate::journal;
use crate::policy::Authorized;
use crate::policy::permission::{AlertingRead, AlertingWrite};

impl Alerting {
    /// Returns the silences that are not over, in the order in which they were made, after `after`, at most
    /// `limit`.
    ///
    /// # Errors
    /// As the store.
    pub async fn silences(
        &self,
        _may: &Authorized<AlertingRead>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<SilenceView>, Error> {
        self.listed(after, limit, silence_view).await
    }

    /// Returns the maintenance windows that are not over for good, in the order in which they were made, after
    /// `after`, at most `limit`.
    ///
    /// # Errors
    /// As the store.
    pub async fn maintenance_windows(
        &self,
        _may: &Authorized<AlertingRead>,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<Vec<MaintenanceView>, Error> {
        self.listed(after, limit, maintenance_view).await
    }

    /// Returns a silence.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn silence(&self, _may: &Authorized<AlertingRead>, id: Uuid) -> Result<SilenceView, Error> {
        self.one(id, Kind::Silence, silence_view).await
    }

    /// Returns a maintenance window.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn maintenance_window(
        &self,
        _may: &Authorized<AlertingRead>,
        id: Uuid,
    ) -> Result<MaintenanceView, Error> {
        self.one(id, Kind::Maintenance, maintenance_view).await
    }

    /// Makes a silence.
    ///
    /// # Errors
    /// `invalid`, `too_large` if there are 10,000 already, or as the store.
    pub async fn create_silence(
        &self,
        may: &Authorized<AlertingWrite>,
        form: &SilenceForm,
    ) -> Result<SilenceView, Error> {
        let silence = form.silence(self.now()).map_err(|problems| Error::Invalid { problems })?;
        let made = self.create(may, "alerting.create_silence", Definition::Silence(silence), &form.comment);
        let made = made.await?;
        silence_view(&made, self.now()).ok_or_else(|| Kind::Silence.missing(made.id))
    }

    /// Makes a maintenance window.
    ///
    /// # Errors
    /// `invalid`, `too_large` if there are 10,000 already, or as the store.
    pub async fn create_maintenance_window(
        &self,
        may: &Authorized<AlertingWrite>,
        form: &MaintenanceForm,
    ) -> Result<MaintenanceView, Error> {
        let window = form.maintenance().map_err(|problems| Error::Invalid { problems })?;
        let definition = Definition::Maintenance(window);
        let made = self.create(may, "alerting.create_maintenance_window", definition, &form.comment);
        let made = made.await?;
        maintenance_view(&made, self.now()).ok_or_else(|| Kind::Maintenance.missing(made.id))
    }

    /// Changes a silence.
    ///
    /// # Errors
    /// `invalid`, `conflict` for another version, `not_found`, or as the store.
    pub async fn update_silence(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        request: &UpdateSilence,
    ) -> Result<SilenceView, Error> {
        let form = &request.silence;
        let silence =
            form.silence(self.now()).map_err(|problems| Error::invalid_below(problems, "/silence"))?;
        let change = Change {
            id,
            version: request.version,
            definition: Definition::Silence(silence),
            comment: form.comment.clone(),
        };
        let changed = self.change(may, "alerting.update_silence", change).await?;
        silence_view(&changed, self.now()).ok_or_else(|| Kind::Silence.missing(id))
    }

    /// Changes a maintenance window.
    ///
    /// # Errors
    /// `invalid`, `conflict` for another version, `not_found`, or as the store.
    pub async fn update_maintenance_window(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        request: &UpdateMaintenance,
    ) -> Result<MaintenanceView, Error> {
        let form = &request.window;
        let window = form.maintenance().map_err(|problems| Error::invalid_below(problems, "/window"))?;
        let change = Change {
            id,
            version: request.version,
            definition: Definition::Maintenance(window),
            comment: form.comment.clone(),
        };
        let changed = self.change(may, "alerting.update_maintenance_window", change).await?;
        maintenance_view(&changed, self.now()).ok_or_else(|| Kind::Maintenance.missing(id))
    }

    /// Removes a silence, which ends it.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove_silence(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        version: i64,
    ) -> Result<(), Error> {
        self.remove(may, "alerting.remove_silence", Kind::Silence, id, version).await
    }

    /// Removes a maintenance window, which ends it.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove_maintenance_window(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        version: i64,
    ) -> Result<(), Error> {
        self.remove(may, "alerting.remove_maintenance_window", Kind::Maintenance, id, version).await
    }

    fn now(&self) -> Timestamp {
        self.db.clock().now()
    }

    async fn listed<T>(&self, after: Option<Uuid>, limit: u32, view: View<T>) -> Result<Vec<T>, Error> {
        // Both kinds are in one table; there are never more than one call returns.
        let all = self.db.read(move |tx| Box::pin(table::current(tx, after, MAX_PAGE))).await?;
        let (now, most) = (self.now(), usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(all.iter().filter_map(|one| view(one, now)).take(most).collect())
    }

    async fn one<T>(&self, id: Uuid, kind: Kind, view: View<T>) -> Result<T, Error> {
        let found = self.db.read(move |tx| Box::pin(table::get(tx, id))).await?;
        view(&found, self.now()).ok_or_else(|| kind.missing(id))
    }

    async fn create(
        &self,
        may: &Authorized<AlertingWrite>,
        action: &str,
        definition: Definition,
        comment: &str,
    ) -> Result<QuietTime, Error> {
        let (caller, comment) = (may.caller(), comment.to_owned());
        let created_by = caller.principal().name.clone();
        let entry = journal::of_caller(caller, action, String::new());
        let made = self.db.write(move |tx| {
            let (definition, comment) = (definition.clone(), comment.clone());
            let (created_by, entry) = (created_by.clone(), entry.clone());
            Box::pin(async move {
                let made = table::create(tx, &definition, &comment, &created_by).await?;
                let entry = Entry { target: table::resource_key(made.id), ..entry };
                audit::append(tx, &journal::with(entry, "ok", detail(&made))).await?;
                Ok(made)
            })
        });
        Ok(made.await?)
    }

    async fn change(
        &self,
        may: &Authorized<AlertingWrite>,
        action: &str,
        change: Change,
    ) -> Result<QuietTime, Error> {
        let entry = journal::of_caller(may.caller(), action, table::resource_key(change.id));
        let kind = Kind::of(&change.definition);
        let changed = self.db.write(move |tx| {
            let (change, entry) = (change.clone(), entry.clone());
            Box::pin(async move {
                let Change { id, version, definition, comment } = change;
                if Kind::of(&table::get(tx, id).await?.definition) != kind {
                    return Ok(Err(kind.missing(id)));
                }
                table::update(tx, id, version, &definition, &comment).await?;
                let changed = table::get(tx, id).await?;
                audit::append(tx, &journal::with(entry, "ok", detail(&changed))).await?;
                Ok(Ok(changed))
            })
        });
        changed.await?
    }

    async fn remove(
        &self,
        may: &Authorized<AlertingWrite>,
        action: &str,
        kind: Kind,
        id: Uuid,
        version: i64,
    ) -> Result<(), Error> {
        let entry = journal::of_caller(may.caller(), action, table::resource_key(id));
        let removed = self.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                let found = table::get(tx, id).await?;
                if Kind::of(&found.definition) != kind {
                    return Ok(Err(kind.missing(id)));
                }
                table::delete(tx, id, version).await?;
                audit::append(tx, &journal::with(entry, "ok", detail(&found))).await?;
                Ok(Ok(()))
            })
        });
        removed.await?
    }
}

/// Shows a quiet time of the right kind.
type View<T> = fn(&QuietTime, Timestamp) -> Option<T>;

#[derive(Clone)]
struct Change {
    id: Uuid,
    version: i64,
    definition: Definition,
    comment: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Silence,
    Maintenance,
}

impl Kind {
    const fn of(definition: &Definition) -> Self {
        match definition {
            Definition::Silence(_) => Self::Silence,
            Definition::Maintenance(_) => Self::Maintenance,
        }
    }

    fn missing(self, id: Uuid) -> Error {
        Error::not_found(if self == Self::Silence { "silence" } else { "maintenance window" }, id)
    }
}

fn detail(quiet: &QuietTime) -> serde_json::Value {
    match &quiet.definition {
        Definition::Silence(silence) => json!({ "version": quiet.version, "matchers": silence.matchers,
            "starts_at": silence.starts_at, "ends_at": silence.ends_at }),
        Definition::Maintenance(window) => json!({ "version": quiet.version, "matchers": window.matchers,
            "recurrence": window.recurrence }),
    }
}

fn silence_view(quiet: &QuietTime, now: Timestamp) -> Option<SilenceView> {
    let Definition::Silence(Silence { matchers, starts_at, ends_at }) = &quiet.definition else {
        return None;
    };
    Some(SilenceView {
        id: quiet.id,
        matchers: matchers.clone(),
        starts_at: *starts_at,
        ends_at: *ends_at,
        comment: quiet.comment.clone(),
        created_by: quiet.created_by.clone(),
        is_active: Span::new(*starts_at, *ends_at).contains(now),
        created_at: quiet.created_at,
        updated_at: quiet.updated_at,
        version: quiet.version,
    })
}

fn maintenance_view(quiet: &QuietTime, now: Timestamp) -> Option<MaintenanceView> {
    let Definition::Maintenance(window) = &quiet.definition else { return None };
    let Maintenance { matchers, recurrence } = window;
    Some(MaintenanceView {
        id: quiet.id,
        matchers: matchers.clone(),
        recurrence: recurrence.clone(),
        comment: quiet.comment.clone(),
        created_by: quiet.created_by.clone(),
        active_until: window.active_at(now).map(|span| span.to),
        next_starts_at: window.next_after(now).map(|span| span.from),
        created_at: quiet.created_at,
        updated_at: quiet.updated_at,
        version: quiet.version,
    })
}
