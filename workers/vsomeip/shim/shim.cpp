// SPDX-License-Identifier: Apache-2.0
#include "shim.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

#include <vsomeip/vsomeip.hpp>

namespace {

// Each publisher is a service of its own, so that one instance, event and eventgroup do for all.
constexpr vsomeip::instance_t INSTANCE = 0x0001;
constexpr vsomeip::event_t EVENT = 0x8001;
constexpr vsomeip::eventgroup_t EVENTGROUP = 0x0001;

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

} // namespace

struct mm_vsomeip_application {
    std::shared_ptr<vsomeip::application> vsomeip;
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
