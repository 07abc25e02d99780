// How long participants take to authenticate each other, by the library's own listener of participants.
// Version 3 has another one in each of its releases, and this shim has none of them there.
#ifndef MIDDLEMARK_HANDSHAKES_HPP
#define MIDDLEMARK_HANDSHAKES_HPP

#include "version.hpp"

#include <atomic>
#include <cstdint>

#if !MM_FASTDDS_3
#include <chrono>
#include <map>
#include <mutex>

#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#endif

namespace mm {

#if MM_FASTDDS_3

struct Handshakes {
  std::atomic<int64_t> longest_ns { -1 };

  api::DomainParticipantListener *listener () { return nullptr; }
};

#else

struct Handshakes final : api::DomainParticipantListener {
  /// Of those that have come to an end; -1 where none has.
  std::atomic<int64_t> longest_ns { -1 };

  api::DomainParticipantListener *listener () { return this; }

  void on_participant_discovery (api::DomainParticipant *, rtps::ParticipantDiscoveryInfo &&found) override
  {
    if (found.status != rtps::ParticipantDiscoveryInfo::DISCOVERED_PARTICIPANT)
      return;
    const std::lock_guard<std::mutex> lock (mutex);
    discovered.emplace (found.info.m_guid.guidPrefix, Clock::now ());
  }

  void onParticipantAuthentication (api::DomainParticipant *, rtps::ParticipantAuthenticationInfo &&shown) override
  {
    if (shown.status != rtps::ParticipantAuthenticationInfo::AUTHORIZED_PARTICIPANT)
      return;
    const auto over = Clock::now ();
    const std::lock_guard<std::mutex> lock (mutex);
    const auto since = discovered.find (shown.guid.guidPrefix);
    if (since == discovered.end ())
      return;
    const int64_t took_ns = std::chrono::duration_cast<std::chrono::nanoseconds> (over - since->second).count ();
    if (took_ns > longest_ns)
      longest_ns = took_ns;
  }

private:
  using Clock = std::chrono::steady_clock;
  std::mutex mutex;
  std::map<rtps::GuidPrefix_t, Clock::time_point> discovered;
};

#endif

} // namespace mm

#endif
