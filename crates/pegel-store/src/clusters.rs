//! Registered clusters. Connection options are stored without secrets; those are in [`crate::secrets`].

use jiff::Timestamp;
use pegel_core::ids::{ClusterSlug, Environment};
use serde_json::Value as Json;

use crate::error::Error;
use crate::secrets;
use crate::tx::Tx;
use crate::value::{Row, Value};

/// The most clusters one call lists.
pub const MAX_PAGE: u32 = 1_000;

/// The longest options, in bytes of JSON.
pub const MAX_OPTIONS_BYTES: usize = 64 * 1024;

const BY_SLUG: &str = "SELECT slug, name, environment, read_only, options, created_at, updated_at, version
    FROM cluster WHERE slug = $1";
const PAGE: &str = "SELECT slug, name, environment, read_only, options, created_at, updated_at, version
    FROM cluster WHERE slug > $1 ORDER BY slug LIMIT $2";

/// What can be said about a cluster and changed later.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The name shown, 1 to 256 characters.
    pub name: String,
    /// What it is for.
    pub environment: Environment,
    /// Whether Pegel refuses every change to it, whoever asks.
    pub read_only: bool,
    /// Connection options without secrets, up to 64 KiB.
    pub options: OptionsText,
}

/// Connection options as they are stored: JSON, unless the row was damaged.
///
/// They are read where they are needed, so that one cluster's options that cannot be read are in the way of
/// nothing but that cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionsText(String);

impl OptionsText {
    /// Returns the options.
    ///
    /// # Errors
    /// `corrupt_row`. The reason names line and column of the text, not what is there.
    pub fn read(&self) -> Result<Json, Error> {
        crate::value::read_json("options", &self.0)
    }
}

impl From<&Json> for OptionsText {
    fn from(options: &Json) -> Self {
        Self(options.to_string())
    }
}

/// A registered cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// Its name in paths, which never changes.
    pub slug: ClusterSlug,
    /// What can be changed.
    pub settings: Settings,
    /// When registered.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change, also of a secret.
    pub version: i64,
}

/// Returns the key under which a cluster's changes are announced; its secrets have it as their owner.
pub fn resource_key(slug: &ClusterSlug) -> String {
    format!("cluster/{slug}")
}

/// Returns the cluster that a key of the change feed is about; `None` if it is about something else.
pub fn slug_of(resource_key: &str) -> Option<ClusterSlug> {
    resource_key.strip_prefix("cluster/")?.parse().ok()
}

/// Registers a cluster.
///
/// # Errors
/// `conflict` if the slug is taken, `too_large`.
pub async fn create(tx: &mut Tx<'_>, slug: &ClusterSlug, settings: &Settings) -> Result<Cluster, Error> {
    let sql =
        "INSERT INTO cluster (slug, name, environment, read_only, options, created_at, updated_at, version)
               VALUES ($1, $2, $3, $4, $5, $6, $6, 1) ON CONFLICT DO NOTHING";
    let values = [
        slug.as_str().into(),
        settings.name.as_str().into(),
        settings.environment.as_str().into(),
        settings.read_only.into(),
        options_value(settings)?,
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        return Err(Error::conflict("cluster", slug));
    }
    tx.announce_version(resource_key(slug), 1);
    get(tx, slug).await
}

/// Returns a cluster.
///
/// # Errors
/// `not_found`.
pub async fn get(tx: &mut Tx<'_>, slug: &ClusterSlug) -> Result<Cluster, Error> {
    let row = tx.fetch_optional(BY_SLUG, &[slug.as_str().into()]).await?;
    from_row(&row.ok_or_else(|| Error::not_found("cluster", slug))?)
}

/// Returns clusters in the order of their slugs, after `after`, at most `limit` (up to 1,000).
///
/// # Errors
/// As any statement.
pub async fn list(tx: &mut Tx<'_>, after: Option<&ClusterSlug>, limit: u32) -> Result<Vec<Cluster>, Error> {
    let after = after.map(ClusterSlug::as_str).unwrap_or_default();
    let rows = tx.fetch_all(PAGE, &[after.into(), limit.clamp(1, MAX_PAGE).into()]).await?;
    rows.iter().map(from_row).collect()
}

/// Changes a cluster's settings if nobody has changed it since `version`; returns the new version.
///
/// To change a secret, call this in the same transaction, so that the version tells of it.
///
/// # Errors
/// `conflict` if someone has, `not_found`, `too_large`.
pub async fn update(
    tx: &mut Tx<'_>,
    slug: &ClusterSlug,
    version: i64,
    settings: &Settings,
) -> Result<i64, Error> {
    let sql = "UPDATE cluster SET name = $3, environment = $4, read_only = $5, options = $6, updated_at = $7,
               version = version + 1 WHERE slug = $1 AND version = $2";
    let values = [
        slug.as_str().into(),
        version.into(),
        settings.name.as_str().into(),
        settings.environment.as_str().into(),
        settings.read_only.into(),
        options_value(settings)?,
        tx.now().into(),
    ];
    if tx.execute(sql, &values).await? == 0 {
        get(tx, slug).await?;
        return Err(Error::conflict("cluster", slug));
    }
    tx.announce_version(resource_key(slug), version + 1);
    Ok(version + 1)
}

/// Removes a cluster and its secrets if nobody has changed it since `version`.
///
/// # Errors
/// `conflict` if someone has, `not_found`.
pub async fn delete(tx: &mut Tx<'_>, slug: &ClusterSlug, version: i64) -> Result<(), Error> {
    let sql = "DELETE FROM cluster WHERE slug = $1 AND version = $2";
    if tx.execute(sql, &[slug.as_str().into(), version.into()]).await? == 0 {
        get(tx, slug).await?;
        return Err(Error::conflict("cluster", slug));
    }
    secrets::remove_all(tx, &resource_key(slug)).await?;
    tx.announce(resource_key(slug));
    Ok(())
}

fn options_value(settings: &Settings) -> Result<Value, Error> {
    let OptionsText(text) = &settings.options;
    if text.len() > MAX_OPTIONS_BYTES {
        let what = "the size of a cluster's options in bytes";
        return Err(Error::TooLarge { what, limit: MAX_OPTIONS_BYTES });
    }
    Ok(text.as_str().into())
}

fn from_row(row: &Row) -> Result<Cluster, Error> {
    Ok(Cluster {
        slug: row.parsed("slug")?,
        settings: Settings {
            name: row.text("name")?,
            environment: row.parsed("environment")?,
            read_only: row.truth("read_only")?,
            options: OptionsText(row.text("options")?),
        },
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
        version: row.int("version")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_cluster_and_nothing_below_it() {
        let slug: ClusterSlug = "orders-eu".parse().unwrap();
        assert_eq!(slug_of(&resource_key(&slug)), Some(slug));
        for other in ["user/orders-eu", "cluster/", "cluster/orders-eu/state", "audit"] {
            assert_eq!(slug_of(other), None, "{other}");
        }
    }
}
