// Preprocessed by the build script to learn which Fast DDS is installed, and whether it has LARGE_DATA; never compiled.
#if __has_include(<fastdds/config.hpp>)
#include <fastdds/config.hpp>
middlemark_found fastdds FASTDDS_VERSION_STR
#elif __has_include(<fastrtps/config.h>)
#include <fastrtps/config.h>
middlemark_found fastrtps FASTRTPS_VERSION_STR
#endif
// They came with 2.13.
#if __has_include(<fastdds/rtps/attributes/BuiltinTransports.hpp>)
large_data
#endif
