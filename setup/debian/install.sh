#!/usr/bin/env bash
# Installs what setup/debian/packages.txt lists for the given needs (run, test, bench, roots, arm64) and is missing.
# With MIDDLEMARK_NO_APT=1 it installs nothing and names what is missing. Elsewhere than on Debian it only warns.
set -euo pipefail
list="$(dirname "$0")/packages.txt"

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; the packages of $list are to be had by this system's own means" >&2
  exit 0
fi

is_installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
is_known() { apt-cache show "$1" >/dev/null 2>&1; }

# The alternative of "a|b" that is installed; nothing where none is.
installed_of() { local name; for name in ${1//|/ }; do is_installed "$name" && echo "$name" && return; done; return 1; }
# The alternative of "a|b" that this release has; the first where none is known.
wanted_of() { local name; for name in ${1//|/ }; do is_known "$name" && echo "$name" && return; done; echo "${1%%|*}"; }

missing=()
while read -r need packages _; do
  case " $* " in *" $need "*) installed_of "$packages" >/dev/null || missing+=("$packages") ;; esac
done < <(grep -v '^#' "$list")
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "${MIDDLEMARK_NO_APT:-}" = 1 ]; then
  echo "setup: these Debian packages are missing, and MIDDLEMARK_NO_APT=1 forbids to install them:" >&2
  for packages in "${missing[@]}"; do echo "  $(wanted_of "$packages")" >&2; done
  echo "setup: install them with: sudo apt-get install <packages>; what needs them is left out until then" >&2
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "setup: root is needed to install: ${missing[*]}; there is no sudo" >&2; exit 3; }
  echo "setup: sudo is needed to install Debian packages: ${missing[*]}" >&2
  as_root=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
# What apt says of its work is hundreds of lines; its warnings and errors are shown.
"${as_root[@]}" apt-get update -qq
wanted=(); for packages in "${missing[@]}"; do wanted+=("$(wanted_of "$packages")"); done
echo "setup: installing Debian packages: ${wanted[*]}"
install() { "${as_root[@]}" apt-get install -qqy --no-install-recommends "$@" >/dev/null; }
# One by one where all together fail: a package that this release lacks must not keep the others away.
install "${wanted[@]}" || for package in "${wanted[@]}"; do
  install "$package" || echo "setup: no package $package here; what needs it is left out" >&2
done
