#!/usr/bin/env bash
# Builds the workers of Debian's own libraries in a Debian 13 root, and runs the conformance suite over them there.
# `workers/conformance/debian13.sh [FILTER]`; the root is made once, in the target folder; the checkout is only read.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")/debian13"
root="$folder/root"
# What links an installed library or runs an installed program, and the packages that it needs.
workers=(fastdds mqtt)
packages=build-essential,pkg-config,iproute2,libfastdds-dev,libfastcdr-dev,libssl-dev,mosquitto

# Within the new namespaces: what the root needs of this machine is mounted, and gone with the namespaces.
enter() {
  mount -t proc proc "$root/proc"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount --bind "$folder/target" "$root/mnt/target"
  for shared in toolchain cargo checkout; do
    mount --bind "${!shared}" "$root/mnt/$shared" && mount -o remount,bind,ro "$root/mnt/$shared"
  done
  exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb PATH=/mnt/toolchain/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    CARGO_HOME=/mnt/cargo CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=/mnt/target MIDDLEMARK_WORKERS=/mnt/target/release \
    bash /mnt/checkout/workers/conformance/debian13.sh --inside "$@"
}

# Within the root.
inside() {
  local worker
  ip link set lo up
  for worker in "${workers[@]}"; do cargo build --release --locked --quiet -p "middlemark-worker-$worker"; done
  dpkg-query -W -f 'debian13: ${Package} ${Version}\n' libfastdds-dev mosquitto
  exec cargo test --release --locked --quiet -p middlemark-conformance --test conformance -- "$@"
}

case "${1:-}" in
  --enter) shift; enter "$@" ;;
  --inside) shift; inside "$@" ;;
esac

[ "$(id -u)" -eq 0 ] || { echo "debian13: root is needed to mount what the root shares with this machine" >&2; exit 3; }
command -v mmdebstrap >/dev/null || { echo "debian13: install mmdebstrap: sudo apt-get install mmdebstrap" >&2; exit 3; }
if [ ! -e "$folder/made" ]; then
  rm -rf "$root" && mkdir -p "$folder/target"
  mmdebstrap --quiet --variant=minbase --include="$packages" trixie "$root"
  mkdir -p "$root"/mnt/{target,toolchain,cargo,checkout}
  touch "$folder/made"
fi
cargo fetch --locked --quiet
toolchain="$(rustc --print sysroot)" cargo="${CARGO_HOME:-$HOME/.cargo}" checkout="$PWD"
export toolchain cargo checkout CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}"
exec unshare --mount --net --pid --fork --kill-child --propagation private bash "workers/conformance/debian13.sh" --enter "$@"
