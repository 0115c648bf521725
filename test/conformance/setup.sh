#!/bin/sh
# Installs the pinned MCP conformance suite, the Inspector and the Node they
# need from npm, once, and prints the directory. Later runs find it there.
#
# The directory's name carries a hash of this file, so changing a version makes
# a new one and the old one can be deleted at leisure.
set -eu

NODE=22.23.3
CONFORMANCE=0.2.0-alpha.12
INSPECTOR=2.12.0

here=$(cd "$(dirname "$0")" && pwd)
hash=$(sha256sum "$here/setup.sh" | cut -c1-12)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hearth
dir=${HEARTH_MCPTOOLS:-$cache/mcptools-$hash}

if [ -f "$dir/ready" ]; then
	echo "$dir"
	exit 0
fi
if ! command -v npm >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	apt-get update -q >&2
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends nodejs npm >&2
fi
command -v npm >/dev/null || {
	echo "setup: npm is not installed; install Node.js (any version: the right one is fetched) and try again" >&2
	exit 1
}
rm -rf "$dir"
mkdir -p "$dir"
cd "$dir"
printf '{"name":"mcptools","private":true}\n' >package.json
npm install --no-audit --no-fund --loglevel=error \
	"node@$NODE" \
	"@modelcontextprotocol/conformance@$CONFORMANCE" \
	"@modelcontextprotocol/inspector@$INSPECTOR" >&2
"$dir/node_modules/.bin/node" --version >&2
touch ready
echo "$dir"
