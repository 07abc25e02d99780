/* What the shims of all DDS implementations have alike: policies, callbacks, and a reader from its opening on. Each shim has
 * functions of its own beside it, among them the one that opens a reader; `workers/dds/src/shim/mod.rs` declares the same for Rust.
 * Every int32_t result is 0 or more, or a negated DDS return code (-1 for whatever else went wrong). */
#ifndef MIDDLEMARK_DDS_H
#define MIDDLEMARK_DDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mm_reader mm_reader;

/* Where a call that opens something says why it could not. */
typedef struct mm_reason {
  char text[256];
} mm_reason;

/* Who takes messages: the library's thread, a thread that waits, or one that polls; in the contract's order. */
enum mm_delivery { MM_LIBRARY_THREAD = 0, MM_OWN_THREAD = 1, MM_POLLING = 2 };

typedef struct mm_policies {
  int32_t reliable;           /* 1 reliable, 0 best effort */
  int32_t depth;              /* keep last so many; 0: keep all */
  int32_t transient_local;    /* 1 transient local, 0 volatile */
  int32_t max_samples;        /* resource limit; what stands for none is the implementation's */
  int64_t max_blocking_ns;    /* how long a write may wait */
} mm_policies;

/* A property of a participant, as the plugins of DDS Security take what they need. */
typedef struct mm_property {
  const char *name;
  const char *value;
} mm_property;

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

/* How many an endpoint has ever met: those it was matched with; those that it can't do with, and the id of the policy that the
 * last of these was refused for. */
typedef struct mm_counterparts {
  int32_t matched;
  int32_t incompatible;
  int32_t policy;
} mm_counterparts;

/* The implementation's name, and the version of its headers. */
const char *mm_library (void);
const char *mm_version (void);
/* What a negative result means. */
const char *mm_explain (int32_t code);

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

/* One wait set for several readers, for a shim that has it; each makes it by a function of its own. */
typedef struct mm_waitset mm_waitset;

/* Has the wait set wait for a reader too, one whose messages its own caller takes; from any thread. */
int32_t mm_waitset_attach (mm_waitset *waitset, mm_reader *reader);
/* Waits until any of them has something to take, and says which, at most so many: how many it says, or 0 once it was stopped. */
int32_t mm_waitset_wait (mm_waitset *waitset, mm_reader **ready, size_t most);
/* Ends mm_waitset_wait for good, from any thread. */
int32_t mm_waitset_stop (mm_waitset *waitset);
/* Only once nobody waits any more, and before its readers are closed. */
int32_t mm_waitset_close (mm_waitset *waitset);

#ifdef __cplusplus
}
#endif
#endif
