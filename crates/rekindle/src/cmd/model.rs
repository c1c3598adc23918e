//! `rekindle model`

use clap::{Args, Subcommand};
use rekindle_embed::{Model as Transformer, Path, Role, Scratch};
use serde_json::json;

use super::body;
use crate::error::Failure;
use crate::output::Printer;

/// Show the model that compares texts by meaning, or compare two texts
#[derive(Args)]
#[command(after_help = "\
The model is part of the program: nothing is downloaded and no text leaves the machine.

Examples:
  rekindle model list
  rekindle model compare 'the staging database' 'postgres on the test host'")]
pub(crate) struct Model {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// List the models
    List,
    /// Print how alike two texts are, from -1 to 1
    Compare {
        /// One text: TEXT, @FILE, or - for stdin
        #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        one: String,
        /// The other
        #[arg(value_name = "TEXT|@FILE", allow_hyphen_values = true)]
        other: String,
    },
}

impl Model {
    pub(crate) fn run(self, out: &Printer) -> Result<(), Failure> {
        let model = Transformer::builtin();
        match self.verb {
            Some(Verb::Compare { one, other }) => {
                let cwd = std::env::current_dir()?;
                let mut scratch = Scratch::new();
                let mut embed = |text: &str| -> Result<Vec<f32>, Failure> {
                    Ok(model.embed(&mut scratch, Role::Passage, &body::read(text, &cwd)?))
                };
                let (one, other) = (embed(&one)?, embed(&other)?);
                let cosine: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
                match self.json {
                    true => out.json(&json!({"cosine": cosine, "model": model.id()})),
                    false => out.line(format!("{cosine:.3}")),
                }
            }
            Some(Verb::List) | None => {
                let (id, dim, tokens) = (model.id(), model.dim(), model.max_tokens());
                // The first is the one that is used.
                let kernels = Path::available()
                    .first()
                    .map_or_else(String::new, |path| format!("{path:?}").to_lowercase());
                match self.json {
                    true => out.json(&json!([{
                        "id": id,
                        "dimension": dim,
                        "max_tokens": tokens,
                        "builtin": true,
                        "kernels": kernels,
                    }])),
                    false => {
                        out.line(format!("{id}  {dim} dimensions, {tokens} tokens, built in, {kernels}"))
                    }
                }
            }
        }
    }
}
