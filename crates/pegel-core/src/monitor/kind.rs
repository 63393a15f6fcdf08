//! The kinds of monitors.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a monitor looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MonitorKind {
    /// An HTTP target.
    Http,
    /// A TCP port.
    Tcp,
    /// A job that reports itself.
    Heartbeat,
    /// A Fluss server, asked in its own protocol.
    FlussProbe,
    /// The coordinator of a cluster.
    Coordinator,
    /// The tablet servers of a cluster.
    TabletServersAlive,
    /// Buckets that are under-replicated.
    Replication,
    /// The age of the stalest snapshot.
    SnapshotAge,
    /// The latency of writes.
    WriteLatency,
    /// A row that is written, fetched and looked up.
    Canary,
    /// How far remote logs are behind.
    RemoteLogLag,
    /// How far lake tables are behind.
    LakeLag,
    /// A rule on a metric.
    MetricRule,
    /// A rule on several metrics.
    AnomalyRule,
    /// A Flink job manager.
    FlinkJobmanager,
    /// A ZooKeeper server.
    Zookeeper,
}

/// Says that a text is no kind of monitor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no such kind of monitor")]
pub struct UnknownMonitorKind;

impl MonitorKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Http,
        Self::Tcp,
        Self::Heartbeat,
        Self::FlussProbe,
        Self::Coordinator,
        Self::TabletServersAlive,
        Self::Replication,
        Self::SnapshotAge,
        Self::WriteLatency,
        Self::Canary,
        Self::RemoteLogLag,
        Self::LakeLag,
        Self::MetricRule,
        Self::AnomalyRule,
        Self::FlinkJobmanager,
        Self::Zookeeper,
    ];

    /// Returns the kind as it is written everywhere.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
            Self::Heartbeat => "heartbeat",
            Self::FlussProbe => "fluss_probe",
            Self::Coordinator => "coordinator",
            Self::TabletServersAlive => "tablet_servers_alive",
            Self::Replication => "replication",
            Self::SnapshotAge => "snapshot_age",
            Self::WriteLatency => "write_latency",
            Self::Canary => "canary",
            Self::RemoteLogLag => "remote_log_lag",
            Self::LakeLag => "lake_lag",
            Self::MetricRule => "metric_rule",
            Self::AnomalyRule => "anomaly_rule",
            Self::FlinkJobmanager => "flink_jobmanager",
            Self::Zookeeper => "zookeeper",
        }
    }
}

impl fmt::Display for MonitorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MonitorKind {
    type Err = UnknownMonitorKind;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|known| known.as_str() == text).ok_or(UnknownMonitorKind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_round_trip_as_text() {
        for kind in MonitorKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
        assert_eq!("ping".parse::<MonitorKind>(), Err(UnknownMonitorKind));
    }
}
