#!/usr/bin/env bash
# Compares redaction with gitleaks' published rules: secrets drawn from each rule, and harmless text.
# Usage: scripts/secrets-gitleaks.sh PATH_TO_gitleaks.toml [--harmless FOLDER]... [--show all|harmless|RULE]
# The rules are config/gitleaks.toml of github.com/gitleaks/gitleaks; nothing of it is part of this repository.
set -euo pipefail
rules=$(realpath "${1:?path to gitleaks.toml}")
shift
cd "$(dirname "$0")/.."
cargo build --quiet --package rekindle-core --example redact
python3 eval/secrets_gitleaks.py "$rules" "${CARGO_TARGET_DIR:-target}/debug/examples/redact" "$@"
