// A reader: how messages are taken out of the library and handed to the callback.
// `opendds.cpp` opens it.
#ifndef MIDDLEMARK_READER_HPP
#define MIDDLEMARK_READER_HPP

#include "failures.hpp"
#include "opendds.h"

#include <ace/Atomic_Op.h>
#include <ace/OS_NS_Thread.h>
#include <dds/DCPS/GuardCondition.h>
#include <dds/DCPS/LocalObject.h>
#include <dds/DCPS/WaitSet.h>
#include <dds/DdsDcpsSubscriptionC.h>

#include "MessageTypeSupportImpl.h"

namespace mm {

typedef ACE_Atomic_Op<ACE_Thread_Mutex, long> Counter;

/// Takes all that there is, in a loan of the library, and hands it over.
inline int32_t take (middlemark::MessageDataReader_ptr reader, mm_on_message on_message, void *context)
{
  middlemark::MessageSeq messages;
  DDS::SampleInfoSeq infos;
  const DDS::ReturnCode_t taken = reader->take (messages, infos, DDS::LENGTH_UNLIMITED, DDS::ANY_SAMPLE_STATE,
                                                DDS::ANY_VIEW_STATE, DDS::ANY_INSTANCE_STATE);
  if (taken != DDS::RETCODE_OK)
    return taken == DDS::RETCODE_NO_DATA ? 0 : -taken;
  int32_t count = 0;
  for (CORBA::ULong i = 0; i < messages.length (); i++) {
    if (!infos[i].valid_data)
      continue;
    const middlemark::Octets &bytes = messages[i].bytes;
    on_message (context, bytes.get_buffer (), bytes.length ());
    count++;
  }
  const DDS::ReturnCode_t returned = reader->return_loan (messages, infos);
  return returned == DDS::RETCODE_OK ? count : -returned;
}

/// Takes on the library's thread. The library may hold it longer than the reader lives: once closed it does nothing.
class Listener : public virtual OpenDDS::DCPS::LocalObject<DDS::DataReaderListener> {
public:
  Listener (mm_on_message on_message, void *context)
    : on_message_ (on_message), context_ (context), callbacks_ (0), closed_ (0), failure_ (0)
  {
  }

  virtual void on_data_available (DDS::DataReader_ptr available)
  {
    ++callbacks_;
    if (closed_.value () == 0) {
      const int32_t count = taken (available);
      if (count < 0)
        failure_ = count;
    }
    --callbacks_;
  }

  virtual void on_requested_deadline_missed (DDS::DataReader_ptr, const DDS::RequestedDeadlineMissedStatus &) {}
  virtual void on_requested_incompatible_qos (DDS::DataReader_ptr, const DDS::RequestedIncompatibleQosStatus &) {}
  virtual void on_sample_rejected (DDS::DataReader_ptr, const DDS::SampleRejectedStatus &) {}
  virtual void on_liveliness_changed (DDS::DataReader_ptr, const DDS::LivelinessChangedStatus &) {}
  virtual void on_subscription_matched (DDS::DataReader_ptr, const DDS::SubscriptionMatchedStatus &) {}
  virtual void on_sample_lost (DDS::DataReader_ptr, const DDS::SampleLostStatus &) {}

  /// Afterwards nothing is handed over any more.
  void close ()
  {
    closed_ = 1;
    while (callbacks_.value () > 0)
      ACE_OS::thr_yield ();
  }

  int32_t failure () const { return static_cast<int32_t> (failure_.value ()); }

private:
  int32_t taken (DDS::DataReader_ptr available) const
  {
    try {
      middlemark::MessageDataReader_var reader = middlemark::MessageDataReader::_narrow (available);
      return take (reader.in (), on_message_, context_);
    } catch (...) {
      return caught (0);
    }
  }

  mm_on_message on_message_;
  void *context_;
  Counter callbacks_;
  Counter closed_;
  Counter failure_; // of the last callback that failed
};

} // namespace mm

struct mm_reader {
  DDS::Subscriber_var subscriber;
  DDS::DataReader_var entity;
  middlemark::MessageDataReader_var reader;
  DDS::DataReaderListener_var listener_reference;
  mm::Listener *listener; // none where another thread takes
  DDS::WaitSet_var waitset;
  DDS::GuardCondition_var stop;
  DDS::ReadCondition_var available;
  mm_on_message on_message;
  void *context;

  mm_reader () : listener (0), on_message (0), context (0) {}

  void wait_in_a_set ()
  {
    waitset = new DDS::WaitSet;
    stop = new DDS::GuardCondition;
    available = entity->create_readcondition (DDS::ANY_SAMPLE_STATE, DDS::ANY_VIEW_STATE, DDS::ANY_INSTANCE_STATE);
    mm::check (available, "condition");
    if (waitset->attach_condition (available.in ()) != DDS::RETCODE_OK
        || waitset->attach_condition (stop.in ()) != DDS::RETCODE_OK)
      throw std::runtime_error ("a condition was not attached to its wait set");
  }

  /// Deletes the library's reader; afterwards nothing is called any more. Where that fails the library still has this.
  int32_t close ()
  {
    if (listener) {
      entity->set_listener (0, 0);
      listener->close ();
    }
    if (available.in ()) {
      (void) waitset->detach_condition (available.in ());
      (void) waitset->detach_condition (stop.in ());
      (void) entity->delete_readcondition (available.in ());
    }
    return entity.in () ? -subscriber->delete_datareader (entity.in ()) : 0;
  }
};

#endif
