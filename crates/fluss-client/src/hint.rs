//! What a person can do about an error, in one sentence each.

use crate::error::{AuthenticationFault, Error, ProtocolFault, TlsFault};

/// Returns the advice for `error`, naming the setting to change where there is one.
pub(crate) fn hint(error: &Error) -> Option<String> {
    let text = match error {
        Error::InvalidSetting { .. }
        | Error::Corrupt { .. }
        | Error::Unsupported { .. }
        | Error::InvalidRow { .. }
        | Error::UnreadableRow { .. }
        | Error::UnsuitableTable { .. }
        | Error::TableRecreated { .. } => return None,
        Error::Resolve { .. } => "check the host name in endpoint and the DNS of this machine",
        Error::Connect { .. } => {
            "check that the server runs and that endpoint names its listener's host and port"
        }
        Error::DialTimeout { .. } => {
            "check firewalls and routes to the server; dial_timeout_seconds sets the limit"
        }
        Error::Tls { fault, .. } => tls(fault),
        Error::Protocol { fault, .. } => protocol(fault),
        Error::Authentication { fault, .. } => authentication(fault),
        Error::RequestTimeout { .. } => {
            "the server accepted the connection and stays silent: look at its process and log; \
             request_timeout_seconds sets the limit"
        }
        Error::ConnectionLost { .. } => "the server went away or restarts; try again",
        Error::Server { code, .. } => return server(code.code()),
        Error::WrongServerType { .. } => "addresses have moved between servers; try again",
        Error::HostNotAllowed { .. } => {
            "add the host to advertised_host_allow_list if the cluster may send clients there"
        }
        Error::AddressRefused { .. } => {
            "correct the address in endpoint, in the name server or in the cluster's advertised.listeners: \
             this one is never connected to"
        }
        Error::CoordinatorUnavailable { source: Some(source), .. } => {
            return source.hint().map(|hint| format!("coordinator: {hint}"));
        }
        Error::CoordinatorUnavailable { source: None, .. } => {
            "no coordinator is registered: look at the coordinator's process and at ZooKeeper"
        }
        Error::NoTabletServer { .. } => {
            "tablet servers register in ZooKeeper when they start: look at their processes and logs"
        }
        Error::BootstrapFailed { failures } => {
            let first = failures.first()?.hint()?;
            return Some(format!("first address: {first}"));
        }
        Error::TableNotFound { .. } => {
            "check the name; the principal also needs DESCRIBE on the table to see it"
        }
        Error::PartitionNotFound { .. } => "list the table's partitions to see what is there",
        Error::BucketMissing { .. } => "the table may have just been created; try again shortly",
        Error::LeaderNotAvailable { .. } => {
            "its replicas are down or a leader is being elected: look at the tablet servers"
        }
    };
    Some(text.to_owned())
}

fn tls(fault: &TlsFault) -> &'static str {
    match fault {
        TlsFault::UnknownIssuer => {
            "give the authority that signed the certificate in tls_ca_cert (without it the system's roots count)"
        }
        TlsFault::Expired => "renew the server's certificate; this machine's clock may also be wrong",
        TlsFault::NotYetValid => {
            "compare the clocks of this machine and of the one that made the certificate"
        }
        TlsFault::NameMismatch { .. } => {
            "connect by a name that the certificate holds, or set tls_server_name to one of them"
        }
        TlsFault::BadCertificate => "look at the server's certificate chain",
        TlsFault::Silent(_) => "the port is open but mute: the server may be frozen, or speaks no TLS there",
        TlsFault::NotTls | TlsFault::ClosedInHandshake => {
            "the port looks like a plaintext listener: set security_protocol to PLAINTEXT or SASL_PLAINTEXT, \
             or use the port of the TLS listener"
        }
        TlsFault::ClientCertificate => "give tls_client_cert and tls_client_key that the server trusts",
        TlsFault::Other => "compare the TLS versions and ciphers of both sides",
    }
}

fn protocol(fault: &ProtocolFault) -> &'static str {
    match fault {
        ProtocolFault::TlsExpected => "set security_protocol to TLS or SASL_TLS, or use a plaintext port",
        ProtocolFault::Silent(_) => {
            "the port is open but mute: the server may be frozen or overloaded, or it is not Fluss"
        }
        ProtocolFault::Closed | ProtocolFault::NotAFrame(_) | ProtocolFault::Refused(_) => {
            "the port is open but is not a Fluss listener: check host and port, and whether a proxy stands between"
        }
    }
}

fn authentication(fault: &AuthenticationFault) -> &'static str {
    match fault {
        AuthenticationFault::Credentials => "check sasl_username and sasl_password",
        AuthenticationFault::Required => {
            "set security_protocol to SASL_PLAINTEXT or SASL_TLS and give sasl_username and sasl_password"
        }
        AuthenticationFault::Mechanism => {
            "this listener takes no SASL/PLAIN: set security_protocol to PLAINTEXT or TLS, or use the SASL listener's port"
        }
        AuthenticationFault::Unsettled => {
            "the server's authentication was not ready; try again, and look at its log if that lasts"
        }
    }
}

fn server(code: i32) -> Option<String> {
    let text = match code {
        46 => "check security_protocol and the SASL settings",
        47 => "the cluster runs without an authorizer (authorizer.enabled=false), so it has no ACLs",
        48 => "the connection's principal lacks the right: ask for an ACL",
        12 | 21 | 44 => "leadership is moving or the leader is not ready; try again shortly",
        38 => "the time lies in the future of the server's clock",
        15 => "this table does not support the request",
        40 | 53 => "the table has no lake data to read",
        _ => return None,
    };
    Some(text.to_owned())
}
