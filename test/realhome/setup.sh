#!/usr/bin/env bash
# Installs the pinned Home Assistant for the real-home lane: a small Debian root with the Python it needs, and the package itself.
# Usage: setup.sh DIR      needs root, debootstrap (fetched when missing) and the Debian and Python registries.
# About three minutes and 2.1 GB; run again on a finished DIR it does nothing.
set -euo pipefail
version=2026.11.0
suite=forky
dir=${1:?usage: setup.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
root=$dir/root
[ -e "$dir/ready" ] && exit 0
if [ "$(id -u)" != 0 ]; then
  echo "setup.sh: needs root (debootstrap, chroot, mount namespace)" >&2
  exit 1
fi
mkdir -p "$dir"
# Two runs at once would trample on each other.
exec 9>"$dir/setup.lock"
flock 9
[ -e "$dir/ready" ] && exit 0
if ! command -v debootstrap >/dev/null; then
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q debootstrap >/dev/null
fi
if [ ! -e "$dir/base-ready" ]; then
  rm -rf "$root"
  # A debootstrap older than the suite lacks its name; every Debian suite runs the same script.
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || ln -s sid "/usr/share/debootstrap/scripts/$suite"
  debootstrap --variant=minbase \
    --include=python3,python3-dev,python3-venv,python3-pip,ca-certificates,g++,libturbojpeg0,tzdata \
    "$suite" "$root" >"$dir/debootstrap.log" 2>&1 || { tail -20 "$dir/debootstrap.log" >&2; exit 1; }
  touch "$dir/base-ready"
fi
# Inside, pip must trust and resolve as the machine outside does.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
for f in /etc/resolv.conf /etc/hosts; do cp -L "$f" "$root/etc/" 2>/dev/null || true; done
[ -e /etc/pip.conf ] && cp -L /etc/pip.conf "$root/etc/pip.conf"
mkdir -p "$root/opt/lane"
cp "$here/needs.py" "$here/house/configuration.yaml" "$root/opt/lane/"
chroot "$root" env -u PIP_FIND_LINKS bash -e -c "
  [ -x /opt/ha/bin/python ] || python3 -m venv /opt/ha
  /opt/ha/bin/pip install -q 'homeassistant==$version'
  /opt/ha/bin/python /opt/lane/needs.py /opt/lane/configuration.yaml local_todo local_calendar >/opt/lane/needs.txt
  /opt/ha/bin/pip install -q -r /opt/lane/needs.txt -c /opt/ha/lib/python3*/site-packages/homeassistant/package_constraints.txt
" >"$dir/pip.log" 2>&1 || { tail -20 "$dir/pip.log" >&2; exit 1; }
echo "$version" >"$dir/ready"
