// The type of every message: a sequence of octets, or, plain, an array of octets of one fixed size.
// It serialises and copies; what is sent when is not its business.
#ifndef MIDDLEMARK_FASTDDS_MESSAGE_TYPE_HPP
#define MIDDLEMARK_FASTDDS_MESSAGE_TYPE_HPP

#include <cstring>
#include <functional>
#include <vector>

#include <fastdds/dds/topic/TopicDataType.hpp>

#include "version.hpp"

namespace mm {

/// A message of the variable type, in the application: what is sent lies elsewhere, what was received is kept here.
struct Message {
  const uint8_t *sent = nullptr;
  uint32_t size = 0;
  std::vector<uint8_t> received;
};

class MessageType : public api::TopicDataType {
public:
  MessageType (const mm_type &type) : size_ (type.size), plain_ (type.plain)
  {
    // A participant knows one type by a name, and the bound is part of the type, as the name says.
    const uint32_t serialized = encapsulation_bytes + (plain_ ? size_ : length_bytes + size_);
#if MM_FASTDDS_3
    set_name (type.name);
    max_serialized_type_size = serialized;
    is_compute_key_provided = false;
#else
    setName (type.name);
    m_typeSize = serialized;
    m_isGetKeyDefined = false;
#endif
  }

  bool is_bounded () const override { return plain_; }

#if MM_FASTDDS_3
  bool is_plain (api::DataRepresentationId_t) const override { return plain_; }
  bool serialize (const void *const data, rtps::SerializedPayload_t &payload, api::DataRepresentationId_t) override
  {
    return write (data, payload);
  }
  bool deserialize (rtps::SerializedPayload_t &payload, void *data) override { return read (payload, data); }
  uint32_t calculate_serialized_size (const void *const data, api::DataRepresentationId_t) override
  {
    return serialized_size (data);
  }
  void *create_data () override { return create (); }
  void delete_data (void *data) override { destroy (data); }
  bool compute_key (rtps::SerializedPayload_t &, rtps::InstanceHandle_t &, bool) override { return false; }
  bool compute_key (const void *const, rtps::InstanceHandle_t &, bool) override { return false; }
#else
  bool is_plain () const override { return plain_; }
  bool serialize (void *data, rtps::SerializedPayload_t *payload) override { return write (data, *payload); }
  bool deserialize (rtps::SerializedPayload_t *payload, void *data) override { return read (*payload, data); }
  std::function<uint32_t ()> getSerializedSizeProvider (void *data) override
  {
    return [this, data] { return serialized_size (data); };
  }
  void *createData () override { return create (); }
  void deleteData (void *data) override { destroy (data); }
  bool getKey (void *, rtps::InstanceHandle_t *, bool) override { return false; }
#endif

private:
  static constexpr uint32_t encapsulation_bytes = 4;
  static constexpr uint32_t length_bytes = 4;

  uint32_t serialized_size (const void *data) const
  {
    return encapsulation_bytes + (plain_ ? size_ : length_bytes + static_cast<const Message *> (data)->size);
  }

  bool write (const void *data, rtps::SerializedPayload_t &payload) const
  {
    const uint32_t size = serialized_size (data);
    if (payload.max_size < size)
      return false;
    payload.encapsulation = CDR_LE;
    const uint8_t encapsulation[encapsulation_bytes] = {0, CDR_LE, 0, 0};
    std::memcpy (payload.data, encapsulation, sizeof encapsulation);
    uint8_t *body = payload.data + encapsulation_bytes;
    if (plain_) {
      std::memcpy (body, data, size_);
    } else {
      const auto *message = static_cast<const Message *> (data);
      std::memcpy (body, &message->size, length_bytes);
      std::memcpy (body + length_bytes, message->sent, message->size);
    }
    payload.length = size;
    return true;
  }

  bool read (const rtps::SerializedPayload_t &payload, void *data) const
  {
    const uint8_t *body = payload.data + encapsulation_bytes;
    if (plain_) {
      if (payload.length < encapsulation_bytes + size_)
        return false;
      std::memcpy (data, body, size_);
      return true;
    }
    uint32_t size = 0;
    if (payload.length < encapsulation_bytes + length_bytes)
      return false;
    std::memcpy (&size, body, length_bytes);
    if (size > payload.length - encapsulation_bytes - length_bytes)
      return false;
    auto *message = static_cast<Message *> (data);
    message->received.resize (size);
    message->size = size;
    std::memcpy (message->received.data (), body + length_bytes, size);
    return true;
  }

  void *create () const { return plain_ ? static_cast<void *> (new uint8_t[size_]) : new Message; }

  void destroy (void *data) const
  {
    if (plain_)
      delete[] static_cast<uint8_t *> (data);
    else
      delete static_cast<Message *> (data);
  }

  const uint32_t size_;
  const bool plain_;
};

} // namespace mm

#endif
