#!/usr/bin/env bash
# The load generator of the HTTP bench, installed from Debian's packages when it is missing.
set -euo pipefail
if command -v wrk >/dev/null; then exit 0; fi
if ! command -v apt-get >/dev/null || [ "$(id -u)" -ne 0 ]; then
  echo "the HTTP bench needs wrk on the PATH: apt-get install wrk (as root), brew install wrk, or github.com/wg/wrk" >&2
  exit 1
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq wrk >/dev/null
