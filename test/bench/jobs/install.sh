#!/usr/bin/env bash
# The queues that the bench of jobs is held against, installed into a scratch folder: too heavy for everyone's node_modules.
set -euo pipefail
folder="$1"
if [ -d "$folder/node_modules/graphile-worker" ] && [ -d "$folder/node_modules/pg-boss" ]; then exit 0; fi
mkdir -p "$folder"
npm install --silent --no-audit --no-fund --no-save --prefix "$folder" graphile-worker@0.17.3 pg-boss@10.4.2
