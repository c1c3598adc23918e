//! `rekindle identity`: checks and links identity files.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rekindle_engine::agents::identity::{self, Link};
use serde_json::json;

use crate::app::Context;
use crate::error::Failure;
use crate::output::{Style, column};

#[derive(Args)]
#[command(after_help = "\
SOUL.md, USER.md, IDENTITY.md and AGENTS.md are yours; Rekindle reads them and never changes them.

Examples:
  rekindle identity
  rekindle identity link ~/.claude")]
pub(crate) struct Identity {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Show the files in the order they are read, and each agent's link to them
    Check,
    /// Make an agent's folder use the shared AGENTS.md
    Link {
        /// The agent's folder, such as ~/.claude
        folder: PathBuf,
    },
}

impl Identity {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if let Some(Verb::Link { folder }) = self.verb {
            let (path, made) = identity::link(&context.places, &context.cwd.join(folder))?;
            return match self.json {
                true => context.out.json(&json!({"link": path, "made": made})),
                false => context.out.line(format!(
                    "{} {}",
                    if made { "Linked" } else { "Already linked" },
                    path.display()
                )),
            };
        }
        let report = identity::check(&context.places);
        let diverged = report.links.iter().any(|(_, link)| *link == Link::Differs);
        if self.json {
            let files: Vec<_> = report
                .files
                .iter()
                .map(|(document, path, there)| json!({"name": document.name, "file": path, "there": there}))
                .collect();
            let links: Vec<_> =
                report.links.iter().map(|(path, link)| json!({"link": path, "state": link})).collect();
            context.out.json(&json!({"files": files, "links": links, "ok": !diverged}))?;
        } else {
            for (document, path, there) in &report.files {
                let mark = if *there { "" } else { "  (not there)" };
                context.out.line(format!("{}  {}{mark}", column(document.about, 46), path.display()))?;
            }
            for (path, link) in &report.links {
                let word = match link {
                    Link::Same => "the same file",
                    Link::Differs => "ANOTHER FILE",
                    Link::None => "not linked",
                    Link::Absent => continue,
                };
                let style = if *link == Link::Differs { Style::Bad } else { Style::Dim };
                let word = context.out.styled(style, column(word, 46));
                context.out.line(format!("{word}  {}", path.display()))?;
            }
        }
        if diverged { Err(Failure::reported()) } else { Ok(()) }
    }
}
