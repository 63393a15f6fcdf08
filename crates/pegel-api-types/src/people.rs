//! People: signing in, sessions, users, access tokens, audit rows.
//!
//! Passwords and tokens are [`SecretString`] on the way in and [`ShownOnce`] on the way out: neither prints.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use pegel_core::access::Role;
use pegel_core::access::decision::PrincipalKind;
use pegel_core::access::pattern::Pattern;
use pegel_core::access::scope::Scope;
use pegel_core::printable::is_printable;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use utoipa::openapi::schema::{KnownFormat, Object, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::asked_time;
use crate::problem::{FieldProblem, Problems};

/// The longest name to sign in with, in characters.
pub const MAX_USER_NAME_CHARS: usize = 128;

/// The longest shown name, in characters.
pub const MAX_DISPLAY_NAME_CHARS: usize = 256;

/// The longest name of a token, in characters.
pub const MAX_TOKEN_NAME_CHARS: usize = 64;

/// The shortest password that may be set, in bytes.
pub const MIN_PASSWORD_BYTES: usize = 12;

/// The longest password, in bytes; hashing a longer one would only cost time.
pub const MAX_PASSWORD_BYTES: usize = 1_024;

/// The most grants a user or token may list.
pub const MAX_GRANTS: usize = 200;

/// The longest life of a token, in days.
pub const MAX_TOKEN_DAYS: u32 = 365;

/// A secret in an answer that is given only once. It does not print.
#[derive(Clone)]
pub struct ShownOnce(SecretString);

impl ShownOnce {
    /// Wraps a secret that is to be shown.
    pub const fn new(secret: SecretString) -> Self {
        Self(secret)
    }

    /// Returns the secret.
    pub const fn secret(&self) -> &SecretString {
        &self.0
    }
}

impl fmt::Debug for ShownOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShownOnce([REDACTED])")
    }
}

impl Serialize for ShownOnce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose_secret())
    }
}

impl<'de> Deserialize<'de> for ShownOnce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SecretString::deserialize(deserializer).map(Self)
    }
}

impl PartialSchema for ShownOnce {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::Password);
        Object::builder().schema_type(Type::String).format(Some(format)).read_only(true).into()
    }
}

impl ToSchema for ShownOnce {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("ShownOnce")
    }
}

/// Writes a secret into a request that a client sends.
fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
}

/// Asks to sign in.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoginRequest {
    /// The name, in any case.
    #[schema(min_length = 1, max_length = 128)]
    pub name: String,
    /// The password.
    #[serde(serialize_with = "expose")]
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1024)]
    pub password: SecretString,
}

/// Asks for another password of one's own.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    /// The present password.
    #[serde(serialize_with = "expose")]
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1024)]
    pub current_password: SecretString,
    /// The one to come, 12 to 1,024 bytes.
    #[serde(serialize_with = "expose")]
    #[schema(value_type = String, format = Password, min_length = 12, max_length = 1024)]
    pub new_password: SecretString,
}

/// Asks for a user. The password is generated.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateUser {
    /// The name to sign in with: 1 to 128 printable ASCII characters without spaces.
    #[schema(min_length = 1, max_length = 128, pattern = "^[!-~]+$")]
    pub name: String,
    /// The name shown, up to 256 characters.
    #[serde(default)]
    #[schema(max_length = 256)]
    pub display_name: String,
    /// The role.
    pub role: Role,
    /// The grants; absent for those of the role.
    #[serde(default)]
    pub grants: Option<Vec<Pattern>>,
    /// The clusters and tables.
    pub scope: Scope,
}

/// Asks to change a user, all of it at once.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateUser {
    /// The version that was seen; another one is a conflict.
    pub version: i64,
    /// The name shown, up to 256 characters.
    #[schema(max_length = 256)]
    pub display_name: String,
    /// The role.
    pub role: Role,
    /// The grants; null for those of the role.
    pub grants: Option<Vec<Pattern>>,
    /// The clusters and tables.
    pub scope: Scope,
    /// Whether the user may not sign in.
    pub is_disabled: bool,
}

/// Asks for an access token.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What people call it, 1 to 64 characters.
    #[schema(min_length = 1, max_length = 64)]
    pub name: String,
    /// The role.
    pub role: Role,
    /// The grants.
    pub grants: Vec<Pattern>,
    /// The clusters and tables.
    pub scope: Scope,
    /// Its life, 1 to 365 days.
    #[schema(minimum = 1, maximum = 365)]
    pub expires_in_days: u32,
}

/// Who a request comes from, and how far it may go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionInfo {
    /// What kind of actor.
    pub principal_kind: PrincipalKind,
    /// The user's id, also of a token.
    pub user_id: Uuid,
    /// The user's name; of a token, the owner's name, a slash and the token's.
    pub name: String,
    /// The role in force.
    pub role: Role,
    /// The grants in force.
    pub grants: Vec<Pattern>,
    /// The clusters and tables in force.
    pub scope: Scope,
    /// Whether the password has to be changed before anything else.
    pub must_change_password: bool,
    /// The session; null for a token.
    pub session_id: Option<Uuid>,
    /// When the session ends by itself, used or not; null for a token.
    pub expires_at: Option<Timestamp>,
}

/// How many sessions were ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EndedSessions {
    /// How many.
    pub ended_count: u64,
}

/// A user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UserView {
    /// The id.
    pub id: Uuid,
    /// The name to sign in with.
    pub name: String,
    /// The name shown.
    pub display_name: String,
    /// The role.
    pub role: Role,
    /// The grants in force.
    pub grants: Vec<Pattern>,
    /// Whether the grants are those of the role.
    pub has_default_grants: bool,
    /// The clusters and tables.
    pub scope: Scope,
    /// Whether the password has to be changed first.
    pub must_change_password: bool,
    /// Since when the user may not sign in.
    pub disabled_at: Option<Timestamp>,
    /// When made.
    pub created_at: Timestamp,
    /// When last changed.
    pub updated_at: Timestamp,
    /// Grows with each change.
    pub version: i64,
}

/// A user with a password that nobody will see again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UserWithPassword {
    /// The user.
    pub user: UserView,
    /// The generated password; it has to be changed at the first use.
    pub password: ShownOnce,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionView {
    /// The id.
    pub id: Uuid,
    /// The address it was begun from.
    pub source: String,
    /// The browser it was begun with.
    pub user_agent: String,
    /// When begun.
    pub created_at: Timestamp,
    /// When last used, to the minute or so.
    pub last_seen_at: Timestamp,
    /// When it ends by itself, used or not.
    pub expires_at: Timestamp,
    /// Whether this request belongs to it.
    pub is_current: bool,
}

/// An access token, without the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenView {
    /// The id.
    pub id: Uuid,
    /// The owner.
    pub user_id: Uuid,
    /// What people call it.
    pub name: String,
    /// The role.
    pub role: Role,
    /// The grants; in force as far as the owner has them too.
    pub grants: Vec<Pattern>,
    /// The clusters and tables; in force as far as the owner has them too.
    pub scope: Scope,
    /// When made.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When last used, to the minute or so.
    pub last_used_at: Option<Timestamp>,
    /// When it was ended.
    pub revoked_at: Option<Timestamp>,
}

/// A new token, with what nobody will see again.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NewTokenView {
    /// The token's description.
    pub token: TokenView,
    /// The token.
    pub secret: ShownOnce,
}

/// A row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntryView {
    /// Its place.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// The request it belongs to.
    pub request_id: String,
    /// What kind of actor.
    pub principal_kind: PrincipalKind,
    /// The actor's id.
    pub principal_id: String,
    /// The actor's name at that time.
    pub principal_name: String,
    /// What was done.
    pub action: String,
    /// To what.
    pub target: String,
    /// How it ended.
    pub outcome: String,
}

/// Which access tokens to list; what is absent leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {
    /// Tokens of this user.
    #[serde(default)]
    pub user_id: Option<Uuid>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// How many tokens, 1 to 1,000; 100 if absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
}

/// Which audit rows to list; what is absent leaves all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAudit {
    /// Rows of the actor with this id.
    #[serde(default)]
    pub principal_id: Option<String>,
    /// Rows of this action, such as `users.create`.
    #[serde(default)]
    pub action: Option<String>,
    /// Rows about exactly this target, such as `user/0190…`.
    #[serde(default)]
    pub target: Option<String>,
    /// Rows not older than this.
    #[serde(default, deserialize_with = "asked_time::optional")]
    pub from: Option<Timestamp>,
    /// Rows older than this.
    #[serde(default, deserialize_with = "asked_time::optional")]
    pub until: Option<Timestamp>,
    /// `next_cursor` of the page before, for the rows before those.
    #[serde(default)]
    pub before: Option<String>,
    /// How many rows, 1 to 1,000; 100 if absent.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
}

/// What a walk over the audit log found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum AuditVerification {
    /// Every row is as it was written, and none is missing.
    Whole {
        /// The first row that was looked at.
        from_seq: i64,
        /// The newest row.
        through_seq: i64,
        /// How many rows were looked at.
        row_count: i64,
        /// The newest row's hash in hexadecimal digits: kept elsewhere, it proves the log as it is now.
        head: String,
    },
    /// A row is wrong or missing.
    Broken {
        /// The first such row.
        seq: i64,
        /// What is wrong with it.
        reason: String,
    },
}

const PASSWORD_RULE: &str = "a password has 12 to 1,024 bytes";
const NAME_RULE: &str = "a name has 1 to 128 printable ASCII characters without spaces";

impl LoginRequest {
    /// Says what no user's name or password can be. A short password may still be an old one, so it passes.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        problems.check(is_user_name(&self.name), "/name", "characters", NAME_RULE);
        let bytes = self.password.expose_secret().len();
        problems.check((1..=MAX_PASSWORD_BYTES).contains(&bytes), "/password", "length", PASSWORD_RULE);
        problems.finish()
    }
}

impl ChangePassword {
    /// Says what is wrong with the passwords' lengths, and whether they are the same.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        let (current, new) = (self.current_password.expose_secret(), self.new_password.expose_secret());
        let is_known = (1..=MAX_PASSWORD_BYTES).contains(&current.len());
        problems.check(is_known, "/current_password", "length", PASSWORD_RULE);
        let is_long = (MIN_PASSWORD_BYTES..=MAX_PASSWORD_BYTES).contains(&new.len());
        problems.check(is_long, "/new_password", "length", PASSWORD_RULE);
        problems.check(current != new, "/new_password", "secret", "the new password is the present one");
        problems.finish()
    }
}

impl CreateUser {
    /// Says what is wrong with the names, grants and scope.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        problems.check(is_user_name(&self.name), "/name", "characters", NAME_RULE);
        check_profile(&mut problems, &self.display_name, self.grants.as_deref(), &self.scope);
        problems.finish()
    }
}

impl UpdateUser {
    /// Says what is wrong with the name, grants and scope.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        check_profile(&mut problems, &self.display_name, self.grants.as_deref(), &self.scope);
        problems.finish()
    }
}

impl CreateToken {
    /// Says what is wrong with the name, grants, scope and life.
    ///
    /// # Errors
    /// Every field that breaks its rule.
    pub fn validate(&self) -> Result<(), Vec<FieldProblem>> {
        let mut problems = Problems::default();
        let is_name = !self.name.trim().is_empty() && is_text(&self.name, MAX_TOKEN_NAME_CHARS);
        problems.check(is_name, "/name", "length", "a token's name has 1 to 64 printable characters");
        check_rights(&mut problems, Some(&self.grants), &self.scope);
        let is_life = (1..=MAX_TOKEN_DAYS).contains(&self.expires_in_days);
        problems.check(is_life, "/expires_in_days", "range", "a token lives 1 to 365 days");
        problems.finish()
    }
}

fn check_profile(problems: &mut Problems, display_name: &str, grants: Option<&[Pattern]>, scope: &Scope) {
    let is_shown = is_text(display_name, MAX_DISPLAY_NAME_CHARS);
    problems.check(is_shown, "/display_name", "length", "a shown name has up to 256 printable characters");
    check_rights(problems, grants, scope);
}

fn check_rights(problems: &mut Problems, grants: Option<&[Pattern]>, scope: &Scope) {
    let count = grants.map_or(0, <[Pattern]>::len);
    problems.check(count <= MAX_GRANTS, "/grants", "length", "there are at most 200 grants");
    if let Err(error) = scope.validate() {
        problems.check(false, "/scope", "length", &error.to_string());
    }
}

fn is_user_name(name: &str) -> bool {
    (1..=MAX_USER_NAME_CHARS).contains(&name.len()) && name.bytes().all(|c| c.is_ascii_graphic())
}

fn is_text(text: &str, max_chars: usize) -> bool {
    text.chars().count() <= max_chars && text.chars().all(is_printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(problems: Result<(), Vec<FieldProblem>>) -> Vec<Cow<'static, str>> {
        problems.err().unwrap_or_default().into_iter().map(|problem| problem.pointer).collect()
    }

    fn login(name: &str, password: &str) -> LoginRequest {
        LoginRequest { name: name.to_owned(), password: SecretString::from(password) }
    }

    #[test]
    fn unknown_fields_are_refused() {
        let extra = r#"{"name":"ann","password":"x","remember_me":true}"#;
        assert!(serde_json::from_str::<LoginRequest>(extra).unwrap_err().to_string().contains("remember_me"));
        let extra = r#"{"name":"ann","role":"viewer","scope":"all","is_admin":true}"#;
        assert!(serde_json::from_str::<CreateUser>(extra).is_err());
        let extra =
            r#"{"name":"t","role":"viewer","grants":[],"scope":"all","expires_in_days":1,"user_id":1}"#;
        assert!(serde_json::from_str::<CreateToken>(extra).is_err());
    }

    #[test]
    fn names_and_passwords_have_their_lengths() {
        assert_eq!(login("ann@example.org", "x").validate(), Ok(()));
        assert_eq!(pointers(login("", "").validate()), ["/name", "/password"]);
        assert_eq!(pointers(login("a b", &"x".repeat(1_025)).validate()), ["/name", "/password"]);
        assert_eq!(pointers(login(&"n".repeat(129), "x").validate()), ["/name"]);
        let change = |current: &str, new: &str| ChangePassword {
            current_password: SecretString::from(current),
            new_password: SecretString::from(new),
        };
        assert_eq!(change("old", &"n".repeat(12)).validate(), Ok(()));
        assert_eq!(change("old", &"n".repeat(1_024)).validate(), Ok(()));
        assert_eq!(pointers(change("old", &"n".repeat(11)).validate()), ["/new_password"]);
        assert_eq!(pointers(change("old", &"n".repeat(1_025)).validate()), ["/new_password"]);
        let same = "the same password";
        assert_eq!(pointers(change(same, same).validate()), ["/new_password"]);
    }

    #[test]
    fn a_token_lives_a_year_at_most() {
        let token = |name: &str, expires_in_days| CreateToken {
            name: name.to_owned(),
            role: Role::Viewer,
            grants: Vec::new(),
            scope: Scope::All,
            expires_in_days,
        };
        assert_eq!(token("ci", 365).validate(), Ok(()));
        assert_eq!(pointers(token("ci", 366).validate()), ["/expires_in_days"]);
        assert_eq!(pointers(token(" ", 0).validate()), ["/name", "/expires_in_days"]);
        assert_eq!(pointers(token("a\u{0}", 1).validate()), ["/name"]);
        assert_eq!(pointers(token("ci\u{200b}", 1).validate()), ["/name"]);
    }

    #[test]
    fn secrets_print_only_where_they_are_shown() {
        let shown = ShownOnce::new(SecretString::from("tell nobody"));
        assert!(!format!("{shown:?}").contains("nobody"));
        assert_eq!(serde_json::to_string(&shown).unwrap(), "\"tell nobody\"");
        assert!(!format!("{:?}", login("ann", "tell nobody")).contains("nobody"));
    }
}
