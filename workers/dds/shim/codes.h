/* The standard's names of return codes, for shims in C++ whose library has no call for them. */
#ifndef MIDDLEMARK_CODES_H
#define MIDDLEMARK_CODES_H

#include <stdint.h>

namespace mm {

inline const char *standard_name (int32_t code)
{
  static const char *const names[] = {
    "OK", "ERROR", "UNSUPPORTED", "BAD_PARAMETER", "PRECONDITION_NOT_MET", "OUT_OF_RESOURCES", "NOT_ENABLED",
    "IMMUTABLE_POLICY", "INCONSISTENT_POLICY", "ALREADY_DELETED", "TIMEOUT", "NO_DATA", "ILLEGAL_OPERATION"
  };
  const int32_t known = sizeof names / sizeof *names;
  return code <= 0 && code > -known ? names[-code] : "no code of the standard";
}

} // namespace mm

#endif
