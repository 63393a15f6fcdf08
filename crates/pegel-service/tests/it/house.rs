//! A service of people on an empty store, with cheap hashes and a clock that stands still.

use std::sync::Arc;

use pegel_api_types::people::{ChangePassword, CreateUser, LoginRequest, UserView};
use pegel_core::access::Role;
use pegel_core::access::decision::Target;
use pegel_core::access::scope::Scope;
use pegel_core::clock::{Clock, ManualClock};
use pegel_service::Error;
use pegel_service::caller::{Caller, Origin};
use pegel_service::people::{HashSettings, NewSession, People, Settings};
use pegel_service::policy::permission::{Permit, UsersWrite};
use pegel_service::policy::{Authorized, Policy};
use pegel_store::audit::{self, AuditRow, Filter};
use pegel_store::{Db, StoreConfig};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use pegel_testkit::postgres;

pub(crate) struct House {
    pub(crate) db: Db,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) people: People,
    pub(crate) policy: Policy,
    config: StoreConfig,
    _folder: Option<tempfile::TempDir>,
}

/// Someone who can sign in.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) user: UserView,
    pub(crate) password: String,
}

/// Hashes that cost next to nothing.
pub(crate) const CHEAP: HashSettings =
    HashSettings { memory_kib: 8, iterations: 1, lanes: 1, parallel: 2, waiting: 64 };

pub(crate) fn settings() -> Settings {
    Settings { hash: CHEAP, ..Settings::default() }
}

impl House {
    pub(crate) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::open(StoreConfig::Sqlite { path: folder.path().join("pegel.db") }, Some(folder)).await
    }

    pub(crate) async fn postgres() -> Option<Self> {
        let url = SecretString::from(postgres::new_database().await?);
        Some(Self::open(StoreConfig::Postgres { url }, None).await)
    }

    async fn open(config: StoreConfig, folder: Option<tempfile::TempDir>) -> Self {
        let clock = Arc::new(ManualClock::new("2026-03-01T12:00:00Z".parse().unwrap()));
        let db = Db::open(&config, Arc::clone(&clock) as Arc<dyn Clock>).await.unwrap();
        let people = People::new(db.clone(), settings()).unwrap();
        Self { policy: Policy::new(db.clone()), db, clock, people, config, _folder: folder }
    }

    /// Opens the same store as another instance would.
    pub(crate) async fn another_db(&self) -> Db {
        Db::open(&self.config, Arc::clone(&self.clock) as Arc<dyn Clock>).await.unwrap()
    }

    /// Serves people from another instance.
    pub(crate) async fn another_instance(&self) -> People {
        People::new(self.another_db().await, settings()).unwrap()
    }

    pub(crate) async fn login(&self, name: &str, password: &str) -> Result<NewSession, Error> {
        self.login_from("192.0.2.1", name, password).await
    }

    pub(crate) async fn login_from(
        &self,
        source: &str,
        name: &str,
        password: &str,
    ) -> Result<NewSession, Error> {
        self.people.login(&origin(source), &login(name, password)).await
    }

    pub(crate) async fn session(&self, session: &NewSession) -> Result<Caller, Error> {
        self.people.authenticate_session(session.token.expose_secret(), Uuid::from_u128(7)).await
    }

    /// Signs in and returns the caller.
    pub(crate) async fn caller(&self, person: &Person) -> Caller {
        let session = self.login(&person.user.name, &person.password).await.unwrap();
        self.session(&session).await.unwrap()
    }

    pub(crate) async fn may<P: Permit>(&self, caller: &Caller) -> Authorized<P> {
        self.policy.authorize(caller, Target::Global).await.unwrap()
    }

    /// Makes the first admin, with a password of its own.
    pub(crate) async fn admin(&self) -> Person {
        let admin = self.people.ensure_admin(Uuid::from_u128(1)).await.unwrap().unwrap();
        self.settle(&admin.name, admin.password.expose_secret()).await
    }

    /// Makes a user by the admin's hand, with a password of its own.
    pub(crate) async fn person(&self, admin: &Person, name: &str, role: Role, scope: Scope) -> Person {
        let may = self.may::<UsersWrite>(&self.caller(admin).await).await;
        let made = self.people.create_user(&may, &new_user(name, role, scope)).await.unwrap();
        self.settle(name, made.password.secret().expose_secret()).await
    }

    /// Signs in with a generated password and changes it.
    async fn settle(&self, name: &str, generated: &str) -> Person {
        let session = self.login(name, generated).await.unwrap();
        let password = format!("the own password of {name}");
        let caller = self.session(&session).await.unwrap();
        let change = change(generated, &password);
        self.people.change_password(&caller, &origin("192.0.2.1"), &change).await.unwrap();
        Person { user: self.login(name, &password).await.unwrap().user, password }
    }

    /// Returns the audit log, oldest first.
    pub(crate) async fn audit(&self) -> Vec<AuditRow> {
        let list = self
            .db
            .read(|tx| Box::pin(async move { audit::list(tx, &Filter::default(), None, 1_000).await }));
        let mut rows = list.await.unwrap();
        rows.reverse();
        rows
    }

    /// Returns action and outcome of the newest audit row.
    pub(crate) async fn last_audit(&self) -> (String, String) {
        let row = self.audit().await.pop().unwrap();
        (row.entry.action, row.entry.outcome)
    }
}

pub(crate) fn origin(source: &str) -> Origin {
    Origin {
        request_id: Uuid::from_u128(42),
        source: source.parse().unwrap(),
        user_agent: "a browser\u{0}".to_owned(),
    }
}

pub(crate) fn login(name: &str, password: &str) -> LoginRequest {
    LoginRequest { name: name.to_owned(), password: SecretString::from(password) }
}

pub(crate) fn change(current: &str, new: &str) -> ChangePassword {
    ChangePassword { current_password: SecretString::from(current), new_password: SecretString::from(new) }
}

pub(crate) fn new_user(name: &str, role: Role, scope: Scope) -> CreateUser {
    CreateUser { name: name.to_owned(), display_name: String::new(), role, grants: None, scope }
}

pub(crate) fn scope(json: &str) -> Scope {
    serde_json::from_str(json).unwrap()
}

/// Returns the error's code; a success is a failure of the test.
pub(crate) fn code<T>(result: Result<T, Error>) -> &'static str {
    match result {
        Ok(_) => panic!("this must be refused"),
        Err(error) => error.code().as_str(),
    }
}
