#!/usr/bin/env bash
# Checks that the toolchains which no list can install are there, and names the command for each that is not.
set -uo pipefail
status=0
need() { echo "setup: $1" >&2; echo "  install it with: $2" >&2; status=3; }

python="${PYTHON:-python3}"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  need "Python 3.11 or newer is needed ($python is $("$python" --version 2>&1 || echo missing))" "sudo apt-get install python3 python3-venv"
least="$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)"
rust="$(cargo --version 2>/dev/null | cut -d' ' -f2)"
if [ -z "$rust" ]; then
  need "Rust $least or newer is needed (there is no cargo)" "see rustup.rs, or: sudo apt-get install rustup && rustup default stable"
elif [ "$(printf '%s\n' "$least" "$rust" | sort -V | head -n1)" != "$least" ]; then
  need "Rust $least or newer is needed (cargo is $rust)" "rustup update stable"
fi
exit $status
