//! Who asks: made only by authentication, so that holding one proves it.

use std::fmt;
use std::net::IpAddr;

use pegel_core::access::Role;
use pegel_core::access::decision::{Principal, PrincipalKind};
use pegel_core::access::permissions::default_grants;
use pegel_core::access::scope::Scope;
use pegel_store::token::TokenHash;
use uuid::Uuid;

/// Where a request comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The request's id, made by the face that took it.
    pub request_id: Uuid,
    /// The address of the client.
    pub source: IpAddr,
    /// What the client calls itself; may be empty.
    pub user_agent: String,
}

impl Origin {
    /// Returns the name under which failures of this source are counted.
    ///
    /// An IPv6 client commonly has a /64 of its own, so one of those counts as one source.
    pub(crate) fn throttle_key(&self) -> String {
        match self.source.to_canonical() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                format!("{a:x}:{b:x}:{c:x}:{d:x}::/64")
            }
        }
    }

    /// Returns the client's name without control characters, which no database has to take.
    pub(crate) fn clean_user_agent(&self) -> String {
        self.user_agent.chars().filter(|c| !c.is_control()).collect()
    }
}

/// What a caller showed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    /// A session, with the hash of the token as it was shown.
    Session { id: Uuid, token: TokenHash },
    /// An access token.
    Token { id: Uuid },
    /// None was needed: whoever started this process asks through it.
    Local,
}

/// An authenticated caller and the request it makes.
#[derive(Clone)]
pub struct Caller {
    pub(crate) principal: Principal,
    pub(crate) user_id: Uuid,
    pub(crate) request_id: Uuid,
    pub(crate) credential: Credential,
    pub(crate) must_change_password: bool,
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("principal", &self.principal)
            .field("user_id", &self.user_id)
            .field("request_id", &self.request_id)
            .finish_non_exhaustive()
    }
}

impl Caller {
    /// Makes the caller that stands for whoever started this process.
    ///
    /// Only [`crate::local::Local`] makes one, whose store is empty and whose only cluster is reached with
    /// credentials that the person has already: all rights over it are no more than that person has anyway.
    pub(crate) fn local(request_id: Uuid) -> Self {
        Self {
            principal: Principal {
                kind: PrincipalKind::System,
                id: Uuid::nil(),
                name: "local".to_owned(),
                role: Role::Admin,
                grants: default_grants(Role::Admin),
                scope: Scope::All,
            },
            user_id: Uuid::nil(),
            request_id,
            credential: Credential::Local,
            must_change_password: false,
        }
    }

    /// Returns whether the caller is whoever started this process.
    pub(crate) fn is_local(&self) -> bool {
        self.credential == Credential::Local
    }

    /// Returns who it is and how far it may go, a token narrowed to its owner's rights.
    pub const fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Returns the user, also of a token.
    pub const fn user_id(&self) -> Uuid {
        self.user_id
    }

    /// Returns the request's id.
    pub const fn request_id(&self) -> Uuid {
        self.request_id
    }

    /// Returns the session's id, if it is one.
    pub const fn session_id(&self) -> Option<Uuid> {
        match self.credential {
            Credential::Session { id, .. } => Some(id),
            Credential::Token { .. } | Credential::Local => None,
        }
    }

    /// Returns the access token's id, if it is one.
    pub const fn token_id(&self) -> Option<Uuid> {
        match self.credential {
            Credential::Session { .. } | Credential::Local => None,
            Credential::Token { id } => Some(id),
        }
    }

    /// Returns whether the password has to be changed before anything else.
    pub const fn must_change_password(&self) -> bool {
        self.must_change_password
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_is_one_source() {
        let key = |source: &str| {
            let (request_id, user_agent) = (Uuid::nil(), String::new());
            Origin { request_id, source: source.parse().unwrap(), user_agent }.throttle_key()
        };
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
    }
}
