//! What registering and changing a cluster have in common.

use std::sync::Arc;

use pegel_api_types::clusters::connection::{ConnectionForm, SecretChange};
use pegel_api_types::problem::FieldProblem;
use pegel_core::ids::ClusterSlug;
use pegel_store::clusters::resource_key;
use pegel_store::secret_box::SecretBox;
use pegel_store::secrets;
use pegel_store::tx::Tx;
use serde_json::Value as Json;

use crate::clusters::connection::filled;
use crate::clusters::stored::{SASL_PASSWORD, TLS_CLIENT_KEY};
use crate::error::Error;

/// Joins the problems of a request's own checks with those of its connection, each field once.
///
/// # Errors
/// `invalid`, if there are any.
pub(crate) fn all_problems<T>(
    request: Result<(), Vec<FieldProblem>>,
    connection: Result<T, Vec<FieldProblem>>,
) -> Result<T, Error> {
    let mut problems = request.err().unwrap_or_default();
    match connection {
        Ok(checked) if problems.is_empty() => Ok(checked),
        Ok(_) => Err(Error::Invalid { problems }),
        Err(more) => {
            let is_new =
                |problem: &FieldProblem| !problems.iter().any(|known| known.pointer == problem.pointer);
            let more: Vec<_> = more.into_iter().filter(is_new).collect();
            problems.extend(more);
            Err(Error::Invalid { problems })
        }
    }
}

/// Returns the form as it is stored: complete, and without secrets.
pub(crate) fn options_json(form: &ConnectionForm) -> Json {
    serde_json::to_value(filled(form).without_secrets()).expect("a form is made of texts, numbers and lists")
}

/// Returns the names of the settings that are given.
pub(crate) fn names_of(options: &Json) -> Vec<&str> {
    options.as_object().map(|fields| fields.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Returns the names of the settings that differ.
pub(crate) fn changed_names(old: &Json, new: &Json) -> Vec<String> {
    let mut names: Vec<&str> = names_of(old).into_iter().chain(names_of(new)).collect();
    names.sort_unstable();
    names.dedup();
    names.into_iter().filter(|name| old.get(name) != new.get(name)).map(str::to_owned).collect()
}

/// Returns the names of the secrets that are given or removed.
pub(crate) fn named_secrets(form: &ConnectionForm) -> Vec<&'static str> {
    [(SASL_PASSWORD, &form.sasl_password), (TLS_CLIENT_KEY, &form.tls_client_key)]
        .into_iter()
        .filter_map(|(field, change)| (!change.is_keep()).then_some(field))
        .collect()
}

/// Writes what is to become of the secrets.
///
/// # Errors
/// As the store.
pub(crate) async fn write_secrets(
    tx: &mut Tx<'_>,
    secret_box: &Arc<SecretBox>,
    slug: &ClusterSlug,
    form: &ConnectionForm,
) -> Result<(), pegel_store::Error> {
    let owner = resource_key(slug);
    for (field, change) in [(SASL_PASSWORD, &form.sasl_password), (TLS_CLIENT_KEY, &form.tls_client_key)] {
        match change {
            SecretChange::Keep => {}
            SecretChange::Remove => {
                secrets::remove(tx, &owner, field).await?;
            }
            SecretChange::Replace(secret) => secrets::put(tx, secret_box, &owner, field, secret).await?,
        }
    }
    Ok(())
}
