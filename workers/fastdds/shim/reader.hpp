// A reader: how messages are taken out of the library and handed to the callback.
// `fastdds.cpp` opens and closes it.
#ifndef MIDDLEMARK_READER_HPP
#define MIDDLEMARK_READER_HPP

#include "fastdds.h"
#include "guarded.hpp"
#include "message_type.hpp"
#include "version.hpp"

#include <atomic>
#include <cstdio>
#include <memory>
#include <new>
#include <thread>
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

/// Lent samples, given back at their end: a reader with a loan out can't be deleted.
struct Lent {
  api::DataReader *reader;
  Loans messages;
  api::SampleInfoSeq infos;

  explicit Lent (api::DataReader *from) : reader (from) {}
  ~Lent ()
  {
    if (messages.length () > 0)
      (void) mm::guarded (nullptr, [this] { return mm::code (reader->return_loan (messages, infos)); });
  }
};

/// One lent sample. A writer may write the next message over a shared one at any time.
struct Sample {
  const api::DataReader *reader;
  const void *bytes;
  const api::SampleInfo *info;

  static int32_t is_valid (const void *sample) noexcept
  {
    const auto *self = static_cast<const Sample *> (sample);
    return mm::guarded (nullptr, [self] { return self->reader->is_sample_valid (self->bytes, self->info); }) == 1;
  }
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
  mm_on_lent on_lent = nullptr;
  void *context = nullptr;
  mm::Message message;          // what the next message of the variable type is taken into
  std::vector<uint8_t> array;   // the same for the plain type

  std::atomic<int32_t> callbacks {0};
  std::atomic<bool> closing {false};
  std::atomic<int32_t> failure {0}; // of the last callback that failed
  mm_reason thrown {};              // by it, where it threw

  void on_data_available (api::DataReader *available) override
  {
    callbacks++;
    if (!closing) {
      const int32_t count = mm::guarded (&thrown, [&] { return take (available); });
      if (count < 0 && failure.exchange (count) == 0 && thrown.text[0] != 0)
        std::fprintf (stderr, "taking messages in a callback failed: %s\n", thrown.text);
    }
    callbacks--;
  }

  /// Deletes the library's reader; afterwards nothing is called any more. Where that fails the library still has this.
  int32_t close ()
  {
    if (!reader)
      return 0;
    closing = true;
    wait_for_callbacks ();
    const int32_t code = mm::code (subscriber->delete_datareader (reader));
    if (code == 0)
      reader = nullptr;
    wait_for_callbacks (); // those that had begun and found it closing
    return -code;
  }

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
      Lent lent (from);
      const int32_t code = mm::code (from->take (lent.messages, lent.infos));
      if (code != 0)
        return code == mm::no_data ? count : -code;
      for (api::LoanableCollection::size_type i = 0; i < lent.messages.length (); i++) {
        const Sample sample = {from, lent.messages.buffer ()[i], &lent.infos[i]};
        // Whether it still is what was published: now, and, requested by the callback, once it has been read.
        if (lent.infos[i].valid_data && Sample::is_valid (&sample)) {
          count++;
          on_lent (context, static_cast<const uint8_t *> (sample.bytes), array.size (), Sample::is_valid, &sample);
        }
      }
    }
  }

  void wait_for_callbacks () const
  {
    while (callbacks > 0)
      std::this_thread::yield ();
  }
};

/// Owns a reader until it is open; one that can't be deleted is left to the library.
struct mm_reader_closer {
  void operator() (mm_reader *reader) const
  {
    if (mm::guarded (nullptr, [reader] { return reader->close (); }) == 0)
      delete reader;
  }
};

#endif
