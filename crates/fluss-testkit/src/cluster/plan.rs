//! Which server listens where.
//!
//! A plain cluster has one listener per server, named FLUSS as in a real installation. As soon as SASL,
//! TLS or a proxy is asked for, servers talk to each other on a plain listener INTERNAL, and clients come
//! in on CLIENT. If something stands before CLIENT, a third listener DIRECT has the same security without
//! it, for peers that know no TLS and for looking past a broken proxy.

use std::net::SocketAddr;

use crate::error::Error;
use crate::ports::{self, FreePorts};

/// Where ports come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PortChoice {
    /// Free ports, claimed so that clusters of other tests cannot take them.
    Free,
    /// Ports relative to a base, see [`FixedPorts`].
    Fixed(FixedPorts),
}

/// Fixed ports, for people and for documents.
///
/// | port | what |
/// | --- | --- |
/// | base | coordinator, for clients |
/// | base + 1 + n | tablet server n, for clients |
/// | base + 10, base + 11 + n | INTERNAL listeners (with SASL, TLS or proxies) |
/// | base + 20, base + 21 + n | DIRECT listeners (with TLS or proxies) |
/// | base + 30, base + 31 + n | CLIENT listeners behind TLS or proxies |
/// | base + 40, base + 41 + n | TLS ends behind proxies |
/// | base + 58 | ZooKeeper |
/// | base + 126, base + 127 + n | Prometheus endpoints |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedPorts {
    /// The coordinator's port for clients.
    pub base: u16,
    /// The option that moves the base, for messages.
    pub option: &'static str,
}

const INTERNAL: u16 = 10;
const DIRECT: u16 = 20;
const BEHIND: u16 = 30;
const TLS_END: u16 = 40;
const ZOOKEEPER: u16 = 58;
const METRICS: u16 = 126;

/// The most tablet servers a cluster may have; the fixed port ranges hold no more.
pub(super) const MOST_TABLET_SERVERS: u16 = 9;

/// What is asked of the listeners.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) tablet_servers: u16,
    pub(super) sasl: bool,
    pub(super) tls: bool,
    pub(super) proxies: bool,
    pub(super) metrics: bool,
}

/// The ports of one Fluss server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerPorts {
    /// What clients connect to.
    pub(super) client: u16,
    /// Where the server's CLIENT listener is, if not at `client` itself.
    pub(super) behind: Option<u16>,
    /// Where TLS ends, if a proxy is at `client`.
    pub(super) tls_end: Option<u16>,
    /// The plain listener between servers, if clients have another.
    pub(super) internal: Option<u16>,
    /// The listener with nothing before it, if something stands before CLIENT.
    pub(super) direct: Option<u16>,
    pub(super) metrics: Option<u16>,
}

impl ServerPorts {
    /// Returns the address that looks past TLS and proxies, with the security of clients.
    pub(super) fn direct_address(&self) -> SocketAddr {
        ports::loopback(self.direct.unwrap_or(self.client))
    }

    /// Returns the address between servers.
    pub(super) fn internal_address(&self) -> SocketAddr {
        ports::loopback(self.internal.unwrap_or(self.client))
    }
}

/// All ports of a cluster.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) zookeeper: u16,
    pub(super) coordinator: ServerPorts,
    pub(super) tablet_servers: Vec<ServerPorts>,
    /// Held for as long as the ports are.
    _claim: Option<FreePorts>,
}

impl Plan {
    /// Chooses ports, and checks that fixed ones are free.
    pub(super) fn make(choice: &PortChoice, shape: Shape) -> Result<Self, Error> {
        let PortChoice::Fixed(fixed) = choice else {
            let claim = FreePorts::claim(Self::count(shape))?;
            let mut given = claim.ports().to_vec().into_iter();
            let missing = || Error::NoFreePorts { count: Self::count(shape) };
            let mut plan = Self::fill(shape, |_, _| given.next().ok_or_else(missing))?;
            plan._claim = Some(claim);
            return Ok(plan);
        };
        let plan = Self::fill(shape, |offset, server| {
            fixed.base.checked_add(offset + server).ok_or_else(|| Error::InvalidSetting {
                name: "ports",
                reason: format!("base {} is too high", fixed.base),
            })
        })?;
        for (port, role) in plan.all() {
            ports::check_free(port, &role, fixed.option)?;
        }
        Ok(plan)
    }

    fn count(shape: Shape) -> usize {
        Self::fill(shape, |_, _| Ok(0)).map_or(0, |plan| plan.all().len())
    }

    /// Fills the plan; `next` gets the offset of the port's kind and the server's place.
    fn fill(shape: Shape, mut next: impl FnMut(u16, u16) -> Result<u16, Error>) -> Result<Self, Error> {
        let covered = shape.tls || shape.proxies;
        let mut server = |place: u16| -> Result<ServerPorts, Error> {
            let mut maybe = |wanted: bool, offset: u16| wanted.then(|| next(offset, place)).transpose();
            Ok(ServerPorts {
                client: maybe(true, 0)?.unwrap_or_default(),
                behind: maybe(covered, BEHIND)?,
                tls_end: maybe(shape.tls && shape.proxies, TLS_END)?,
                internal: maybe(covered || shape.sasl, INTERNAL)?,
                direct: maybe(covered, DIRECT)?,
                metrics: maybe(shape.metrics, METRICS)?,
            })
        };
        let coordinator = server(0)?;
        let tablet_servers = (1..=shape.tablet_servers).map(&mut server).collect::<Result<_, _>>()?;
        Ok(Self { zookeeper: next(ZOOKEEPER, 0)?, coordinator, tablet_servers, _claim: None })
    }

    /// Returns every port with what it is for.
    fn all(&self) -> Vec<(u16, String)> {
        let mut all = vec![(self.zookeeper, "ZooKeeper".to_owned())];
        let servers = std::iter::once(("the coordinator".to_owned(), &self.coordinator)).chain(
            self.tablet_servers
                .iter()
                .enumerate()
                .map(|(index, ports)| (format!("tablet server {index}"), ports)),
        );
        for (name, ports) in servers {
            all.push((ports.client, name.clone()));
            let further = [
                (ports.behind, "CLIENT listener"),
                (ports.tls_end, "TLS end"),
                (ports.internal, "INTERNAL listener"),
                (ports.direct, "DIRECT listener"),
                (ports.metrics, "metrics"),
            ];
            for (port, what) in further {
                all.extend(port.map(|port| (port, format!("the {what} of {name}"))));
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FixedPorts, Plan, PortChoice, Shape};

    const PLAIN: Shape = Shape { tablet_servers: 3, sasl: false, tls: false, proxies: false, metrics: true };

    fn fixed(shape: Shape) -> Plan {
        Plan::fill(shape, |offset, server| Ok(9123 + offset + server)).unwrap()
    }

    #[test]
    fn a_plain_cluster_has_the_documented_ports_and_no_further_listeners() {
        let plan = fixed(PLAIN);
        assert_eq!(
            (plan.zookeeper, plan.coordinator.client, plan.coordinator.metrics),
            (9181, 9123, Some(9249))
        );
        let tablets: Vec<_> = plan.tablet_servers.iter().map(|ports| (ports.client, ports.metrics)).collect();
        assert_eq!(tablets, [(9124, Some(9250)), (9125, Some(9251)), (9126, Some(9252))]);
        assert_eq!(plan.coordinator.internal, None);
        assert_eq!(plan.coordinator.direct_address().port(), 9123);
    }

    #[test]
    fn no_two_roles_share_a_port_whatever_is_asked_for() {
        for bits in 0..8_u8 {
            let shape = Shape {
                tablet_servers: super::MOST_TABLET_SERVERS,
                sasl: bits & 1 != 0,
                tls: bits & 2 != 0,
                proxies: bits & 4 != 0,
                metrics: true,
            };
            let all = fixed(shape).all();
            let different: BTreeSet<_> = all.iter().map(|(port, _)| port).collect();
            assert_eq!(different.len(), all.len(), "{shape:?}: {all:?}");
        }
    }

    #[test]
    fn a_base_without_room_above_it_is_refused() {
        let choice = PortChoice::Fixed(FixedPorts { base: 65_500, option: "--port-base" });
        assert_eq!(Plan::make(&choice, PLAIN).unwrap_err().code(), "invalid_setting");
    }
}
