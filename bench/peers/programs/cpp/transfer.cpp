// How long a cache line takes from one CPU to another and back: two threads hand it to each other for a while.
// `transfer CPU CPU` prints the median in nanoseconds; it knows no middleware and none of our workers.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sched.h>
#include <thread>
#include <vector>

namespace {

constexpr int BATCHES = 200, ROUND_TRIPS = 500;

void stay_on (int cpu)
{
  cpu_set_t set;
  CPU_ZERO (&set);
  CPU_SET (cpu, &set);
  if (sched_setaffinity (0, sizeof set, &set) != 0) {
    std::perror ("sched_setaffinity");
    std::exit (1);
  }
}

} // namespace

int main (int count, char **words)
{
  if (count != 3) {
    std::fprintf (stderr, "transfer CPU CPU\n");
    return 2;
  }
  alignas (64) std::atomic<int> turn (0);
  const int last = 2 * BATCHES * ROUND_TRIPS;
  std::thread other ([&] {
    stay_on (std::atoi (words[2]));
    for (int mine = 1; mine < last; mine += 2) {
      while (turn.load (std::memory_order_acquire) != mine) {}
      turn.store (mine + 1, std::memory_order_release);
    }
  });
  stay_on (std::atoi (words[1]));
  std::vector<double> round_trips_ns;
  for (int mine = 0; mine < last;) {
    const auto begin = std::chrono::steady_clock::now ();
    for (int each = 0; each < ROUND_TRIPS; each++, mine += 2) {
      while (turn.load (std::memory_order_acquire) != mine) {}
      turn.store (mine + 1, std::memory_order_release);
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now () - begin;
    round_trips_ns.push_back (taken.count () / ROUND_TRIPS);
  }
  other.join ();
  std::nth_element (round_trips_ns.begin (), round_trips_ns.begin () + BATCHES / 2, round_trips_ns.end ());
  std::printf ("%.1f\n", round_trips_ns[BATCHES / 2]);
}
