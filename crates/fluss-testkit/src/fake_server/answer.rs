//! Proper answers: which requests are served, and how they are refused.
//!
//! Follows `NettyServerHandler`, `RpcServiceBase` and `TabletService`, 0.9.1: a key that the server does not
//! serve and a body that cannot be read are met with silence; a request before authentication with error 46.

mod buckets;
mod catalog;
mod metadata;
mod security;
mod snapshots;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use bytes::Bytes;
use fluss_codec::api_key::{ApiKey, ServedBy};
use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    ApiVersionsRequest, ApiVersionsResponse, AuthenticateRequest, DescribeClusterConfigsRequest,
    GetClusterHealthRequest, PbApiVersion, PbTablePath, Request, check, decode, request_layout,
};
use fluss_codec::server_type::ServerType;
use prost::Message as _;

use super::model::{Model, ServerLine, Table};

/// Longest error message that a server sends.
const MAX_MESSAGE_BYTES: usize = 2048;

/// The server that answers, as the request finds it.
pub(super) struct Answering<'a> {
    pub(super) model: &'a Model,
    pub(super) server_id: i32,
    pub(super) server_type: ServerType,
    /// Ranges that differ from what the release line lists; absent ranges are not served.
    pub(super) api_changes: &'a BTreeMap<ApiKey, Option<RangeInclusive<i16>>>,
    /// Whether a coordinator is not the leading one.
    pub(super) is_standby: bool,
    /// Error that a script puts on buckets, all if the list is empty.
    pub(super) bucket_error: Option<(i32, &'a [i32])>,
}

/// Who is at the other end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Session {
    /// The user, once authenticated.
    pub(super) user: Option<String>,
}

/// A proper answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Encoded response message.
    Success(Bytes),
    /// Error for the whole request.
    Refused(Refusal),
    /// Nothing.
    Silence,
}

/// An error for a whole request or a bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: Option<String>,
}

impl Refusal {
    fn new(code: ServerErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.code(), message: Some(message.into()) }
    }

    /// Makes error −1 out of a Java exception that has no code, with the stack trace such an error carries.
    fn unexpected(outer: &str, cause: Option<(&str, &str)>) -> Self {
        let mut text = format!(
            "{outer}\n\tat org.apache.fluss.server.RpcServiceBase.call(RpcServiceBase.java:512)\n\tat \
             org.apache.fluss.rpc.netty.server.FlussRequestHandler.processRequest(FlussRequestHandler.java:63)\n\tat \
             java.base/java.lang.Thread.run(Thread.java:840)\n"
        );
        if let Some((class, message)) = cause {
            text.push_str("Caused by: org.apache.fluss.exception.");
            text.push_str(class);
            text.push_str(": ");
            text.push_str(message);
            text.push_str("\n\t... 3 more\n");
        }
        let end = text.floor_char_boundary(MAX_MESSAGE_BYTES);
        text.truncate(end);
        Self::new(ServerErrorCode::UNKNOWN_SERVER_ERROR, text)
    }
}

impl Answering<'_> {
    /// Answers a request; an accepted authentication changes the session.
    pub(super) fn answer(&self, key: i16, body: Bytes, session: &mut Session) -> Reply {
        let Some(key) = ApiKey::from_code(key).filter(|key| self.versions(*key).is_some()) else {
            return Reply::Silence;
        };
        match key {
            ApiKey::ApiVersions => serve(body, |_: ApiVersionsRequest| Ok(self.api_versions())),
            ApiKey::Authenticate => serve(body, |request: AuthenticateRequest| {
                security::authenticate(&self.model.users, &request, session)
            }),
            _ if !self.model.users.is_empty() && session.user.is_none() => {
                refuse_readable(key, &body, security::unauthenticated())
            }
            _ if self.is_standby => refuse_readable(
                key,
                &body,
                Refusal::new(
                    ServerErrorCode::NOT_COORDINATOR_LEADER_EXCEPTION,
                    "This coordinator server is not the leader.",
                ),
            ),
            _ => self.serve_key(key, body, session.user.as_deref()),
        }
    }

    fn serve_key(&self, key: ApiKey, body: Bytes, user: Option<&str>) -> Reply {
        match key {
            ApiKey::GetMetadata => serve(body, |request| self.metadata(&request, user)),
            ApiKey::ListDatabases => serve(body, |request| Ok(self.list_databases(&request, user))),
            ApiKey::DatabaseExists => serve(body, |request| Ok(self.database_exists(&request, user))),
            ApiKey::GetDatabaseInfo => serve(body, |request| self.database_info(&request, user)),
            ApiKey::ListTables => serve(body, |request| self.list_tables(&request, user)),
            ApiKey::TableExists => serve(body, |request| Ok(self.table_exists(&request, user))),
            ApiKey::GetTableInfo => serve(body, |request| self.table_info(&request, user)),
            ApiKey::GetTableSchema => serve(body, |request| self.table_schema(&request, user)),
            ApiKey::ListPartitionInfos => serve(body, |request| self.list_partitions(&request, user)),
            ApiKey::ListOffsets => serve(body, |request| self.list_offsets(&request, user)),
            ApiKey::GetTableStats => serve(body, |request| self.table_stats(&request, user)),
            ApiKey::DescribeClusterConfigs => {
                serve(body, |_: DescribeClusterConfigsRequest| Ok(self.cluster_configs()))
            }
            ApiKey::ListAcls => serve(body, |request| self.list_acls(&request)),
            ApiKey::GetLatestKvSnapshots => serve(body, |request| self.latest_kv_snapshots(&request, user)),
            ApiKey::GetKvSnapshotMetadata => serve(body, |request| self.kv_snapshot(&request)),
            ApiKey::GetLakeSnapshot => serve(body, |request| self.lake_snapshot(&request, user)),
            ApiKey::GetClusterHealth => serve(body, |_: GetClusterHealthRequest| Ok(self.cluster_health())),
            _ => Reply::Silence,
        }
    }

    /// Returns the versions of a key that the server lists, nothing if it does not serve the key.
    fn versions(&self, key: ApiKey) -> Option<RangeInclusive<i16>> {
        if let Some(change) = self.api_changes.get(&key) {
            return change.clone();
        }
        let is_served = match key.served_by() {
            ServedBy::Both => true,
            ServedBy::Coordinator => self.server_type == ServerType::Coordinator,
            ServedBy::TabletServer => self.server_type == ServerType::TabletServer,
        };
        let is_main = self.model.line == ServerLine::Main;
        if !is_served || (key.is_main_only() && !is_main) {
            return None;
        }
        // Stated here, not taken from what the client can do: this is the server's side.
        let max = match key {
            ApiKey::PutKv if is_main => 2,
            ApiKey::PutKv | ApiKey::Lookup | ApiKey::PrefixLookup => 1,
            _ => 0,
        };
        Some(0..=max)
    }

    fn api_versions(&self) -> ApiVersionsResponse {
        let listed = ApiKey::ALL.iter().filter_map(|key| Some((*key, self.versions(*key)?)));
        ApiVersionsResponse {
            api_versions: listed
                .map(|(key, range)| PbApiVersion {
                    api_key: i32::from(key.code()),
                    min_version: i32::from(*range.start()),
                    max_version: i32::from(*range.end()),
                })
                .collect(),
            server_type: Some(self.server_type.code()),
        }
    }

    /// Returns a table that the user may DESCRIBE.
    fn visible_table(&self, path: &PbTablePath, user: Option<&str>) -> Result<&Table, Refusal> {
        let (database, name) = (&path.database_name, &path.table_name);
        let table = self.model.table(database, name).ok_or_else(|| {
            let message = format!("Table '{database}.{name}' does not exist.");
            Refusal::new(ServerErrorCode::TABLE_NOT_EXIST, message)
        })?;
        if table.visibility.includes(user) { Ok(table) } else { Err(forbidden(table, user)) }
    }
}

fn forbidden(table: &Table, user: Option<&str>) -> Refusal {
    let user = user.unwrap_or("ANONYMOUS");
    let message = format!(
        "Principal FlussPrincipal{{name='{user}', type='User'}} have no authorization to operate DESCRIBE on \
         resource Resource{{type=TABLE, name='{}.{}'}}",
        table.database(),
        table.name()
    );
    Refusal::new(ServerErrorCode::AUTHORIZATION_EXCEPTION, message)
}

fn serve<R: Request>(body: Bytes, answer: impl FnOnce(R) -> Result<R::Response, Refusal>) -> Reply {
    match decode::<R>(body).map(answer) {
        Err(_) => Reply::Silence,
        Ok(Ok(response)) => Reply::Success(Bytes::from(response.encode_to_vec())),
        Ok(Err(refusal)) => Reply::Refused(refusal),
    }
}

fn refuse_readable(key: ApiKey, body: &Bytes, refusal: Refusal) -> Reply {
    match check(request_layout(key), body) {
        Ok(()) => Reply::Refused(refusal),
        Err(_) => Reply::Silence,
    }
}
