#include "fastdds.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include <fastdds/dds/core/LoanableCollection.hpp>
#include <fastdds/dds/core/condition/GuardCondition.hpp>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/log/StdoutErrConsumer.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include "message_type.hpp"
#include "qos.hpp"
#include "version.hpp"

namespace api = mm::api;

namespace {

constexpr int32_t no_data = 11; // RETCODE_NO_DATA
constexpr int32_t failed = -1;

/// Runs what may throw; an exception or a null handle becomes a reason.
template <typename Action>
int32_t guarded (mm_reason *reason, Action action) noexcept
{
  const auto explain = [reason] (const char *text) {
    if (reason)
      std::snprintf (reason->text, sizeof reason->text, "%s", text);
    return failed;
  };
  try {
    return action ();
  } catch (const std::exception &error) {
    return explain (error.what ());
  } catch (...) {
    return explain ("an exception of unknown type");
  }
}

template <typename Handle>
Handle *made (Handle *handle, const char *what)
{
  if (!handle)
    throw std::runtime_error (std::string ("the library made no ") + what + "; its log on standard error says why");
  return handle;
}

/// Samples that the library lends; it never has memory of its own.
class Loans : public api::LoanableCollection {
protected:
  void resize (size_type) override { throw std::bad_alloc (); }
};

/// The library writes its log to standard output by default, which belongs to the protocol.
void log_to_standard_error ()
{
  auto consumer = std::make_unique<api::StdoutErrConsumer> ();
  consumer->stderr_threshold (api::Log::Kind::Info);
  api::Log::ClearConsumers ();
  api::Log::RegisterConsumer (std::move (consumer));
}

/// As shipped participants find each other by multicast; else they are told where to look.
void set_discovery (api::DomainParticipantQos &qos, const mm_transports &asked)
{
  auto &builtin = qos.wire_protocol ().builtin;
  auto &discovery = builtin.discovery_config;
  switch (asked.discovery) {
    case MM_PEERS:
      for (size_t i = 0; i < asked.others_count; i++)
        builtin.initialPeersList.push_back (mm::locator (asked.others[i]));
      break;
    case MM_SERVER:
      discovery.discoveryProtocol = mm::DiscoveryProtocol::SERVER;
      qos.wire_protocol ().prefix = mm::server_prefix (asked.own[0].index);
      for (size_t i = 0; i < asked.own_count; i++)
        builtin.metatrafficUnicastLocatorList.push_back (mm::locator (asked.own[i]));
      mm::add_servers (discovery, asked.others, asked.others_count);
      break;
    case MM_CLIENT:
      discovery.discoveryProtocol = mm::DiscoveryProtocol::CLIENT;
      mm::add_servers (discovery, asked.others, asked.others_count);
      break;
    default: break;
  }
}

/// The built-in transports as the library makes them, but on the trial's interfaces, and only those that were asked for.
api::DomainParticipantQos participant_qos (const mm_transports &asked)
{
  api::DomainParticipantQos qos;
  qos.name (asked.name);
  qos.transport ().use_builtin_transports = false;
  if (asked.shared_memory) {
    auto shared_memory = std::make_shared<mm::transport::SharedMemTransportDescriptor> ();
    const uint32_t as_shipped = 2 * std::max (asked.send_buffer_bytes, asked.receive_buffer_bytes);
    shared_memory->segment_size (asked.segment_bytes ? asked.segment_bytes : as_shipped);
    shared_memory->max_message_size (asked.max_message_bytes);
    shared_memory->port_queue_capacity (asked.port_queue);
    qos.transport ().user_transports.push_back (shared_memory);
  }
  if (asked.udp) {
    auto udp = std::make_shared<mm::transport::UDPv4TransportDescriptor> ();
    udp->sendBufferSize = asked.send_buffer_bytes;
    udp->receiveBufferSize = asked.receive_buffer_bytes;
    udp->maxMessageSize = asked.max_message_bytes;
    for (size_t i = 0; i < asked.own_count; i++)
      udp->interfaceWhiteList.emplace_back (asked.own[i].address);
    if (asked.discovery == MM_PEERS)
      udp->maxInitialPeersRange = asked.participants;
    qos.transport ().user_transports.push_back (udp);
  }
  set_discovery (qos, asked);
  return qos;
}

} // namespace

struct mm_session {
  api::DomainParticipant *participant = nullptr;
  api::Publisher *publisher = nullptr;
  api::Subscriber *subscriber = nullptr;
  std::map<std::string, api::Topic *> topics;

  api::Topic *topic (const std::string &name, mm_type type)
  {
    auto &topic = topics[name];
    if (!topic) {
      api::TypeSupport support (new mm::MessageType (type.size, type.plain));
      const std::string type_name = support.get_type_name ();
      if (mm::code (support.register_type (participant)) != 0)
        throw std::runtime_error ("the type " + type_name + " was not registered");
      topic = made (participant->create_topic (name, type_name, api::TOPIC_QOS_DEFAULT), "topic");
    }
    return topic;
  }
};

struct mm_writer {
  api::DataWriter *writer = nullptr;
  bool plain = false;
};

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
        return code == no_data ? count : -code;
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
        return code == no_data ? count : -code;
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

extern "C" {

const char *mm_version (void) { return MM_VERSION_TEXT; }

int32_t mm_open (const mm_transports *transports, mm_session **opened, mm_reason *reason)
{
  return guarded (reason, [&] {
    log_to_standard_error ();
    mm::set_intraprocess (transports->intraprocess);
    auto *factory = api::DomainParticipantFactory::get_instance ();
    auto session = std::make_unique<mm_session> ();
    session->participant =
      made (factory->create_participant (transports->domain, participant_qos (*transports)), "participant");
    session->publisher = made (session->participant->create_publisher (api::PUBLISHER_QOS_DEFAULT), "publisher");
    session->subscriber = made (session->participant->create_subscriber (api::SUBSCRIBER_QOS_DEFAULT), "subscriber");
    *opened = session.release ();
    return 0;
  });
}

int32_t mm_close (mm_session *session)
{
  return guarded (nullptr, [&] {
    int32_t code = mm::code (session->participant->delete_contained_entities ());
    if (code == 0)
      code = mm::code (api::DomainParticipantFactory::get_instance ()->delete_participant (session->participant));
    delete session;
    api::Log::KillThread ();
    return -code;
  });
}

int32_t mm_writer_open (mm_session *session, const char *topic, mm_type type, const mm_qos *asked, mm_writer **opened,
                        mm_reason *reason)
{
  return guarded (reason, [&] {
    api::DataWriterQos qos;
    mm::set_policies (qos, *asked);
    mm::heartbeat_period (qos) = mm::duration (asked->heartbeat_ns);
    qos.publish_mode ().kind = asked->asynchronous ? api::ASYNCHRONOUS_PUBLISH_MODE : api::SYNCHRONOUS_PUBLISH_MODE;
    auto writer = std::make_unique<mm_writer> ();
    writer->writer = made (session->publisher->create_datawriter (session->topic (topic, type), qos), "writer");
    writer->plain = type.plain;
    *opened = writer.release ();
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
    const int32_t code = mm::code (writer->writer->write (bytes, api::HANDLE_NIL));
    if (code != 0) {
      void *sample = bytes;
      (void) writer->writer->discard_loan (sample);
    }
    return -code;
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

int32_t mm_reader_open (mm_session *session, const char *topic, mm_type type, const mm_qos *asked, int32_t listen,
                        int32_t loans, mm_on_message on_message, void *context, mm_reader **opened, mm_reason *reason)
{
  return guarded (reason, [&] {
    auto reader = std::make_unique<mm_reader> ();
    reader->subscriber = session->subscriber;
    reader->plain = type.plain;
    reader->loans = loans;
    reader->on_message = on_message;
    reader->context = context;
    reader->message.received.resize (type.size); // touched before the window
    reader->array.resize (type.plain ? type.size : 0);
    api::DataReaderQos qos;
    mm::set_policies (qos, *asked);
    const auto mask = listen ? api::StatusMask::data_available () : api::StatusMask::none ();
    reader->reader = made (session->subscriber->create_datareader (session->topic (topic, type), qos,
                                                                   listen ? reader.get () : nullptr, mask),
                           "reader");
    if (!listen) {
      reader->reader->get_statuscondition ().set_enabled_statuses (api::StatusMask::data_available ());
      reader->waitset.attach_condition (reader->reader->get_statuscondition ());
      reader->waitset.attach_condition (reader->stop);
    }
    *opened = reader.release ();
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

int32_t mm_reader_close (mm_reader *reader)
{
  return guarded (nullptr, [&] {
    const int32_t code = mm::code (reader->subscriber->delete_datareader (reader->reader));
    delete reader;
    return -code;
  });
}

} // extern "C"
