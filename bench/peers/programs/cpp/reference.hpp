// What the reference programs in C++ have in common, as `rust/reference` is for those in Rust: called alike, printing alike.
// `PROGRAM ping|pong|flood|count SIZE_BYTES SECONDS DELIVERY RELIABILITY`; it knows no middleware and none of our workers.
#ifndef REFERENCE_HPP
#define REFERENCE_HPP

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace reference {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds WARM_UP (500), MATCHING (100), PATIENCE (5000);

/// A count that one thread raises and another waits for.
class Arrivals {
public:
  void add ()
  {
    std::lock_guard<std::mutex> lock (mutex_);
    count_++;
    changed_.notify_one ();
  }
  /// Takes one; false where none came within this time.
  bool take (milliseconds patience)
  {
    std::unique_lock<std::mutex> lock (mutex_);
    if (!changed_.wait_for (lock, patience, [this] { return count_ > 0; }))
      return false;
    count_--;
    return true;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
};

struct Task {
  std::string role, delivery, folder;
  uint32_t size_bytes;
  std::chrono::duration<double> time;
  bool reliable;

  Task (int count, char **words)
  {
    if (count != 6) {
      std::fprintf (stderr, "PROGRAM ping|pong|flood|count SIZE_BYTES SECONDS DELIVERY RELIABILITY\n");
      std::exit (2);
    }
    role = words[1];
    size_bytes = static_cast<uint32_t> (std::stoul (words[2]));
    time = std::chrono::duration<double> (std::stod (words[3]));
    delivery = words[4];
    reliable = std::string (words[5]) == "reliable";
    const char *own = std::getenv ("BENCH_PEERS_FOLDER");
    folder = own ? own : "/tmp";
  }

  /// Until the standard input ends.
  void rest () const
  {
    char byte;
    while (read (0, &byte, 1) > 0) { }
  }

  /// Asks until an answer comes, then times each round trip and prints all of them in nanoseconds.
  template <typename Send>
  void ask (Send send, Arrivals &answers) const
  {
    do
      send ();
    while (!answers.take (MATCHING));
    while (answers.take (MATCHING)) { }
    std::vector<int64_t> taken;
    taken.reserve (20000000);
    for (const auto begin = Clock::now ();;) {
      const auto sent = Clock::now ();
      send ();
      if (!answers.take (PATIENCE)) {
        std::fprintf (stderr, "no answer\n");
        std::exit (1);
      }
      const auto took = Clock::now () - sent;
      if (sent - begin > WARM_UP + time)
        break;
      if (sent - begin > WARM_UP)
        taken.push_back (std::chrono::nanoseconds (took).count ());
    }
    for (const int64_t each : taken)
      std::printf ("%lld\n", static_cast<long long> (each));
  }

  /// Sends without a pause, until the standard input ends.
  template <typename Send>
  void flood (Send send) const
  {
    std::atomic<bool> over (false);
    std::thread end ([&] {
      rest ();
      over = true;
    });
    while (!over)
      send ();
    end.join ();
  }

  /// Waits for the first message, lets it run, and prints how many came in how many nanoseconds.
  void count (const std::atomic<uint64_t> &counted) const
  {
    while (counted == 0)
      std::this_thread::sleep_for (milliseconds (1));
    std::this_thread::sleep_for (WARM_UP);
    const auto begin = Clock::now ();
    const uint64_t before = counted;
    std::this_thread::sleep_for (time);
    const uint64_t messages = counted - before;
    const std::chrono::nanoseconds took = Clock::now () - begin;
    std::printf ("%llu %lld\n", static_cast<unsigned long long> (messages), static_cast<long long> (took.count ()));
  }
};

} // namespace reference

#endif
