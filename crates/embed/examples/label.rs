//! `label [FILE]`: what the statement classifier says of pairs on standard input, a JSON object a line with `first` and `second`: a
//! context and a sentence, or an older and a newer statement. With FILE, a classifier other than the built-in one.

use std::error::Error;
use std::io::{BufRead, stdin};

use rekindle_embed::{EmbeddingModel, EncoderScratch, SentenceClassifier};

#[expect(clippy::print_stdout, reason = "a developer's program, for a terminal or a pipe")]
fn main() -> Result<(), Box<dyn Error>> {
    let bytes = std::env::args().nth(1).map(std::fs::read).transpose()?;
    let other = bytes
        .as_deref()
        .map(|bytes| SentenceClassifier::from_bytes(EmbeddingModel::builtin(), aligned(bytes)))
        .transpose()?;
    let classifier = other.as_ref().unwrap_or_else(|| SentenceClassifier::builtin());
    let mut scratch = EncoderScratch::new();
    for line in stdin().lock().lines() {
        let pair: serde_json::Value = serde_json::from_str(&line?)?;
        let text = |key: &str| pair.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
        let labels = classifier.label(&mut scratch, text("first"), text("second"));
        let compared = classifier.compare(&mut scratch, text("first"), text("second"));
        println!(
            "{}",
            serde_json::json!({
                "lasting": labels.lasting, "once": labels.once, "kinds": labels.kinds, "everywhere": labels.everywhere,
                "ends": labels.ends, "replaces": compared.replaces, "same": compared.same_statement,
            })
        );
    }
    Ok(())
}

/// The bytes, at an address that is a multiple of 64.
fn aligned(bytes: &[u8]) -> &'static [u8] {
    let room = vec![0_u8; bytes.len() + 64].leak();
    let start = room.as_ptr().align_offset(64);
    room[start..start + bytes.len()].copy_from_slice(bytes);
    &room[start..start + bytes.len()]
}
