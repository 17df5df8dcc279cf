#!/usr/bin/env bash
# What test/system needs from Debian's packages, installed when it is missing.
set -euo pipefail
if [ ! -x /usr/bin/chromium ] || [ ! -x /usr/sbin/pgbouncer ] || ! command -v python3 >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium fonts-noto-core pgbouncer python3 >/dev/null
fi
