#!/usr/bin/env bash
# Renews docs/cli-reference.md from what the commands say about themselves. A test fails while the two differ.
set -euo pipefail
cd "$(dirname "$0")/.."
REKINDLE_UPDATE_DOCS=1 cargo test --quiet --package rekindle --test it -- house::the_command_reference
