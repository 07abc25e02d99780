//! How the routing managers of a trial's hosts find each other: where their service discovery sends to, and what can't be had.
//!
//! It reads the options and the kernel's routes and sends nothing itself; `configuration` renders what it decides.

use std::net::{IpAddr, Ipv4Addr};

use middlemark_contract::{ApplicationSpec, Refusal, ServiceSpec};
use middlemark_runtime::{MiddlewareError, Options};

use crate::carriage;

/// The address that vSomeIP's service discovery sends to as shipped (`VSOMEIP_SD_DEFAULT_MULTICAST`).
const MULTICAST: Ipv4Addr = Ipv4Addr::new(224, 224, 224, 0);

const TABLE: &str = "/proc/net/route";

/// Refuses what vSomeIP can't do between hosts: find them without multicast or broadcast. Within a host nobody is looked for.
///
/// # Errors
/// The refusal, with what vSomeIP lacks.
pub(crate) fn accept(spec: &ApplicationSpec, options: &Options) -> Result<(), Refusal> {
    let reason = match (options.text("discovery"), spec.address) {
        _ if !carriage::is_between_hosts(spec) => return Ok(()),
        ("peers", _) => {
            "discovery 'peers' between hosts: without service discovery vSomeIP takes no subscriptions, and its service discovery \
             sends offers to one address only and numbers them apart from its answers, so that a peer at that address takes \
             each answer for a restart and drops the subscription; ask for multicast or broadcast"
        }
        ("broadcast", IpAddr::V6(_)) => "discovery 'broadcast' needs IPv4: IPv6 has no broadcast; ask for multicast",
        _ => return Ok(()),
    };
    Err(Refusal {
        capability: "option".into(),
        reason: reason.into(),
    })
}

/// Where service discovery of a routing manager sends offers to, unless that is as shipped.
///
/// # Errors
/// That the kernel does not lead there, as vSomeIP then waits for ever without a word.
pub(crate) fn broadcast(spec: &ServiceSpec, options: &Options) -> Result<Option<Ipv4Addr>, MiddlewareError> {
    let interface = &spec.interface;
    match (options.text("discovery"), spec.address()) {
        ("multicast", _) => {
            if !leads_to(&std::fs::read_to_string(TABLE)?, interface, MULTICAST) {
                return Err(format!(
                    "interface {interface} has no route to {MULTICAST}, without which vSomeIP's service discovery does not \
                     start; add one with: ip route add 224.0.0.0/4 dev {interface}"
                )
                .into());
            }
            Ok(None)
        }
        ("broadcast", IpAddr::V4(address)) => {
            let found = broadcast_of(&std::fs::read_to_string(TABLE)?, interface, address);
            let missing =
                || format!("{address} on {interface} is in no network with a broadcast address; ask for multicast");
            Ok(Some(found.ok_or_else(missing)?))
        }
        _ => Ok(None), // the applications refuse it
    }
}

/// A line of `/proc/net/route`.
struct Route<'a> {
    interface: &'a str,
    destination: u32,
    gateway: u32,
    mask: u32,
}

impl<'a> Route<'a> {
    /// Addresses are written in network order, read as a number of this machine.
    fn parse(line: &'a str) -> Option<Route<'a>> {
        let fields: Vec<_> = line.split_whitespace().collect();
        let number = |index: usize| u32::from_str_radix(fields.get(index)?, 16).map(u32::from_be).ok();
        Some(Route {
            interface: fields.first()?,
            destination: number(1)?,
            gateway: number(2)?,
            mask: number(7)?,
        })
    }

    fn leads_to(&self, address: Ipv4Addr) -> bool {
        address.to_bits() & self.mask == self.destination
    }
}

fn routes<'a>(table: &'a str, interface: &'a str) -> impl Iterator<Item = Route<'a>> {
    let routes = table.lines().skip(1).filter_map(Route::parse);
    routes.filter(move |route| route.interface == interface)
}

fn leads_to(table: &str, interface: &str, address: Ipv4Addr) -> bool {
    routes(table, interface).any(|route| route.leads_to(address))
}

/// The broadcast address of the network that the interface is in with that address; networks of one or two addresses have none.
fn broadcast_of(table: &str, interface: &str, address: Ipv4Addr) -> Option<Ipv4Addr> {
    routes(table, interface)
        .filter(|route| route.gateway == 0 && (8..31).contains(&route.mask.leading_ones()) && route.leads_to(address))
        .max_by_key(|route| route.mask)
        .map(|route| Ipv4Addr::from_bits(route.destination | !route.mask))
}

#[cfg(test)]
mod tests;
