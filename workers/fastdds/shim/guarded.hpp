// What keeps exceptions and null handles of the library from crossing into C: each becomes a code with a reason.
// It knows no call of the library.
#ifndef MIDDLEMARK_GUARDED_HPP
#define MIDDLEMARK_GUARDED_HPP

#include "fastdds.h"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace mm {

constexpr int32_t failed = -1;

/// Runs what may throw; an exception or a null handle becomes a reason.
template <typename Action>
int32_t guarded (mm_reason *reason, Action action) noexcept
{
  const auto explain = [reason] (const char *text) {
    if (reason)
      std::snprintf (reason->text, sizeof reason->text, "%s", text);
    return failed;
  };
  try {
    return action ();
  } catch (const std::exception &error) {
    return explain (error.what ());
  } catch (...) {
    return explain ("an exception of unknown type");
  }
}

template <typename Handle>
Handle *made (Handle *handle, const char *what)
{
  if (!handle)
    throw std::runtime_error (std::string ("the library made no ") + what + "; its log on standard error says why");
  return handle;
}

} // namespace mm

#endif
