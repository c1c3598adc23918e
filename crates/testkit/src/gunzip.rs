//! Compressed files of the repository, for tests and trainers: the product reads none.

use std::path::Path;
use std::process::Command;

/// The text of a `.gz` file, decompressed by `gzip`.
///
/// # Panics
/// If there is no such file or no `gzip`, or the file is not UTF-8.
pub fn gunzip(path: &Path) -> String {
    let output = Command::new("gzip").args(["--decompress", "--stdout"]).arg(path).output();
    let output = output.unwrap_or_else(|error| panic!("gzip: {error}"));
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text of a compressed file in `models/`.
pub fn training_data(name: &str) -> String {
    gunzip(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(name))
}
