//! A cluster as it lies in the store, with its secrets, and the client settings that follow from it.

use std::sync::Arc;

use fluss_client::client::FlussClient;
use fluss_client::error::Error as ClientError;
use fluss_client::settings::{ConnectionOptions, ConnectionSettings};
use pegel_core::error_code::ErrorCode;
use pegel_core::ids::ClusterSlug;
use pegel_store::clusters::{self, Cluster, resource_key};
use pegel_store::secret_box::SecretBox;
use pegel_store::secrets;
use pegel_store::tx::Tx;
use secrecy::{ExposeSecret, SecretString};

use crate::clusters::egress;
use crate::execution::Log;
use crate::failure::Failure;

/// The field of the password among a cluster's secrets.
pub(crate) const SASL_PASSWORD: &str = "sasl_password";

/// The field of the private key among a cluster's secrets.
pub(crate) const TLS_CLIENT_KEY: &str = "tls_client_key";

/// A cluster and which secrets it has.
#[derive(Debug, Clone)]
pub(crate) struct Described {
    pub(crate) cluster: Cluster,
    pub(crate) has: SecretsSet,
}

/// A cluster with its secrets.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) described: Described,
    /// The secrets, or why they cannot be read.
    pub(crate) secrets: Result<Secrets, Failure>,
}

/// Which secrets a cluster has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SecretsSet {
    pub(crate) sasl_password: bool,
    pub(crate) tls_client_key: bool,
}

/// The secrets of one cluster. They print only as being there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Secrets {
    pub(crate) sasl_password: Option<SecretString>,
    pub(crate) tls_client_key: Option<SecretString>,
}

impl Secrets {
    fn is_same(&self, other: &Self) -> bool {
        let is_same = |own: &Option<SecretString>, theirs: &Option<SecretString>| {
            own.as_ref().map(ExposeSecret::expose_secret) == theirs.as_ref().map(ExposeSecret::expose_secret)
        };
        is_same(&self.sasl_password, &other.sasl_password)
            && is_same(&self.tls_client_key, &other.tls_client_key)
    }
}

impl Described {
    /// Returns the options without the secrets.
    ///
    /// # Errors
    /// `invalid_setting`: they are of another version of Pegel, or damaged.
    pub(crate) fn options(&self) -> Result<ConnectionOptions, Failure> {
        let unreadable = |error: &dyn std::fmt::Display| {
            Failure::new(ErrorCode::InvalidSetting, format!("the stored options cannot be read: {error}"))
        };
        let options = self.cluster.settings.options.read().map_err(|error| unreadable(&error))?;
        serde_json::from_value(options).map_err(|error| unreadable(&error))
    }
}

impl Stored {
    /// Returns the cluster.
    pub(crate) const fn cluster(&self) -> &Cluster {
        &self.described.cluster
    }

    /// Returns whether the same client serves both.
    pub(crate) fn has_same_connection(&self, other: &Self) -> bool {
        let are_same = match (&self.secrets, &other.secrets) {
            (Ok(own), Ok(theirs)) => own.is_same(theirs),
            (Err(own), Err(theirs)) => own == theirs,
            _ => false,
        };
        are_same && self.cluster().settings.options == other.cluster().settings.options
    }

    /// Makes a client, which dials nothing yet.
    ///
    /// # Errors
    /// `secret_unreadable` or `invalid_setting`: settings of another version of Pegel, or damaged ones.
    pub(crate) fn client(&self) -> Result<FlussClient, Failure> {
        let secrets = self.secrets.clone()?;
        let options = with_secrets(self.described.options()?, secrets);
        Ok(logged_client(ConnectionSettings::try_from(options)?)?)
    }
}

/// Makes a client whose doings are logged and which dials no forbidden address: the only one that Pegel has.
///
/// # Errors
/// `invalid_setting` when certificates or keys cannot be used.
pub(crate) fn logged_client(settings: ConnectionSettings) -> Result<FlussClient, ClientError> {
    FlussClient::with_observer(settings.with_address_rule(egress::check_address), Arc::new(Log))
}

/// Puts the secrets beside the options.
pub(crate) fn with_secrets(options: ConnectionOptions, secrets: Secrets) -> ConnectionOptions {
    ConnectionOptions {
        sasl_password: secrets.sasl_password,
        tls_client_key: secrets.tls_client_key,
        ..options
    }
}

/// Reads one cluster with its secrets.
pub(crate) async fn get(
    tx: &mut Tx<'_>,
    secret_box: &SecretBox,
    slug: &ClusterSlug,
) -> Result<Stored, pegel_store::Error> {
    let cluster = clusters::get(tx, slug).await?;
    complete(tx, secret_box, cluster).await
}

/// Reads a page of clusters with their secrets, as [`clusters::list`].
pub(crate) async fn list(
    tx: &mut Tx<'_>,
    secret_box: &SecretBox,
    after: Option<&ClusterSlug>,
    limit: u32,
) -> Result<Vec<Stored>, pegel_store::Error> {
    let mut page = Vec::new();
    for cluster in clusters::list(tx, after, limit).await? {
        page.push(complete(tx, secret_box, cluster).await?);
    }
    Ok(page)
}

/// Finds out which secrets a cluster has.
pub(crate) async fn describe(tx: &mut Tx<'_>, cluster: Cluster) -> Result<Described, pegel_store::Error> {
    let fields = secrets::fields(tx, &resource_key(&cluster.slug)).await?;
    let is_set = |wanted: &str| fields.iter().any(|field| field == wanted);
    let has = SecretsSet { sasl_password: is_set(SASL_PASSWORD), tls_client_key: is_set(TLS_CLIENT_KEY) };
    Ok(Described { cluster, has })
}

async fn complete(
    tx: &mut Tx<'_>,
    secret_box: &SecretBox,
    cluster: Cluster,
) -> Result<Stored, pegel_store::Error> {
    let described = describe(tx, cluster).await?;
    let slug = &described.cluster.slug;
    let secrets = match read_secrets(tx, secret_box, &resource_key(slug)).await {
        Ok(secrets) => Ok(secrets),
        // One unreadable secret is that cluster's trouble, not that of the whole list.
        Err(error @ pegel_store::Error::SecretUnreadable { .. }) => {
            tracing::warn!(cluster.slug = %slug, %error, "a cluster's secret cannot be read");
            let code = ErrorCode::SecretUnreadable;
            Err(Failure::new(code, "a stored secret of this cluster cannot be read"))
        }
        Err(error) => return Err(error),
    };
    Ok(Stored { described, secrets })
}

async fn read_secrets(
    tx: &mut Tx<'_>,
    secret_box: &SecretBox,
    owner: &str,
) -> Result<Secrets, pegel_store::Error> {
    Ok(Secrets {
        sasl_password: secrets::get(tx, secret_box, owner, SASL_PASSWORD).await?,
        tls_client_key: secrets::get(tx, secret_box, owner, TLS_CLIENT_KEY).await?,
    })
}
