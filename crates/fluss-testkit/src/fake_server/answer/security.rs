//! Authentication, access rules and configuration.
//!
//! Follows `SaslServerAuthenticator`, `PlainSaslServer` and `AclBindingFilter`, 0.9.1.

use bytes::Bytes;
use fluss_codec::codes::{AclOperation, AclPermission, AclResourceType};
use fluss_codec::error_code::ServerErrorCode;
use fluss_codec::messages::{
    AuthenticateRequest, AuthenticateResponse, DescribeClusterConfigsResponse, ListAclsRequest,
    ListAclsResponse, PbAclFilter, PbAclInfo, PbDescribeConfig,
};
use fluss_codec::server_type::ServerType;

use super::{Answering, Refusal, Session};
use crate::fake_server::model::Users;

/// The one mechanism of the servers.
const MECHANISM: &str = "PLAIN";

pub(super) fn unauthenticated() -> Refusal {
    refused(
        "The connection has not completed authentication yet. This may be caused by a missing or incorrect \
         configuration of 'client.security.protocol' on the client side.",
    )
}

/// Checks a token; the connection stays open after a failure and may try again.
pub(super) fn authenticate(
    users: &Users,
    request: &AuthenticateRequest,
    session: &mut Session,
) -> Result<AuthenticateResponse, Refusal> {
    let protocol = request.protocol.as_str();
    if users.is_empty() {
        return if protocol.eq_ignore_ascii_case("PLAINTEXT") {
            Ok(AuthenticateResponse { challenge: None })
        } else {
            Err(refused(&format!(
                "Authenticate protocol not match: protocol of server is 'PLAINTEXT' while protocol of client is '{protocol}'"
            )))
        };
    }
    if !protocol.eq_ignore_ascii_case(MECHANISM) {
        let message = format!("SASL server enables [{MECHANISM}] while protocol of client is '{protocol}'");
        return Err(refused(&message));
    }
    if session.user.is_some() {
        return Ok(AuthenticateResponse { challenge: None });
    }
    // The check above does not mind the case, the factory of mechanisms does.
    if protocol != MECHANISM {
        let outer = format!(
            "java.lang.RuntimeException: javax.security.sasl.SaslException: Unsupported mechanism {protocol}"
        );
        return Err(Refusal::unexpected(&outer, None));
    }
    session.user = Some(check_token(users, &request.token)?);
    Ok(AuthenticateResponse { challenge: Some(Bytes::new()) })
}

fn check_token(users: &Users, token: &[u8]) -> Result<String, Refusal> {
    let text = String::from_utf8_lossy(token);
    let parts: Vec<&str> = text.split('\0').collect();
    let &[identity, user, password] = parts.as_slice() else {
        return Err(refused(&format!("Invalid SASL/PLAIN response: expected 3 tokens, got {}", parts.len())));
    };
    if user.is_empty() {
        return Err(refused("Authentication failed: username not specified"));
    }
    if password.is_empty() {
        return Err(refused("Authentication failed: password not specified"));
    }
    if !users.accepts(user, password) {
        return Err(refused("Authentication failed: Invalid username or password"));
    }
    if !identity.is_empty() && identity != user {
        return Err(refused(
            "Authentication failed: Client requested an authorization id that is different from username",
        ));
    }
    Ok(user.to_owned())
}

fn refused(message: &str) -> Refusal {
    Refusal::new(ServerErrorCode::AUTHENTICATE_EXCEPTION, message)
}

impl Answering<'_> {
    pub(super) fn list_acls(&self, request: &ListAclsRequest) -> Result<ListAclsResponse, Refusal> {
        if !self.model.has_authorizer {
            let message = "No Authorizer is configured.";
            return Err(Refusal::new(ServerErrorCode::SECURITY_DISABLED_EXCEPTION, message));
        }
        let matching = self.model.acls.iter().filter(|acl| matches(&request.acl_filter, acl));
        Ok(ListAclsResponse { acl: matching.cloned().collect() })
    }

    /// Lists what all servers share, then what is set on the answering server alone.
    pub(super) fn cluster_configs(&self) -> DescribeClusterConfigsResponse {
        let node = match self.server_type {
            ServerType::Coordinator => self.model.coordinator.as_ref(),
            ServerType::TabletServer => {
                self.model.tablet_servers.iter().find(|node| node.id == self.server_id)
            }
        };
        let own = node.into_iter().flat_map(|node| &node.configs);
        let configs = self.model.configs.iter().chain(own).map(|config| PbDescribeConfig {
            config_key: config.key.clone(),
            config_value: config.value.clone(),
            config_source: config.source.clone(),
        });
        DescribeClusterConfigsResponse { configs: configs.collect() }
    }
}

/// Tells whether a filter lets a rule through.
///
/// Without a type the resource's name is ignored, and a principal counts only with both name and type.
fn matches(filter: &PbAclFilter, acl: &PbAclInfo) -> bool {
    let is_any_resource = filter.resource_type == AclResourceType::Any.code();
    let resource = is_any_resource
        || (filter.resource_type == acl.resource_type
            && filter.resource_name.as_ref().is_none_or(|name| *name == acl.resource_name));
    let principal = match (&filter.principal_name, &filter.principal_type) {
        (Some(name), Some(kind)) => *name == acl.principal_name && *kind == acl.principal_type,
        _ => true,
    };
    resource
        && principal
        && filter.host.as_ref().is_none_or(|host| *host == acl.host)
        && (filter.operation_type == AclOperation::Any.code() || filter.operation_type == acl.operation_type)
        && (filter.permission_type == AclPermission::Any.code()
            || filter.permission_type == acl.permission_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(resource_type: i32, resource_name: &str, user: &str, operation: i32) -> PbAclInfo {
        PbAclInfo {
            resource_name: resource_name.to_owned(),
            resource_type,
            principal_name: user.to_owned(),
            principal_type: "User".to_owned(),
            host: "*".to_owned(),
            operation_type: operation,
            permission_type: 2,
        }
    }

    fn any() -> PbAclFilter {
        PbAclFilter { resource_type: 1, operation_type: 1, permission_type: 1, ..PbAclFilter::default() }
    }

    #[test]
    fn filter_parts_match_exactly_or_not_at_all() {
        let rule = acl(4, "shop.orders", "alice", 3);
        let text = |value: &str| Some(value.to_owned());
        for (filter, expected) in [
            (any(), true),
            (PbAclFilter { resource_type: 4, resource_name: text("shop.orders"), ..any() }, true),
            (PbAclFilter { resource_type: 4, resource_name: text("*"), ..any() }, false),
            (PbAclFilter { resource_type: 3, resource_name: text("shop.orders"), ..any() }, false),
            (PbAclFilter { resource_name: text("elsewhere"), ..any() }, true),
            (PbAclFilter { principal_name: text("bob"), ..any() }, true),
            (PbAclFilter { principal_name: text("bob"), principal_type: text("User"), ..any() }, false),
            (PbAclFilter { principal_name: text("alice"), principal_type: text("user"), ..any() }, false),
            (PbAclFilter { host: text("127.0.0.1"), ..any() }, false),
            (PbAclFilter { operation_type: 3, permission_type: 2, ..any() }, true),
            (PbAclFilter { operation_type: 2, ..any() }, false),
        ] {
            assert_eq!(matches(&filter, &rule), expected, "{filter:?}");
        }
    }

    #[test]
    fn tokens_are_checked_as_the_java_server_does() {
        let mut users = Users::default();
        users.set("alice", "secret");
        let check = |token: &[u8]| check_token(&users, token).map_err(|refusal| refusal.code);
        assert_eq!(check(b"\0alice\0secret"), Ok("alice".to_owned()));
        assert_eq!(check(b"alice\0alice\0secret"), Ok("alice".to_owned()));
        for token in [
            &b"bob\0alice\0secret"[..],
            b"\0alice\0wrong",
            b"\0\0secret",
            b"\0alice\0",
            b"\0alice",
            b"\0alice\0secret\0",
            b"",
            b"\xff\0\xff\0\xff",
        ] {
            assert_eq!(check(token), Err(46), "{token:?}");
        }
    }
}
