//! `rekindle project`: shows the project of a folder.

use clap::Args;
use rekindle_core::context::notice;
use rekindle_core::project::ClaimAnswer;
use rekindle_engine::project;
use serde_json::json;

use crate::app::CommandContext;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
A project is a git repository: the same in every worktree, clone and subfolder, known by its remote, or
without one by its first commit and folder. Outside git, a folder with .rekindle.toml, AGENTS.md or
CLAUDE.md counts. Anywhere else memories are global.

A git configuration that was copied by hand names a project in another folder. Rekindle asks once whether this folder
is that project, and keeps them separate until you answer.

Examples:
  rekindle project
  rekindle project --same        # this folder is another clone of that project
  rekindle project --separate    # it is a project of its own
  rekindle project --json")]
pub(crate) struct ProjectArgs {
    /// Confirm that this folder is the project its git configuration names
    #[arg(long, conflicts_with = "separate")]
    same: bool,
    /// Make this folder a project of its own
    #[arg(long)]
    separate: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ProjectArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.same || self.separate {
            return self.answer(context);
        }
        let configured = &context.settings.config.project.name;
        let project = context.project.as_ref().map(|found| &found.project).map(|project| {
            let name = if configured.is_empty() { &project.name } else { configured };
            (project, name)
        });
        match (project, self.json) {
            (Some((project, name)), true) => {
                let claims = context.claim().map(|claim| &claim.id);
                context.out.json(&json!({
                    "id": project.id, "name": name, "root": project.root, "claims": claims,
                }))
            }
            (None, true) => context.out.json(&json!({"id": null})),
            (Some((project, name)), false) => {
                context.out.line(&project.id)?;
                context.out.line(format!("{name} at {}", project.root.display()))?;
                if let Some(claim) = context.claim() {
                    context.out.note(notice::claim_line(claim.id.as_str(), &claim.folder));
                }
                Ok(())
            }
            (None, false) => context.out.line("none: memories saved here are global"),
        }
    }

    /// Records the person's decision on the claim of this folder (B-05).
    fn answer(&self, context: &CommandContext<'_>) -> Result<(), CliError> {
        context.require_person("decide which project a folder belongs to")?;
        let Some((found, claim)) = context.project.as_ref().zip(context.claim()) else {
            return Err(CliError::usage("nothing to decide: this folder does not claim another project")
                .hint("see `rekindle project`"));
        };
        let answer = if self.same { ClaimAnswer::Same } else { ClaimAnswer::Separate };
        let project =
            project::answer_claim(&context.places.projects_file(), found, answer).map_err(CliError::new)?;
        if self.json {
            return context.out.json(&json!({"id": project.id, "name": project.name, "root": project.root}));
        }
        match answer {
            ClaimAnswer::Same => context.out.line(format!("This folder now belongs to {}.", project.id)),
            ClaimAnswer::Separate => {
                context.out.line(format!("This folder is {}, not {}.", project.id, claim.id))
            }
        }
    }
}
