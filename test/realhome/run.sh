#!/usr/bin/env bash
# Runs the Home Assistant that setup.sh put into DIR, in the foreground, on loopback PORT, with its configuration in CONFIG.
# Usage: run.sh DIR CONFIG PORT      TERM ends it; a restart that Home Assistant asks for happens (its exit code 100).
set -euo pipefail
dir=$(realpath "${1:?usage: run.sh DIR CONFIG PORT}")
config=$(realpath "${2:?usage: run.sh DIR CONFIG PORT}")
port=${3:?usage: run.sh DIR CONFIG PORT}
mkdir -p "$dir/root/config"
# The mounts live in a namespace of this process and go with it.
exec unshare --mount bash -c '
  root=$0/root
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  mount --bind "$1" "$root/config"
  stop=
  trap "stop=1; kill -TERM \$child 2>/dev/null" TERM INT
  while [ -z "$stop" ]; do
    chroot "$root" env -u PIP_FIND_LINKS HOME=/tmp HA_PORT="$2" PATH=/opt/ha/bin:/usr/local/bin:/usr/bin:/bin \
      /opt/ha/bin/hass --config /config & child=$!
    code=0; wait $child || code=$?
    # A signal ends wait early: wait for the child itself.
    while kill -0 $child 2>/dev/null; do code=0; wait $child || code=$?; done
    [ "$code" = 100 ] || exit "$code"
  done
' "$dir" "$config" "$port"
