#!/usr/bin/env bash
# Builds the reference programs and ddsperf into target/bench-peers; what can't be built is told with its reason, and left out.
# A program in Rust is built with the worker of its middleware, so that both are linked with the same build of the library.
# `build.sh --check` makes nothing: it fails where a program in C++ does not compile, though its library is installed.
set -uo pipefail
cd "$(dirname "$0")/../../.."
target=${CARGO_TARGET_DIR:-target}
built=$target/bench-peers
here=bench/peers/programs/cpp
checks=
[ "${1:-}" = --check ] && checks=yes

# What a step says is kept, and its first line of error told.
attempt() {
  local name=$1; shift
  local log=$built/$name.log
  if "$@" >"$log" 2>&1; then return; fi
  echo "bench-peers: $name is left out: $(grep -m1 -E '(^|[^a-z])(error|ld): ' "$log" || tail -n 1 "$log"); all of it in $log" >&2
  rm -f "$built/$name"
}

rust() { cargo build --release --locked -p "middlemark-worker-$2" -p "middlemark-reference-$1" && cp -f "$target/release/middlemark-reference-$1" "$built/$1"; }

cpp() {
  local name=$1 made=(-O2 -g1 -o "$built/$1"); shift
  [ -n "$checks" ] && made=(-Werror -fsyntax-only)
  c++ -std=c++17 -Wall -Wextra "${made[@]}" -I "$here" "$here/$name.cpp" -pthread "$@"
}

fastdds_places() { [ -z "${MIDDLEMARK_FASTDDS_PREFIX:-}" ] || printf '%s\n' -isystem "$MIDDLEMARK_FASTDDS_PREFIX/include"; }

# The name of the installed library: 3.x and 2.x have different ones.
fastdds_library() {
  local library header places
  mapfile -t places < <(fastdds_places)
  for library in fastdds:fastdds/config.hpp fastrtps:fastrtps/config.h; do
    header=${library#*:}
    if echo "#include <$header>" | c++ -x c++ -fsyntax-only "${places[@]}" - 2>/dev/null; then echo "${library%%:*}"; return; fi
  done
  echo "error: Fast DDS is not installed: apt-get install libfastrtps-dev libfastcdr-dev"
  return 1
}

fastdds() {
  local library places folder=${MIDDLEMARK_FASTDDS_PREFIX:+$MIDDLEMARK_FASTDDS_PREFIX/lib}
  library=$(fastdds_library) || { echo "$library"; return 1; }
  mapfile -t places < <(fastdds_places)
  cpp fastdds -I workers/fastdds/shim -I workers/dds/shim "${places[@]}" ${folder:+-L "$folder" -Wl,-rpath,"$folder"} -l "$library" -l fastcdr
}

# The library that our worker is linked with, which lies beside it.
vsomeip_folder() {
  local folder
  folder=$(find "$target/release/middlemark-worker-vsomeip.build" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | sort -V | tail -n 1)
  [ -n "$folder" ] || { echo "error: the worker vsomeip is not built: make workers"; return 1; }
  echo "$folder"
}

vsomeip() {
  local folder
  folder=$(vsomeip_folder) || { echo "$folder"; return 1; }
  cpp vsomeip -isystem "$folder/source/interface" -L "$folder/lib" -Wl,-rpath,"$(realpath "$folder/lib")" -l:libvsomeip3.so.3
}

# From the sources of the crate that our worker's library is built from, with the same switches; position-independent, as its
# compiler of types is a shared library, which takes the same objects.
ddsperf() {
  local source
  source=$(cargo metadata --format-version 1 --locked | python3 -c '
import json, pathlib, sys
found = [each for each in json.load(sys.stdin)["packages"] if each["name"] == "cyclonedds-src"]
print(pathlib.Path(found[0]["manifest_path"]).with_name("src") / "cyclonedds")') || return 1
  cmake -S "$source" -B "$built/cyclonedds" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_SHARED_LIBS=OFF -DBUILD_DDSPERF=ON \
    -DBUILD_IDLC=ON -DBUILD_TESTING=OFF -DBUILD_EXAMPLES=OFF -DENABLE_SSL=ON -DENABLE_SECURITY=ON -DENABLE_ICEORYX=OFF \
    -DENABLE_LTO=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON || return 1
  cmake --build "$built/cyclonedds" --parallel "$(nproc)" --target ddsperf && cp -f "$built/cyclonedds/bin/ddsperf" "$built/ddsperf"
}

# check NAME NEEDED: compiles a program in C++; where NEEDED says that its library is not there, it is left out.
check() {
  local name=$1 missing
  if ! missing=$("$2"); then echo "bench-peers: $name is not checked: ${missing#error: }"; return; fi
  "$name" || { echo "bench-peers: $here/$name.cpp does not compile, see above" >&2; failed=1; }
}

if [ -n "$checks" ]; then
  failed=0
  check fastdds fastdds_library
  check vsomeip vsomeip_folder
  exit $failed
fi

mkdir -p "$built/lib"
attempt ring rust ring shm
attempt mqtt rust mqtt mqtt
attempt iceoryx2 rust iceoryx2 iceoryx2
attempt zenoh rust zenoh zenoh
attempt fastdds fastdds
attempt vsomeip vsomeip
attempt ddsperf ddsperf
