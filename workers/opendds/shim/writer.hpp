// A writer, and how it is told that a reader has matched it.
// `opendds.cpp` opens it.
#ifndef MIDDLEMARK_WRITER_HPP
#define MIDDLEMARK_WRITER_HPP

#include "opendds.h"

#include <dds/DCPS/LocalObject.h>
#include <dds/DdsDcpsPublicationC.h>

#include "MessageTypeSupportImpl.h"

namespace mm {

/// Freed by the library, which may call it until the session is closed.
class Match : public virtual OpenDDS::DCPS::LocalObject<DDS::DataWriterListener> {
public:
  explicit Match (const mm_match *match) : match_ (match) {}

  virtual void on_publication_matched (DDS::DataWriter_ptr, const DDS::PublicationMatchedStatus &status)
  {
    if (status.current_count > 0)
      match_->on_matched (match_);
  }

  virtual void on_offered_deadline_missed (DDS::DataWriter_ptr, const DDS::OfferedDeadlineMissedStatus &) {}
  virtual void on_offered_incompatible_qos (DDS::DataWriter_ptr, const DDS::OfferedIncompatibleQosStatus &) {}
  virtual void on_liveliness_lost (DDS::DataWriter_ptr, const DDS::LivelinessLostStatus &) {}

private:
  const mm_match *match_;
};

} // namespace mm

struct mm_writer {
  DDS::Publisher_var publisher;
  DDS::DataWriter_var entity;
  middlemark::MessageDataWriter_var writer;

  /// Deletes the library's writer, if there is one.
  int32_t close () { return entity.in () ? -publisher->delete_datawriter (entity.in ()) : 0; }
};

#endif
