// What a participant is made with: its transports, how it finds others, and where the library's log goes.
// It creates none: `fastdds.cpp` does.
#ifndef MIDDLEMARK_PARTICIPANT_HPP
#define MIDDLEMARK_PARTICIPANT_HPP

#include "fastdds.h"
#include "version.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

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
inline void set_discovery (api::DomainParticipantQos &qos, const mm_transports &requested)
{
  auto &builtin = qos.wire_protocol ().builtin;
  auto &discovery = builtin.discovery_config;
  switch (requested.discovery) {
    case MM_PEERS:
      for (size_t i = 0; i < requested.others_count; i++)
        builtin.initialPeersList.push_back (locator (requested.others[i]));
      break;
    case MM_SERVER:
      discovery.discoveryProtocol = DiscoveryProtocol::SERVER;
      qos.wire_protocol ().prefix = server_prefix (requested.own[0].index);
      for (size_t i = 0; i < requested.own_count; i++)
        builtin.metatrafficUnicastLocatorList.push_back (locator (requested.own[i]));
      add_servers (discovery, requested.others, requested.others_count);
      break;
    case MM_CLIENT:
      discovery.discoveryProtocol = DiscoveryProtocol::CLIENT;
      add_servers (discovery, requested.others, requested.others_count);
      break;
    default: break;
  }
}

inline void set_sockets (transport::SocketTransportDescriptor &sockets, const mm_transports &requested)
{
  sockets.sendBufferSize = requested.send_buffer_bytes;
  sockets.receiveBufferSize = requested.receive_buffer_bytes;
  sockets.maxMessageSize = requested.max_message_bytes;
  for (size_t i = 0; i < requested.own_count; i++)
    sockets.interfaceWhiteList.emplace_back (requested.own[i].address);
}

inline void set_shared_memory (transport::SharedMemTransportDescriptor &shared_memory, const mm_transports &requested)
{
  const uint32_t as_shipped = 2 * std::max (requested.send_buffer_bytes, requested.receive_buffer_bytes);
  shared_memory.segment_size (requested.segment_bytes ? requested.segment_bytes : as_shipped);
  shared_memory.max_message_size (requested.max_message_bytes);
  shared_memory.port_queue_capacity (requested.port_queue);
}

/// The built-in transports as the library makes them, but on the trial's interfaces, and only those that were asked for.
inline void set_transports (api::DomainParticipantQos &qos, const mm_transports &requested)
{
  qos.transport ().use_builtin_transports = false;
  if (requested.shared_memory) {
    auto shared_memory = std::make_shared<transport::SharedMemTransportDescriptor> ();
    set_shared_memory (*shared_memory, requested);
    qos.transport ().user_transports.push_back (shared_memory);
  }
  if (requested.udp) {
    auto udp = std::make_shared<transport::UDPv4TransportDescriptor> ();
    set_sockets (*udp, requested);
    if (requested.discovery == MM_PEERS)
      udp->maxInitialPeersRange = requested.participants;
    qos.transport ().user_transports.push_back (udp);
  }
}

#if MM_LARGE_DATA
/// LARGE_DATA as the library makes it, with its locators; each of its transports gets what the others get too.
inline void set_large_data (api::DomainParticipantQos &qos, const mm_transports &requested)
{
  qos.setup_transports (transport::BuiltinTransports::LARGE_DATA);
  for (const auto &each : qos.transport ().user_transports) {
    if (auto *sockets = dynamic_cast<transport::SocketTransportDescriptor *> (each.get ()))
      set_sockets (*sockets, requested);
    else if (auto *shared_memory = dynamic_cast<transport::SharedMemTransportDescriptor *> (each.get ()))
      set_shared_memory (*shared_memory, requested);
  }
}
#else
inline void set_large_data (api::DomainParticipantQos &, const mm_transports &)
{
  throw std::runtime_error ("this version of the library has no transports LARGE_DATA");
}
#endif

inline api::DomainParticipantQos participant_qos (const mm_transports &requested)
{
  api::DomainParticipantQos qos;
  if (requested.large_data)
    set_large_data (qos, requested);
  else
    set_transports (qos, requested);
  qos.name (requested.name);
  for (size_t i = 0; i < requested.property_count; i++)
    qos.properties ().properties ().emplace_back (requested.properties[i].name, requested.properties[i].value);
  set_discovery (qos, requested);
  return qos;
}

} // namespace mm

#endif
