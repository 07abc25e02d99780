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

// How an event or a request is carried to another host.
enum mm_vsomeip_carriage : int32_t { MM_VSOMEIP_ANY = 0, MM_VSOMEIP_TCP = 1, MM_VSOMEIP_UDP = 2 };

struct mm_vsomeip_application;
struct mm_vsomeip_publisher;
struct mm_vsomeip_client;
struct mm_vsomeip_request;

// Called on vSomeIP's dispatch thread with one message's payload, which is valid until it returns.
typedef void (*mm_vsomeip_receive)(void *context, const uint8_t *data, size_t size_bytes);

// All that return bool: true where it went well; else `error` says what did not.

// Creates and starts an application from the configuration that VSOMEIP_CONFIGURATION names.
// Waits until the application is registered with the routing manager, but at most `patience_ms`; 0: does not wait.
mm_vsomeip_application *mm_vsomeip_open(const char *name, uint32_t patience_ms, mm_vsomeip_error *error);

// Called on a thread of vSomeIP's when somebody subscribes, or when the service that a client requests is there.
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

// Called on vSomeIP's dispatch thread with one request, which is valid until it returns.
typedef void (*mm_vsomeip_answer)(void *context, const uint8_t *data, size_t size_bytes, mm_vsomeip_request *request);

// Offers a service with its one method. `context` must live until the application is closed.
bool mm_vsomeip_serve(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_answer answer, void *context,
                      mm_vsomeip_error *error);

// Copies the message and sends it as the response to a request.
bool mm_vsomeip_respond(mm_vsomeip_request *request, const uint8_t *data, size_t size_bytes);

// Offers a service whose one method has no response: `receive` gets each of its requests. `context` must live until the
// application is closed.
bool mm_vsomeip_take(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_receive receive, void *context,
                     mm_vsomeip_error *error);

// Requests a service whose method has no response. `context` must live until the application is closed.
mm_vsomeip_client *mm_vsomeip_call(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                                   mm_vsomeip_matched on_found, void *context, mm_vsomeip_error *error);

// Requests a service, whose responses `receive` gets. Both contexts must live until the application is closed.
mm_vsomeip_client *mm_vsomeip_ask(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                                  mm_vsomeip_receive receive, void *receiver, mm_vsomeip_matched on_found,
                                  void *context, mm_vsomeip_error *error);

// What became of a request.
enum mm_vsomeip_sent : int32_t { MM_VSOMEIP_SENT = 0, MM_VSOMEIP_NOBODY = 1, MM_VSOMEIP_FAILED = 2 };

// Copies the message and sends it as a request, unless nobody offers the service.
mm_vsomeip_sent mm_vsomeip_send(mm_vsomeip_client *client, const uint8_t *data, size_t size_bytes);

void mm_vsomeip_client_free(mm_vsomeip_client *client);

// Stops the application, joins its threads and frees it; afterwards no callback is called any more.
bool mm_vsomeip_close(mm_vsomeip_application *application, mm_vsomeip_error *error);
}
