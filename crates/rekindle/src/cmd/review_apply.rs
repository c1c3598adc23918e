//! `rekindle review apply`: applies an approved change to an identity file (IDN-05).

use clap::Args;
use rekindle_core::hosts::install::diff;
use rekindle_core::knowledge::proposal::Status;
use rekindle_core::vault::review::Id;
use rekindle_engine::jobs::worker_lock::Post;
use rekindle_engine::pipeline::stages::promote::{self, Patch, PatchLook};
use rekindle_engine::platform::db::Db;
use rekindle_engine::review::patches::{self, Waiting};
use rekindle_engine::review::proposals::Standing;
use serde_json::{Value, json};

use super::named;
use crate::app::Context;
use crate::app::review::describe::told;
use crate::app::review::{WORKER_TIMEOUT, read_page};
use crate::dialog;
use crate::error::Failure;

#[derive(Args)]
pub(crate) struct Apply {
    /// The proposals; without ids, every approved change
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Apply without asking
    #[arg(long)]
    yes: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Apply {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        context.vault_to_change()?;
        read_page(context)?;
        let ids = if self.ids.is_empty() { waiting(context)? } else { named::proposals(context, &self.ids)? };
        if ids.is_empty() && !self.json {
            context.out.note("No approved change of an identity file waits.");
        }
        let mut answers = Vec::new();
        for id in ids {
            answers.push(self.one(context, id)?);
        }
        if self.json {
            context.out.json(&json!({"patches": answers}))?;
        }
        Ok(())
    }

    fn one(&self, context: &Context<'_>, id: Id) -> Result<Value, Failure> {
        let patch = match look(context, id)? {
            Look::Patch(patch) => patch,
            // The patch was already applied.
            Look::Applied(standing) => {
                context.out.note(format!("{}; there is nothing to change.", told(context, &standing)));
                let file = standing.proposal.file();
                return Ok(json!({"id": id, "file": file, "diff": "", "applied": true}));
            }
        };
        let (name, amended) = (patch.standing.proposal.file(), &patch.amended);
        let shown = diff::unified(name, amended.before.as_deref(), Some(&amended.after));
        let file = amended.file.display().to_string();
        let answer = |applied: bool| json!({"id": id, "file": file, "diff": shown, "applied": applied});
        if !self.json {
            context.out.line(format!("{id} changes {file}:"))?;
            shown.lines().skip(2).try_for_each(|line| context.out.line(line))?;
        }
        if !self.yes {
            if !dialog::is_possible() {
                return Err(Failure::usage(format!("nobody can be asked whether to change {file}"))
                    .hint("look at the change with `rekindle review`, then use --yes"));
            }
            if !dialog::yes(&format!("Change {name}?"), false)? {
                context.out.note(format!("{id} waits; nothing was changed."));
                return Ok(answer(false));
            }
        }
        context.only_the_person("change an identity file")?;
        let post = post(context, id)?;
        promote::apply(&post, &context.world(), &patch).map_err(|error| {
            Failure::new(format!("{id} was not applied: {error}"))
                .hint(format!("`rekindle review apply {id}` looks at the file again"))
        })?;
        if !self.json {
            context.out.line(format!("{id} is in {name}; `rekindle undo` takes it back"))?;
        }
        Ok(answer(true))
    }
}

fn post(context: &Context<'_>, id: Id) -> Result<Post, Failure> {
    let post = Post::take(&context.places.locks(), WORKER_TIMEOUT)?;
    post.ok_or_else(|| {
        Failure::new(format!("{id} was not applied: a worker is running"))
            .hint("try it again when it has ended (`rekindle runs`)")
    })
}

/// The state of a patch.
enum Look {
    Patch(Box<Patch>),
    /// The patch was applied before.
    Applied(Box<Standing>),
}

/// Looks up a patch. The worker's lock is released before the person reads it.
fn look(context: &Context<'_>, id: Id) -> Result<Look, Failure> {
    let post = post(context, id)?;
    match promote::look_at_patch(&post, &context.world(), id).map_err(Failure::new)? {
        PatchLook::Patch(patch) => Ok(Look::Patch(patch)),
        PatchLook::Unfit(error) => Err(Failure::new(format!("{id} does not fit any more: {error}"))
            .hint(format!("`rekindle undo {id}` lets it wait again, to be edited or turned down"))),
        PatchLook::Otherwise(standing) if standing.proposal.status.is_open() => {
            Err(Failure::new(format!("nobody has approved {id}"))
                .hint(format!("`rekindle approve {id}` does, `rekindle review {id}` shows it")))
        }
        PatchLook::Otherwise(standing)
            if standing.proposal.status == Status::Promoted && standing.proposal.identity().is_some() =>
        {
            Ok(Look::Applied(standing))
        }
        PatchLook::Otherwise(standing) => {
            let what = match standing.proposal.identity() {
                Some(_) => told(context, &standing),
                None => format!("{id} is no change of an identity file; approving it is enough"),
            };
            Err(Failure::new(what))
        }
        PatchLook::Unknown => Err(Failure::usage(format!("there is no proposal {id}"))),
    }
}

fn waiting(context: &Context<'_>) -> Result<Vec<Id>, Failure> {
    let db = Db::open(&context.places.database())?;
    let waiting = patches::waiting(&db, &context.vault()?)?;
    Ok(waiting.iter().map(|patch| patch.standing.proposal.id).collect())
}

/// Prints the patches that wait to be applied, and returns them as JSON.
pub(super) fn remind(context: &Context<'_>, db: &Db) -> Result<Vec<Value>, Failure> {
    let waiting = patches::waiting(db, &context.vault()?)?;
    let about = |Waiting { standing, fits }: &Waiting| {
        let id = standing.proposal.id;
        let path = patches::path(&context.places.patches(), id);
        let unfit = fits.as_ref().err().map(ToString::to_string);
        json!({"id": id, "file": standing.proposal.file(), "text": standing.text(),
            "patch": path.is_file().then_some(path), "unfit": unfit})
    };
    Ok(waiting.iter().map(about).collect())
}
