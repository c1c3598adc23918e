//! Redacts many texts at once, for `eval/secrets_gitleaks.py`.
//!
//! Reads one JSON string per line of stdin and prints, for each, a line with the redacted text and the number of
//! secrets per kind.

use std::io::{BufRead, Write};

use rekindle_core::text::clean_and_redact;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let admitted = clean_and_redact(&text);
        let answer = serde_json::json!({ "text": admitted.text, "redacted": admitted.redacted });
        writeln!(out, "{answer}")?;
    }
    out.flush()?;
    Ok(())
}
