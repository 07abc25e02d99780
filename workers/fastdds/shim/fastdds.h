/* The part of Fast DDS's C++ API that the worker needs, as plain C: opaque handles, a status with a message, a callback with
 * a context; no exception crosses. It starts no thread of its own; `src/shim.rs` declares the same for Rust.
 * Every int32_t result is 0 or a count, or the negated DDS return code (-1 for whatever else went wrong). */
#ifndef MIDDLEMARK_FASTDDS_H
#define MIDDLEMARK_FASTDDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mm_session mm_session;
typedef struct mm_writer mm_writer;
typedef struct mm_reader mm_reader;

/* Where a call that opens something says why it could not. */
typedef struct mm_reason {
  char text[256];
} mm_reason;

/* Where a participant or a discovery server is. */
typedef struct mm_place {
  const char *address;
  uint16_t port;                   /* 0: the library's own */
  uint16_t index;                  /* a discovery server's number within the trial */
} mm_place;

/* Who takes messages: the library's thread, a thread that waits, or one that polls; in the contract's order. */
enum mm_delivery { MM_LIBRARY_THREAD = 0, MM_OWN_THREAD = 1, MM_POLLING = 2 };

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
  int32_t intraprocess;            /* 0 off, 1 user data, 2 full */
  uint32_t send_buffer_bytes;      /* 0: the system's */
  uint32_t receive_buffer_bytes;   /* 0: the system's */
  uint32_t max_message_bytes;      /* of one transport message */
  uint32_t segment_bytes;          /* of shared memory; 0: as the library computes it */
  uint32_t port_queue;             /* messages that a shared memory port holds */
} mm_transports;

typedef struct mm_qos {
  int32_t reliable;           /* 1 reliable, 0 best effort */
  int32_t depth;              /* keep last so many; 0: keep all */
  int32_t transient_local;    /* 1 transient local, 0 volatile */
  int32_t max_samples;        /* resource limit */
  int64_t max_blocking_ns;    /* how long a write may wait */
  int64_t heartbeat_ns;       /* a writer's heartbeat period */
  int32_t asynchronous;       /* 1: a thread of the library sends, 0: the caller of write does */
  int32_t data_sharing;       /* 0 off, 1 where possible, 2 required */
  int32_t memory_policy;      /* 0 preallocated, 1 preallocated with realloc, 2 dynamic, 3 dynamic reusable */
} mm_qos;

/* A message type of at most `size` bytes; a plain one has exactly so many and can be lent. */
typedef struct mm_type {
  uint32_t size;
  int32_t plain;
} mm_type;

/* Called with each message's bytes, which are valid during the call only. */
typedef void (*mm_on_message) (void *context, const uint8_t *bytes, size_t size);

/* Called with each message where it lies. A writer may write over it while it is read: what was read counts only if
 * `is_valid` still says 1 of the sample afterwards. Both are valid during the call only. */
typedef int32_t (*mm_is_valid) (const void *sample);
typedef void (*mm_on_lent) (void *context, const uint8_t *bytes, size_t size, mm_is_valid is_valid, const void *sample);

/* Where a writer's match is told: called with itself, on a thread of the library, when a reader has matched the writer. It
 * lives as long as the writer. */
typedef struct mm_match {
  void (*on_matched) (const struct mm_match *own);
} mm_match;

const char *mm_version (void);

int32_t mm_open (const mm_transports *transports, mm_session **session, mm_reason *reason);
/* Deletes the participant with all that it contains, and joins the library's threads. */
int32_t mm_close (mm_session *session);

int32_t mm_writer_open (mm_session *session, const char *topic, mm_type type, const mm_qos *qos, const mm_match *match,
                        mm_writer **writer, mm_reason *reason);
int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size);
/* Memory of a plain type, to be written, then published; a loan that could not be published may be published again, or is discarded. */
int32_t mm_loan (mm_writer *writer, uint8_t **bytes);
int32_t mm_publish_loan (mm_writer *writer, uint8_t *bytes);
int32_t mm_discard_loan (mm_writer *writer, uint8_t *bytes);
int32_t mm_writer_qos (mm_writer *writer, mm_qos *qos);

/* With the library's thread messages are taken there; else the caller takes them, after mm_wait or whenever it likes.
 * With `loans` (of a plain type) they are handed over where they lie, to `on_lent`; else to `on_message`. */
int32_t mm_reader_open (mm_session *session, const char *topic, mm_type type, const mm_qos *qos, int32_t delivery,
                        int32_t loans, mm_on_message on_message, mm_on_lent on_lent, void *context, mm_reader **reader,
                        mm_reason *reason);
int32_t mm_reader_qos (mm_reader *reader, mm_qos *qos);
/* Waits until there is something to take (1) or the reader was stopped (0). */
int32_t mm_wait (mm_reader *reader);
/* Hands over all that there is; the number of messages. */
int32_t mm_take (mm_reader *reader);
/* Ends mm_wait for good, from any thread. */
int32_t mm_stop (mm_reader *reader);
/* What taking on the library's thread failed with; 0: nothing. */
int32_t mm_reader_failure (mm_reader *reader);
/* Only once nobody waits or takes any more; waits for callbacks. Where it fails the reader stays, and may call back. */
int32_t mm_reader_close (mm_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
