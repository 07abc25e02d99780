// Policies to and from the plain struct; writers and readers name them alike, so both are templates.
#ifndef MIDDLEMARK_FASTDDS_QOS_HPP
#define MIDDLEMARK_FASTDDS_QOS_HPP

#include <algorithm>

#include "fastdds.h"
#include "version.hpp"

namespace mm {

inline Duration duration (int64_t nanoseconds)
{
  return Duration (static_cast<int32_t> (nanoseconds / 1000000000), static_cast<uint32_t> (nanoseconds % 1000000000));
}

inline int64_t nanoseconds (const Duration &duration)
{
  return static_cast<int64_t> (duration.seconds) * 1000000000 + duration.nanosec;
}

template <typename Qos>
void set_policies (Qos &qos, const mm_qos &requested)
{
  const mm_policies &policies = requested.policies;
  qos.reliability ().kind = policies.reliable ? api::RELIABLE_RELIABILITY_QOS : api::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability ().max_blocking_time = duration (policies.max_blocking_ns);
  qos.durability ().kind = policies.transient_local ? api::TRANSIENT_LOCAL_DURABILITY_QOS : api::VOLATILE_DURABILITY_QOS;
  qos.history ().kind = policies.depth > 0 ? api::KEEP_LAST_HISTORY_QOS : api::KEEP_ALL_HISTORY_QOS;
  if (policies.depth > 0) {
    qos.history ().depth = policies.depth;
    // The limits as shipped, widened where the depth needs it.
    qos.resource_limits ().max_samples_per_instance =
      std::max (qos.resource_limits ().max_samples_per_instance, policies.depth);
    qos.resource_limits ().max_samples = std::max (
      qos.resource_limits ().max_samples, qos.resource_limits ().max_instances * qos.resource_limits ().max_samples_per_instance);
  } else {
    qos.resource_limits ().max_samples = policies.max_samples;
    qos.resource_limits ().max_instances = 1;
    qos.resource_limits ().max_samples_per_instance = policies.max_samples;
    qos.resource_limits ().allocated_samples = std::min (qos.resource_limits ().allocated_samples, policies.max_samples);
  }
  qos.endpoint ().history_memory_policy = static_cast<MemoryPolicy> (requested.memory_policy);
  switch (requested.data_sharing) {
    case 0: qos.data_sharing ().off (); break;
    case 1: qos.data_sharing ().automatic (); break;
    default: qos.data_sharing ().on (""); break;
  }
}

template <typename Qos>
mm_qos read_policies (const Qos &qos)
{
  mm_qos found = {};
  found.policies.reliable = qos.reliability ().kind == api::RELIABLE_RELIABILITY_QOS;
  found.policies.max_blocking_ns = nanoseconds (qos.reliability ().max_blocking_time);
  found.policies.transient_local = qos.durability ().kind == api::TRANSIENT_LOCAL_DURABILITY_QOS;
  found.policies.depth = qos.history ().kind == api::KEEP_LAST_HISTORY_QOS ? qos.history ().depth : 0;
  found.policies.max_samples = qos.resource_limits ().max_samples;
  found.memory_policy = static_cast<int32_t> (qos.endpoint ().history_memory_policy);
  switch (qos.data_sharing ().kind ()) {
    case api::DataSharingKind::OFF: found.data_sharing = 0; break;
    case api::DataSharingKind::AUTO: found.data_sharing = 1; break;
    default: found.data_sharing = 2; break;
  }
  return found;
}

} // namespace mm

#endif
