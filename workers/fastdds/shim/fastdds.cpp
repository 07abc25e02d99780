#include "fastdds.h"

#include <algorithm>
#include <memory>

#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/log/Log.hpp>

#include "codes.h"
#include "guarded.hpp"
#include "participant.hpp"
#include "qos.hpp"
#include "reader.hpp"
#include "session.hpp"
#include "version.hpp"
#include "waitset.hpp"

namespace api = mm::api;
using mm::guarded;
using mm::made;

extern "C" {

const char *mm_library (void) { return "Fast DDS"; }

const char *mm_version (void) { return MM_VERSION_TEXT; }

const char *mm_explain (int32_t code) { return mm::standard_name (code); }

int32_t mm_open (const mm_transports *transports, mm_session **opened, mm_reason *reason)
{
  return guarded (reason, [&] {
    mm::log_to_standard_error ();
    mm::set_intraprocess (transports->intraprocess);
    auto *factory = api::DomainParticipantFactory::get_instance ();
    auto session = std::make_unique<mm_session> ();
    // Its listener hears of participants alone, and is there only where these authenticate each other.
    auto *listener = transports->property_count > 0 ? session->handshakes.listener () : nullptr;
    session->participant = made (factory->create_participant (transports->domain, mm::participant_qos (*transports),
                                                              listener, api::StatusMask::none ()),
                                 "participant");
    session->publisher = made (session->participant->create_publisher (api::PUBLISHER_QOS_DEFAULT), "publisher");
    session->subscriber = made (session->participant->create_subscriber (api::SUBSCRIBER_QOS_DEFAULT), "subscriber");
    *opened = session.release ();
    return 0;
  });
}

int64_t mm_longest_handshake_ns (mm_session *session) { return session->handshakes.longest_ns; }

int32_t mm_has_property (mm_session *session, const mm_property *property)
{
  return guarded (nullptr, [&] {
    const api::DomainParticipantQos qos = session->participant->get_qos ();
    const auto &all = qos.properties ().properties ();
    return static_cast<int32_t> (std::any_of (all.begin (), all.end (), [&] (const auto &each) {
      return each.name () == property->name && each.value () == property->value;
    }));
  });
}

int32_t mm_close (mm_session *session)
{
  return guarded (nullptr, [&] {
    const std::unique_ptr<mm_session> owned (session);
    return owned->close ();
  });
}

int32_t mm_writer_open (mm_session *session, const char *topic, mm_type type, const mm_qos *requested, const mm_match *match,
                        mm_writer **opened, mm_reason *reason)
{
  return guarded (reason, [&] {
    api::DataWriterQos qos;
    mm::set_policies (qos, *requested);
    mm::heartbeat_period (qos) = mm::duration (requested->heartbeat_ns);
    qos.publish_mode ().kind = requested->asynchronous ? api::ASYNCHRONOUS_PUBLISH_MODE : api::SYNCHRONOUS_PUBLISH_MODE;
    auto writer = std::make_unique<mm_writer> ();
    writer->match = match;
    const auto told = api::StatusMask::publication_matched ();
    writer->writer = made (session->publisher->create_datawriter (session->topic (topic, type), qos, writer.get (), told),
                           "writer");
    writer->plain = type.plain;
    *opened = writer.release ();
    return 0;
  });
}

int32_t mm_writer_guid (mm_writer *writer, uint8_t guid[16])
{
  return guarded (nullptr, [&] {
    const auto &found = writer->writer->guid ();
    std::copy_n (found.guidPrefix.value, 12, guid);
    std::copy_n (found.entityId.value, 4, guid + 12);
    return 0;
  });
}

int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size)
{
  return guarded (nullptr, [&] {
    mm::Message message;
    message.sent = bytes;
    message.size = size;
    void *data = writer->plain ? const_cast<uint8_t *> (bytes) : static_cast<void *> (&message);
    return -mm::code (writer->writer->write (data, api::HANDLE_NIL));
  });
}

int32_t mm_loan (mm_writer *writer, uint8_t **bytes)
{
  return guarded (nullptr, [&] {
    void *sample = nullptr;
    const int32_t code = mm::code (writer->writer->loan_sample (sample));
    *bytes = static_cast<uint8_t *> (sample);
    return -code;
  });
}

int32_t mm_publish_loan (mm_writer *writer, uint8_t *bytes)
{
  return guarded (nullptr, [&] {
    return -mm::code (writer->writer->write (bytes, api::HANDLE_NIL));
  });
}

int32_t mm_discard_loan (mm_writer *writer, uint8_t *bytes)
{
  return guarded (nullptr, [&] {
    void *sample = bytes;
    return -mm::code (writer->writer->discard_loan (sample));
  });
}

int32_t mm_writer_qos (mm_writer *writer, mm_qos *found)
{
  return guarded (nullptr, [&] {
    api::DataWriterQos qos = writer->writer->get_qos ();
    *found = mm::read_policies (qos);
    found->heartbeat_ns = mm::nanoseconds (mm::heartbeat_period (qos));
    found->asynchronous = qos.publish_mode ().kind == api::ASYNCHRONOUS_PUBLISH_MODE;
    return 0;
  });
}

int32_t mm_writer_counterparts (mm_writer *writer, mm_counterparts *found)
{
  return guarded (nullptr, [&] {
    api::PublicationMatchedStatus matched;
    api::OfferedIncompatibleQosStatus refused;
    int32_t code = mm::code (writer->writer->get_publication_matched_status (matched));
    if (code == 0)
      code = mm::code (writer->writer->get_offered_incompatible_qos_status (refused));
    *found = {matched.total_count, static_cast<int32_t> (refused.total_count), static_cast<int32_t> (refused.last_policy_id)};
    return -code;
  });
}

int32_t mm_reader_open (mm_session *session, const char *topic, mm_type type, const mm_qos *requested, int32_t delivery,
                        int32_t loans, mm_on_message on_message, mm_on_lent on_lent, void *context, mm_reader **opened,
                        mm_reason *reason)
{
  return guarded (reason, [&] {
    std::unique_ptr<mm_reader, mm_reader_closer> owned (new mm_reader);
    mm_reader *reader = owned.get ();
    reader->subscriber = session->subscriber;
    reader->plain = type.plain;
    reader->loans = loans;
    reader->on_message = on_message;
    reader->on_lent = on_lent;
    reader->context = context;
    reader->message.received.resize (type.size); // touched before the window
    reader->array.resize (type.plain ? type.size : 0);
    api::DataReaderQos qos;
    mm::set_policies (qos, *requested);
    const bool listen = delivery == MM_LIBRARY_THREAD;
    const auto mask = listen ? api::StatusMask::data_available () : api::StatusMask::none ();
    reader->reader = made (session->subscriber->create_datareader (session->topic (topic, type), qos,
                                                                   listen ? reader : nullptr, mask),
                           "reader");
    if (delivery == MM_OWN_THREAD) {
      reader->reader->get_statuscondition ().set_enabled_statuses (api::StatusMask::data_available ());
      reader->waitset.attach_condition (reader->reader->get_statuscondition ());
      reader->waitset.attach_condition (reader->stop);
    }
    *opened = owned.release ();
    return 0;
  });
}

int32_t mm_reader_qos (mm_reader *reader, mm_qos *found)
{
  return guarded (nullptr, [&] {
    *found = mm::read_policies (reader->reader->get_qos ());
    return 0;
  });
}

int32_t mm_reader_counterparts (mm_reader *reader, mm_counterparts *found)
{
  return guarded (nullptr, [&] {
    api::SubscriptionMatchedStatus matched;
    api::RequestedIncompatibleQosStatus refused;
    int32_t code = mm::code (reader->reader->get_subscription_matched_status (matched));
    if (code == 0)
      code = mm::code (reader->reader->get_requested_incompatible_qos_status (refused));
    *found = {matched.total_count, static_cast<int32_t> (refused.total_count), static_cast<int32_t> (refused.last_policy_id)};
    return -code;
  });
}

int32_t mm_wait (mm_reader *reader)
{
  return guarded (nullptr, [&] {
    api::ConditionSeq active;
    const int32_t code = mm::code (reader->waitset.wait (active, mm::Duration (0x7fffffff, 0xffffffff)));
    return code != 0 ? -code : reader->stop.get_trigger_value () ? 0 : 1;
  });
}

int32_t mm_take (mm_reader *reader)
{
  return guarded (nullptr, [&] { return reader->take (reader->reader); });
}

int32_t mm_stop (mm_reader *reader)
{
  return guarded (nullptr, [&] { return -mm::code (reader->stop.set_trigger_value (true)); });
}

int32_t mm_waitset_open (mm_waitset **opened)
{
  return guarded (nullptr, [&] {
    auto waitset = std::make_unique<mm_waitset> ();
    waitset->waitset.attach_condition (waitset->stop);
    *opened = waitset.release ();
    return 0;
  });
}

int32_t mm_waitset_attach (mm_waitset *waitset, mm_reader *reader)
{
  return guarded (nullptr, [&] { return waitset->attach (reader); });
}

int32_t mm_waitset_wait (mm_waitset *waitset, mm_reader **ready, size_t most)
{
  return guarded (nullptr, [&] { return waitset->wait (ready, most); });
}

int32_t mm_waitset_stop (mm_waitset *waitset)
{
  return guarded (nullptr, [&] { return -mm::code (waitset->stop.set_trigger_value (true)); });
}

int32_t mm_waitset_close (mm_waitset *waitset)
{
  return guarded (nullptr, [&] {
    delete waitset;
    return 0;
  });
}

int32_t mm_reader_failure (mm_reader *reader) { return reader->failure; }

int32_t mm_reader_close (mm_reader *reader)
{
  return guarded (nullptr, [&] {
    const int32_t code = reader->close ();
    if (code == 0)
      delete reader;
    return code;
  });
}

} // extern "C"
