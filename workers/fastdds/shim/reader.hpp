// A reader: how messages are taken out of the library and handed to the callback.
// `fastdds.cpp` opens and closes it.
#ifndef MIDDLEMARK_READER_HPP
#define MIDDLEMARK_READER_HPP

#include "fastdds.h"
#include "message_type.hpp"
#include "version.hpp"

#include <new>
#include <vector>

#include <fastdds/dds/core/LoanableCollection.hpp>
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>

namespace mm {

constexpr int32_t no_data = 11; // RETCODE_NO_DATA

} // namespace mm

namespace api = mm::api;

namespace {

/// Samples that the library lends; it never has memory of its own.
class Loans : public api::LoanableCollection {
protected:
  void resize (size_type) override { throw std::bad_alloc (); }
};

} // namespace

struct mm_reader : public api::DataReaderListener {
  api::Subscriber *subscriber = nullptr;
  api::DataReader *reader = nullptr;
  api::WaitSet waitset;
  api::GuardCondition stop;
  bool plain = false;
  bool loans = false;
  mm_on_message on_message = nullptr;
  void *context = nullptr;
  mm::Message message;          // what the next message of the variable type is taken into
  std::vector<uint8_t> array;   // the same for the plain type

  void on_data_available (api::DataReader *available) override { (void) take (available); }

  int32_t take (api::DataReader *from) { return loans ? take_lent (from) : take_copied (from); }

private:
  int32_t take_copied (api::DataReader *from)
  {
    int32_t count = 0;
    api::SampleInfo info;
    void *place = plain ? static_cast<void *> (array.data ()) : &message;
    for (;;) {
      const int32_t code = mm::code (from->take_next_sample (place, &info));
      if (code != 0)
        return code == mm::no_data ? count : -code;
      if (!info.valid_data)
        continue;
      count++;
      if (plain)
        on_message (context, array.data (), array.size ());
      else
        on_message (context, message.received.data (), message.size);
    }
  }

  int32_t take_lent (api::DataReader *from)
  {
    int32_t count = 0;
    for (;;) {
      Loans lent;
      api::SampleInfoSeq infos;
      const int32_t code = mm::code (from->take (lent, infos));
      if (code != 0)
        return code == mm::no_data ? count : -code;
      for (api::LoanableCollection::size_type i = 0; i < lent.length (); i++) {
        const void *bytes = lent.buffer ()[i];
        // A writer may already have written the next message over a shared one; that message is lost.
        if (infos[i].valid_data && from->is_sample_valid (bytes, &infos[i])) {
          count++;
          on_message (context, static_cast<const uint8_t *> (bytes), array.size ());
        }
      }
      (void) from->return_loan (lent, infos);
    }
  }
};

#endif
