//! The one gate: turns an authenticated caller into a handle for one permission on one target, or says no.
//!
//! A service function that needs a right takes [`Authorized`] of that right. Only [`Policy::authorize`]
//! makes one, so code without the check does not compile. Every no is written to the audit log.

pub mod permission;
pub(crate) mod rights;

use std::fmt;
use std::marker::PhantomData;

use pegel_core::access::decision::{Decision, Target, decide};
use pegel_core::access::permissions::Permission;
use pegel_core::ids::ClusterSlug;
use pegel_store::{Db, audit};
use serde_json::json;

use crate::caller::Caller;
use crate::error::Error;
use crate::journal;
use crate::policy::permission::Permit;

/// The longest part of a target's name in an audit row, in characters.
const MAX_NAME_CHARS: usize = 200;

/// Decides, and remembers what it refused.
#[derive(Debug, Clone)]
pub struct Policy {
    db: Db,
}

/// Proof that a caller may use the permission `P` on [`Authorized::target`], and on nothing else.
pub struct Authorized<P> {
    caller: Caller,
    target: OwnedTarget,
    permission: PhantomData<fn() -> P>,
}

/// What a permission was given for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedTarget {
    /// Something above all clusters.
    Global,
    /// Something in a cluster, filtered by the scope.
    Cluster(ClusterSlug),
    /// A cluster as a whole.
    WholeCluster(ClusterSlug),
    /// Something in a database, filtered by the scope.
    Database(ClusterSlug, String),
    /// A database as a whole.
    WholeDatabase(ClusterSlug, String),
    /// A table, by database and name.
    Table(ClusterSlug, String, String),
}

impl Policy {
    /// Makes the gate; it writes refusals to this store.
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// Returns the handle if the caller may use the permission on the target.
    ///
    /// # Errors
    /// `password_change_required`; `permission_denied`, which names the pattern, if the target is in the
    /// caller's scope; `not_found` if it is not, whether or not it exists.
    pub async fn authorize<P: Permit>(
        &self,
        caller: &Caller,
        target: Target<'_>,
    ) -> Result<Authorized<P>, Error> {
        let permission = P::PERMISSION;
        let owned = OwnedTarget::from(target);
        let (outcome, error) = if caller.must_change_password {
            ("password_change_required", Error::PasswordChangeRequired)
        } else {
            match decide(&caller.principal, permission, target) {
                Decision::Allowed => {
                    return Ok(Authorized { caller: caller.clone(), target: owned, permission: PhantomData });
                }
                Decision::MissingPermission { pattern, minimum_role } => {
                    ("permission_denied", Error::PermissionDenied { pattern, minimum_role })
                }
                Decision::OutOfScope => ("out_of_scope", Error::NotFound { what: owned.to_string() }),
            }
        };
        let entry = journal::of_caller(caller, "access.denied", owned.to_string());
        let entry = journal::with(entry, outcome, json!({ "permission": permission.name }));
        self.db
            .write(move |tx| {
                let entry = entry.clone();
                Box::pin(async move { audit::append(tx, &entry).await })
            })
            .await?;
        Err(error)
    }
}

/// Returns whether the caller of a handle could also use another permission on something within its target.
///
/// That proves nothing and is not written down: it tells a person what to offer.
pub fn may_in_part<P>(may: &Authorized<P>, permission: &Permission) -> bool {
    let target = match &may.target {
        OwnedTarget::Global => Target::Global,
        OwnedTarget::Cluster(cluster) | OwnedTarget::WholeCluster(cluster) => Target::Cluster(cluster),
        OwnedTarget::Database(cluster, database) | OwnedTarget::WholeDatabase(cluster, database) => {
            Target::Database(cluster, database)
        }
        OwnedTarget::Table(cluster, database, table) => Target::Table(cluster, database, table),
    };
    decide(&may.caller.principal, permission, target) == Decision::Allowed
}

impl<P> Authorized<P> {
    /// Returns who may.
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns on what; lists below it are still to be filtered by the caller's scope.
    pub const fn target(&self) -> &OwnedTarget {
        &self.target
    }
}

impl<P: Permit> fmt::Debug for Authorized<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorized")
            .field("permission", &P::PERMISSION.name)
            .field("target", &self.target)
            .field("caller", &self.caller)
            .finish()
    }
}

impl From<Target<'_>> for OwnedTarget {
    fn from(target: Target<'_>) -> Self {
        match target {
            Target::Global => Self::Global,
            Target::Cluster(cluster) => Self::Cluster(cluster.clone()),
            Target::WholeCluster(cluster) => Self::WholeCluster(cluster.clone()),
            Target::Database(cluster, database) => Self::Database(cluster.clone(), database.to_owned()),
            Target::WholeDatabase(cluster, database) => {
                Self::WholeDatabase(cluster.clone(), database.to_owned())
            }
            Target::Table(cluster, database, table) => {
                Self::Table(cluster.clone(), database.to_owned(), table.to_owned())
            }
        }
    }
}

impl fmt::Display for OwnedTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A name comes from the caller and may be anything.
        let name = |text: &str| text.escape_default().take(MAX_NAME_CHARS).collect::<String>();
        match self {
            Self::Global => f.write_str("global"),
            Self::Cluster(cluster) | Self::WholeCluster(cluster) => write!(f, "cluster/{cluster}"),
            Self::Database(cluster, database) | Self::WholeDatabase(cluster, database) => {
                write!(f, "cluster/{cluster}/database/{}", name(database))
            }
            Self::Table(cluster, database, table) => {
                write!(f, "cluster/{cluster}/table/{}.{}", name(database), name(table))
            }
        }
    }
}
