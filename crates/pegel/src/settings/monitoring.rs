//! `[monitoring]`: what monitors and channels may reach on this machine, and how Pegel tells that it is cut off itself.

use pegel_service::monitoring::Anchor;

use crate::settings::problem::{Key, Problems};
use crate::settings::section::section;

/// The most entries of a list.
const MAX_ENTRIES: usize = 64;

section! {
    /// How monitors are looked after.
    MonitoringSection as "monitoring" {
        loopback_hosts: Vec<String> = PEGEL_MONITORING_LOOPBACK_HOSTS,
        anchors: Vec<String> = PEGEL_MONITORING_ANCHORS,
        dead_man_url: String = PEGEL_MONITORING_DEAD_MAN_URL,
    }
}

/// Checked settings of monitoring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Monitoring {
    /// Hosts on loopback that may be reached.
    pub(crate) loopback_hosts: Vec<String>,
    /// Places that are reached whenever anything is.
    pub(crate) anchors: Vec<Anchor>,
    /// Who is told that Pegel is well.
    pub(crate) dead_man_url: Option<String>,
}

impl MonitoringSection {
    /// Checks everything and fills in defaults.
    pub(super) fn validate(self, problems: &mut Problems) -> Monitoring {
        let key = |name: &'static str| -> Key { (Self::TABLE, name) };
        let loopback_hosts = self.loopback_hosts.unwrap_or_default();
        let written = self.anchors.unwrap_or_default();
        for (name, count) in [("loopback_hosts", loopback_hosts.len()), ("anchors", written.len())] {
            if count > MAX_ENTRIES {
                problems.add(key(name), format!("has {count} entries, at most {MAX_ENTRIES} are allowed"));
            }
        }
        let mut anchors = Vec::new();
        for entry in written {
            match anchor(&entry) {
                Some(anchor) => anchors.push(anchor),
                None => problems.add(key("anchors"), format!("`{entry}` is not host:port")),
            }
        }
        let dead_man_url = self.dead_man_url;
        let is_url = |url: &String| url.starts_with("http://") || url.starts_with("https://");
        if dead_man_url.as_ref().is_some_and(|url| !is_url(url)) {
            problems.add(key("dead_man_url"), "is not an address that begins with http:// or https://");
        }
        Monitoring { loopback_hosts, anchors, dead_man_url }
    }
}

fn anchor(text: &str) -> Option<Anchor> {
    let (host, port) = text.rsplit_once(':')?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = port.parse().ok().filter(|port| *port > 0)?;
    (!host.is_empty()).then(|| Anchor { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_are_host_and_port() {
        let read = |text| anchor(text).map(|anchor| (anchor.host, anchor.port));
        assert_eq!(read("10.0.0.1:53"), Some(("10.0.0.1".to_owned(), 53)));
        assert_eq!(read("[::1]:53"), Some(("::1".to_owned(), 53)));
        for wrong in ["10.0.0.1", ":53", "host:0", "host:port", ""] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
