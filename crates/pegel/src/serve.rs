//! `pegel serve`: the server's life from its settings to the last answer.
//!
//! What others could be hurt by is checked before anything is touched: the data directory belongs to one server,
//! the port is free, the store is not of a newer Pegel. What a request means is not decided here.

use std::io::{IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use pegel_api::Shutdown;
use pegel_api::settings::{ApiSettings, ServeSettings};
use pegel_core::error_code::ErrorCode;
use pegel_service::failure::Failure;
use pegel_service::monitoring;
use pegel_service::people::GeneratedAdmin;
use pegel_service::service::{Service, ServiceSettings};
use pegel_store::Db;
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::clock::{self, SystemClock};
use crate::console::Console;
use crate::server_url::ServerUrl;
use crate::settings::log::LogFormat;
use crate::settings::{Finding, Settings, metrics};
use crate::{logging, private_file};

pub(crate) mod data_dir;
mod housekeeping;
pub(crate) mod listen;
mod signals;
pub(crate) mod store;

use data_dir::DataDir;
use signals::Signals;

/// Runs the server until a signal ends it.
///
/// # Errors
/// What keeps it from starting: `invalid_config`, `data_dir_in_use`, `data_dir_unusable`, `listen_failed`,
/// `key_file_unusable`, and those of the store.
pub(crate) async fn run(settings: Settings, is_verbose: bool, console: &Console) -> Result<u8, Failure> {
    let mut signals = Signals::listen()?;
    logging::start_server(&settings.log, is_verbose, std::io::stderr().is_terminal());
    for warning in settings.warnings.iter().map(Finding::line) {
        match settings.log.format {
            LogFormat::Text => console.warn(&warning),
            LogFormat::Json => tracing::warn!("{warning}"),
        }
    }
    let started = tokio::select! {
        started = Box::pin(start(&settings)) => started?,
        // Nothing is lost: whatever was begun is a transaction, or a file that is whole.
        () = signals.end() => return Ok(0),
    };
    announce(&settings, &started, console);
    let shutdown = Shutdown::default();
    tokio::select! {
        () = Box::pin(started.serve(&settings, shutdown.clone())) => {}
        () = signals.pass_on(&shutdown) => {}
    }
    Ok(0)
}

/// A server that is ready to answer.
struct Started {
    _data_dir: Option<DataDir>,
    listener: TcpListener,
    url: ServerUrl,
    db: Db,
    service: Service,
    api: ApiSettings,
    admin: Option<GeneratedAdmin>,
}

async fn start(settings: &Settings) -> Result<Started, Failure> {
    let data_dir = data_dir::take(&settings.store)?;
    let listener = listen::bind(settings.server.listen).await?;
    let address = listener
        .local_addr()
        .map_err(|error| Failure::internal("the listener has no address").with_cause(&error))?;
    let api = api_settings(settings)?;
    let db = store::open(&settings.store, Arc::new(SystemClock)).await?;
    store::warn_of_new_database(&settings.store, &db);
    // A server that can note nothing would say that it listens and then refuse every login.
    db.check_writable().await.map_err(|error| store::failure(&error, &settings.store))?;
    let secrets = store::secret_box(&settings.store, &db).await?;
    let service_settings = ServiceSettings {
        people: settings.people,
        clusters: settings.clusters,
        monitoring: monitoring(settings, address)?,
    };
    let service = Service::start(db.clone(), secrets, service_settings)
        .await
        .map_err(|error| store::service_failure(&error, &settings.store))?;
    let admin = service
        .people()
        .ensure_admin(clock::execution_id())
        .await
        .map_err(|error| store::service_failure(&error, &settings.store))?;
    let url = ServerUrl::of_listener(address);
    Ok(Started { _data_dir: data_dir, listener, url, db, service, api, admin })
}

/// Says how monitors are looked after by this server; its name is that of its machine and port.
fn monitoring(settings: &Settings, address: SocketAddr) -> Result<monitoring::Settings, Failure> {
    let machine = rustix::system::uname();
    let owner = format!("{}:{}", machine.nodename().to_string_lossy(), address.port());
    // Servers that share a database may share the directory, too.
    let folder = settings.store.data_dir.join(format!("pings-{}", address.port()));
    private_file::make_folder(&folder).map_err(|error| {
        let message = format!("cannot make the folder {} for pings", folder.display());
        Failure::new(ErrorCode::DataDirUnusable, message).with_cause(&error)
    })?;
    Ok(monitoring::Settings {
        owner,
        folder,
        base_url: settings.server.public_url.as_ref().map(ToString::to_string),
        anchors: settings.monitoring.anchors.clone(),
        dead_man_url: settings.monitoring.dead_man_url.clone(),
        loopback_hosts: settings.monitoring.loopback_hosts.clone(),
        is_active: true,
    })
}

fn api_settings(settings: &Settings) -> Result<ApiSettings, Failure> {
    let unusable = |message: String| Failure::new(ErrorCode::InvalidConfig, message);
    let public_url = settings.server.public_url.as_ref().map(ToString::to_string);
    let public_url = public_url
        .map(|url| {
            url.parse().map_err(|error| unusable("public_url cannot be used".to_owned()).with_cause(&error))
        })
        .transpose()?;
    let token = settings.metrics_token.as_ref().map(|source| {
        metrics::read_token(source).map_err(|error| {
            let place = source.path().unwrap_or(Path::new("")).display();
            unusable(format!("the token of [metrics] in {place} cannot be used")).with_cause(&error)
        })
    });
    Ok(ApiSettings {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        public_url,
        allowed_hosts: settings.server.allowed_hosts.clone(),
        trusted_proxies: settings.server.trusted_proxies.clone(),
        metrics_token: token.transpose()?,
        max_body_bytes: settings.server.body_limit_bytes,
        ..ApiSettings::default()
    })
}

/// Tells where the server is and, the first time, how to get in.
///
/// The password goes straight to stderr and never through the log, whatever the log's format.
fn announce(settings: &Settings, started: &Started, console: &Console) {
    if let Some(admin) = &started.admin {
        let password = admin.password.expose_secret();
        // Without a stderr there is nobody to tell.
        let _ = writeln!(
            std::io::stderr().lock(),
            "\nThis is the first start. Sign in as `{}` with the password\n\n    {password}\n\nIt is shown only this \
             once, and has to be changed at the first login.\n",
            admin.name
        );
    }
    let url = &started.url;
    if settings.log.format == LogFormat::Text {
        console.note(&format!("listening on {url}\n"));
        if let Some(public_url) = &settings.server.public_url {
            console.note(&format!("known as {public_url}\n"));
        }
    }
    tracing::info!(
        server.address = %url,
        server.version = env!("CARGO_PKG_VERSION"),
        store.kind = settings.store.database.kind(),
        store.schema_version = started.db.migrated().to_version,
        "listening on {url}"
    );
}

impl Started {
    /// Answers until `shutdown` is asked for, then ends everything in order.
    async fn serve(self, settings: &Settings, shutdown: Shutdown) {
        let tasks = TaskTracker::new();
        let end = CancellationToken::new();
        tasks.spawn(housekeeping::run(self.db.clone(), settings.retention.clone(), end.clone()));
        let router = pegel_api::router(self.service.clone(), self.api);
        let serve_settings = ServeSettings {
            max_connections: settings.server.max_connections,
            drain_timeout: settings.server.drain_timeout,
            ..ServeSettings::default()
        };
        if let Err(error) = pegel_api::serve(self.listener, router, serve_settings, shutdown).await {
            tracing::error!(error = &error as &dyn std::error::Error, "the listener failed");
        }
        end.cancel();
        tasks.close();
        tasks.wait().await;
        self.service.shutdown().await;
        self.db.close().await;
        tracing::info!("stopped");
    }
}
