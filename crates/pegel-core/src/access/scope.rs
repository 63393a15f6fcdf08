//! Which clusters and tables a principal may touch at all.
//!
//! A scope widens nothing: it only takes away. Two scopes narrow each other to
//! what both allow, which is how a token stays within its owner's.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{Object, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::ids::ClusterSlug;

/// The most clusters a scope may list.
pub const MAX_CLUSTERS: usize = 1_000;

/// The most table patterns a scope may list for one cluster.
pub const MAX_TABLE_PATTERNS: usize = 200;

/// The longest database or table name, in characters, as in Fluss.
const MAX_NAME_CHARS: usize = 200;

/// The clusters and tables that may be touched. An empty list allows nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Every cluster and every table, also those to come.
    All,
    /// Only these clusters.
    Clusters(Vec<ClusterScope>),
}

/// One cluster of a scope. The same cluster may be listed twice; either entry allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ClusterScope {
    /// The cluster.
    pub cluster: ClusterSlug,
    /// Its tables that may be touched.
    pub tables: TableScope,
}

/// The tables of one cluster that may be touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TableScope {
    /// Every table, and what belongs to the cluster as a whole.
    All,
    /// Only tables that one of these names.
    Only(Vec<TablePattern>),
}

/// `db.table`, where either may be `*` for any; there are no other wildcards.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TablePattern {
    database: Name,
    table: Name,
}

/// A name, or any.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name {
    Any,
    Exact(String),
}

impl Name {
    fn covers(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => exact == name,
        }
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Any, name) | (name, Self::Any) => Some(name.clone()),
            (own, theirs) => (own == theirs).then(|| own.clone()),
        }
    }

    fn as_str(&self) -> &str {
        match self {
            Self::Any => "*",
            Self::Exact(name) => name,
        }
    }
}

impl Scope {
    /// Returns the scope that allows nothing.
    pub const fn nothing() -> Self {
        Self::Clusters(Vec::new())
    }

    /// Returns whether anything in this cluster may be touched.
    pub fn allows_cluster(&self, cluster: &ClusterSlug) -> bool {
        self.tables_of(cluster, |tables| tables.any(|_| true))
    }

    /// Returns whether the cluster as a whole may be touched: all its tables and what stands above them.
    pub fn allows_whole_cluster(&self, cluster: &ClusterSlug) -> bool {
        self.tables_of(cluster, |tables| matches!(tables, TableScope::All))
    }

    /// Returns whether anything in this database may be touched.
    pub fn allows_database(&self, cluster: &ClusterSlug, database: &str) -> bool {
        self.tables_of(cluster, |tables| tables.any(|pattern| pattern.database.covers(database)))
    }

    /// Returns whether the database as a whole may be touched: all its tables, also those to come.
    pub fn allows_whole_database(&self, cluster: &ClusterSlug, database: &str) -> bool {
        let is_whole = |p: &TablePattern| p.database.covers(database) && p.table == Name::Any;
        self.tables_of(cluster, |tables| tables.any(is_whole))
    }

    /// Returns whether this table may be touched.
    pub fn allows_table(&self, cluster: &ClusterSlug, database: &str, table: &str) -> bool {
        self.tables_of(cluster, |tables| tables.any(|pattern| pattern.matches(database, table)))
    }

    /// Returns the scope that allows exactly what both allow.
    pub fn narrow(&self, other: &Self) -> Self {
        let (own, theirs) = match (self, other) {
            (Self::All, scope) | (scope, Self::All) => return scope.clone(),
            (Self::Clusters(own), Self::Clusters(theirs)) => (own, theirs),
        };
        let mut narrowed: BTreeMap<&ClusterSlug, TableScope> = BTreeMap::new();
        for one in own {
            for two in theirs.iter().filter(|two| two.cluster == one.cluster) {
                let shared = one.tables.narrow(&two.tables);
                match narrowed.remove(&one.cluster) {
                    None => narrowed.insert(&one.cluster, shared),
                    Some(before) => narrowed.insert(&one.cluster, before.join(shared)),
                };
            }
        }
        // A cluster of which no table is left is no longer one that may be touched.
        narrowed.retain(|_, tables| *tables != TableScope::Only(Vec::new()));
        let entry =
            |(cluster, tables): (&ClusterSlug, TableScope)| ClusterScope { cluster: cluster.clone(), tables };
        Self::Clusters(narrowed.into_iter().map(entry).collect())
    }

    /// Checks that the lists are no longer than they may be.
    ///
    /// # Errors
    /// [`ScopeError::Clusters`] or [`ScopeError::Tables`].
    pub fn validate(&self) -> Result<(), ScopeError> {
        let Self::Clusters(clusters) = self else { return Ok(()) };
        if clusters.len() > MAX_CLUSTERS {
            return Err(ScopeError::Clusters);
        }
        let is_long = |entry: &ClusterScope| matches!(&entry.tables, TableScope::Only(list) if list.len() > MAX_TABLE_PATTERNS);
        if clusters.iter().any(is_long) { Err(ScopeError::Tables) } else { Ok(()) }
    }

    fn tables_of(&self, cluster: &ClusterSlug, allows: impl Fn(&TableScope) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::Clusters(clusters) => {
                clusters.iter().any(|entry| entry.cluster == *cluster && allows(&entry.tables))
            }
        }
    }
}

impl TableScope {
    fn any(&self, covers: impl Fn(&TablePattern) -> bool) -> bool {
        match self {
            Self::All => true,
            Self::Only(patterns) => patterns.iter().any(covers),
        }
    }

    fn narrow(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::All, tables) | (tables, Self::All) => tables.clone(),
            (Self::Only(own), Self::Only(theirs)) => {
                let mut shared: Vec<_> =
                    own.iter().flat_map(|one| theirs.iter().filter_map(|two| one.intersect(two))).collect();
                shared.sort();
                shared.dedup();
                Self::Only(shared)
            }
        }
    }

    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Only(mut own), Self::Only(theirs)) => {
                own.extend(theirs);
                own.sort();
                own.dedup();
                Self::Only(own)
            }
            _ => Self::All,
        }
    }
}

impl TablePattern {
    /// Returns whether the pattern names this table.
    pub fn matches(&self, database: &str, table: &str) -> bool {
        self.database.covers(database) && self.table.covers(table)
    }

    fn intersect(&self, other: &Self) -> Option<Self> {
        Some(Self {
            database: self.database.intersect(&other.database)?,
            table: self.table.intersect(&other.table)?,
        })
    }
}

impl fmt::Display for TablePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database.as_str(), self.table.as_str())
    }
}

/// Why something is not a scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Not `db.table`.
    #[error("a table pattern is db.table, where each is * or 1 to 200 of A-Z, a-z, 0-9, _ and -")]
    Pattern,
    /// Too many clusters.
    #[error("a scope lists at most 1000 clusters")]
    Clusters,
    /// Too many table patterns.
    #[error("a scope lists at most 200 table patterns for a cluster")]
    Tables,
}

impl FromStr for TablePattern {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = |part: &str| {
            let is_allowed = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
            let is_name = (1..=MAX_NAME_CHARS).contains(&part.len()) && part.bytes().all(is_allowed);
            match part {
                "*" => Ok(Name::Any),
                part if is_name => Ok(Name::Exact(part.to_owned())),
                _ => Err(ScopeError::Pattern),
            }
        };
        let (database, table) = text.split_once('.').ok_or(ScopeError::Pattern)?;
        Ok(Self { database: name(database)?, table: name(table)? })
    }
}

impl Serialize for TablePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TablePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl PartialSchema for TablePattern {
    fn schema() -> RefOr<Schema> {
        Object::builder()
            .schema_type(Type::String)
            .description(Some("`db.table`, where either may be `*` for any."))
            .pattern(Some(r"^(\*|[A-Za-z0-9_-]{1,200})\.(\*|[A-Za-z0-9_-]{1,200})$"))
            .examples(["sales.*"])
            .into()
    }
}

impl ToSchema for TablePattern {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("TablePattern")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(json: &str) -> Scope {
        serde_json::from_str(json).unwrap()
    }

    fn slug(text: &str) -> ClusterSlug {
        text.parse().unwrap()
    }

    #[test]
    fn a_scope_allows_what_it_lists() {
        let scope = scope(
            r#"{"clusters":[{"cluster":"eu","tables":{"only":["sales.*","*.audit"]}},{"cluster":"us","tables":"all"}]}"#,
        );
        let eu = slug("eu");
        assert!(scope.allows_cluster(&eu) && !scope.allows_cluster(&slug("ap")));
        assert!(scope.allows_table(&eu, "sales", "orders") && scope.allows_table(&eu, "hr", "audit"));
        assert!(!scope.allows_table(&eu, "hr", "people"));
        assert!(scope.allows_database(&eu, "hr") && !scope.allows_whole_database(&eu, "hr"));
        assert!(scope.allows_whole_database(&eu, "sales"));
        assert!(!scope.allows_whole_cluster(&eu) && scope.allows_whole_cluster(&slug("us")));
        assert!(scope.allows_table(&slug("us"), "any", "thing"));
    }

    #[test]
    fn nothing_is_allowed_by_an_empty_list_and_everything_by_all() {
        assert!(!Scope::nothing().allows_cluster(&slug("eu")));
        assert!(scope("\"all\"").allows_whole_cluster(&slug("eu")));
        assert_eq!(serde_json::to_string(&Scope::All).unwrap(), "\"all\"");
    }

    #[test]
    fn a_cluster_without_tables_in_common_is_gone() {
        let one = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["a.*"]}}]}"#);
        let two = scope(r#"{"clusters":[{"cluster":"eu","tables":{"only":["b.*"]}}]}"#);
        assert_eq!(one.narrow(&two), Scope::nothing());
    }

    #[test]
    fn a_table_pattern_is_two_names() {
        for bad in ["", "a", ".", "a.", ".b", "a.b.c", "a*.b", "**.b", "a b.c", "ä.b"] {
            assert_eq!(bad.parse::<TablePattern>(), Err(ScopeError::Pattern), "{bad:?}");
        }
        assert_eq!("*.b-c_1".parse::<TablePattern>().unwrap().to_string(), "*.b-c_1");
    }

    #[test]
    fn lists_that_are_too_long_are_refused() {
        let pattern: TablePattern = "a.b".parse().unwrap();
        let entry = |count| ClusterScope {
            cluster: slug("eu"),
            tables: TableScope::Only(vec![pattern.clone(); count]),
        };
        assert_eq!(Scope::Clusters(vec![entry(200)]).validate(), Ok(()));
        assert_eq!(Scope::Clusters(vec![entry(201)]).validate(), Err(ScopeError::Tables));
        assert_eq!(Scope::Clusters(vec![entry(1); 1_001]).validate(), Err(ScopeError::Clusters));
    }

    pub(crate) fn any_scope() -> impl Strategy<Value = Scope> {
        let name = || prop::sample::select(vec!["a", "b", "*"]);
        let pattern = (name(), name()).prop_map(|(db, table)| format!("{db}.{table}").parse().unwrap());
        let tables = prop_oneof![
            1 => Just(TableScope::All),
            3 => prop::collection::vec(pattern, 0..4).prop_map(TableScope::Only),
        ];
        let entry = (prop::sample::select(vec!["x", "y"]), tables)
            .prop_map(|(cluster, tables)| ClusterScope { cluster: cluster.parse().unwrap(), tables });
        prop_oneof![
            1 => Just(Scope::All),
            5 => prop::collection::vec(entry, 0..4).prop_map(Scope::Clusters),
        ]
    }

    proptest! {
        #[test]
        fn narrowing_allows_exactly_the_tables_both_allow(one in any_scope(), two in any_scope()) {
            let narrowed = one.narrow(&two);
            for cluster in ["x", "y", "z"].map(slug) {
                for database in ["a", "b", "c"] {
                    for table in ["a", "b", "c"] {
                        let allows = |scope: &Scope| scope.allows_table(&cluster, database, table);
                        prop_assert_eq!(allows(&narrowed), allows(&one) && allows(&two));
                    }
                }
            }
        }

        #[test]
        fn narrowing_never_widens(one in any_scope(), two in any_scope()) {
            let narrowed = one.narrow(&two);
            for cluster in ["x", "y", "z"].map(slug) {
                let both = |allows: fn(&Scope, &ClusterSlug) -> bool| {
                    !allows(&narrowed, &cluster) || (allows(&one, &cluster) && allows(&two, &cluster))
                };
                prop_assert!(both(Scope::allows_cluster) && both(Scope::allows_whole_cluster));
                for database in ["a", "b", "c"] {
                    let both = |allows: fn(&Scope, &ClusterSlug, &str) -> bool| {
                        !allows(&narrowed, &cluster, database)
                            || (allows(&one, &cluster, database) && allows(&two, &cluster, database))
                    };
                    prop_assert!(both(Scope::allows_database) && both(Scope::allows_whole_database));
                }
            }
        }

        #[test]
        fn a_scope_is_read_as_it_is_written(scope in any_scope()) {
            let json = serde_json::to_string(&scope).unwrap();
            prop_assert_eq!(serde_json::from_str::<Scope>(&json).unwrap(), scope);
        }
    }
}
