// One wait set for several readers: which of them have something to take. `reader.hpp` takes it, `fastdds.cpp` opens it.
#ifndef MIDDLEMARK_WAITSET_HPP
#define MIDDLEMARK_WAITSET_HPP

#include "fastdds.h"
#include "reader.hpp"
#include "version.hpp"

#include <map>
#include <mutex>

#include <fastdds/dds/core/condition/Condition.hpp>
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>

struct mm_waitset {
  mm::api::WaitSet waitset;
  mm::api::GuardCondition stop;

  int32_t attach (mm_reader *reader)
  {
    mm::api::StatusCondition &condition = reader->reader->get_statuscondition ();
    condition.set_enabled_statuses (mm::api::StatusMask::data_available ());
    {
      const std::lock_guard<std::mutex> locked (mutex);
      readers[&condition] = reader;
    }
    return -mm::code (waitset.attach_condition (condition));
  }

  /// Up to `most` of the readers that are ready; 0 once it was stopped.
  int32_t wait (mm_reader **ready, size_t most)
  {
    for (;;) {
      mm::api::ConditionSeq active;
      const int32_t code = mm::code (waitset.wait (active, mm::Duration (0x7fffffff, 0xffffffff)));
      if (code != 0 || stop.get_trigger_value ())
        return -code;
      const std::lock_guard<std::mutex> locked (mutex);
      size_t count = 0;
      for (const mm::api::Condition *condition : active) {
        const auto attached = readers.find (condition);
        if (attached != readers.end () && count < most)
          ready[count++] = attached->second;
      }
      if (count > 0)
        return static_cast<int32_t> (count);
    }
  }

private:
  std::mutex mutex; // a reader may be attached while others are waited for
  std::map<const mm::api::Condition *, mm_reader *> readers;
};

#endif
