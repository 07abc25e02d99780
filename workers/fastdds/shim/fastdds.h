/* The part of Fast DDS's C++ API that the worker needs beside what all shims have (`dds.h`), as plain C: opaque handles, a status
 * with a message; no exception crosses. It starts no thread of its own; `src/shim.rs` declares the same for Rust. */
#ifndef MIDDLEMARK_FASTDDS_H
#define MIDDLEMARK_FASTDDS_H

#include "dds.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mm_session mm_session;
typedef struct mm_writer mm_writer;

/* Where a participant or a discovery server is. */
typedef struct mm_place {
  const char *address;
  uint16_t port;                   /* 0: the library's own */
  uint16_t index;                  /* a discovery server's number within the trial */
} mm_place;

/* How participants find each other. */
enum mm_discovery { MM_MULTICAST = 0, MM_PEERS = 1, MM_CLIENT = 2, MM_SERVER = 3 };

typedef struct mm_transports {
  uint32_t domain;
  const char *name;                /* the participant's */
  const mm_place *own;             /* the interfaces that UDP may use, never none; a server's port and number */
  size_t own_count;
  const mm_place *others;          /* peers or servers to look for; none with multicast */
  size_t others_count;
  int32_t discovery;               /* enum mm_discovery */
  uint32_t participants;           /* how many a peer's host may have, with MM_PEERS */
  int32_t udp;                     /* whether there is UDP */
  int32_t shared_memory;           /* whether there is the shared memory transport */
  int32_t large_data;              /* in place of both: the library's LARGE_DATA, where it has them */
  int32_t intraprocess;            /* 0 off, 1 user data, 2 full */
  uint32_t send_buffer_bytes;      /* 0: the system's */
  uint32_t receive_buffer_bytes;   /* 0: the system's */
  uint32_t max_message_bytes;      /* of one transport message */
  uint32_t segment_bytes;          /* of shared memory; 0: as the library computes it */
  uint32_t port_queue;             /* messages that a shared memory port holds */
  const mm_property *properties;   /* of the participant; none or more */
  size_t property_count;
} mm_transports;

typedef struct mm_qos {
  mm_policies policies;
  int64_t heartbeat_ns;       /* a writer's heartbeat period */
  int32_t asynchronous;       /* 1: a thread of the library sends, 0: the caller of write does */
  int32_t data_sharing;       /* 0 off, 1 where possible, 2 required */
  int32_t memory_policy;      /* 0 preallocated, 1 preallocated with realloc, 2 dynamic, 3 dynamic reusable */
} mm_qos;

/* A message type of this name and at most `size` bytes; a plain one has exactly so many and can be lent. */
typedef struct mm_type {
  const char *name;
  uint32_t size;
  int32_t plain;
} mm_type;

int32_t mm_open (const mm_transports *transports, mm_session **session, mm_reason *reason);
/* How long the longest authentication of another participant took, from its discovery on; -1 where none is over, or the
 * library's version lets none be seen. Until the session is closed any thread may ask. */
int64_t mm_longest_handshake_ns (mm_session *session);
/* 1 where the participant has this property with this value. */
int32_t mm_has_property (mm_session *session, const mm_property *property);
/* Deletes the participant with all that it contains, and joins the library's threads. */
int32_t mm_close (mm_session *session);

/* `match` may be NULL, where nobody wants to know. */
int32_t mm_writer_open (mm_session *session, const char *topic, mm_type type, const mm_qos *qos, const mm_match *match,
                        mm_writer **writer, mm_reason *reason);
int32_t mm_writer_guid (mm_writer *writer, uint8_t guid[16]);
int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size);
/* Memory of a plain type, to be written, then published; a loan that could not be published may be published again, or is discarded. */
int32_t mm_loan (mm_writer *writer, uint8_t **bytes);
int32_t mm_publish_loan (mm_writer *writer, uint8_t *bytes);
int32_t mm_discard_loan (mm_writer *writer, uint8_t *bytes);
int32_t mm_writer_qos (mm_writer *writer, mm_qos *qos);
int32_t mm_writer_counterparts (mm_writer *writer, mm_counterparts *counterparts);

/* With the library's thread messages are taken there; else the caller takes them, after mm_wait or whenever it likes.
 * With `loans` (of a plain type) they are handed over where they lie, to `on_lent`; else to `on_message`. */
int32_t mm_reader_open (mm_session *session, const char *topic, mm_type type, const mm_qos *qos, int32_t delivery,
                        int32_t loans, mm_on_message on_message, mm_on_lent on_lent, void *context, mm_reader **reader,
                        mm_reason *reason);
int32_t mm_reader_qos (mm_reader *reader, mm_qos *qos);
int32_t mm_reader_counterparts (mm_reader *reader, mm_counterparts *counterparts);

/* Of readers that are opened as for polling. */
int32_t mm_waitset_open (mm_waitset **waitset);

#ifdef __cplusplus
}
#endif
#endif
