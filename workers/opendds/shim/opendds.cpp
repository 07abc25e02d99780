#include "opendds.h"

#include <cstring>
#include <vector>

#include <dds/DCPS/Marked_Default_Qos.h>
#include <dds/DCPS/Service_Participant.h>
#include <dds/Version.h>

#include "MessageTypeSupportImpl.h"
#include "codes.h"
#include "failures.hpp"
#include "qos.hpp"
#include "reader.hpp"
#include "writer.hpp"

struct mm_session {
  DDS::DomainParticipantFactory_var factory;
  DDS::DomainParticipant_var participant;
  DDS::Publisher_var publisher;
  DDS::Subscriber_var subscriber;
  CORBA::String_var type_name;

  void open (int32_t domain, const char *configuration_file)
  {
    std::vector<char> path (configuration_file, configuration_file + std::strlen (configuration_file) + 1);
    char name[] = "middlemark";
    char option[] = "-DCPSConfigFile";
    char *arguments[] = {name, option, &path[0], 0};
    int count = 3;
    factory = TheParticipantFactoryWithArgs (count, arguments);
    mm::check (factory, "factory of participants");
    participant = factory->create_participant (domain, PARTICIPANT_QOS_DEFAULT, 0, 0);
    mm::check (participant, "participant");
    middlemark::MessageTypeSupport_var type = new middlemark::MessageTypeSupportImpl;
    if (type->register_type (participant.in (), "") != DDS::RETCODE_OK)
      throw std::runtime_error ("the type of messages was not registered");
    type_name = type->get_type_name ();
    publisher = participant->create_publisher (PUBLISHER_QOS_DEFAULT, 0, 0);
    mm::check (publisher, "publisher");
    subscriber = participant->create_subscriber (SUBSCRIBER_QOS_DEFAULT, 0, 0);
    mm::check (subscriber, "subscriber");
  }

  /// The same topic for the same name.
  DDS::Topic_var topic (const char *name)
  {
    DDS::Topic_var topic = participant->create_topic (name, type_name.in (), TOPIC_QOS_DEFAULT, 0, 0);
    mm::check (topic, "topic");
    return topic;
  }

  int32_t close ()
  {
    DDS::ReturnCode_t code = DDS::RETCODE_OK;
    if (participant.in ()) {
      code = participant->delete_contained_entities ();
      if (code == DDS::RETCODE_OK)
        code = factory->delete_participant (participant.in ());
    }
    TheServiceParticipant->shutdown ();
    return -code;
  }
};

namespace {

void open_writer (mm_session *session, const char *topic, const mm_policies &requested, const mm_match *match, mm_writer *writer)
{
  DDS::DataWriterQos qos;
  session->publisher->get_default_datawriter_qos (qos);
  mm::set_policies (qos, requested);
  // What a transient-local writer keeps for late joiners: the newest that its history has room for.
  qos.durability_service.history_kind = DDS::KEEP_LAST_HISTORY_QOS;
  qos.durability_service.history_depth = requested.depth > 0 ? requested.depth : requested.max_samples;
  DDS::Topic_var of = session->topic (topic);
  DDS::DataWriterListener_var listener = new mm::Match (match);
  writer->publisher = session->publisher;
  writer->entity =
    session->publisher->create_datawriter (of.in (), qos, listener.in (), DDS::PUBLICATION_MATCHED_STATUS);
  mm::check (writer->entity, "writer");
  writer->writer = middlemark::MessageDataWriter::_narrow (writer->entity.in ());
  mm::check (writer->writer, "writer of the type");
}

void open_reader (mm_session *session, const char *topic, const mm_policies &requested, int32_t delivery, mm_reader *reader)
{
  DDS::DataReaderQos qos;
  session->subscriber->get_default_datareader_qos (qos);
  mm::set_policies (qos, requested);
  DDS::StatusMask statuses = 0;
  if (delivery == MM_LIBRARY_THREAD) {
    reader->listener = new mm::Listener (reader->on_message, reader->context);
    reader->listener_reference = reader->listener;
    statuses = DDS::DATA_AVAILABLE_STATUS;
  }
  DDS::Topic_var of = session->topic (topic);
  reader->subscriber = session->subscriber;
  reader->entity =
    session->subscriber->create_datareader (of.in (), qos, reader->listener_reference.in (), statuses);
  mm::check (reader->entity, "reader");
  reader->reader = middlemark::MessageDataReader::_narrow (reader->entity.in ());
  mm::check (reader->reader, "reader of the type");
  if (delivery == MM_OWN_THREAD)
    reader->wait_in_a_set ();
}

} // namespace

extern "C" {

const char *mm_library (void) { return "OpenDDS"; }

const char *mm_version (void) { return DDS_VERSION; }

const char *mm_explain (int32_t code) { return mm::standard_name (code); }

int32_t mm_open (int32_t domain, const char *configuration_file, mm_session **opened, mm_reason *reason)
{
  mm_session *session = new mm_session;
  try {
    session->open (domain, configuration_file);
    *opened = session;
    return 0;
  } catch (...) {
    const int32_t code = mm::caught (reason);
    (void) mm_close (session);
    return code;
  }
}

int32_t mm_close (mm_session *session)
{
  try {
    const int32_t code = session->close ();
    delete session;
    return code;
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_writer_open (mm_session *session, const char *topic, const mm_policies *requested, const mm_match *match,
                        mm_writer **opened, mm_reason *reason)
{
  mm_writer *writer = new mm_writer;
  try {
    open_writer (session, topic, *requested, match, writer);
    *opened = writer;
    return 0;
  } catch (...) {
    delete writer; // what the library made is deleted with the session
    return mm::caught (reason);
  }
}

int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size)
{
  try {
    middlemark::Message message;
    message.bytes.replace (size, size, const_cast<uint8_t *> (bytes), false);
    return -writer->writer->write (message, DDS::HANDLE_NIL);
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_writer_qos (mm_writer *writer, mm_policies *found)
{
  try {
    DDS::DataWriterQos qos;
    const DDS::ReturnCode_t code = writer->entity->get_qos (qos);
    *found = mm::read_policies (qos);
    return -code;
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_writer_close (mm_writer *writer)
{
  int32_t code;
  try {
    code = writer->close ();
  } catch (...) {
    code = mm::caught (0);
  }
  delete writer; // what the library still has of it is deleted with the session
  return code;
}

int32_t mm_reader_open (mm_session *session, const char *topic, const mm_policies *requested, int32_t delivery,
                        mm_on_message on_message, void *context, mm_reader **opened, mm_reason *reason)
{
  mm_reader *reader = new mm_reader;
  reader->on_message = on_message;
  reader->context = context;
  try {
    open_reader (session, topic, *requested, delivery, reader);
    *opened = reader;
    return 0;
  } catch (...) {
    const int32_t code = mm::caught (reason);
    (void) mm_reader_close (reader);
    return code;
  }
}

int32_t mm_reader_qos (mm_reader *reader, mm_policies *found)
{
  try {
    DDS::DataReaderQos qos;
    const DDS::ReturnCode_t code = reader->entity->get_qos (qos);
    *found = mm::read_policies (qos);
    return -code;
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_wait (mm_reader *reader)
{
  try {
    DDS::ConditionSeq active;
    const DDS::Duration_t for_ever = {DDS::DURATION_INFINITE_SEC, DDS::DURATION_INFINITE_NSEC};
    const DDS::ReturnCode_t code = reader->waitset->wait (active, for_ever);
    return code != DDS::RETCODE_OK ? -code : reader->stop->get_trigger_value () ? 0 : 1;
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_take (mm_reader *reader)
{
  try {
    return mm::take (reader->reader.in (), reader->on_message, reader->context);
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_stop (mm_reader *reader)
{
  try {
    return reader->stop.in () ? -reader->stop->set_trigger_value (true) : 0;
  } catch (...) {
    return mm::caught (0);
  }
}

int32_t mm_reader_failure (mm_reader *reader) { return reader->listener ? reader->listener->failure () : 0; }

int32_t mm_reader_close (mm_reader *reader)
{
  try {
    const int32_t code = reader->close ();
    if (code == 0)
      delete reader;
    return code;
  } catch (...) {
    return mm::caught (0);
  }
}

} // extern "C"
