// Fast DDS, used as its own tests of latency and throughput use it (test/performance): listeners at both ends, who asks
// waits on a condition variable, who answers writes from the listener; one type of a sequence of octets, as shipped but for
// reliability. Names of version 2 and 3, and the type, are those of our worker's shim, so that both serialise alike.
#include <csignal>
#include <cstdio>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>

#include "message_type.hpp"
#include "reference.hpp"

namespace api = mm::api;

namespace {

constexpr uint32_t DOMAIN_NUMBER = 77;

class OnMessage : public api::DataReaderListener {
public:
  explicit OnMessage (std::function<void ()> act) : act_ (std::move (act)) { }
  void on_data_available (api::DataReader *reader) override
  {
    api::SampleInfo info;
    while (mm::code (reader->take_next_sample (&message_, &info)) == 0)
      if (info.valid_data)
        act_ ();
  }

private:
  mm::Message message_;
  std::function<void ()> act_;
};

class Ends {
public:
  explicit Ends (const reference::Task &task)
    : task_ (task), type_ (new mm::MessageType (mm_type{"middlemark::Reference", task.size_bytes, 0})), bytes_ (task.size_bytes, 1)
  {
    api::DomainParticipantQos qos;
    qos.transport ().use_builtin_transports = false;
    qos.transport ().user_transports.push_back (std::make_shared<mm::transport::SharedMemTransportDescriptor> ());
    auto udp = std::make_shared<mm::transport::UDPv4TransportDescriptor> ();
    udp->interfaceWhiteList.emplace_back ("127.0.0.1"); // as our worker: the built-in transports on the trial's interface
    qos.transport ().user_transports.push_back (udp);
    participant_ = api::DomainParticipantFactory::get_instance ()->create_participant (DOMAIN_NUMBER, qos);
    type_.register_type (participant_);
    message_.sent = bytes_.data ();
    message_.size = task.size_bytes;
  }

  api::DataWriter *writer (const char *name)
  {
    auto *publisher = participant_->create_publisher (api::PUBLISHER_QOS_DEFAULT);
    api::DataWriterQos qos;
    set (qos);
    return publisher->create_datawriter (topic (name), qos);
  }

  void reader (const char *name, OnMessage &listener)
  {
    auto *subscriber = participant_->create_subscriber (api::SUBSCRIBER_QOS_DEFAULT);
    api::DataReaderQos qos;
    set (qos);
    subscriber->create_datareader (topic (name), qos, &listener);
  }

  void write (api::DataWriter *writer) { (void) writer->write (&message_); }

  /// With it go its segments and ports in shared memory.
  void close ()
  {
    participant_->delete_contained_entities ();
    api::DomainParticipantFactory::get_instance ()->delete_participant (participant_);
  }

private:
  api::Topic *topic (const char *name)
  {
    return participant_->create_topic (name, type_.get_type_name (), api::TOPIC_QOS_DEFAULT);
  }

  /// As our suites: `keep_last` where messages may be lost, `keep_all` where not.
  template <typename Qos>
  void set (Qos &qos) const
  {
    qos.reliability ().kind = task_.reliable ? api::RELIABLE_RELIABILITY_QOS : api::BEST_EFFORT_RELIABILITY_QOS;
    qos.durability ().kind = api::VOLATILE_DURABILITY_QOS;
    qos.history ().kind = task_.reliable ? api::KEEP_ALL_HISTORY_QOS : api::KEEP_LAST_HISTORY_QOS;
    qos.history ().depth = 16;
    qos.reliability ().max_blocking_time = mm::Duration (1, 0);
  }

  const reference::Task &task_;
  api::TypeSupport type_;
  std::vector<uint8_t> bytes_;
  mm::Message message_;
  api::DomainParticipant *participant_ = nullptr;
};

} // namespace

int main (int count, char **words)
{
  // Its end is that of its standard input, and it closes what it has: who is killed leaves files in shared memory.
  std::signal (SIGTERM, SIG_IGN);
  const reference::Task task (count, words);
  Ends ends (task);
  reference::Arrivals answers;
  std::atomic<uint64_t> counted (0);
  api::DataWriter *writer = nullptr;
  OnMessage arrived ([&] { answers.add (); }), answer ([&] { ends.write (writer); }), add ([&] { counted++; });
  if (task.role == "ping") {
    writer = ends.writer ("ping");
    ends.reader ("pong", arrived);
    task.ask ([&] { ends.write (writer); }, answers);
  } else if (task.role == "pong") {
    writer = ends.writer ("pong");
    ends.reader ("ping", answer);
    task.rest ();
  } else if (task.role == "flood") {
    writer = ends.writer ("flood");
    task.flood ([&] { ends.write (writer); });
  } else {
    ends.reader ("flood", add);
    task.count (counted);
  }
  std::fflush (stdout);
  ends.close ();
  _exit (0); // what else the library tears down leaves nothing behind
}
