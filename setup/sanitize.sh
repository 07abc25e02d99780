#!/usr/bin/env bash
# Tests memory and threads where Rust and C++ meet: Miri over a reader, AddressSanitizer and ThreadSanitizer over workers.
# `setup/sanitize.sh [STEP…]`; what this machine can't do is left out by name, with what it lacks.
set -uo pipefail
cd "$(dirname "$0")/.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")/sanitize"
host="$(rustc -vV | sed -n 's/^host: //p')"
# Workers whose library calls back into a shim of ours, and that were seen to pass.
shims=(fastdds cyclonedds vsomeip opendds)
# Workers of which every line is compiled here: ThreadSanitizer takes what it does not see for a race.
whole=(tcp uds shm synthetic)
# What such a worker lives through: that it runs at all, whole lives, ends of every kind, starts that fail.
checks=(description_is_valid bytes_arrive_intact closing_leaves_nothing stop_without the_end_of_input_ends_it hindered_start)
failed=0

nightly() {
  rustup component list --toolchain nightly 2>/dev/null | grep -q "^$1.*(installed)" && return
  echo "sanitize: $step is left out, there is no nightly Rust with $1: rustup toolchain install nightly --component $1"
  return 1
}

miri() {
  nightly miri || return 0
  export CARGO_TARGET_DIR="$target/miri" MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
  cargo +nightly miri test --locked --quiet -p middlemark-dds reader
}

address() {
  nightly rust-std || return 0
  # Memory is not given back at a process's end. A global that has two names in C is no second definition of it.
  ASAN_OPTIONS="abort_on_error=1:detect_leaks=0:detect_odr_violation=0" lived_through address "${shims[@]}"
}

thread() {
  nightly rust-src || return 0
  # The standard library is compiled too, as its synchronisation would not be seen otherwise.
  local status=0
  instrumented thread test -Zbuild-std -p middlemark-ring -p middlemark-runtime --lib || status=1
  TSAN_OPTIONS="halt_on_error=1:abort_on_error=1" lived_through thread "${whole[@]}" || status=1
  return $status
}

# instrumented KIND COMMAND…: cargo's command over Rust, C and C++ alike. The flags go by the target's name, so that only what is
# linked statically has them: a library that is loaded would bring a second runtime.
instrumented() {
  local kind=$1 command=$2 of_target=${host//-/_}
  shift 2
  env CARGO_TARGET_DIR="$target/$kind" RUSTFLAGS="-Zsanitizer=$kind" \
    "CFLAGS_$of_target=-fsanitize=$kind" "CXXFLAGS_$of_target=-fsanitize=$kind" \
    cargo +nightly "$command" --release --locked --quiet --target "$host" "$@"
}

# lived_through KIND WORKER…: the checks over these workers; a report is an abort, which the suite takes for a crash.
lived_through() {
  local kind=$1 folder="$target/$1/$host/release" worker check status=0 std=()
  shift
  [ "$kind" = address ] || std=(-Zbuild-std)
  find "$folder" -maxdepth 1 -type f -name 'middlemark-worker-*' -delete 2>/dev/null # those of an earlier call
  for worker in "$@"; do
    instrumented "$kind" build "${std[@]}" -p "middlemark-worker-$worker" \
      || echo "sanitize: $worker is left out, it can't be built here: see above"
  done
  [ -n "$(find "$folder" -maxdepth 1 -type f -executable -name 'middlemark-worker-*')" ] || return 0
  for check in "${checks[@]}"; do
    MIDDLEMARK_WORKERS="$folder" cargo test --release --locked --quiet -p middlemark-conformance --test conformance -- "$check" \
      || status=1
  done
  return $status
}

[ $# -gt 0 ] || set -- miri address thread
for step in "$@"; do
  echo "sanitize: $step"
  ("$step") || { echo "sanitize: $step failed"; failed=1; }
done
exit $failed
