//! `promote` (EXE-05): what was decided on becomes so. An approved proposal goes to MEMORY.md, every end gets its line in the
//! log of the day, and by the clock what nobody decided on for too long is archived. Every step can be run twice.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use rekindle_core::event::{Event, ProposalDecided, names};
use rekindle_core::hash::ContentHash;
use rekindle_core::journal::{Actor, Change, Op};
use rekindle_core::proposal::{By, Status};
use rekindle_core::vault::daily_log::{Clock, End, Receipt, Receipts, Section, Source};
use rekindle_core::vault::memory::{Mark, Outcome, user_section};
use rekindle_core::vault::review::{Id, Place};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::World;
use crate::db::Db;
use crate::proposals::{self, Standing, Verdict};
use crate::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::review::{self, Look};
use crate::vault::{self, PROMOTE, Promotion, ReviewShown, Vault};

/// The function's name.
pub const NAME: &str = "promote";
/// The heading for what fixes friction; MEMORY.md has no such section, so it goes where such things go (REV-15).
const FRICTION: &str = "Friction Fixes";
/// Why a proposal waits again whose promotion was taken back.
const TAKEN_BACK: &str = "its promotion was taken back with `rekindle undo`";

/// One decision about one proposal at a time.
pub fn key(event: &Event) -> Option<String> {
    let id = event.data.get("proposalId").and_then(Value::as_str);
    Some(id.unwrap_or("expire").to_owned())
}

pub(super) fn promote(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    match event.name.as_str() {
        names::PROPOSAL_APPROVED => approved(event, steps, world),
        names::PROPOSAL_REJECTED => rejected(event, steps, world),
        _ => expire(steps, world),
    }
}

/// Where a proposal stands when a run about it begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Loaded {
    id: Id,
    /// Why there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<String>,
}

/// Looks at the proposal; an event from outside that comes first decides (REV-06).
fn load(event: &Event, verdict: &Verdict, world: &World) -> Result<Loaded, StepError> {
    let ProposalDecided { proposal_id: id, by } =
        ProposalDecided::deserialize(&event.data).map_err(StepError::fatal)?;
    let mut db = world.db()?;
    let skip = match proposals::standing(&db, id)? {
        None => Some(format!("there is no proposal {id}")),
        Some(standing) if standing.proposal.status.is_open() && standing.reopened > Some(event.at) => {
            Some(format!("{id} was opened again since"))
        }
        Some(standing) if standing.proposal.status.is_open() => {
            // That sends an event of its own, and its run does the rest.
            proposals::decide(&mut db, id, verdict, by, world.now().timestamp())?;
            Some(format!("{id} is decided now"))
        }
        Some(standing) => {
            let status = standing.proposal.status;
            let fits = match verdict {
                Verdict::Reject => status == Status::Rejected,
                _ => matches!(status, Status::Approved | Status::Edited | Status::Promoted),
            };
            (!fits).then(|| format!("{id} was {} before", status.word()))
        }
    };
    Ok(Loaded { id, skip })
}

/// What became of an approved proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    /// Where it is now.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// Whether a line was struck for it; none if none was to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<bool>,
    /// The change, for `rekindle undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    /// Why it could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn approved(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let loaded = steps.run("load-proposal", || load(event, &Verdict::Approve, world))?;
    if let Some(why) = loaded.skip {
        return Ok(Ended::Skipped(why));
    }
    let id = loaded.id;
    let written = steps.run("write-memory", || write(id, world))?;
    if let Some(why) = &written.refused {
        // The person's word stands; it waits until MEMORY.md can take it, and says why.
        steps.run("reopen", || {
            let from = [Status::Approved, Status::Edited];
            Ok(proposals::reopen(&mut world.db()?, id, &from, why, world.now().timestamp())?)
        })?;
    } else {
        steps.run("mark-promoted", || {
            Ok(proposals::mark_promoted(&mut world.db()?, id, world.now().timestamp())?)
        })?;
        steps.run("append-receipt", || log(&[id], End::Promoted, world))?;
    }
    let page = steps.run("refresh-page", || refresh(world))?;
    let mut report = serde_json::to_value(&written)
        .map_err(|error| Interrupt::Failed { step: "report".to_owned(), error: StepError::fatal(error) })?;
    report["proposal"] = json!(id);
    report["page"] = json!(page);
    Ok(Ended::Completed(report))
}

/// Writes it to MEMORY.md. A document that cannot take it is no failure that passes by itself.
fn write(id: Id, world: &World) -> Result<Written, StepError> {
    let Some(standing) = proposals::standing(&world.db()?, id)? else {
        return Err(StepError::fatal(format!("{id} was forgotten")));
    };
    let proposal = &standing.proposal;
    let section = match &proposal.place {
        Place::Section(section) => section.as_str(),
        Place::Friction(_) => FRICTION,
    };
    let mark = Mark { id: Some(id.to_string()), origin: proposal.origin };
    let supersedes = proposal.supersedes.as_deref();
    let new = Promotion { section, statement: standing.text(), supersedes, mark: &mark };
    let actor = if standing.by == Some(By::Agent) { Actor::Agent } else { Actor::User };
    match world.vault()?.promote(&world.config.user.name, &new, actor, &world.now()) {
        Ok(added) => Ok(Written {
            outcome: Some(added.outcome.outcome),
            replaced: supersedes.map(|_| added.outcome.replaced),
            change: added.change.map(|change| change.to_string()),
            refused: None,
        }),
        Err(
            error @ (vault::Error::Structure { .. }
            | vault::Error::NotText { .. }
            | vault::Error::TooLarge { .. }
            | vault::Error::NotAFile(_)),
        ) => Ok(Written { outcome: None, replaced: None, change: None, refused: Some(error.to_string()) }),
        Err(error) => Err(StepError::passing(error)),
    }
}

fn rejected(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let loaded = steps.run("load-proposal", || load(event, &Verdict::Reject, world))?;
    if let Some(why) = loaded.skip {
        return Ok(Ended::Skipped(why));
    }
    steps.run("append-receipt", || log(&[loaded.id], End::Rejected, world))?;
    let page = steps.run("refresh-page", || refresh(world))?;
    Ok(Ended::Completed(json!({"proposal": loaded.id, "page": page})))
}

/// By the clock: what nobody decided on for too long is archived (REV-10).
fn expire(steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    // Also what was taken back while the store could not be told.
    let undone = steps.run("take-back", || take_back(world))?;
    let due = steps.run("find-old", || {
        Ok(proposals::due(&world.db()?, world.config.review.expire_days, world.now().timestamp())?)
    })?;
    let expired: Vec<Id> = steps.run("expire", || {
        let mut db = world.db()?;
        let mut expired = Vec::new();
        for id in &due {
            if proposals::expire(&mut db, *id, world.now().timestamp())? {
                expired.push(*id);
            }
        }
        Ok(expired)
    })?;
    steps.run("append-receipts", || log(&expired, End::Expired, world))?;
    // A new day has a new share, whether something expired or not.
    let page = steps.run("refresh-page", || refresh(world))?;
    Ok(Ended::Completed(json!({"expired": expired, "undone": undone, "page": page})))
}

/// The ends of proposals, in the log of the day (LOG-05, REV-14).
fn log(ids: &[Id], end: End, world: &World) -> Result<bool, StepError> {
    let db = world.db()?;
    let (mut receipts, mut key, mut project) = (Vec::new(), format!("receipts {}", end.word()), None);
    for id in ids {
        if let Some(standing) = proposals::standing(&db, *id)? {
            let text = standing.text().to_owned();
            let by_agent = standing.by == Some(By::Agent);
            if by_agent {
                // The next briefing tells of it, where it belongs.
                project = standing.proposal.project.as_ref().map(|project| project.as_str().to_owned());
            }
            receipts.push(Receipt { id: id.to_string(), end, by_agent, text });
            // A decision has one receipt, however many runs come to know of it.
            let since = standing.decided.unwrap_or(standing.since()).as_millisecond();
            key.push_str(&format!(" {id} {since}"));
        }
    }
    if receipts.is_empty() {
        return Ok(false);
    }
    let now = world.now();
    let key = ContentHash::of(key.as_bytes()).short(32);
    let source = Source { dedupe_key: Some(key), project, ..Source::default() };
    let section = Section::Receipts(Receipts { source, time: Clock::of(&now), receipts });
    let committed = world.vault()?.log_once(&section, Actor::Worker, &now).map_err(StepError::passing)?;
    Ok(committed.is_some())
}

/// Shows what waits on the page. One that a person has to mend stays; the store has it all.
fn refresh(world: &World) -> Result<String, StepError> {
    let user = user_section(&world.config.user.name);
    let per_day = world.config.review.per_day;
    let shown =
        review::refresh(&mut world.db()?, &world.vault()?, &user, per_day, Actor::Worker, &world.now());
    Ok(match shown.map_err(StepError::passing)? {
        ReviewShown::Written(_) => "written".to_owned(),
        ReviewShown::Unchanged => "unchanged".to_owned(),
        ReviewShown::Left(why) => format!("left as it is: {why}"),
    })
}

/// Reads what a person decided on the page (REV-03); the runs that see to it are in the queue then.
pub fn look(world: &World) -> Result<Look, StepError> {
    let look = review::look(&mut world.db()?, &world.vault()?, world.now().timestamp());
    look.map_err(StepError::passing)
}

/// Tells the store which promotions `rekindle undo` took back, and which it did again. The journal is the truth of that, so
/// this can be called at any time. Gives the proposals that wait again.
pub fn take_back(world: &World) -> Result<Vec<Id>, StepError> {
    let Some(mut db) = Db::open_existing(&world.places.database())? else { return Ok(Vec::new()) };
    let standings = proposals::standings(&db, false)?;
    let vault = world.vault()?;
    let in_force = promotions(&vault).map_err(StepError::passing)?;
    let now = world.now().timestamp();
    let mut waiting = Vec::new();
    for Standing { proposal, .. } in standings {
        let (id, promoted) = (proposal.id, in_force.get(&proposal.id));
        if promoted == Some(&false) && proposal.status == Status::Promoted {
            let reopened = proposals::reopen(&mut db, id, &[Status::Promoted], TAKEN_BACK, now)?;
            waiting.extend(reopened.then_some(id));
        } else if promoted == Some(&true) && proposal.status.is_open() {
            proposals::mark_promoted(&mut db, id, now)?;
        }
    }
    if !waiting.is_empty() {
        log(&waiting, End::Undone, world)?;
    }
    Ok(waiting)
}

/// The proposals that were ever promoted, and whether the last promotion of each is in force.
fn promotions(vault: &Vault) -> Result<BTreeMap<Id, bool>, vault::Error> {
    let (mut undone, mut found) = (HashSet::new(), BTreeMap::new());
    for record in vault.changes()? {
        let record = record?;
        if record.outcome == vault::Outcome::Aborted {
            continue;
        }
        let in_force = !undone.contains(&record.change.id);
        if record.change.verb == PROMOTE {
            for id in ids(&record.change) {
                found.entry(id).or_insert(in_force);
            }
        }
        // An undo that was itself undone no longer counts.
        undone.extend(record.change.undoes.filter(|_| in_force));
    }
    Ok(found)
}

/// The proposals that a change brought in.
fn ids(change: &Change) -> Vec<Id> {
    let words = |text: &str| -> Vec<Id> {
        text.split_whitespace().filter_map(|word| word.parse::<Id>().ok()).collect()
    };
    let patches = change.ops.iter().filter_map(|op| match op {
        Op::Edit { patch: Some(patch), .. } => Some(patch),
        _ => None,
    });
    let new = patches.flat_map(|patch| {
        let before = words(patch.removed());
        words(patch.inserted()).into_iter().filter(move |id| !before.contains(id))
    });
    new.collect()
}
