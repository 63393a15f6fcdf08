//! Maps errors of the Fluss client to Pegel's codes. The one place that does.

use fluss_client::error::Error as ClientError;
use pegel_core::error_code::ErrorCode;

/// Returns the code of a client error.
pub fn code_of(error: &ClientError) -> ErrorCode {
    match error {
        ClientError::Server { code, .. } => of_server(code.code()),
        // When every address failed for the same reason, that reason says more.
        ClientError::BootstrapFailed { failures } => {
            let mut codes = failures.iter().map(code_of);
            match codes.next() {
                Some(first) if codes.all(|code| code == first) => first,
                _ => ErrorCode::BootstrapFailed,
            }
        }
        other => code_of_name(other.code()),
    }
}

/// Returns the code for the name of a client code; a name unknown here is an internal error.
pub fn code_of_name(name: &str) -> ErrorCode {
    // The client's names are taken over as they are.
    name.parse().unwrap_or(ErrorCode::Internal)
}

/// Returns the code for what a server answered with.
fn of_server(code: i32) -> ErrorCode {
    match code {
        2 => ErrorCode::UnsupportedApi,
        4 => ErrorCode::DatabaseNotFound,
        7 => ErrorCode::TableNotFound,
        12 | 21 | 44 => ErrorCode::LeaderNotAvailable,
        15 | 20 => ErrorCode::UnsupportedForTable,
        36 => ErrorCode::PartitionNotFound,
        37 => ErrorCode::TableNotPartitioned,
        38 => ErrorCode::TimeInFuture,
        43 => ErrorCode::PartitionSpecInvalid,
        46 => ErrorCode::AuthenticationFailed,
        47 => ErrorCode::SecurityDisabled,
        48 => ErrorCode::AuthorizationFailed,
        _ => ErrorCode::ServerError,
    }
}

#[cfg(test)]
mod tests {
    use fluss_client::bootstrap::HostPort;
    use fluss_client::error::AuthenticationFault;
    use fluss_codec::error_code::ServerErrorCode;

    use super::*;

    /// What `code()` of the client's errors can return.
    const CLIENT_CODES: &[&str] = &[
        "invalid_setting",
        "resolve_failed",
        "connect_failed",
        "dial_timeout",
        "tls_unknown_issuer",
        "tls_certificate_expired",
        "tls_certificate_not_yet_valid",
        "tls_name_mismatch",
        "tls_bad_certificate",
        "tls_not_spoken",
        "tls_client_certificate_refused",
        "tls_failed",
        "tls_expected",
        "protocol_failed",
        "authentication_required",
        "authentication_mechanism_refused",
        "authentication_failed",
        "authentication_unsettled",
        "bucket_missing",
        "no_tablet_server",
        "request_timeout",
        "connection_lost",
        "corrupt_answer",
        "server_error",
        "unsupported_api",
        "wrong_server_type",
        "host_not_allowed",
        "egress_refused",
        "coordinator_unavailable",
        "bootstrap_failed",
        "table_not_found",
        "partition_not_found",
        "leader_not_available",
        "table_recreated",
        "invalid_row",
        "unreadable_row",
        "unsuitable_table",
    ];

    #[test]
    fn every_client_code_has_the_same_name_here() {
        for name in CLIENT_CODES {
            assert_eq!(code_of_name(name).as_str(), *name);
        }
    }

    #[test]
    fn list_of_client_codes_is_the_one_in_the_client() {
        let source = include_str!("../../../fluss-client/src/error.rs");
        let bodies = source.split("fn code(&self) -> &'static str {").skip(1);
        let mut found: Vec<&str> = bodies
            .flat_map(|body| body.split("\n    }\n").next().unwrap().split('"').skip(1).step_by(2))
            .collect();
        found.sort_unstable();
        found.dedup();
        let mut listed = CLIENT_CODES.to_vec();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }

    #[test]
    fn refusals_of_servers_have_clear_names() {
        for (code, expected) in [
            (4, "database_not_found"),
            (15, "unsupported_for_table"),
            (38, "time_in_future"),
            (47, "security_disabled"),
            (48, "authorization_failed"),
            (-1, "server_error"),
            (4711, "server_error"),
        ] {
            let code = ServerErrorCode::from_code(code);
            let address = HostPort::new("a", 1).unwrap();
            let error = ClientError::Server { address, api: "X", code, message: String::new() };
            assert_eq!(code_of(&error).as_str(), expected, "{code}");
        }
    }

    #[test]
    fn bootstrap_failure_with_one_reason_takes_its_code() {
        let address = HostPort::new("a", 1).unwrap();
        let refused = ClientError::Authentication {
            address: address.clone(),
            fault: AuthenticationFault::Credentials,
            source: None,
        };
        let silent = ClientError::DialTimeout { address, timeout_ms: 1 };
        let both = |a: &ClientError, b: &ClientError| {
            code_of(&ClientError::BootstrapFailed { failures: vec![a.clone(), b.clone()] })
        };
        assert_eq!(both(&refused, &refused), ErrorCode::AuthenticationFailed);
        assert_eq!(both(&refused, &silent), ErrorCode::BootstrapFailed);
        assert_eq!(
            code_of(&ClientError::BootstrapFailed { failures: Vec::new() }),
            ErrorCode::BootstrapFailed
        );
    }
}
