#!/usr/bin/env bash
# Tests the lifetimes of memory where threads, Rust and C++ meet: Miri over a reader, AddressSanitizer over its shim.
# `setup/sanitize.sh [STEP…]`; what this machine can't do is left out by name, with what it lacks.
set -uo pipefail
cd "$(dirname "$0")/.."
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")/sanitize"
host="$(rustc -vV | sed -n 's/^host: //p')"
# Workers whose library calls back into a shim of ours.
shims=(fastdds)
# What such a worker lives through: whole lives, ends of every kind, starts that fail.
checks=(bytes_arrive_intact closing_leaves_nothing stop_without the_end_of_input_ends_it hindered_start)
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
  local folder="$target/address/$host/release" worker check status=0
  find "$folder" -maxdepth 1 -type f -name 'middlemark-worker-*' -delete 2>/dev/null # those of an earlier call
  for worker in "${shims[@]}"; do
    CARGO_TARGET_DIR="$target/address" RUSTFLAGS="-Zsanitizer=address" CFLAGS="-fsanitize=address" \
      CXXFLAGS="-fsanitize=address" cargo +nightly build --release --locked --quiet --target "$host" \
      -p "middlemark-worker-$worker" || echo "sanitize: $worker is left out, it can't be built here: see above"
  done
  [ -n "$(find "$folder" -maxdepth 1 -type f -executable -name 'middlemark-worker-*')" ] || return 0
  # A report is an abort, which the suite takes for the crash that it is; memory is not given back at a process's end.
  export MIDDLEMARK_WORKERS="$folder" ASAN_OPTIONS="abort_on_error=1:detect_leaks=0"
  for check in "${checks[@]}"; do
    cargo test --release --locked --quiet -p middlemark-conformance --test conformance -- "$check" || status=1
  done
  return $status
}

[ $# -gt 0 ] || set -- miri address
for step in "$@"; do
  echo "sanitize: $step"
  ("$step") || { echo "sanitize: $step failed"; failed=1; }
done
exit $failed
