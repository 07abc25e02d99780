// vSomeIP, used as its own load test uses it (test/network_tests/cpu_load_tests, synchronous): who asks waits on a condition
// variable, who answers does it in the message handler. Messages are events in both directions, as our worker's are, and a
// process of its own is the routing manager (`serve`), which local messages do not pass.
#include <fstream>
#include <memory>

#include <vsomeip/vsomeip.hpp>

#include "reference.hpp"

namespace {

constexpr vsomeip::service_t PING = 0x1001, PONG = 0x1002, FLOOD = 0x1003;
constexpr vsomeip::instance_t INSTANCE = 1;
constexpr vsomeip::event_t EVENT = 0x8001;
constexpr vsomeip::eventgroup_t EVENTGROUP = 1;

class Application {
public:
  explicit Application (const reference::Task &task) : payload_ (vsomeip::runtime::get ()->create_payload ())
  {
    configure (task);
    application_ = vsomeip::runtime::get ()->create_application (task.role);
    if (!application_ || !application_->init ())
      std::exit (1);
    reference::Arrivals registered;
    application_->register_state_handler ([&] (vsomeip::state_type_e state) {
      if (state == vsomeip::state_type_e::ST_REGISTERED)
        registered.add ();
    });
    std::thread ([application = application_] { application->start (); }).detach ();
    registered.take (reference::PATIENCE);
    application_->unregister_state_handler ();
    payload_->set_data (std::vector<vsomeip::byte_t> (task.size_bytes, 1));
  }

  void offer (vsomeip::service_t service)
  {
    application_->offer_event (service, INSTANCE, EVENT, {EVENTGROUP}, vsomeip::event_type_e::ET_EVENT,
      std::chrono::milliseconds::zero (), false, true, nullptr, vsomeip::reliability_type_e::RT_UNKNOWN);
    application_->offer_service (service, INSTANCE);
  }

  template <typename Handle>
  void subscribe (vsomeip::service_t service, Handle handle)
  {
    application_->register_message_handler (service, INSTANCE, EVENT,
      [handle] (const std::shared_ptr<vsomeip::message> &) { handle (); });
    application_->request_event (service, INSTANCE, EVENT, {EVENTGROUP}, vsomeip::event_type_e::ET_EVENT,
      vsomeip::reliability_type_e::RT_UNKNOWN);
    application_->request_service (service, INSTANCE);
    application_->subscribe (service, INSTANCE, EVENTGROUP);
  }

  void notify (vsomeip::service_t service) { application_->notify (service, INSTANCE, EVENT, payload_, true); }

private:
  /// As shipped, on one host without service discovery, with sockets in the folder that both ends have.
  static void configure (const reference::Task &task)
  {
    const std::string path = task.folder + "/" + task.role + ".json";
    std::ofstream (path) << R"({"unicast": "127.0.0.1", "network": ")" << task.folder.substr (1)
                         << R"(/vsomeip", "routing": "serve", "applications": [{"name": ")" << task.role
                         << R"("}], "logging": {"level": "error", "console": "false"},)"
                         << R"("service-discovery": {"enable": "false"}})";
    setenv ("VSOMEIP_CONFIGURATION", path.c_str (), 1);
  }

  std::shared_ptr<vsomeip::application> application_;
  std::shared_ptr<vsomeip::payload> payload_;
};

} // namespace

int main (int count, char **words)
{
  const reference::Task task (count, words);
  Application application (task);
  reference::Arrivals answers;
  std::atomic<uint64_t> counted (0);
  if (task.role == "ping") {
    application.offer (PING);
    application.subscribe (PONG, [&] { answers.add (); });
    task.ask ([&] { application.notify (PING); }, answers);
  } else if (task.role == "pong") {
    application.offer (PONG);
    application.subscribe (PING, [&] { application.notify (PONG); });
    task.rest ();
  } else if (task.role == "flood") {
    application.offer (FLOOD);
    task.flood ([&] { application.notify (FLOOD); });
  } else if (task.role == "count") {
    application.subscribe (FLOOD, [&] { counted++; });
    task.count (counted);
  } else {
    task.rest ();
  }
  std::fflush (stdout);
  _exit (0); // the library's own tear-down is not what is measured
}
