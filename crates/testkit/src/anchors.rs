//! Anchor programs, the baseline for benchmarks of cold starts in the same run on the same machine.
//!
//! `empty` does nothing; `write_one PATH` writes, syncs and renames one small file. They are examples of this
//! crate, so `cargo test --workspace` and `cargo build --package rekindle-testkit --examples` build them.

use std::path::PathBuf;

/// The path of the anchor `name` in the profile of the running test or benchmark, if it was built.
pub fn find(name: &str) -> Option<PathBuf> {
    let running = std::env::current_exe().ok()?;
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    // A test is in `<profile>/deps`, a program in `<profile>`, an example in `<profile>/examples`.
    let mut built = running.ancestors().skip(1).take(2).map(|folder| folder.join("examples").join(&file));
    built.find(|path| path.is_file())
}
