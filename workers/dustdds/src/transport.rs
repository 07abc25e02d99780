//! The library's own transport, over UDP, but that what is for a multicast group leaves through the trial's interface alone.
//!
//! As shipped it leaves through every interface of the host, whichever is named, and so reaches networks that are no part of a
//! trial. Messages go from the library's sockets as ever; `session` makes participants with it.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddrV4, UdpSocket};
use std::process;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use dust_dds::configuration::{DustDdsConfiguration, DustDdsConfigurationBuilder};
use dust_dds::dds_async::domain_participant_factory::DomainParticipantFactoryAsync;
use dust_dds::domain::domain_participant_factory::DomainParticipantFactory;
use dust_dds::rtps_udp_transport::udp_transport::RtpsUdpTransportParticipantFactory;
use dust_dds::std_runtime::StdRuntime;
use dust_dds::transport::interface::{
    RtpsTransportParticipant, TransportDataReceiver, TransportParticipantFactory, WriteMessage,
};
use dust_dds::transport::types::{LOCATOR_KIND_UDP_V4, Locator};
use middlemark_contract::ApplicationSpec;
use middlemark_runtime::{Context, MiddlewareError, Options};

use crate::limits::FRAGMENT_BYTES;

/// What a trial's configuration says of it.
pub(crate) const WORDS: &str = "leave through the trial's interface alone; as shipped through every one of the host";

/// A process number has so many bits at most.
const PROCESS_BITS: u32 = 22;

/// What makes participants, of which a process has one.
pub(crate) type Factory = DomainParticipantFactory<OnOneInterface>;

/// Makes it as the options say.
pub(crate) fn factory(context: &Context<'_>) -> Result<Factory, MiddlewareError> {
    let (spec, options) = (context.spec, context.options);
    let IpAddr::V4(address) = spec.address else {
        return Err(format!("Dust DDS has no socket on {}", spec.address).into());
    };
    // The kernel sends what is for a group through the interface that has the socket's own address.
    let announcements = UdpSocket::bind((address, 0)).map_err(|error| format!("no socket on {address}: {error}"))?;
    let transport = OnOneInterface {
        udp: udp(&spec.interface, options)?,
        announcements: Arc::new(announcements),
    };
    let factory = DomainParticipantFactoryAsync::new(
        StdRuntime::new(),
        number(spec).to_ne_bytes(),
        address.octets(),
        transport,
        configuration(options)?,
    );
    // The library has it live as long as the process.
    Ok(DomainParticipantFactory::new(Box::leak(Box::new(factory))))
}

fn udp(interface: &str, options: &Options) -> Result<RtpsUdpTransportParticipantFactory, MiddlewareError> {
    let receive_buffer_bytes = options.integer("socket_receive_buffer_bytes") as usize;
    let mut udp = RtpsUdpTransportParticipantFactory::default();
    udp.set_interface_name(Some(interface.to_owned()))
        .set_udp_receive_buffer_size((receive_buffer_bytes > 0).then_some(receive_buffer_bytes))
        .set_fragment_size(options.integer(FRAGMENT_BYTES) as usize)?;
    Ok(udp)
}

fn configuration(options: &Options) -> Result<DustDdsConfiguration, MiddlewareError> {
    let interval = Duration::from_millis(options.integer("announcement_interval_ms") as u64);
    let configuration = DustDdsConfigurationBuilder::new()
        .participant_announcement_interval(interval)
        .enable_type_information(options.boolean("type_information"))
        .build()?;
    Ok(configuration)
}

/// What tells the participants of one address apart, as processes in containers may have one number.
fn number(spec: &ApplicationSpec) -> u32 {
    let endpoints = spec
        .streams
        .iter()
        .flat_map(|stream| stream.publishers.iter().chain(&stream.subscribers));
    let applications: BTreeSet<_> = endpoints.map(|endpoint| &endpoint.application).collect();
    let position = applications
        .into_iter()
        .position(|application| *application == spec.application);
    ((position.unwrap_or(0) as u32) << PROCESS_BITS) | process::id()
}

/// The library's transport, confined.
pub(crate) struct OnOneInterface {
    udp: RtpsUdpTransportParticipantFactory,
    announcements: Arc<UdpSocket>,
}

impl TransportParticipantFactory for OnOneInterface {
    fn create_participant(&self, domain: i32, receiver: TransportDataReceiver) -> RtpsTransportParticipant {
        let participant = self.udp.create_participant(domain, receiver);
        RtpsTransportParticipant {
            message_writer: Box::new(Confined {
                messages: participant.message_writer,
                announcements: Arc::clone(&self.announcements),
            }),
            ..participant
        }
    }
}

/// Sends by the library's socket, but for groups.
struct Confined {
    messages: Box<dyn WriteMessage + Send + Sync>,
    announcements: Arc<UdpSocket>,
}

impl WriteMessage for Confined {
    fn write_buffer_mut(&mut self) -> &mut [u8] {
        self.messages.write_buffer_mut()
    }

    fn write_message(&mut self, len: usize, locators: &[Locator]) {
        if locators.iter().all(|locator| group(locator).is_none()) {
            return self.messages.write_message(len, locators);
        }
        for locator in locators {
            match group(locator) {
                None => self.messages.write_message(len, slice::from_ref(locator)),
                Some(group) => {
                    let datagram = &self.messages.write_buffer_mut()[..len];
                    // What can't be sent now is announced again.
                    let _ = self.announcements.send_to(datagram, group);
                }
            }
        }
    }
}

/// The multicast group that a locator names; none where it names none.
fn group(locator: &Locator) -> Option<SocketAddrV4> {
    let [.., a, b, c, d] = locator.address();
    let address = Ipv4Addr::new(a, b, c, d);
    let is_group = locator.kind() == LOCATOR_KIND_UDP_V4 && address.is_multicast();
    is_group.then(|| SocketAddrV4::new(address, locator.port() as u16))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 77, 1);

    /// Notes where it was to send.
    #[derive(Default)]
    struct Notes {
        datagram: [u8; 5],
        locators: Arc<Mutex<Vec<Locator>>>,
    }

    impl WriteMessage for Notes {
        fn write_buffer_mut(&mut self) -> &mut [u8] {
            &mut self.datagram
        }

        fn write_message(&mut self, _len: usize, locators: &[Locator]) {
            self.locators.lock().unwrap().extend(locators);
        }
    }

    fn locator(address: Ipv4Addr, port: u16) -> Locator {
        let mut octets = [0; 16];
        octets[12..].copy_from_slice(&address.octets());
        Locator::new(LOCATOR_KIND_UDP_V4, port.into(), octets)
    }

    #[test]
    fn what_is_for_a_group_goes_through_the_interface_of_the_address_and_all_else_by_the_librarys_socket() {
        let listening = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        listening.join_multicast_v4(&GROUP, &Ipv4Addr::LOCALHOST).unwrap();
        listening.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let port = listening.local_addr().unwrap().port();
        let library = Notes::default();
        let noted = Arc::clone(&library.locators);
        let mut confined = Confined {
            messages: Box::new(library),
            announcements: Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()),
        };
        confined.write_buffer_mut().copy_from_slice(b"hello");
        let (peer, other) = (locator(Ipv4Addr::LOCALHOST, 1), locator(Ipv4Addr::LOCALHOST, 2));
        confined.write_message(2, &[peer, locator(GROUP, port)]);
        confined.write_message(5, &[peer, other]);
        let mut datagram = [0; 9];
        let (size, from) = listening.recv_from(&mut datagram).unwrap();
        assert_eq!(
            (&datagram[..size], from.ip()),
            (b"he".as_slice(), Ipv4Addr::LOCALHOST.into())
        );
        assert_eq!(*noted.lock().unwrap(), [peer, peer, other]);
    }
}
