//! `rekindle project`

use clap::Args;
use serde_json::json;

use crate::app::Context;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
A project is a git repository: the same in every worktree, clone and subfolder, known by its remote, or
without one by its first commit and folder. Outside git, a folder with .rekindle.toml, AGENTS.md or
CLAUDE.md counts. Anywhere else memories are global.

Examples:
  rekindle project
  rekindle project --json")]
pub(crate) struct Project {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Project {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let configured = &context.settings.config.project.name;
        let project = context.project.as_ref().map(|found| &found.project).map(|project| {
            let name = if configured.is_empty() { &project.name } else { configured };
            (project, name)
        });
        match (project, self.json) {
            (Some((project, name)), true) => {
                context.out.json(&json!({"id": project.id, "name": name, "root": project.root}))
            }
            (None, true) => context.out.json(&json!({"id": null})),
            (Some((project, name)), false) => {
                context.out.line(&project.id)?;
                context.out.line(format!("{name} at {}", project.root.display()))
            }
            (None, false) => context.out.line("none: memories saved here are global"),
        }
    }
}
