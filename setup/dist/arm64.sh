#!/usr/bin/env bash
# Cross-builds for arm64 the workers and observers that are of Rust alone, makes their wheel, and runs the conformance
# suite over the workers under qemu-user. `setup/dist/arm64.sh [FILTER]`. An emulated processor says nothing of times.
set -euo pipefail
cd "$(dirname "$0")/../.."
triple=aarch64-unknown-linux-gnu
target="$(realpath -m "${CARGO_TARGET_DIR:-target}")/$triple"
packages=(middlemark-{probe,relay,resources,capture} middlemark-worker-{synthetic,udp,tcp,uds,shm,mqtt,zenoh})

missing=0
need() { echo "arm64: there is no $1: $2" >&2; missing=3; }
command -v aarch64-linux-gnu-gcc > /dev/null || need "cross compiler" "sudo apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
emulator="$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)"
[ -n "$emulator" ] || need "emulator" "sudo apt-get install qemu-user-static"
[ -d "$(rustc --print sysroot)/lib/rustlib/$triple" ] || need "Rust for it" "rustup target add $triple"
[ "$missing" -eq 0 ] || exit "$missing"

root=/usr/aarch64-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export LDD="$emulator $root/lib/ld-linux-aarch64.so.1 --library-path $root/lib --list"
CARGO_BUILD_TARGET=$triple "${BIN:-.venv/bin}/python" setup/workers.py build "${packages[@]}"
CARGO_BUILD_TARGET=$triple "${BIN:-.venv/bin}/python" setup/supply/notices.py
CARGO_BUILD_TARGET=$triple PYTHONPATH=setup/supply "${BIN:-.venv/bin}/python" setup/dist/build.py

# Each worker as a program of this machine that has it emulated.
mkdir -p "$target/emulated"
for package in "${packages[@]}"; do
  [ -x "$target/release/$package" ] || continue
  printf '#!/bin/sh\nexec %s -L %s "%s" "$@"\n' "$emulator" "$root" "$target/release/$package" > "$target/emulated/$package"
  chmod +x "$target/emulated/$package"
done
# qemu-user lacks IP_MULTICAST_IF, which Zenoh scouts with: its peers are given each other's addresses.
export MIDDLEMARK_CONFORMANCE_OPTIONS='{"zenoh": {"discovery": "peers"}}'
MIDDLEMARK_WORKERS="$target/emulated" exec cargo test --release --locked --quiet -p middlemark-conformance --test conformance -- "$@"
