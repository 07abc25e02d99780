/* The part of OpenDDS's C++ API that the worker needs beside what all shims have (`dds.h`), as plain C: opaque handles, a status
 * with a message; no exception crosses. It starts no thread of its own; `src/shim.rs` declares the same for Rust. */
#ifndef MIDDLEMARK_OPENDDS_H
#define MIDDLEMARK_OPENDDS_H

#include "dds.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mm_session mm_session;
typedef struct mm_writer mm_writer;

/* Opens a domain as the library's own configuration file says; once in a process. */
int32_t mm_open (int32_t domain, const char *configuration_file, mm_session **session, mm_reason *reason);
/* Deletes the participant with all that it contains, and joins the library's threads. */
int32_t mm_close (mm_session *session);

int32_t mm_writer_open (mm_session *session, const char *topic, const mm_policies *qos, const mm_match *match, mm_writer **writer,
                        mm_reason *reason);
int32_t mm_write (mm_writer *writer, const uint8_t *bytes, uint32_t size);
int32_t mm_writer_qos (mm_writer *writer, mm_policies *qos);
/* Deletes the writer, which waits until its messages are acknowledged or DCPSPendingTimeout is over; from any thread. */
int32_t mm_writer_close (mm_writer *writer);

/* With the library's thread messages are taken there; else the caller takes them, after mm_wait or whenever it likes. */
int32_t mm_reader_open (mm_session *session, const char *topic, const mm_policies *qos, int32_t delivery,
                        mm_on_message on_message, void *context, mm_reader **reader, mm_reason *reason);
int32_t mm_reader_qos (mm_reader *reader, mm_policies *qos);

#ifdef __cplusplus
}
#endif
#endif
