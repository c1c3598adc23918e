//! `rekindle redact`: prints a text without secrets.

use std::io::Read;

use clap::Args;
use rekindle_core::text::clean_and_redact;
use rekindle_engine::vault::{MAX_NOTE_BYTES, text};

use crate::error::CliError;
use crate::output::Printer;

#[derive(Args)]
#[command(after_help = "\
Reads stdin. Everything that Rekindle stores, shows to an agent or sends to a model passes through the same filter.

Examples:
  rekindle redact < .env
  rekindle redact < deploy.log > deploy.clean.log")]
pub(crate) struct RedactArgs {}

impl RedactArgs {
    pub(crate) fn run(self, out: &Printer) -> Result<(), CliError> {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MAX_NOTE_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_NOTE_BYTES {
            let (what, bytes) = ("stdin".to_owned(), bytes.len() as u64);
            return Err(rekindle_engine::vault::Error::TooLarge { what, bytes, limit: MAX_NOTE_BYTES }.into());
        }
        let admitted = clean_and_redact(&text("stdin", bytes)?);
        out.write(admitted.text.as_bytes())?;
        if !admitted.redacted.is_empty() {
            out.note(format!("redacted: {}", admitted.redacted));
        }
        Ok(())
    }
}
