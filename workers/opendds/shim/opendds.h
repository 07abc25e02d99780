/* The part of OpenDDS's C++ API that the worker needs, as plain C: opaque handles, a status with a message, a callback with
 * a context; no exception crosses. It starts no thread of its own; `src/shim.rs` declares the same for Rust.
 * Every int32_t result is 0 or a count, or the negated DDS return code (-1 for whatever else went wrong). */
#ifndef MIDDLEMARK_OPENDDS_H
#define MIDDLEMARK_OPENDDS_H

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

/* Who takes messages: the library's thread, a thread that waits, or one that polls; in the contract's order. */
enum mm_delivery { MM_LIBRARY_THREAD = 0, MM_OWN_THREAD = 1, MM_POLLING = 2 };

typedef struct mm_qos {
  int32_t reliable;           /* 1 reliable, 0 best effort */
  int32_t depth;              /* keep last so many; 0: keep all */
  int32_t transient_local;    /* 1 transient local, 0 volatile */
  int32_t max_samples;        /* resource limit; -1: none */
  int64_t max_blocking_ns;    /* how long a write may wait */
} mm_qos;

/* Called with each message's bytes, which are valid during the call only. */
typedef void (*mm_on_message) (void *context, const uint8_t *bytes, size_t size);

/* Where a writer's match is told: called with itself, on a thread of the library, when a reader has matched the writer. It
 * lives as long as the writer. */
typedef struct mm_match {
  void (*on_matched) (const struct mm_match *own);
} mm_match;

const char *mm_version (void);

/* Opens a domain as the library's own configuration file says; once in a process. */
int32_t mm_open (int32_t domain, const char *configuration_file, mm_session **session, mm_reason *reason);
/* Deletes the participant with all that it contains, and joins the library's threads. */
int32_t mm_close (mm_session *session);

/* A writer is deleted with its session, its handle by mm_writer_free. */
int32_t mm_writer_open (mm_session *session, const char *topic, const mm_qos *qos, const mm_match *match, mm_writer **writer,
                        mm_reason *reason);
int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size);
int32_t mm_writer_qos (mm_writer *writer, mm_qos *qos);
void mm_writer_free (mm_writer *writer);

/* With the library's thread messages are taken there; else the caller takes them, after mm_wait or whenever it likes. */
int32_t mm_reader_open (mm_session *session, const char *topic, const mm_qos *qos, int32_t delivery,
                        mm_on_message on_message, void *context, mm_reader **reader, mm_reason *reason);
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
