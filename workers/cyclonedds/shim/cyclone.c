#include "cyclone.h"

#include <dds/dds.h>
#include <dds/version.h>
#include <stdlib.h>
#include <string.h>

/* struct { sequence<octet> bytes; }, as idlc would describe it; its name depends on the size of messages. */
typedef struct message {
  dds_sequence_t bytes;
} message;

static const uint32_t message_ops[] = {
  DDS_OP_ADR | DDS_OP_TYPE_SEQ | DDS_OP_SUBTYPE_1BY, offsetof (message, bytes),
  DDS_OP_RTS
};


struct mm_waitset {
  dds_entity_t entity;
  dds_entity_t stop;
};

/* With the memory that its messages are taken into. */
struct mm_reader {
  dds_entity_t entity;
  mm_waitset own; /* with the thread of its own that waits */
  uint32_t batch;
  message *messages;
  void **places;
  dds_sample_info_t *infos;
  mm_on_message on_message;
  void *context;
  int32_t failure; /* of the last callback that failed; the library calls back one at a time */
};

const char *mm_library (void) { return "Cyclone DDS"; }

const char *mm_version (void) { return DDS_VERSION; }

const char *mm_explain (int32_t code) { return dds_strretcode (code); }

int32_t mm_open (uint32_t domain, const char *configuration, const mm_property *properties, size_t count,
                 int32_t *domain_entity)
{
  const dds_entity_t created = dds_create_domain (domain, configuration);
  if (created < 0)
    return created;
  dds_qos_t *qos = dds_create_qos ();
  for (size_t i = 0; i < count; i++)
    dds_qset_prop (qos, properties[i].name, properties[i].value);
  const dds_entity_t participant = dds_create_participant (domain, qos, NULL);
  dds_delete_qos (qos);
  if (participant < 0)
    (void) dds_delete (created);
  else
    *domain_entity = created;
  return participant;
}

int32_t mm_has_property (int32_t participant, const mm_property *property)
{
  dds_qos_t *qos = dds_create_qos ();
  char *value = NULL;
  const dds_return_t result = dds_get_qos (participant, qos);
  const bool has = result == DDS_RETCODE_OK && dds_qget_prop (qos, property->name, &value) && value &&
                   strcmp (value, property->value) == 0;
  dds_free (value);
  dds_delete_qos (qos);
  return result < 0 ? result : has;
}

int32_t mm_delete (int32_t entity) { return dds_delete (entity); }

static dds_qos_t *make_qos (const mm_policies *requested)
{
  dds_qos_t *qos = dds_create_qos ();
  dds_qset_reliability (qos, requested->reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                        requested->max_blocking_ns);
  dds_qset_history (qos, requested->depth > 0 ? DDS_HISTORY_KEEP_LAST : DDS_HISTORY_KEEP_ALL, requested->depth);
  dds_qset_durability (qos, requested->transient_local ? DDS_DURABILITY_TRANSIENT_LOCAL : DDS_DURABILITY_VOLATILE);
  dds_qset_resource_limits (qos, requested->max_samples, DDS_LENGTH_UNLIMITED, requested->max_samples);
  /* What a transient-local writer keeps for late joiners: the newest that its history has room for. Keeping all would
     be without a bound, as what late joiners may ask for is never acknowledged. */
  dds_qset_durability_service (qos, 0, DDS_HISTORY_KEEP_LAST, requested->depth > 0 ? requested->depth : requested->max_samples,
                               requested->max_samples, DDS_LENGTH_UNLIMITED, requested->max_samples);
  return qos;
}

static dds_entity_t make_topic (int32_t participant, const char *topic_name, const char *type_name)
{
  const dds_topic_descriptor_t described = {
    .m_size = sizeof (message),
    .m_align = _Alignof (message),
    .m_typename = type_name,
    .m_nops = 2,
    .m_ops = message_ops,
    .m_meta = ""
  };
  return dds_create_topic (participant, &described, topic_name, NULL, NULL);
}

static void on_publication_matched (dds_entity_t writer, const dds_publication_matched_status_t status, void *argument)
{
  const mm_match *match = argument;
  (void) writer;
  if (status.current_count > 0)
    match->on_matched (match);
}

int32_t mm_writer (int32_t participant, const char *topic_name, const char *type_name, const mm_policies *requested,
                   int32_t batching, const mm_match *match)
{
  const dds_entity_t topic = make_topic (participant, topic_name, type_name);
  if (topic < 0)
    return topic;
  dds_qos_t *qos = make_qos (requested);
  dds_qset_writer_batching (qos, batching);
  dds_listener_t *listener = dds_create_listener ((void *) match);
  if (match != NULL)
    dds_lset_publication_matched (listener, on_publication_matched);
  const dds_entity_t writer = dds_create_writer (participant, topic, qos, listener);
  dds_delete_listener (listener);
  dds_delete_qos (qos);
  return writer;
}

int32_t mm_writer_guid (int32_t writer, uint8_t guid[16])
{
  dds_guid_t found;
  const dds_return_t code = dds_get_guid (writer, &found);
  if (code == DDS_RETCODE_OK)
    memcpy (guid, found.v, sizeof (found.v));
  return code;
}

int32_t mm_write (int32_t writer, const uint8_t *bytes, uint32_t size)
{
  const message sent = { .bytes = { ._maximum = size, ._length = size, ._buffer = (uint8_t *) bytes, ._release = false } };
  return dds_write (writer, &sent);
}

int32_t mm_flush (int32_t writer) { return dds_write_flush (writer); }

int32_t mm_is_batching (int32_t writer)
{
  dds_qos_t *qos = dds_create_qos ();
  bool batching = false;
  const dds_return_t result = dds_get_qos (writer, qos);
  const bool is_stated = result == DDS_RETCODE_OK && dds_qget_writer_batching (qos, &batching);
  dds_delete_qos (qos);
  return result < 0 ? result : is_stated && batching;
}

int32_t mm_read_back (int32_t entity, mm_policies *found)
{
  dds_qos_t *qos = dds_create_qos ();
  const dds_return_t result = dds_get_qos (entity, qos);
  if (result == DDS_RETCODE_OK) {
    dds_reliability_kind_t reliability;
    dds_history_kind_t history;
    dds_durability_kind_t durability;
    (void) dds_qget_reliability (qos, &reliability, &found->max_blocking_ns);
    (void) dds_qget_history (qos, &history, &found->depth);
    (void) dds_qget_durability (qos, &durability);
    (void) dds_qget_resource_limits (qos, &found->max_samples, NULL, NULL);
    found->reliable = reliability == DDS_RELIABILITY_RELIABLE;
    found->transient_local = durability == DDS_DURABILITY_TRANSIENT_LOCAL;
    if (history == DDS_HISTORY_KEEP_ALL)
      found->depth = 0;
  }
  dds_delete_qos (qos);
  return result;
}

/* Whom an endpoint has met: the API has the same statuses for writers and readers, under types of their own. */
#define MM_MET(name, own, by)                                                                                               \
  static int32_t name (dds_entity_t endpoint, mm_counterparts *found)                                                       \
  {                                                                                                                         \
    dds_##own##_matched_status_t matched;                                                                                   \
    dds_##by##_incompatible_qos_status_t refused;                                                                           \
    dds_return_t result = dds_get_##own##_matched_status (endpoint, &matched);                                              \
    if (result >= 0)                                                                                                        \
      result = dds_get_##by##_incompatible_qos_status (endpoint, &refused);                                                 \
    if (result >= 0)                                                                                                        \
      *found = (mm_counterparts) { (int32_t) matched.total_count, (int32_t) refused.total_count,                            \
                                   (int32_t) refused.last_policy_id };                                                      \
    return result;                                                                                                          \
  }

MM_MET (readers_met, publication, offered)
MM_MET (writers_met, subscription, requested)

int32_t mm_counterparts_of (int32_t entity, int32_t is_writer, mm_counterparts *found)
{
  return is_writer ? readers_met (entity, found) : writers_met (entity, found);
}

int32_t mm_loans_shared_memory (int32_t writer) { return dds_is_shared_memory_available (writer); }

static int32_t reserve (mm_reader *reader, uint32_t size, uint32_t batch)
{
  reader->batch = batch;
  reader->messages = calloc (batch, sizeof (*reader->messages));
  reader->places = calloc (batch, sizeof (*reader->places));
  reader->infos = calloc (batch, sizeof (*reader->infos));
  if (!reader->messages || !reader->places || !reader->infos)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  for (uint32_t i = 0; i < batch; i++) {
    /* Owned by the sequence, so that a longer message than expected grows it and is not cut. */
    reader->messages[i].bytes = (dds_sequence_t) { ._maximum = size, ._buffer = dds_alloc (size), ._release = true };
    memset (reader->messages[i].bytes._buffer, 0, size); /* touched before the window */
    reader->places[i] = &reader->messages[i];
  }
  return DDS_RETCODE_OK;
}

static int32_t take (mm_reader *reader, dds_entity_t entity)
{
  int32_t total = 0;
  for (;;) {
    const dds_return_t count =
      dds_take (entity, reader->places, reader->infos, reader->batch, reader->batch);
    if (count < 0)
      return count;
    for (int32_t i = 0; i < count; i++) {
      if (reader->infos[i].valid_data)
        reader->on_message (reader->context, reader->messages[i].bytes._buffer, reader->messages[i].bytes._length);
    }
    total += count;
    if ((uint32_t) count < reader->batch)
      return total;
  }
}

int32_t mm_take (mm_reader *reader) { return take (reader, reader->entity); }

static void on_data_available (dds_entity_t entity, void *argument)
{
  mm_reader *reader = argument;
  /* Not the reader's own entity: this may be called before dds_create_reader has returned. */
  const int32_t count = take (reader, entity);
  if (count < 0)
    reader->failure = count;
}

static int32_t create_reader (mm_reader *reader, int32_t participant, const char *topic_name, const char *type_name,
                              const mm_policies *requested, int32_t listen)
{
  const dds_entity_t topic = make_topic (participant, topic_name, type_name);
  if (topic < 0)
    return topic;
  dds_qos_t *qos = make_qos (requested);
  dds_listener_t *listener = NULL;
  if (listen) {
    listener = dds_create_listener (reader);
    dds_lset_data_available (listener, on_data_available);
  }
  const dds_entity_t entity = dds_create_reader (participant, topic, qos, listener);
  dds_delete_listener (listener);
  dds_delete_qos (qos);
  if (entity > 0)
    reader->entity = entity;
  return entity;
}

static int32_t create_waitset (mm_waitset *waitset, int32_t participant)
{
  waitset->entity = dds_create_waitset (participant);
  waitset->stop = dds_create_guardcondition (participant);
  if (waitset->entity < 0 || waitset->stop < 0)
    return waitset->entity < 0 ? waitset->entity : waitset->stop;
  return dds_waitset_attach (waitset->entity, waitset->stop, 0);
}

static void delete_waitset (mm_waitset *waitset)
{
  if (waitset->entity > 0)
    (void) dds_delete (waitset->entity);
  if (waitset->stop > 0)
    (void) dds_delete (waitset->stop);
}

int32_t mm_waitset_attach (mm_waitset *waitset, mm_reader *reader)
{
  const dds_return_t masked = dds_set_status_mask (reader->entity, DDS_DATA_AVAILABLE_STATUS);
  return masked < 0 ? masked : dds_waitset_attach (waitset->entity, reader->entity, (dds_attach_t) reader);
}

int32_t mm_reader_open (int32_t participant, const char *topic, const char *type_name, const mm_policies *qos, uint32_t size,
                        uint32_t batch, int32_t delivery, mm_on_message on_message, void *context, mm_reader **opened)
{
  mm_reader *reader = calloc (1, sizeof (*reader));
  if (!reader)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  reader->on_message = on_message;
  reader->context = context;
  int32_t result = reserve (reader, size, batch);
  if (result >= 0)
    result = create_reader (reader, participant, topic, type_name, qos, delivery == MM_LIBRARY_THREAD);
  if (result >= 0 && delivery == MM_OWN_THREAD)
    result = create_waitset (&reader->own, participant);
  if (result >= 0 && delivery == MM_OWN_THREAD)
    result = mm_waitset_attach (&reader->own, reader);
  if (result < 0)
    (void) mm_reader_close (reader);
  else
    *opened = reader;
  return result < 0 ? result : 0;
}

int32_t mm_reader_entity (const mm_reader *reader) { return reader->entity; }

/* Up to `most` of what is ready; 0 once it was stopped. */
static int32_t wait_for_any (const mm_waitset *waitset, dds_attach_t *ready, size_t most)
{
  bool stopped = false;
  const dds_return_t triggered = dds_waitset_wait (waitset->entity, ready, most, DDS_INFINITY);
  if (triggered < 0)
    return triggered;
  const dds_return_t read = dds_read_guardcondition (waitset->stop, &stopped);
  if (read < 0 || stopped)
    return read < 0 ? read : 0;
  return (size_t) triggered < most ? triggered : (int32_t) most;
}

int32_t mm_wait (mm_reader *reader)
{
  dds_attach_t ready;
  return wait_for_any (&reader->own, &ready, 1);
}

int32_t mm_stop (mm_reader *reader)
{
  return reader->own.stop > 0 ? dds_set_guardcondition (reader->own.stop, true) : 0;
}

int32_t mm_waitset_open (int32_t participant, mm_waitset **opened)
{
  mm_waitset *waitset = calloc (1, sizeof (*waitset));
  if (!waitset)
    return DDS_RETCODE_OUT_OF_RESOURCES;
  const int32_t result = create_waitset (waitset, participant);
  if (result < 0)
    (void) mm_waitset_close (waitset);
  else
    *opened = waitset;
  return result < 0 ? result : 0;
}

int32_t mm_waitset_wait (mm_waitset *waitset, mm_reader **ready, size_t most)
{
  _Static_assert (sizeof (dds_attach_t) == sizeof (*ready), "what is attached is a reader");
  return wait_for_any (waitset, (dds_attach_t *) ready, most);
}

int32_t mm_waitset_stop (mm_waitset *waitset) { return dds_set_guardcondition (waitset->stop, true); }

int32_t mm_waitset_close (mm_waitset *waitset)
{
  delete_waitset (waitset);
  free (waitset);
  return 0;
}

int32_t mm_reader_failure (mm_reader *reader) { return reader->failure; }

int32_t mm_reader_close (mm_reader *reader)
{
  /* Deleting waits for a callback under way; where it fails the library may still call back. */
  const dds_return_t deleted = reader->entity > 0 ? dds_delete (reader->entity) : DDS_RETCODE_OK;
  if (deleted < 0)
    return deleted;
  delete_waitset (&reader->own);
  for (uint32_t i = 0; reader->messages && i < reader->batch; i++)
    dds_free (reader->messages[i].bytes._buffer);
  free (reader->messages);
  free (reader->places);
  free (reader->infos);
  free (reader);
  return 0;
}
