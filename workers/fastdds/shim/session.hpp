// What the handles of a session and of a writer stand for. `fastdds.cpp` opens and closes them.
#ifndef MIDDLEMARK_SESSION_HPP
#define MIDDLEMARK_SESSION_HPP

#include "fastdds.h"
#include "guarded.hpp"
#include "handshakes.hpp"
#include "message_type.hpp"
#include "version.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

struct mm_session {
  mm::api::DomainParticipant *participant = nullptr;
  mm::api::Publisher *publisher = nullptr;
  mm::api::Subscriber *subscriber = nullptr;
  std::map<std::string, mm::api::Topic *> topics;
  mm::Handshakes handshakes;

  /// Deletes the participant with all that it contains.
  int32_t close ()
  {
    if (!participant)
      return 0;
    int32_t code = mm::code (participant->delete_contained_entities ());
    if (code == 0)
      code = mm::code (mm::api::DomainParticipantFactory::get_instance ()->delete_participant (participant));
    participant = nullptr;
    mm::api::Log::KillThread ();
    return -code;
  }

  ~mm_session () { (void) mm::guarded (nullptr, [this] { return close (); }); }

  mm::api::Topic *topic (const std::string &name, mm_type type)
  {
    auto &topic = topics[name];
    if (!topic) {
      mm::api::TypeSupport support (new mm::MessageType (type));
      const std::string type_name = support.get_type_name ();
      if (mm::code (support.register_type (participant)) != 0)
        throw std::runtime_error ("the type " + type_name + " was not registered");
      topic = mm::made (participant->create_topic (name, type_name, mm::api::TOPIC_QOS_DEFAULT), "topic");
    }
    return topic;
  }
};

/// Never freed: the library may call it back until the session is closed.
struct mm_writer final : mm::api::DataWriterListener {
  mm::api::DataWriter *writer = nullptr;
  const mm_match *match = nullptr;
  bool plain = false;

  void on_publication_matched (mm::api::DataWriter *, const mm::api::PublicationMatchedStatus &status) override
  {
    if (match != nullptr && status.current_count > 0)
      match->on_matched (match);
  }
};

#endif
