// What a participant is made with: its transports, how it finds others, and where the library's log goes.
// It creates none: `fastdds.cpp` does.
#ifndef MIDDLEMARK_PARTICIPANT_HPP
#define MIDDLEMARK_PARTICIPANT_HPP

#include "fastdds.h"
#include "version.hpp"

#include <algorithm>
#include <memory>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/log/StdoutErrConsumer.hpp>

namespace mm {

/// The library writes its log to standard output by default, which belongs to the protocol.
inline void log_to_standard_error ()
{
  auto consumer = std::make_unique<api::StdoutErrConsumer> ();
  consumer->stderr_threshold (api::Log::Kind::Info);
  api::Log::ClearConsumers ();
  api::Log::RegisterConsumer (std::move (consumer));
}

/// As shipped participants find each other by multicast; else they are told where to look.
inline void set_discovery (api::DomainParticipantQos &qos, const mm_transports &asked)
{
  auto &builtin = qos.wire_protocol ().builtin;
  auto &discovery = builtin.discovery_config;
  switch (asked.discovery) {
    case MM_PEERS:
      for (size_t i = 0; i < asked.others_count; i++)
        builtin.initialPeersList.push_back (locator (asked.others[i]));
      break;
    case MM_SERVER:
      discovery.discoveryProtocol = DiscoveryProtocol::SERVER;
      qos.wire_protocol ().prefix = server_prefix (asked.own[0].index);
      for (size_t i = 0; i < asked.own_count; i++)
        builtin.metatrafficUnicastLocatorList.push_back (locator (asked.own[i]));
      add_servers (discovery, asked.others, asked.others_count);
      break;
    case MM_CLIENT:
      discovery.discoveryProtocol = DiscoveryProtocol::CLIENT;
      add_servers (discovery, asked.others, asked.others_count);
      break;
    default: break;
  }
}

/// The built-in transports as the library makes them, but on the trial's interfaces, and only those that were asked for.
inline api::DomainParticipantQos participant_qos (const mm_transports &asked)
{
  api::DomainParticipantQos qos;
  qos.name (asked.name);
  qos.transport ().use_builtin_transports = false;
  if (asked.shared_memory) {
    auto shared_memory = std::make_shared<transport::SharedMemTransportDescriptor> ();
    const uint32_t as_shipped = 2 * std::max (asked.send_buffer_bytes, asked.receive_buffer_bytes);
    shared_memory->segment_size (asked.segment_bytes ? asked.segment_bytes : as_shipped);
    shared_memory->max_message_size (asked.max_message_bytes);
    shared_memory->port_queue_capacity (asked.port_queue);
    qos.transport ().user_transports.push_back (shared_memory);
  }
  if (asked.udp) {
    auto udp = std::make_shared<transport::UDPv4TransportDescriptor> ();
    udp->sendBufferSize = asked.send_buffer_bytes;
    udp->receiveBufferSize = asked.receive_buffer_bytes;
    udp->maxMessageSize = asked.max_message_bytes;
    for (size_t i = 0; i < asked.own_count; i++)
      udp->interfaceWhiteList.emplace_back (asked.own[i].address);
    if (asked.discovery == MM_PEERS)
      udp->maxInitialPeersRange = asked.participants;
    qos.transport ().user_transports.push_back (udp);
  }
  set_discovery (qos, asked);
  return qos;
}

} // namespace mm

#endif
