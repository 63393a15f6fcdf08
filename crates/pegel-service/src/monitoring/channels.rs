//! Channels as people make, change, try and remove them. Their secrets go in and never come out.

use std::sync::Arc;

use pegel_api_types::monitoring::channels::{
    ChannelForm, ChannelTrial, ChannelView, CreateChannel, UpdateChannel,
};
use pegel_api_types::problem::FieldProblem;
use pegel_core::monitor::delivery::ChannelKind;
use pegel_core::monitor::delivery::answer::Meaning;
use pegel_monitor::channel::secret::{keep, sweep};
use pegel_monitor::target::SecretRef;
use pegel_store::audit::{self, Entry};
use pegel_store::channels::{self as table, Channel, Settings};
use serde_json::{Map, Value as Json, json};
use uuid::Uuid;

use crate::error::Error;
use crate::journal;
use crate::monitoring::{Monitoring, view};
use crate::policy::Authorized;
use crate::policy::permission::{AlertingRead, AlertingWrite};

impl Monitoring {
    /// Returns all channels in the order of their names.
    ///
    /// # Errors
    /// As the store.
    pub async fn channels(&self, _may: &Authorized<AlertingRead>) -> Result<Vec<ChannelView>, Error> {
        let all = self.inner.db.read(|tx| Box::pin(table::list(tx))).await?;
        Ok(all.into_iter().map(view::channel).collect())
    }

    /// Returns a channel.
    ///
    /// # Errors
    /// `not_found`, or as the store.
    pub async fn channel(&self, _may: &Authorized<AlertingRead>, id: Uuid) -> Result<ChannelView, Error> {
        Ok(view::channel(self.inner.db.read(move |tx| Box::pin(table::get(tx, id))).await?))
    }

    /// Makes a channel.
    ///
    /// # Errors
    /// `invalid`, with every field that breaks a rule; `conflict` for a name that is taken; or as the store.
    pub async fn create_channel(
        &self,
        may: &Authorized<AlertingWrite>,
        request: &CreateChannel,
    ) -> Result<ChannelView, Error> {
        let CreateChannel { kind, channel: form } = request;
        let settings = checked(*kind, form, None)?;
        let entry = journal::of_caller(may.caller(), "alerting.create_channel", String::new());
        let (kind, form, secret_box) = (*kind, form.clone(), Arc::clone(&self.inner.secrets));
        let made = self.inner.db.write(move |tx| {
            let (form, entry, secret_box) = (form.clone(), entry.clone(), Arc::clone(&secret_box));
            let first = written(&form, settings.clone());
            Box::pin(async move {
                let made = table::create(tx, kind, &first).await?;
                let given = secret_given(kind, &form);
                if let Some((field, place, value)) = given {
                    let name = keep(tx, &secret_box, made.id, field, value).await?;
                    let settings = with_secret(first.settings.clone(), place, &name);
                    table::update(tx, made.id, made.version, &Settings { settings, ..first }).await?;
                }
                let entry = Entry { target: table::resource_key(made.id), ..entry };
                let detail = json!({ "name": form.name, "kind": kind });
                audit::append(tx, &journal::with(entry, "ok", detail)).await?;
                table::get(tx, made.id).await
            })
        });
        Ok(view::channel(made.await?))
    }

    /// Changes a channel, all of it at once but the secrets. What is still to be ended under an old secret is ended
    /// under it.
    ///
    /// # Errors
    /// `invalid`; `secret_required` if a stored secret would go to a new place; `conflict` for another version or a
    /// name that is taken; `not_found`; or as the store.
    pub async fn update_channel(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        request: &UpdateChannel,
    ) -> Result<ChannelView, Error> {
        let before = self.inner.db.read(move |tx| Box::pin(table::get(tx, id))).await?;
        let settings = checked(before.kind, &request.channel, Some(&before))?;
        let entry = journal::of_caller(may.caller(), "alerting.update_channel", table::resource_key(id));
        let detail = json!({ "version": request.version.saturating_add(1), "name": request.channel.name });
        let entry = journal::with(entry, "ok", detail);
        let (kind, version) = (before.kind, request.version);
        let (form, secret_box) = (request.channel.clone(), Arc::clone(&self.inner.secrets));
        let changed = self.inner.db.write(move |tx| {
            let (form, entry, secret_box) = (form.clone(), entry.clone(), Arc::clone(&secret_box));
            let mut next = written(&form, settings.clone());
            Box::pin(async move {
                if let Some((field, place, value)) = secret_given(kind, &form) {
                    let name = keep(tx, &secret_box, id, field, value).await?;
                    next.settings = with_secret(next.settings, place, &name);
                }
                table::update(tx, id, version, &next).await?;
                sweep(tx, id).await?;
                audit::append(tx, &entry).await?;
                table::get(tx, id).await
            })
        });
        Ok(view::channel(changed.await?))
    }

    /// Removes a channel and its secrets.
    ///
    /// # Errors
    /// `conflict` for another version, `not_found`, or as the store.
    pub async fn remove_channel(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
        version: i64,
    ) -> Result<(), Error> {
        let entry = journal::of_caller(may.caller(), "alerting.remove_channel", table::resource_key(id));
        let removed = self.inner.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                table::delete(tx, id, version).await?;
                audit::append(tx, &entry).await
            })
        });
        removed.await?;
        Ok(())
    }

    /// Sends a message that says that it is a test. It is written down, since somebody may be woken.
    ///
    /// # Errors
    /// `not_found`, or as the store. That the target did not take it is no error.
    pub async fn try_channel(
        &self,
        may: &Authorized<AlertingWrite>,
        id: Uuid,
    ) -> Result<ChannelTrial, Error> {
        let entry = journal::of_caller(may.caller(), "alerting.test_channel", table::resource_key(id));
        let noted = self.inner.db.write(move |tx| {
            let entry = entry.clone();
            Box::pin(async move {
                let channel = table::get(tx, id).await?;
                audit::append(tx, &entry).await?;
                Ok(channel)
            })
        });
        let channel = noted.await?;
        let attempted = self.inner.delivery.try_out(&channel, None).await?;
        Ok(ChannelTrial {
            is_delivered: attempted.iter().all(|one| matches!(one.meaning, Meaning::Delivered)),
            details: attempted.into_iter().map(|one| one.detail).collect(),
        })
    }
}

fn written(form: &ChannelForm, settings: Json) -> Settings {
    Settings { name: form.name.clone(), settings, is_enabled: form.is_enabled }
}

/// Returns the secret that a form gives: what people call it, where its name stands, and its value.
fn secret_given(
    kind: ChannelKind,
    form: &ChannelForm,
) -> Option<(&'static str, &'static str, &secrecy::SecretString)> {
    let (field, place) = view::secret_of(kind)?;
    Some((field, place, form.secrets.get(field)?))
}

/// Puts the name of a secret where the kind has it: alone, or as the one of a list.
fn with_secret(settings: Json, place: &str, name: &SecretRef) -> Json {
    let mut fields = match settings {
        Json::Object(fields) => fields,
        _ => Map::new(),
    };
    let named = json!({ "secret": name.secret });
    let value = if place == "signing_secrets" { Json::Array(vec![named]) } else { named };
    fields.insert(place.to_owned(), value);
    Json::Object(fields)
}

/// Checks what somebody wrote; returns the settings with the name of the secret that stays, if one does.
fn checked(kind: ChannelKind, form: &ChannelForm, before: Option<&Channel>) -> Result<Json, Error> {
    form.validate().map_err(|problems| Error::invalid_below(problems, "/channel"))?;
    let Some((field, place)) = view::secret_of(kind) else {
        let problem = FieldProblem::new("/kind", "value", "channels of this kind cannot be made yet");
        return Err(Error::Invalid { problems: vec![problem] });
    };
    let mut problems: Vec<FieldProblem> = Vec::new();
    for other in form.secrets.keys().filter(|given| *given != field) {
        let pointer = format!("/channel/secrets/{other}");
        problems.push(FieldProblem::new(pointer, "value", "this kind of channel has no such secret"));
    }
    if form.settings.get(place).is_some() {
        let pointer = format!("/channel/settings/{place}");
        problems.push(FieldProblem::new(pointer, "secret", "a secret is given in `secrets`"));
    }
    if !problems.is_empty() {
        return Err(Error::Invalid { problems });
    }
    let kept = before.and_then(|before| before.settings.settings.get(place)).filter(|kept| !kept.is_null());
    let settings = match (form.secrets.contains_key(field), kept) {
        (false, Some(kept)) => {
            if before.is_some_and(|before| goes_elsewhere(&before.settings.settings, &form.settings)) {
                let pointer = format!("/channel/secrets/{field}");
                let reason = "where it is sent changes, so it has to be given again";
                return Err(Error::SecretRequired {
                    problems: vec![FieldProblem::new(pointer, "secret", reason)],
                });
            }
            let mut fields = form.settings.as_object().cloned().unwrap_or_default();
            fields.insert(place.to_owned(), kept.clone());
            Json::Object(fields)
        }
        (false, None) => form.settings.clone(),
        // The real name comes when it is kept; for the check any name does.
        (true, _) => with_secret(form.settings.clone(), place, &SecretRef { secret: field.to_owned() }),
    };
    pegel_monitor::channel::check(kind, &settings).map_err(|error| match Error::from(error) {
        Error::Invalid { problems } => Error::invalid_below(problems, "/channel"),
        other => other,
    })?;
    Ok(settings)
}

/// Whether what decides where a secret is sent is another than before.
fn goes_elsewhere(before: &Json, after: &Json) -> bool {
    ["url", "host", "port", "security", "username", "private_addresses"]
        .iter()
        .any(|field| before.get(*field) != after.get(*field))
}
