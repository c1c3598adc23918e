//! `rekindle identity`: checks and links identity files.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use rekindle_engine::agents::identity::{self, IdentityLink};
use serde_json::json;

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
SOUL.md, USER.md, IDENTITY.md and AGENTS.md are yours; Rekindle reads them and never changes them.

Examples:
  rekindle identity
  rekindle identity link ~/.claude")]
pub(crate) struct IdentityArgs {
    #[command(subcommand)]
    verb: Option<IdentityCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum IdentityCommand {
    /// Show the files in the order they are read, and each agent's link to them
    Check,
    /// Make an agent's folder use the shared AGENTS.md
    Link {
        /// The agent's folder, such as ~/.claude
        folder: PathBuf,
    },
}

impl IdentityArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if let Some(IdentityCommand::Link { folder }) = self.verb {
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
        let diverged = report.links.iter().any(|(_, link)| *link == IdentityLink::Differs);
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
                context.out.line(format!(
                    "{}  {}{mark}",
                    pad_column(document.purpose, 46),
                    path.display()
                ))?;
            }
            for (path, link) in &report.links {
                let word = match link {
                    IdentityLink::Same => "the same file",
                    IdentityLink::Differs => "ANOTHER FILE",
                    IdentityLink::None => "not linked",
                    IdentityLink::Absent => continue,
                };
                let style = if *link == IdentityLink::Differs { TextStyle::Bad } else { TextStyle::Dim };
                let word = context.out.styled(style, pad_column(word, 46));
                context.out.line(format!("{word}  {}", path.display()))?;
            }
        }
        if diverged { Err(CliError::reported()) } else { Ok(()) }
    }
}
