#!/usr/bin/env bash
# Regenerates docs/cli-reference.md from the help of the commands. A test fails if the two differ.
set -euo pipefail
cd "$(dirname "$0")/.."
REKINDLE_UPDATE_DOCS=1 cargo test --quiet --workspace --test it -- house::the_command_reference
