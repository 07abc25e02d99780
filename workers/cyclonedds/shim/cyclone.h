/* The part of Cyclone DDS's C API that the worker needs, in plain types, so that the struct layouts and constants of the
 * linked version are known to the C compiler alone. It keeps no state of its own beyond a reader and starts no thread;
 * `src/shim.rs` declares the same for Rust. Every int32_t result is an entity (> 0), 0, or a negative return code. */
#ifndef MIDDLEMARK_CYCLONE_H
#define MIDDLEMARK_CYCLONE_H

#include <stddef.h>
#include <stdint.h>

typedef struct mm_qos {
  int32_t reliable;          /* 1 reliable, 0 best effort */
  int32_t depth;             /* keep last so many; 0: keep all */
  int32_t transient_local;   /* 1 transient local, 0 volatile */
  int32_t max_samples;       /* resource limit; -1: unlimited */
  int64_t max_blocking_ns;   /* how long a write may wait */
} mm_qos;

/* Called with each message's bytes, which are valid during the call only. */
typedef void (*mm_on_message) (void *context, const uint8_t *bytes, size_t size);

/* Where a writer's match is told: called with itself, on a thread of the library, when a reader has matched the writer. It
 * lives as long as the writer. */
typedef struct mm_match {
  void (*on_matched) (const struct mm_match *own);
} mm_match;

const char *mm_version (void);
const char *mm_explain (int32_t code);

/* A participant in a domain of its own configuration; the environment's CYCLONEDDS_URI is not read. */
int32_t mm_open (uint32_t domain, const char *configuration, int32_t *domain_entity);
/* Deletes an entity and all that belongs to it; of a domain, joins the library's threads. */
int32_t mm_delete (int32_t entity);

int32_t mm_writer (int32_t participant, const char *topic, const mm_qos *qos, const mm_match *match);
int32_t mm_write (int32_t writer, const uint8_t *bytes, uint32_t size);

int32_t mm_read_back (int32_t entity, mm_qos *qos);
/* How many readers a writer is matched with, or writers a reader. */
int32_t mm_matched_readers (int32_t writer);
int32_t mm_matched_writers (int32_t reader);
/* 1 where a loan of this writer would be shared memory. */
int32_t mm_loans_shared_memory (int32_t writer);

/* A reader with the memory that its messages are taken into. */
typedef struct mm_reader mm_reader;

/* Who takes messages: the library's receive thread, a thread that waits, or one that polls; in the contract's order. */
enum mm_delivery { MM_LIBRARY_THREAD = 0, MM_OWN_THREAD = 1, MM_POLLING = 2 };

/* `batch` messages of up to `size` bytes are taken at once: by the library's receive thread, or by the caller, after mm_wait
 * or whenever it likes. */
int32_t mm_reader_open (int32_t participant, const char *topic, const mm_qos *qos, uint32_t size, uint32_t batch,
                          int32_t delivery, mm_on_message on_message, void *context, mm_reader **reader);
int32_t mm_reader_entity (const mm_reader *reader);
/* Waits until there is something to take (1) or the reader was stopped (0). */
int32_t mm_wait (mm_reader *reader);
/* Hands over all that there is; the number of messages. */
int32_t mm_take (mm_reader *reader);
/* Ends mm_wait for good, from any thread. */
int32_t mm_stop (mm_reader *reader);
/* Only once nobody waits or takes any more. Tells what taking in a callback failed with. */
int32_t mm_reader_close (mm_reader *reader);

#endif
