// A callback for a message that throws, for the tests of what a reader does then; nothing else refers to it, so that no worker
// has it.
#include "../shim/fastdds.h"

#include <atomic>
#include <stdexcept>

static std::atomic<uint32_t> thrown {0};

extern "C" void mm_throw (void *, const uint8_t *, size_t)
{
  thrown++;
  throw std::runtime_error ("thrown by a test");
}

extern "C" uint32_t mm_thrown (void) { return thrown; }
