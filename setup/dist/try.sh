#!/usr/bin/env bash
# Installs the wheel in clean roots of Debian and runs `middlemark run quick` there: first without what it may take from
# the system, then with it. `setup/dist/try.sh [RELEASE...]`, of bookworm and trixie. The checkout is only read.
# QUICK has further arguments of that run, as `QUICK="--trials 1"` for a shorter one.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")/dist"
# What a user installs before the wheel, and the Python of each release.
base=python3-venv,iproute2
declare -A python=([bookworm]=3.11 [trixie]=3.13)

say() { printf '\n== %s\n' "$*"; }

# The pinned requirements as wheels for the root's Python, since its network has no way out.
download() {
  mkdir -p "$folder/requirements-$1"
  "${BIN:-.venv/bin}/pip" download --quiet --require-hashes --only-binary=:all: --python-version "${python[$1]}" \
    --platform manylinux_2_34_x86_64 --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
    --platform manylinux_2_17_x86_64 --platform manylinux2014_x86_64 --dest "$folder/requirements-$1" -r setup/requirements/run.txt
}

make_root() {
  rm -rf "$folder/$1" && mkdir -p "$folder"
  mmdebstrap --quiet --variant=minbase --include="$base" "$1" "$folder/$1"
}

# Within namespaces of its own, so that nothing of the root outlives the call.
in_root() {
  local root="$folder/$1"; shift
  root="$root" unshare --mount --net --pid --fork --kill-child --propagation private bash -euc '
    mkdir -p "$root/mnt/dist"
    mount --bind "$root" "$root" # hosts in namespaces need a root that is a mount
    mount -t proc proc "$root/proc"
    mount --rbind /sys "$root/sys"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    mount --bind "$0" "$root/mnt/dist" && mount -o remount,bind,ro "$root/mnt/dist"
    exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' "$folder" "$@"
}

quick() {
  local begin=$SECONDS
  # shellcheck disable=SC2086 # several arguments
  in_root "$1" sh -c 'ip link set lo up && cd /root && middlemark run quick --out "$@"' quick "$2" ${QUICK:-}
  say "$1, $2: $((SECONDS - begin)) s"
}

try() {
  local begin=$SECONDS
  in_root "$1" sh -c 'test ! -e /usr/bin/cc && python3 -m venv /venv &&
    pip install --quiet --no-index --find-links "/mnt/dist/requirements-$1" /mnt/dist/wheel/*.whl' install "$1"
  say "$1: installed in $((SECONDS - begin)) s, without a compiler"
  in_root "$1" middlemark doctor || true
  quick "$1" clean
  cp -L /etc/resolv.conf "$folder/$1/etc/resolv.conf"
  chroot "$folder/$1" apt-get update -qq
  # Each line is a set of packages that one release has and another may not.
  in_root "$1" python3 - < setup/dist/system_packages.py | while read -r -a packages; do
    chroot "$folder/$1" apt-get install -qqy --no-install-recommends "${packages[@]}" < /dev/null || say "$1 has no ${packages[*]}"
  done
  quick "$1" whole
}

[ "$(id -u)" -eq 0 ] || { echo "try: root is needed to make a root folder of Debian" >&2; exit 3; }
command -v mmdebstrap >/dev/null || { echo "try: install mmdebstrap: sudo apt-get install mmdebstrap" >&2; exit 3; }
for release in "${@:-bookworm trixie}"; do
  for name in $release; do
    [ -n "${python[$name]:-}" ] || { echo "try: no release $name; there are: ${!python[*]}" >&2; exit 2; }
    download "$name"
    make_root "$name"
    try "$name"
  done
done
