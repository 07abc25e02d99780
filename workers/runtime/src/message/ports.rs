//! The ports of a trial's range: which endpoint has which, the same in every application.
//!
//! Only what the worker says takes a port gets one; `channel` keeps them, and no socket is opened here.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use middlemark_contract::{EndpointAddress, PortHolders, Refusal, Rendezvous, Role};

/// One endpoint of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelEndpoint {
    /// The application that holds it.
    pub application: String,
    /// Its host's address, and the port that it or its application has in the trial; port 0 where neither takes one.
    pub socket: SocketAddr,
}

/// The ports of a trial's range, given in the order of the spec, so that all applications give the same.
pub(crate) struct Ports<'a> {
    range: &'a Rendezvous,
    holders: PortHolders,
    /// How many of the range are taken.
    taken: u16,
    /// Those that applications have for all their endpoints.
    of_application: BTreeMap<String, u16>,
}

impl Ports<'_> {
    pub(crate) fn of(range: &Rendezvous, holders: PortHolders) -> Ports<'_> {
        Ports {
            range,
            holders,
            taken: 0,
            of_application: BTreeMap::new(),
        }
    }

    /// The endpoints of one role with the ports that they have.
    ///
    /// # Errors
    /// The range has too few.
    pub(crate) fn given(&mut self, endpoints: &[EndpointAddress], role: Role) -> Result<Vec<ChannelEndpoint>, Refusal> {
        endpoints
            .iter()
            .map(|endpoint| {
                Ok(ChannelEndpoint {
                    application: endpoint.application.clone(),
                    socket: SocketAddr::new(endpoint.address, self.port(&endpoint.application, role)?),
                })
            })
            .collect()
    }

    fn port(&mut self, application: &str, role: Role) -> Result<u16, Refusal> {
        match (self.holders, role) {
            (PortHolders::Endpoints, _)
            | (PortHolders::Publishers, Role::Publisher)
            | (PortHolders::Subscribers, Role::Subscriber) => self.next(),
            (PortHolders::Applications, _) => {
                if let Some(port) = self.of_application.get(application) {
                    return Ok(*port);
                }
                let port = self.next()?;
                self.of_application.insert(application.to_owned(), port);
                Ok(port)
            }
            (PortHolders::Publishers | PortHolders::Subscribers | PortHolders::Nothing, _) => Ok(0),
        }
    }

    fn next(&mut self) -> Result<u16, Refusal> {
        if self.taken >= self.range.ports {
            return Err(Refusal {
                capability: "spec".into(),
                reason: format!(
                    "the trial's {} need more ports than the {} from {} on that its range has: have fewer of them, or a larger range",
                    self.holders, self.range.ports, self.range.first_port
                ),
            });
        }
        self.taken += 1;
        Ok(self.range.first_port + (self.taken - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: u16 = 3;

    fn range() -> Rendezvous {
        Rendezvous {
            name: "m".into(),
            token: 1,
            domain: 0,
            first_port: 1000,
            ports: RANGE,
            folder: "/".into(),
        }
    }

    fn endpoints(applications: &[&str]) -> Vec<EndpointAddress> {
        let endpoint = |application: &&str| EndpointAddress {
            application: (*application).into(),
            address: [127, 0, 0, 1].into(),
        };
        applications.iter().map(endpoint).collect()
    }

    /// The ports of a publisher in `a` and of its subscribers in `a` and `b`.
    fn given(holders: PortHolders) -> (Vec<u16>, Vec<u16>) {
        let range = range();
        let mut ports = Ports::of(&range, holders);
        let mut given = |applications: &[&str], role| {
            let endpoints = ports.given(&endpoints(applications), role).unwrap();
            endpoints.iter().map(|endpoint| endpoint.socket.port()).collect()
        };
        (given(&["a"], Role::Publisher), given(&["a", "b"], Role::Subscriber))
    }

    #[test]
    fn only_what_needs_a_port_takes_one_and_no_two_have_the_same() {
        for (holders, publishers, subscribers) in [
            (PortHolders::Endpoints, [1000], [1001, 1002]),
            (PortHolders::Publishers, [1000], [0, 0]),
            (PortHolders::Subscribers, [0], [1000, 1001]),
            (PortHolders::Applications, [1000], [1000, 1001]),
            (PortHolders::Nothing, [0], [0, 0]),
        ] {
            assert_eq!(
                given(holders),
                (publishers.to_vec(), subscribers.to_vec()),
                "{holders:?}"
            );
        }
    }

    #[test]
    fn a_range_with_too_few_ports_is_named_with_who_needs_more() {
        let (range, subscribers) = (range(), endpoints(&["a"; RANGE as usize + 1]));
        assert!(
            Ports::of(&range, PortHolders::Nothing)
                .given(&subscribers, Role::Subscriber)
                .is_ok()
        );
        let refused = Ports::of(&range, PortHolders::Subscribers).given(&subscribers, Role::Subscriber);
        let reason = refused.unwrap_err().reason;
        assert!(
            reason.contains("subscribers need more ports than the 3 from 1000 on"),
            "{reason}"
        );
    }
}
