/* The part of Cyclone DDS's C API that the worker needs beside what all shims have (`dds.h`), in plain types, so that the struct
 * layouts and constants of the linked version are known to the C compiler alone. It keeps no state of its own beyond a reader and
 * starts no thread; `src/shim.rs` declares the same for Rust. Results may be entities (> 0) too. */
#ifndef MIDDLEMARK_CYCLONE_H
#define MIDDLEMARK_CYCLONE_H

#include "dds.h"

/* A participant with these properties, none or more, in a domain of its own configuration; the environment's
 * CYCLONEDDS_URI is not read. */
int32_t mm_open (uint32_t domain, const char *configuration, const mm_property *properties, size_t count,
                 int32_t *domain_entity);
/* 1 where the participant has this property with this value. */
int32_t mm_has_property (int32_t participant, const mm_property *property);
/* Deletes an entity and all that belongs to it; of a domain, joins the library's threads. */
int32_t mm_delete (int32_t entity);

/* With `batching` a write may stay in a packet that is not full yet, until mm_flush. `match` may be NULL, where nobody wants
 * to know. */
int32_t mm_writer (int32_t participant, const char *topic, const char *type_name, const mm_policies *qos, int32_t batching,
                   const mm_match *match);
int32_t mm_writer_guid (int32_t writer, uint8_t guid[16]);
int32_t mm_write (int32_t writer, const uint8_t *bytes, uint32_t size);
int32_t mm_flush (int32_t writer);
/* 1 where the writer has batching. */
int32_t mm_is_batching (int32_t writer);

int32_t mm_read_back (int32_t entity, mm_policies *qos);
/* Whom a writer or a reader has met. */
int32_t mm_counterparts_of (int32_t entity, int32_t is_writer, mm_counterparts *counterparts);
/* 1 where a loan of this writer would be shared memory. */
int32_t mm_loans_shared_memory (int32_t writer);

/* `batch` messages of up to `size` bytes are taken at once: by the library's receive thread, or by the caller, after mm_wait
 * or whenever it likes. */
int32_t mm_reader_open (int32_t participant, const char *topic, const char *type_name, const mm_policies *qos, uint32_t size,
                        uint32_t batch, int32_t delivery, mm_on_message on_message, void *context, mm_reader **reader);
int32_t mm_reader_entity (const mm_reader *reader);

/* Of the participant's readers that are opened as for polling. */
int32_t mm_waitset_open (int32_t participant, mm_waitset **waitset);

#endif
