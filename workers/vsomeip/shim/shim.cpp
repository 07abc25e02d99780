// SPDX-License-Identifier: Apache-2.0
#include "shim.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <vsomeip/vsomeip.hpp>

namespace {

// Each publisher and each server is a service of its own, so that one instance, event, eventgroup and method do for all.
constexpr vsomeip::instance_t INSTANCE = 0x0001;
constexpr vsomeip::event_t EVENT = 0x8001;
constexpr vsomeip::eventgroup_t EVENTGROUP = 0x0001;
constexpr vsomeip::method_t METHOD = 0x0001;

void tell(mm_vsomeip_error *error, const char *text) {
    std::snprintf(error->text, sizeof error->text, "%s", text);
}

// Runs `action` and turns an exception into `failed`.
template <typename Result, typename Action>
Result guarded(mm_vsomeip_error *error, Result failed, Action action) {
    try {
        return action();
    } catch (const std::exception &exception) {
        tell(error, exception.what());
    } catch (...) {
        tell(error, "an exception of unknown type");
    }
    return failed;
}

vsomeip::reliability_type_e reliability(mm_vsomeip_carriage carriage) {
    switch (carriage) {
    case MM_VSOMEIP_TCP:
        return vsomeip::reliability_type_e::RT_RELIABLE;
    case MM_VSOMEIP_UDP:
        return vsomeip::reliability_type_e::RT_UNRELIABLE;
    default:
        return vsomeip::reliability_type_e::RT_UNKNOWN;
    }
}

// Whether a service is there, for all clients of one application: vSomeIP keeps one handler for them.
struct availability {
    std::atomic<bool> is_there{false};
    std::mutex mutex;
    std::vector<std::pair<mm_vsomeip_matched, void *>> waiting;

    void tell(bool now_there) {
        std::lock_guard<std::mutex> lock(mutex);
        is_there = now_there;
        if (!now_there)
            return;
        for (const auto &[on_found, context] : waiting)
            on_found(context);
        waiting.clear();
    }

    void await(mm_vsomeip_matched on_found, void *context) {
        std::lock_guard<std::mutex> lock(mutex);
        if (is_there)
            on_found(context);
        else
            waiting.emplace_back(on_found, context);
    }
};

} // namespace

struct mm_vsomeip_application {
    std::shared_ptr<vsomeip::application> vsomeip;
    std::map<vsomeip::service_t, std::shared_ptr<availability>> requested;
    std::thread io;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_registered = false;
};

struct mm_vsomeip_publisher {
    std::shared_ptr<vsomeip::application> vsomeip;
    vsomeip::service_t service;
    // Filled anew for each message, as vSomeIP's own example of a publisher does; notify copies it before it returns.
    std::shared_ptr<vsomeip::payload> payload;
};

struct mm_vsomeip_client {
    std::shared_ptr<vsomeip::application> vsomeip;
    std::shared_ptr<availability> server;
    // Sent again and again, as vSomeIP's own example of a client does; send numbers it and serialises it before it returns.
    std::shared_ptr<vsomeip::message> request;
    std::shared_ptr<vsomeip::payload> payload;
};

struct mm_vsomeip_request {
    vsomeip::application &vsomeip;
    const std::shared_ptr<vsomeip::message> &message;
};

namespace {

// Has `receive` get the messages of one type by a service's method. Appended, as an application may hold both ends of it.
void receive_by_method(vsomeip::application &application, vsomeip::service_t service, vsomeip::message_type_e type,
                       mm_vsomeip_receive receive, void *context) {
    application.register_message_handler_ext(
        service, INSTANCE, METHOD,
        [type, receive, context](const std::shared_ptr<vsomeip::message> &message) {
            if (message->get_message_type() != type)
                return;
            const auto payload = message->get_payload();
            receive(context, payload->get_data(), payload->get_length());
        },
        vsomeip::handler_registration_type_e::HRT_APPEND);
}

// Requests a service, and makes what its requests of one type are sent by.
mm_vsomeip_client *client_of(mm_vsomeip_application *application, vsomeip::service_t service, vsomeip::message_type_e type,
                             mm_vsomeip_carriage carriage, mm_vsomeip_matched on_found, void *context) {
    auto &vsomeip = application->vsomeip;
    auto &server = application->requested[service];
    if (!server) {
        server = std::make_shared<availability>();
        const vsomeip::availability_handler_t tell =
            [server](vsomeip::service_t, vsomeip::instance_t, bool is_there) { server->tell(is_there); };
        vsomeip->register_availability_handler(service, INSTANCE, tell);
        vsomeip->request_service(service, INSTANCE);
    }
    server->await(on_found, context);
    auto request = vsomeip::runtime::get()->create_request(carriage == MM_VSOMEIP_TCP);
    request->set_service(service);
    request->set_instance(INSTANCE);
    request->set_method(METHOD);
    request->set_message_type(type);
    auto payload = vsomeip::runtime::get()->create_payload();
    request->set_payload(payload);
    return new mm_vsomeip_client{vsomeip, server, request, payload};
}

} // namespace

mm_vsomeip_application *mm_vsomeip_open(const char *name, uint32_t patience_ms, mm_vsomeip_error *error) {
    return guarded(error, static_cast<mm_vsomeip_application *>(nullptr), [&] {
        auto application = std::make_unique<mm_vsomeip_application>();
        application->vsomeip = vsomeip::runtime::get()->create_application(name);
        if (!application->vsomeip || !application->vsomeip->init())
            throw std::runtime_error("the application could not be initialised; vSomeIP's log in the trial's folder says why");
        auto *self = application.get();
        self->vsomeip->register_state_handler([self](vsomeip::state_type_e state) {
            std::lock_guard<std::mutex> lock(self->mutex);
            self->is_registered = state == vsomeip::state_type_e::ST_REGISTERED;
            self->changed.notify_all();
        });
        self->io = std::thread([vsomeip = self->vsomeip] { vsomeip->start(); });
        std::unique_lock<std::mutex> lock(self->mutex);
        const auto patience = std::chrono::milliseconds(patience_ms);
        if (!self->changed.wait_for(lock, patience, [self] { return self->is_registered; }) && patience_ms > 0) {
            lock.unlock();
            mm_vsomeip_close(application.release(), error);
            throw std::runtime_error("the application did not register with the routing manager in time");
        }
        lock.unlock();
        return application.release();
    });
}

mm_vsomeip_publisher *mm_vsomeip_offer(mm_vsomeip_application *application, uint16_t service,
                                       mm_vsomeip_carriage carriage, mm_vsomeip_matched on_matched, void *context,
                                       mm_vsomeip_error *error) {
    return guarded(error, static_cast<mm_vsomeip_publisher *>(nullptr), [&] {
        auto &vsomeip = application->vsomeip;
        // It accepts everybody, as an offer without a handler does.
        const vsomeip::subscription_handler_sec_t accept =
            [on_matched, context](vsomeip::client_t, const vsomeip_sec_client_t *, const std::string &, bool subscribes) {
                if (subscribes)
                    on_matched(context);
                return true;
            };
        vsomeip->register_subscription_handler(service, INSTANCE, EVENTGROUP, accept);
        vsomeip->offer_event(service, INSTANCE, EVENT, {EVENTGROUP}, vsomeip::event_type_e::ET_EVENT,
                             std::chrono::milliseconds::zero(), false, true, nullptr, reliability(carriage));
        vsomeip->offer_service(service, INSTANCE);
        return new mm_vsomeip_publisher{vsomeip, service, vsomeip::runtime::get()->create_payload()};
    });
}

bool mm_vsomeip_publish(mm_vsomeip_publisher *publisher, const uint8_t *data, size_t size_bytes) {
    mm_vsomeip_error ignored;
    return guarded(&ignored, false, [&] {
        publisher->payload->set_data(data, static_cast<vsomeip::length_t>(size_bytes));
        publisher->vsomeip->notify(publisher->service, INSTANCE, EVENT, publisher->payload, true);
        return true;
    });
}

void mm_vsomeip_publisher_free(mm_vsomeip_publisher *publisher) {
    delete publisher;
}

bool mm_vsomeip_subscribe(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                          mm_vsomeip_receive receive, void *context, mm_vsomeip_error *error) {
    return guarded(error, false, [&] {
        auto &vsomeip = application->vsomeip;
        // Appended, as an application may hold several subscribers of one stream.
        vsomeip->register_message_handler_ext(
            service, INSTANCE, EVENT,
            [receive, context](const std::shared_ptr<vsomeip::message> &message) {
                const auto payload = message->get_payload();
                receive(context, payload->get_data(), payload->get_length());
            },
            vsomeip::handler_registration_type_e::HRT_APPEND);
        vsomeip->request_event(service, INSTANCE, EVENT, {EVENTGROUP}, vsomeip::event_type_e::ET_EVENT,
                               reliability(carriage));
        vsomeip->request_service(service, INSTANCE);
        vsomeip->subscribe(service, INSTANCE, EVENTGROUP);
        return true;
    });
}

bool mm_vsomeip_serve(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_answer answer, void *context,
                      mm_vsomeip_error *error) {
    return guarded(error, false, [&] {
        auto &vsomeip = application->vsomeip;
        // Appended, as the application may hold clients of the same service, whose responses come by the same method.
        vsomeip->register_message_handler_ext(
            service, INSTANCE, METHOD,
            [application, answer, context](const std::shared_ptr<vsomeip::message> &message) {
                if (message->get_message_type() != vsomeip::message_type_e::MT_REQUEST)
                    return;
                const auto payload = message->get_payload();
                mm_vsomeip_request request{*application->vsomeip, message};
                answer(context, payload->get_data(), payload->get_length(), &request);
            },
            vsomeip::handler_registration_type_e::HRT_APPEND);
        vsomeip->offer_service(service, INSTANCE);
        return true;
    });
}

bool mm_vsomeip_respond(mm_vsomeip_request *request, const uint8_t *data, size_t size_bytes) {
    mm_vsomeip_error ignored;
    return guarded(&ignored, false, [&] {
        const auto runtime = vsomeip::runtime::get();
        const auto response = runtime->create_response(request->message);
        response->set_payload(runtime->create_payload(data, static_cast<uint32_t>(size_bytes)));
        request->vsomeip.send(response);
        return true;
    });
}

mm_vsomeip_client *mm_vsomeip_ask(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                                  mm_vsomeip_receive receive, void *receiver, mm_vsomeip_matched on_found,
                                  void *context, mm_vsomeip_error *error) {
    return guarded(error, static_cast<mm_vsomeip_client *>(nullptr), [&] {
        receive_by_method(*application->vsomeip, service, vsomeip::message_type_e::MT_RESPONSE, receive, receiver);
        return client_of(application, service, vsomeip::message_type_e::MT_REQUEST, carriage, on_found, context);
    });
}

bool mm_vsomeip_take(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_receive receive, void *context,
                     mm_vsomeip_error *error) {
    return guarded(error, false, [&] {
        auto &vsomeip = application->vsomeip;
        receive_by_method(*vsomeip, service, vsomeip::message_type_e::MT_REQUEST_NO_RETURN, receive, context);
        vsomeip->offer_service(service, INSTANCE);
        return true;
    });
}

mm_vsomeip_client *mm_vsomeip_call(mm_vsomeip_application *application, uint16_t service, mm_vsomeip_carriage carriage,
                                   mm_vsomeip_matched on_found, void *context, mm_vsomeip_error *error) {
    return guarded(error, static_cast<mm_vsomeip_client *>(nullptr), [&] {
        return client_of(application, service, vsomeip::message_type_e::MT_REQUEST_NO_RETURN, carriage, on_found, context);
    });
}

mm_vsomeip_sent mm_vsomeip_send(mm_vsomeip_client *client, const uint8_t *data, size_t size_bytes) {
    mm_vsomeip_error ignored;
    return guarded(&ignored, MM_VSOMEIP_FAILED, [&] {
        if (!client->server->is_there)
            return MM_VSOMEIP_NOBODY;
        client->payload->set_data(data, static_cast<vsomeip::length_t>(size_bytes));
        client->vsomeip->send(client->request);
        return MM_VSOMEIP_SENT;
    });
}

void mm_vsomeip_client_free(mm_vsomeip_client *client) {
    delete client;
}

bool mm_vsomeip_close(mm_vsomeip_application *application, mm_vsomeip_error *error) {
    const std::unique_ptr<mm_vsomeip_application> owned(application);
    const bool stopped = guarded(error, false, [&] {
        owned->vsomeip->clear_all_handler();
        owned->vsomeip->stop();
        return true;
    });
    // Joined whatever stopping said: a thread that is freed while it runs ends the process.
    return guarded(error, false, [&] {
        owned->io.join();
        return stopped;
    });
}
