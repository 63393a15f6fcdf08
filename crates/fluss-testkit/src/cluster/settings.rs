//! The configuration files of the servers.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cluster::plan::ServerPorts;
use crate::cluster::{ClusterBuilder, User};
use crate::error::Error;

/// The class that checks user names and passwords in the server.
const PLAIN_MODULE: &str = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule";

/// Keys and values of a `server.yaml`.
pub(super) type Settings = BTreeMap<String, String>;

/// Which server a file is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Role<'a> {
    Coordinator,
    TabletServer { index: usize, rack: Option<&'a str>, data: &'a Path },
}

/// Returns the settings of one server; the builder's further ones win over those made here.
pub(super) fn of_server(
    builder: &ClusterBuilder,
    role: Role<'_>,
    ports: &ServerPorts,
    zookeeper: u16,
    remote: &Path,
) -> Settings {
    let mut settings = Settings::new();
    let mut set = |key: &str, value: String| settings.insert(key.to_owned(), value);
    set("zookeeper.address", format!("127.0.0.1:{zookeeper}"));
    if let Some(timeout) = builder.session_timeout {
        set("zookeeper.client.session-timeout", format!("{}ms", timeout.as_millis()));
    }
    set("remote.data.dir", remote.display().to_string());
    set("default.bucket.number", builder.bucket_count.to_string());
    set("default.replication.factor", builder.replication_factor().to_string());
    set("log.replica.min-in-sync-replicas-number", builder.min_in_sync_replicas().to_string());
    // A quiet cluster would otherwise hold each acknowledged write back for half a second.
    set("log.replica.fetch.wait-max-time", "20ms".to_owned());
    set("kv.snapshot.interval", "10s".to_owned());
    set("remote.log.task-interval-duration", "10s".to_owned());
    if let Some(port) = ports.metrics {
        set("metrics.reporters", "prometheus".to_owned());
        set("metrics.reporter.prometheus.port", port.to_string());
    }
    for (key, value) in listeners(builder, ports) {
        set(key, value);
    }
    for (key, value) in security(builder) {
        set(key, value);
    }
    if let Role::TabletServer { index, rack, data } = role {
        set("tablet-server.id", index.to_string());
        set("data.dir", data.display().to_string());
        if let Some(rack) = rack {
            set("tablet-server.rack", rack.to_owned());
        }
    }
    for (key, value) in &builder.settings {
        settings.insert(key.clone(), value.clone());
    }
    settings
}

fn listeners(builder: &ClusterBuilder, ports: &ServerPorts) -> Vec<(&'static str, String)> {
    let Some(internal) = ports.internal else {
        return vec![("bind.listeners", format!("FLUSS://127.0.0.1:{}", ports.client))];
    };
    let mut bound = vec![format!("INTERNAL://127.0.0.1:{internal}")];
    bound.push(format!("CLIENT://127.0.0.1:{}", ports.behind.unwrap_or(ports.client)));
    let mut advertised = vec![format!("CLIENT://{}:{}", builder.client_host(), ports.client)];
    if let Some(direct) = ports.direct {
        bound.push(format!("DIRECT://127.0.0.1:{direct}"));
        advertised.push(format!("DIRECT://127.0.0.1:{direct}"));
    }
    vec![
        ("bind.listeners", bound.join(",")),
        ("advertised.listeners", advertised.join(",")),
        ("internal.listener.name", "INTERNAL".to_owned()),
    ]
}

fn security(builder: &ClusterBuilder) -> Vec<(&'static str, String)> {
    let mut settings = Vec::new();
    if !builder.users.is_empty() {
        let users: Vec<_> = builder.users.iter().map(jaas_user).collect();
        settings.push(("security.protocol.map", "CLIENT:SASL,DIRECT:SASL".to_owned()));
        settings.push(("security.sasl.enabled.mechanisms", "PLAIN".to_owned()));
        settings.push((
            "security.sasl.plain.jaas.config",
            format!("{PLAIN_MODULE} required {};", users.join(" ")),
        ));
    }
    if let Some(super_users) = &builder.super_users {
        let names: Vec<_> = super_users.iter().map(|name| format!("User:{name}")).collect();
        settings.push(("authorizer.enabled", "true".to_owned()));
        settings.push(("super.users", names.join(";")));
    }
    settings
}

fn jaas_user(user: &User) -> String {
    format!("user_{}=\"{}\"", user.name, user.password)
}

/// Returns the text of a `server.yaml`.
///
/// # Errors
/// `invalid_setting` for a key or value that would not stay on its line.
pub(super) fn yaml(settings: &Settings) -> Result<String, Error> {
    let mut text = String::new();
    for (key, value) in settings {
        let broken = |part: &str| part.chars().any(char::is_control) || part.contains(" #");
        if key.is_empty() || key.contains([' ', ':']) || broken(key) || broken(value) {
            return Err(Error::InvalidSetting {
                name: "settings",
                reason: format!("key {key:?} or its value cannot be written to server.yaml"),
            });
        }
        text.push_str(&format!("{key}: {value}\n"));
    }
    Ok(text)
}

/// Returns the text of ZooKeeper's properties.
pub(super) fn zookeeper(data: &Path, port: u16) -> String {
    format!(
        "dataDir={}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n\
         maxClientCnxns=0\n",
        data.display()
    )
}
