//! `rekindle review`: shows the open proposals and starts a review.

use std::collections::HashMap;

use clap::Args;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::page::{self, ReviewQueue};
use rekindle_engine::review::patches;
use serde_json::{Value, json};

use super::review_reports;
use super::review_show::{json, print, show_proposals};
use super::surfaces::ReviewCommand;
use super::{id_match, review_apply};
use crate::app::CommandContext;
use crate::app::review::{may_write, read_page};
use crate::dialog;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Shows a handful of proposals a day (review.per_day), best first, and counts the rest. You can ignore them: undecided
proposals expire after review.expire_days, with a warning two days before. Rules decide the clear cases
(review.triage). REVIEW.md shows the same proposals; tick them there, or decide here.

At a terminal it fills the screen: a approves, e edits, r rejects, s skips, S supersedes, w sets where a line applies,
u undoes, ? explains, q quits. With --plain, with review.plain or in a terminal without cursor control, it asks line by
line. In a pipe it prints a list.

Examples:
  rekindle review
  rekindle review --plain            # for screen readers and simple terminals
  rekindle review --all --json | jq -r '.proposals[].id'
  rekindle review p-20261115-001     # one proposal, and its outcome
  rekindle review --automatic        # what was decided without you
  rekindle review approve p-20261115-001
  rekindle review inbox              # memories that were seen only once
  rekindle review connect todoist    # get proposals in Todoist as well")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    verb: Option<ReviewCommand>,
    /// Only these proposals, decided or not
    #[arg(value_name = "ID", conflicts_with = "all")]
    ids: Vec<String>,
    /// Print a list
    #[arg(long)]
    list: bool,
    /// Ask line by line instead of filling the screen
    #[arg(long, conflicts_with_all = ["list", "json", "ids"])]
    plain: bool,
    /// Every proposal, not only today's
    #[arg(long)]
    all: bool,
    /// List what rules decided without you, and why
    #[arg(long, conflicts_with_all = ["ids", "all", "stats", "check"])]
    automatic: bool,
    /// Show how you decide, by kind and section, and what is approved automatically because of it
    #[arg(long, conflicts_with_all = ["ids", "all", "check"])]
    stats: bool,
    /// Check that every proposal is pending or was decided exactly once
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    check: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ReviewArgs {
    /// Runs the command; `sitting` runs an interactive review and returns false if there was nothing to
    /// review.
    pub(crate) fn run(
        self,
        context: &CommandContext<'_>,
        sitting: impl FnOnce(&CommandContext<'_>, bool, bool) -> Result<bool, CliError>,
    ) -> Result<(), CliError> {
        if let Some(verb) = self.verb {
            return verb.run(context);
        }
        // Decisions marked on the page are read first, so that decided proposals are not shown as open.
        let doubt = read_page(context)?;
        let mut db = Database::open(&context.places.database())?;
        if self.automatic {
            return review_reports::show_automatic(context, &db, self.json);
        }
        if self.stats {
            return review_reports::show_stats(context, &db, self.json);
        }
        if self.check {
            return review_reports::check(context, &db, self.json);
        }
        let lost = match may_write(context) {
            true => {
                let vault = context.vault()?;
                patches::refresh_folder(&db, &vault, &context.places.patches_folder())
                    .map_err(CliError::new)?;
                page::rebase_proposals(&mut db, &vault).map_err(CliError::new)?
            }
            false => HashMap::new(),
        };
        if !self.ids.is_empty() {
            let ids = id_match::proposals(context, &self.ids)?;
            return show_proposals(context, &db, &ids, &lost, self.json);
        }
        // An agent gets the list even in a terminal, because an interactive review decides for the person
        //
        if !self.list && !self.json && dialog::has_screen() && !context.is_agent_shell() {
            if let Some(doubt) = &doubt {
                context.out.warn(format!("no decisions were read from REVIEW.md: {doubt}"));
            }
            if sitting(context, self.all, self.plain)? {
                return Ok(());
            }
        }
        let per_day = context.settings.config.review.per_day;
        let ReviewQueue { mut today, mut later } = page::asked_today(&db, per_day, &context.now)?;
        if self.all {
            today.append(&mut later);
        }
        let folded: usize = today.iter().chain(&later).map(|(_, same)| same.len()).sum();
        let waiting = today.len() + later.len() + folded;
        if self.json {
            let proposals: Vec<Value> =
                today.iter().map(|(record, same)| json(context, record, same, &lost)).collect();
            return context.out.json(&json!({
                "waiting": waiting, "shown": today.len(), "later": later.len(), "doubt": doubt,
                "proposals": proposals, "patches": review_apply::pending_patches_json(context, &db)?,
            }));
        }
        for (record, same) in &today {
            print(context, record, same, &lost)?;
        }
        if let Some(doubt) = doubt {
            context.out.warn(format!("no decisions were read from REVIEW.md: {doubt}"));
        }
        for patch in review_apply::pending_patches_json(context, &db)? {
            let word = |name: &str| patch[name].as_str().unwrap_or_default().to_owned();
            let (id, file) = (word("id"), word("file"));
            match patch["unfit"].as_str() {
                Some(why) => context
                    .out
                    .warn(format!("{id} is approved for {file}, but its patch does not apply: {why}")),
                None => context.out.note(format!("Apply {id} to {file} with `rekindle review apply {id}`.")),
            }
        }
        context.out.note(match (today.len(), later.len()) {
            (0, 0) => "No proposals to review.".to_owned(),
            (0, more) => format!("No more proposals today; {more} more with `rekindle review --all`."),
            (_, 0) => {
                "Decide with `rekindle approve ID`, `rekindle edit ID --text …` or `rekindle reject ID`."
                    .to_owned()
            }
            (_, more) => format!("{more} more with `rekindle review --all`."),
        });
        Ok(())
    }
}
