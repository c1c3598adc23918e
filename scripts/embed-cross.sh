#!/usr/bin/env bash
# Runs the embedder's tests on code paths that this processor may lack: aarch64 under qemu-user, with and without dot
# products. It compares the kernels and the scan with each other, checks the tokenizer's golden file and the
# cross-encoder's scores, and requires vectors identical to the bit. It skips the 500 golden vectors, which take half an
# hour under emulation and add nothing. If a tool is missing, it names the tool and exits with 0.
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
# `max` has dot products; a Cortex-A53 has none and uses the other NEON path.
for cpu in max cortex-a53; do
  echo "== aarch64, $cpu"
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -cpu $cpu -L /usr/aarch64-linux-gnu"
  cargo test --package rekindle-embed --lib --target "$target" -- kernels scan
  cargo test --package rekindle-embed --test golden --target "$target" -- --nocapture short_texts tokens_agree readings_agree
done
