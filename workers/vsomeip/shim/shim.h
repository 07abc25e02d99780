// Plain C over vSomeIP: opaque handles, a status with its text, callbacks with a context; no exception crosses.
// It decides nothing: identifiers, configuration and their meaning come from the Rust side of this worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// The text of what went wrong, cut to fit and ended by a zero.
struct mm_vsomeip_error {
    char text[256];
};

// How an event is carried to another host.
enum mm_vsomeip_carriage : int32_t { MM_VSOMEIP_ANY = 0, MM_VSOMEIP_TCP = 1, MM_VSOMEIP_UDP = 2 };

struct mm_vsomeip_application;
struct mm_vsomeip_publisher;

// Called on vSomeIP's dispatch thread with one message's payload, which is valid until it returns.
typedef void (*mm_vsomeip_receive)(void *context, const uint8_t *data, size_t size_bytes);

// All that return bool: true where it went well; else `error` says what did not.

// Creates and starts an application from the configuration that VSOMEIP_CONFIGURATION names.
// Waits until the application is registered with the routing manager, but at most `patience_ms`; 0: does not wait.
mm_vsomeip_application *mm_vsomeip_open(const char *name, uint32_t patience_ms, mm_vsomeip_error *error);

// Called on a thread of vSomeIP's when somebody subscribes.
typedef void (*mm_vsomeip_matched)(void *context);

// Offers a service with its one event in its one eventgroup. `context` must live until the application is closed.
mm_vsomeip_publisher *mm_vsomeip_offer(mm_vsomeip_application *application, uint16_t service,
                                       mm_vsomeip_carriage carriage, mm_vsomeip_matched on_matched, void *context,
                                       mm_vsomeip_error *error);

// Copies the message and sends it as an event to all subscribers.
bool mm_vsomeip_publish(mm_vsomeip_publisher *publisher, const uint8_t *data, size_t size_bytes);

void mm_vsomeip_publisher_free(mm_vsomeip_publisher *publisher);

// Requests a service and subscribes to its event. `context` must live until the application is closed.
bool mm_vsomeip_subscribe(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                          mm_vsomeip_receive receive, void *context, mm_vsomeip_error *error);

// Stops the application, joins its threads and frees it; afterwards no callback is called any more.
bool mm_vsomeip_close(mm_vsomeip_application *application, mm_vsomeip_error *error);
}
