// All that differs between Fast DDS 2 and 3: headers, namespaces, names, and how a return code is read.
// Everything else of the shim is written against the names declared here and against what both versions share.
#ifndef MIDDLEMARK_FASTDDS_VERSION_HPP
#define MIDDLEMARK_FASTDDS_VERSION_HPP

#include <cstddef>
#include <cstdint>

#include "fastdds.h"

#if __has_include(<fastdds/config.hpp>)
#include <fastdds/config.hpp>
#define MM_VERSION_TEXT FASTDDS_VERSION_STR
#define MM_FASTDDS_3 1
#else
#include <fastrtps/config.h>
#define MM_VERSION_TEXT FASTRTPS_VERSION_STR
#define MM_FASTDDS_3 0
#endif

// The build script says whether there are the built-in transports LARGE_DATA, as `probe.cpp` found.
#if MM_LARGE_DATA
#include <fastdds/rtps/attributes/BuiltinTransports.hpp>
#endif

#if MM_FASTDDS_3
#include <fastdds/LibrarySettings.hpp>
#include <fastdds/rtps/attributes/ResourceManagement.hpp>
#include <fastdds/rtps/common/Locator.hpp>
#include <fastdds/rtps/common/SerializedPayload.hpp>
#include <fastdds/utils/IPLocator.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#else
#include <fastdds/rtps/attributes/ServerAttributes.h>
#include <fastdds/rtps/common/Locator.h>
#include <fastdds/rtps/common/SerializedPayload.h>
#include <fastrtps/utils/IPLocator.h>
#include <fastdds/rtps/resources/ResourceManagement.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>
#endif
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>

namespace mm {

namespace api = eprosima::fastdds::dds;
namespace transport = eprosima::fastdds::rtps;

#if MM_FASTDDS_3

namespace rtps = eprosima::fastdds::rtps;
using Duration = api::Duration_t;
using MemoryPolicy = rtps::MemoryManagementPolicy_t;

inline int32_t code (api::ReturnCode_t result) { return static_cast<int32_t> (result); }

inline Duration &heartbeat_period (api::DataWriterQos &qos) { return qos.reliable_writer_qos ().times.heartbeat_period; }

inline void set_intraprocess (int32_t level)
{
  eprosima::fastdds::LibrarySettings settings;
  settings.intraprocess_delivery = static_cast<eprosima::fastdds::IntraprocessDeliveryType> (level);
  api::DomainParticipantFactory::get_instance ()->set_library_settings (settings);
}

using DiscoveryProtocol = rtps::DiscoveryProtocol;

#else

namespace rtps = eprosima::fastrtps::rtps;
using Duration = eprosima::fastrtps::Duration_t;
using MemoryPolicy = rtps::MemoryManagementPolicy_t;

inline int32_t code (const ReturnCode_t &result) { return static_cast<int32_t> (result ()); }

inline Duration &heartbeat_period (api::DataWriterQos &qos) { return qos.reliable_writer_qos ().times.heartbeatPeriod; }

inline void set_intraprocess (int32_t level)
{
  eprosima::fastrtps::LibrarySettingsAttributes settings;
  settings.intraprocess_delivery = static_cast<eprosima::fastrtps::IntraprocessDeliveryType> (level);
  eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings (settings);
}

using DiscoveryProtocol = rtps::DiscoveryProtocol_t;

#endif

inline rtps::Locator_t locator (const mm_place &place)
{
  rtps::Locator_t locator;
  locator.kind = LOCATOR_KIND_UDPv4;
  rtps::IPLocator::setIPv4 (locator, place.address);
  locator.port = place.port;
  return locator;
}

/// A server's name within its domain, which version 2 has its clients know: as `fast-discovery-server` gives it. Were the
/// first eight bytes of two servers alike, they would take themselves for one process.
inline rtps::GuidPrefix_t server_prefix (uint16_t index)
{
  rtps::GuidPrefix_t prefix;
  const rtps::octet name[] = {0x44, 0x53, 0x00, 0x5f, 0x45, 0x50, 0x52, 0x4f, 0x53, 0x49, 0x4d, 0x41};
  for (size_t i = 0; i < sizeof name; i++)
    prefix.value[i] = name[i];
  prefix.value[2] = static_cast<rtps::octet> (index);
  return prefix;
}

inline void add_servers (rtps::DiscoverySettings &discovery, const mm_place *servers, size_t count)
{
  for (size_t i = 0; i < count; i++) {
#if MM_FASTDDS_3
    discovery.m_DiscoveryServers.push_back (locator (servers[i]));
#else
    rtps::RemoteServerAttributes server;
    server.guidPrefix = server_prefix (servers[i].index);
    server.metatrafficUnicastLocatorList.push_back (locator (servers[i]));
    discovery.m_DiscoveryServers.push_back (server);
#endif
  }
}

} // namespace mm

#endif
