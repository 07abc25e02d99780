// What keeps exceptions and null handles of the library from crossing into C: each becomes a code with a reason.
// It knows no call of the library. Like all of the shim it is C++98, as old versions can't be compiled as anything newer.
#ifndef MIDDLEMARK_FAILURES_HPP
#define MIDDLEMARK_FAILURES_HPP

#include "opendds.h"

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include <tao/Exception.h>

namespace mm {

const int32_t failed = -1;

inline int32_t explained (mm_reason *reason, const char *text)
{
  if (reason)
    std::snprintf (reason->text, sizeof reason->text, "%s", text);
  return failed;
}

/// To be called from a handler only: the exception that is being handled becomes a reason.
inline int32_t caught (mm_reason *reason)
{
  try {
    throw;
  } catch (const CORBA::Exception &error) {
    return explained (reason, error._info ().c_str ());
  } catch (const std::exception &error) {
    return explained (reason, error.what ());
  } catch (...) {
    return explained (reason, "an exception of unknown type");
  }
}

template <typename Handle>
void check (const Handle &handle, const char *what)
{
  if (!handle.in ())
    throw std::runtime_error (std::string ("the library made no ") + what + "; its log on standard error says why");
}

} // namespace mm

#endif
