#!/usr/bin/env bash
# Renders the JSON Schemas of the contract and of suites, and the Python models made from them.
# With --check it renders them elsewhere and fails where they differ from what is checked in.
set -euo pipefail
cd "$(dirname "$0")/.."
python=.venv/bin/python
out="$(mktemp -d)"
trap 'rm -rf "$out"' EXIT

cargo run --release --locked --quiet -p middlemark-contract --bin export-schemas "$out"
"$python" -c "from middlemark.suite.suite import suite_schema; print(suite_schema(), end='')" > "$out/suite.json"

status=0
place() {
  if [ "${check:-}" = 1 ]; then
    diff -u "$2" "$1" || { echo "check: $2 is out of date; render it again with: make schemas" >&2; status=1; }
  else
    cp "$1" "$2"
  fi
}
[ "${1:-}" = --check ] && check=1
for schema in "$out"/*.json "$out"/*/*.json; do place "$schema" "schema/${schema#"$out"/}"; done
"$python" setup/contract_models.py ${check:+--check} || status=1
exit $status
