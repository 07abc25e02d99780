// Policies to and from the plain struct; writers and readers name them alike, so both are templates.
#ifndef MIDDLEMARK_QOS_HPP
#define MIDDLEMARK_QOS_HPP

#include "opendds.h"

#include <dds/DdsDcpsCoreC.h>

namespace mm {

inline DDS::Duration_t duration (int64_t nanoseconds)
{
  DDS::Duration_t duration;
  duration.sec = static_cast<CORBA::Long> (nanoseconds / 1000000000);
  duration.nanosec = static_cast<CORBA::ULong> (nanoseconds % 1000000000);
  return duration;
}

inline int64_t nanoseconds (const DDS::Duration_t &duration)
{
  return static_cast<int64_t> (duration.sec) * 1000000000 + duration.nanosec;
}

template <typename Qos>
void set_policies (Qos &qos, const mm_policies &requested)
{
  qos.reliability.kind = requested.reliable ? DDS::RELIABLE_RELIABILITY_QOS : DDS::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability.max_blocking_time = duration (requested.max_blocking_ns);
  qos.durability.kind = requested.transient_local ? DDS::TRANSIENT_LOCAL_DURABILITY_QOS : DDS::VOLATILE_DURABILITY_QOS;
  qos.history.kind = requested.depth > 0 ? DDS::KEEP_LAST_HISTORY_QOS : DDS::KEEP_ALL_HISTORY_QOS;
  if (requested.depth > 0)
    qos.history.depth = requested.depth;
  qos.resource_limits.max_samples = requested.max_samples;
  qos.resource_limits.max_samples_per_instance = requested.max_samples;
}

template <typename Qos>
mm_policies read_policies (const Qos &qos)
{
  mm_policies found = mm_policies ();
  found.reliable = qos.reliability.kind == DDS::RELIABLE_RELIABILITY_QOS;
  found.max_blocking_ns = nanoseconds (qos.reliability.max_blocking_time);
  found.transient_local = qos.durability.kind == DDS::TRANSIENT_LOCAL_DURABILITY_QOS;
  found.depth = qos.history.kind == DDS::KEEP_LAST_HISTORY_QOS ? qos.history.depth : 0;
  found.max_samples = qos.resource_limits.max_samples;
  return found;
}

} // namespace mm

#endif
