//! `rekindle review`, and what `approve`, `reject` and `edit` share with it.

use std::collections::HashMap;
use std::time::Duration;

use clap::Args;
use rekindle_core::proposal::{By, Status};
use rekindle_core::time::Timestamp;
use rekindle_core::vault::review::Id;
use rekindle_engine::db::Db;
use rekindle_engine::patches::{self, is_patch};
use rekindle_engine::proposals::{self, Decided, Verdict};
use rekindle_engine::review::{self, Asked};
use rekindle_engine::stages::promote::Reconsidered;
use rekindle_engine::stages::{REGISTRY, promote};
use rekindle_engine::worker::{Post, do_now};
use serde_json::{Value, json};

use super::review_apply;
use super::review_reports;
use super::review_show::{json, print, said, show, told};
use super::surfaces::Verb;
use crate::compose::Context;
use crate::error::Failure;
use crate::tui;

/// How long a decision waits for a worker that is at it. It is safe in the store; the worker will see to it.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Look through what waits for your decision, the most valuable first
#[derive(Args)]
#[command(after_help = "\
A few a day (review.per_day); the rest waits and is counted. What nobody decides on is archived after
review.expire_days, and says so before. What need not be asked about is decided by rules (review.triage). REVIEW.md shows the same: tick it there, or decide here.

At a terminal it fills the screen: a approves, e edits, r rejects, s skips, S supersedes, u takes back, ? explains,
q ends. With --plain, with review.plain, or where TERM is dumb it asks line by line. Into a pipe it prints a list.

Examples:
  rekindle review
  rekindle review --plain            # for screen readers and simple terminals
  rekindle review --all --json | jq -r '.proposals[].id'
  rekindle review p-20261115-001     # what became of it
  rekindle review --automatic        # what was decided without you
  rekindle approve p-20261115-001
  rekindle review connect todoist    # ask me there as well")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Review {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Only these, whatever became of them
    #[arg(value_name = "ID", conflicts_with = "all")]
    ids: Vec<Id>,
    /// Print a list, as it does where there is no terminal
    #[arg(long)]
    list: bool,
    /// Ask line by line instead of filling the screen
    #[arg(long, conflicts_with_all = ["list", "json", "ids"])]
    plain: bool,
    /// All that wait, not only today's
    #[arg(long)]
    all: bool,
    /// What triage decided without you, and why
    #[arg(long, conflicts_with_all = ["ids", "all", "stats", "check"])]
    automatic: bool,
    /// How you decide, by kind and section, and what promotes itself because of it
    #[arg(long, conflicts_with_all = ["ids", "all", "check"])]
    stats: bool,
    /// Whether every proposal waits or has ended exactly once
    #[arg(long, conflicts_with_all = ["ids", "all"])]
    check: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Review {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if let Some(verb) = self.verb {
            return verb.run(context);
        }
        // What was ticked on the page is decided; it is not shown as if it were not.
        let doubt = read_page(context)?;
        let mut db = Db::open(&context.places.database())?;
        if self.automatic {
            return review_reports::automatic(context, &db, self.json);
        }
        if self.stats {
            return review_reports::stats(context, &db, self.json);
        }
        if self.check {
            return review_reports::check(context, &db, self.json);
        }
        let lost = match may_write(context) {
            true => {
                let vault = context.vault()?;
                patches::refresh(&db, &vault, &context.places.patches()).map_err(Failure::new)?;
                review::rebase(&mut db, &vault).map_err(Failure::new)?
            }
            false => HashMap::new(),
        };
        if !self.ids.is_empty() {
            return show(context, &db, &self.ids, &lost, self.json);
        }
        if !self.list && !self.json && tui::is_possible() {
            if let Some(doubt) = &doubt {
                context.out.warn(format!("nothing was decided from REVIEW.md: {doubt}"));
            }
            if tui::review(context, self.all, self.plain)? {
                return Ok(());
            }
        }
        let per_day = context.settings.config.review.per_day;
        let Asked { mut today, mut later } = review::asked_today(&db, per_day, &context.now)?;
        if self.all {
            today.append(&mut later);
        }
        let folded: usize = today.iter().chain(&later).map(|(_, same)| same.len()).sum();
        let waiting = today.len() + later.len() + folded;
        if self.json {
            let proposals: Vec<Value> =
                today.iter().map(|(standing, same)| json(context, standing, same, &lost)).collect();
            return context.out.json(&json!({
                "waiting": waiting, "shown": today.len(), "later": later.len(), "doubt": doubt,
                "proposals": proposals, "patches": review_apply::remind(context, &db)?,
            }));
        }
        for (standing, same) in &today {
            print(context, standing, same, &lost)?;
        }
        if let Some(doubt) = doubt {
            context.out.warn(format!("nothing was decided from REVIEW.md: {doubt}"));
        }
        for patch in review_apply::remind(context, &db)? {
            let word = |name: &str| patch[name].as_str().unwrap_or_default().to_owned();
            let (id, file) = (word("id"), word("file"));
            match patch["unfit"].as_str() {
                Some(why) => context.out.warn(format!("{id} is approved for {file} and does not fit: {why}")),
                None => context.out.note(format!("{id} waits for `rekindle review apply {id}` ({file}).")),
            }
        }
        context.out.note(match (today.len(), later.len()) {
            (0, 0) => "Nothing waits for you.".to_owned(),
            (0, more) => format!("Nothing more today; {more} wait (`rekindle review --all`)."),
            (_, 0) => "`rekindle approve ID`, `rekindle edit ID --text …` or `rekindle reject ID` decides."
                .to_owned(),
            (_, more) => format!("{more} more wait (`rekindle review --all`)."),
        });
        Ok(())
    }
}

/// Whether anything may be written now.
fn may_write(context: &Context<'_>) -> bool {
    context.settings.config.memory.enabled && !context.places.stop_file().exists()
}

/// Takes in what was decided on the page. Says why nothing was, if it could not be told.
pub(crate) fn read_page(context: &Context<'_>) -> Result<Option<String>, Failure> {
    if !may_write(context) {
        return Ok(None);
    }
    let look = promote::look(&context.world()).map_err(Failure::new)?;
    let new: Vec<Id> =
        look.decided.iter().filter(|(_, decided)| *decided == Decided::Now).map(|(id, _)| *id).collect();
    if !new.is_empty() {
        context.vault_to_change()?;
        see_to(context, &new)?;
    }
    Ok(look.doubt)
}

/// What came of deciding on some proposals.
struct Outcome {
    /// Those that are decided so, now or before.
    decided: Vec<Id>,
    /// Those that are not, and why.
    wrong: Vec<(Id, String)>,
    /// Whether a worker is at it and will see to it.
    busy: bool,
}

/// Decides and sees to it. What cannot be decided does not keep the rest from it.
fn settle(context: &Context<'_>, ids: &[Id], verdict: &Verdict, by: By) -> Result<Outcome, Failure> {
    context.vault_to_change()?;
    // Whoever decided on the page was first.
    read_page(context)?;
    let mut db = Db::open(&context.places.database())?;
    let (mut open, mut wrong) = (Vec::new(), Vec::new());
    for id in ids {
        match proposals::decide(&mut db, *id, verdict, by, context.now.timestamp())? {
            Decided::Now | Decided::Already(_) => open.push(*id),
            Decided::Ended(standing) => wrong.push((*id, told(context, &standing))),
            Decided::Refused(why) => wrong.push((*id, format!("{id} was not changed: {why}"))),
            Decided::Unknown => wrong.push((*id, format!("there is no proposal {id}"))),
        }
    }
    let busy = !see_to(context, &open)?;
    Ok(Outcome { decided: open, wrong, busy })
}

/// Lets an agent decide on one, and says what came of it.
pub(crate) fn decide_for(context: &Context<'_>, id: Id, verdict: &Verdict) -> Result<String, Failure> {
    let outcome = settle(context, &[id], verdict, By::Agent)?;
    if let Some((_, why)) = outcome.wrong.into_iter().next() {
        return Err(Failure::new(why).hint("`review_list` shows what waits"));
    }
    let standing = proposals::standing(&Db::open(&context.places.database())?, id)?;
    let standing = standing.ok_or_else(|| Failure::new(format!("{id} was forgotten")))?;
    match standing.note.as_ref().filter(|_| standing.proposal.status.is_open()) {
        Some(note) => Err(Failure::new(format!("{id} could not be promoted and waits: {note}"))),
        None if outcome.busy => Ok(format!("{id} is decided and will be seen to in a moment")),
        None => Ok(said(context, &standing)),
    }
}

/// Decides, sees to it, and says what came of it.
pub(crate) fn decide(
    context: &Context<'_>,
    ids: &[Id],
    verdict: &Verdict,
    as_json: bool,
) -> Result<(), Failure> {
    let Outcome { decided: open, mut wrong, busy } = settle(context, ids, verdict, By::Command)?;
    let db = Db::open(&context.places.database())?;
    let mut answers = Vec::new();
    for id in open {
        let Some(standing) = proposals::standing(&db, id)? else { continue };
        let status = standing.proposal.status;
        if let Some(note) = standing.note.as_ref().filter(|_| status.is_open()) {
            wrong.push((id, format!("{id} could not be promoted and waits: {note}")));
        }
        let seen_to = !matches!(status, Status::Approved | Status::Edited) || is_patch(&standing);
        if !seen_to && !busy {
            wrong.push((id, format!("{id} is {}, but could not be written yet", status.word())));
        }
        match as_json {
            true => answers.push(json(context, &standing, &[], &HashMap::new())),
            false if seen_to && !status.is_open() => context.out.line(said(context, &standing))?,
            false if busy => {
                context.out.line(format!("{id} {}; the worker that is running sees to it", status.word()))?;
            }
            false => {}
        }
    }
    if as_json {
        let wrong: Vec<Value> = wrong.iter().map(|(id, why)| json!({"id": id, "error": why})).collect();
        context.out.json(&json!({"decided": answers, "failed": wrong}))?;
    }
    let Some((_, first)) = wrong.first() else { return Ok(()) };
    let rest: Vec<&str> = wrong.iter().skip(1).map(|(_, why)| why.as_str()).collect();
    let message = [&[first.as_str()], &rest[..]].concat().join("\n");
    Err(Failure::new(message)
        .hint("`rekindle review` shows what waits, `rekindle review ID` what became of one"))
}

/// Does what follows from decisions, at once. `false` if a worker is at it, who will.
pub(crate) fn see_to(context: &Context<'_>, ids: &[Id]) -> Result<bool, Failure> {
    if ids.is_empty() {
        return Ok(true);
    }
    let Some(post) = Post::take(&context.places.locks(), PATIENCE)? else { return Ok(false) };
    let world = context.world();
    for id in ids {
        do_now(&post, &world, &REGISTRY, promote::NAME, &id.to_string())?;
    }
    Ok(true)
}

/// Takes the decision on a proposal back, if no worker is at it.
pub(crate) fn reconsider(
    context: &Context<'_>,
    id: Id,
    decided: Option<Timestamp>,
) -> Result<Reconsidered, Failure> {
    context.vault_to_change()?;
    let Some(post) = Post::take(&context.places.locks(), PATIENCE)? else {
        return Err(Failure::new(format!("{id} was not taken back: a worker is running"))
            .hint("try it again when it has ended (`rekindle runs`)"));
    };
    promote::reconsider(&post, &context.world(), id, decided).map_err(Failure::new)
}
