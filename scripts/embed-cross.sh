#!/usr/bin/env bash
# Runs the embedder's tests on paths this processor may lack: aarch64 under qemu-user, with and without dot
# products. The kernels and the scan against each other, the tokenizer's golden file, readings, and vectors that must have
# the very bits they have here; the 500 golden vectors would take half an hour under emulation and add nothing to that.
# Where a tool is missing it says which and leaves with 0: nothing was proved, nothing failed.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
skip() {
  echo "skipped: $1"
  exit 0
}
command -v qemu-aarch64 >/dev/null || skip "qemu-aarch64 is not there (Debian: apt install qemu-user)"
command -v aarch64-linux-gnu-gcc >/dev/null || skip "aarch64-linux-gnu-gcc is not there (Debian: apt install gcc-aarch64-linux-gnu)"
[ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || skip "the target is not there (rustup target add $target)"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
cargo clippy --package rekindle-embed --lib --target "$target" -- --deny warnings
# `max` has dot products, a Cortex-A53 has none: there, the other NEON path is the best one.
for cpu in max cortex-a53; do
  echo "== aarch64, $cpu"
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -cpu $cpu -L /usr/aarch64-linux-gnu"
  cargo test --package rekindle-embed --lib --target "$target" -- kernels scan
  cargo test --package rekindle-embed --test golden --target "$target" -- --nocapture short_texts tokens_agree readings_agree
done
