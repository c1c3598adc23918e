//! `friction` (EXE-06, FRI-01…08): finds recurring problems of a week, every morning after reflection and on
//! request. It proposes fixes and never writes to the file of a proposal. A run without a proposal says why.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rekindle_core::base::time::Date;
use rekindle_core::event::Event;
use rekindle_core::knowledge::friction::{
    Earlier, Fix, Fixes, Gate, Kind as Detected, Known, Pattern, WINDOW_DAYS, Why, ask, detect, fixes, heard,
};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::llm::Model;
use rekindle_core::vault::identity::SHARED;
use rekindle_core::vault::journal::{Place, Root};
use rekindle_core::vault::layout;
use rekindle_core::vault::review::Id;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::REGISTRY;
use super::material::Material;
use super::promote;
use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::llm::Job;
use crate::pipeline::observations::{self, KEPT_DAYS};
use crate::review::proposals::{self, Handed};

/// The name of the function in the registry.
pub const NAME: &str = "friction";

pub(super) fn friction(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = world.model(Job::Reflector).ok().flatten();
    friction_with(event, steps, world, model.as_ref().map(|model| model as &dyn Model))
}

fn friction_with(
    event: &Event,
    steps: &mut dyn Steps,
    world: &World,
    model: Option<&dyn Model>,
) -> Result<Ended, Interrupt> {
    let run = steps.run_id().to_owned();
    let queried = steps.run("query-observations", || query(event, world))?;
    if let Some(why) = queried.closed {
        return Ok(Ended::Skipped(why));
    }
    let patterns = steps.run("detect-patterns", || Ok(detect(&queried.week(world)?.period(world))))?;
    let proposed = steps.run("propose-fixes", || propose(&queried, &patterns, model, world))?;
    let staged = steps.run("stage-proposals", || stage(&run, &queried, &proposed.found, world))?;
    Ok(Ended::Completed(report(&queried, &patterns, &proposed, &staged)))
}

/// The result of comparing patterns with existing rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Proposed {
    found: Fixes,
    /// The number of patterns from a model that the observations confirm.
    reported: usize,
    /// The name of the model or the rules.
    by: String,
    /// The reason the model was not used.
    degraded: Option<String>,
}

/// The keys of the observations of a run. Their text stays in the list, so that forgotten text is never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Queried {
    date: Date,
    from: Date,
    keys: BTreeSet<String>,
    sessions: usize,
    findings: usize,
    /// The reason there is too little material (FRI-07).
    closed: Option<String>,
}

fn query(event: &Event, world: &World) -> Result<Queried, StepError> {
    let date = world.day_of(event);
    let back = |days: i64| date.checked_sub(jiff::Span::new().days(days - 1)).unwrap_or(date);
    let db = world.db()?;
    let known = observations::between(&db, back(KEPT_DAYS), date)?;
    let count = |entry: &observations::Entry| entry.observed.findings().count();
    let gate = gate(world);
    let oldest = known.iter().map(|entry| entry.day).min();
    let closed = gate.closed(known.iter().map(count).sum(), oldest, date);
    let from = back(WINDOW_DAYS);
    let week: Vec<&observations::Entry> = known.iter().filter(|entry| entry.day >= from).collect();
    let sessions: BTreeSet<&str> = week.iter().map(|entry| entry.session.as_str()).collect();
    Ok(Queried {
        date,
        from,
        sessions: sessions.len(),
        findings: week.iter().map(|entry| count(entry)).sum(),
        keys: week.iter().map(|entry| entry.dedupe_key.clone()).collect(),
        closed,
    })
}

fn gate(world: &World) -> Gate {
    let settings = &world.config.friction;
    Gate { observations: settings.min_observations, days: settings.min_days, sessions: settings.min_sessions }
}

impl Queried {
    /// Reads the observations of the week.
    fn week(&self, world: &World) -> Result<Material, StepError> {
        let mut entries = observations::between(&world.db()?, self.from, self.date)?;
        entries.retain(|entry| self.keys.contains(&entry.dedupe_key));
        Material::read(self.date, entries, world)
    }
}

/// Compares the patterns with existing rules and earlier proposals.
fn propose(
    queried: &Queried,
    patterns: &[Pattern],
    model: Option<&dyn Model>,
    world: &World,
) -> Result<Proposed, StepError> {
    let week = queried.week(world)?;
    let standings = proposals::standings(&world.db()?, false)?;
    let before: Vec<Earlier> = standings
        .into_iter()
        .map(|standing| Earlier { decided: standing.decided, proposal: standing.proposal })
        .collect();
    let shared = Place { root: Root::Identity, path: layout::fixed(SHARED) };
    let agents = world.vault()?.read(&shared).map_err(StepError::passing)?.map(|note| note.text);
    let period = week.period(world);
    let (mut all, mut reported, mut degraded) = (patterns.to_vec(), 0, None);
    if let Some(model) = model {
        let deadline = Duration::from_secs(world.config.llm.timeout_seconds.into());
        let answer = model.answer(&ask(&period, agents.as_deref(), patterns, deadline));
        match answer.map(|said| heard(&said.text, said.whole, &period)) {
            Ok(Some(more)) => {
                reported = more.len();
                all.extend(more);
            }
            Ok(None) => degraded = Some("it did not answer in the form it was asked for".to_owned()),
            Err(error) => degraded = Some(error.to_string()),
        }
    }
    let known = Known { period: &period, agents: agents.as_deref(), before: &before, gate: gate(world) };
    let by = model.filter(|_| degraded.is_none()).map_or("rules", Model::name).to_owned();
    Ok(Proposed { found: fixes(all, &known), reported, by, degraded })
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Staged {
    proposed: Vec<Id>,
    /// Existing proposals that gained evidence.
    folded: Vec<Id>,
    /// The outcome for REVIEW.md.
    page: String,
}

/// Submits proposals and refreshes the page (FRI-06).
fn stage(run: &str, queried: &Queried, found: &Fixes, world: &World) -> Result<Staged, StepError> {
    let mut db = world.db()?;
    let mut staged = Staged::default();
    for (id, evidence) in &found.again {
        proposals::support(&mut db, *id, evidence)?;
        staged.folded.push(*id);
    }
    let now = world.now().timestamp();
    let day = queried.date;
    let new: Vec<Proposal> = found.fixes.iter().map(|fix| fix.proposal(day, now)).collect();
    for handed in proposals::hand_in(&mut db, &REGISTRY, run, &new)? {
        match handed {
            Handed::Proposed(id) => staged.proposed.push(id),
            Handed::Folded(id) => staged.folded.push(id),
            Handed::Decided(..) => {}
        }
    }
    staged.page = promote::refresh(world)?;
    Ok(staged)
}

/// Builds the output that `rekindle runs` and `rekindle friction` show.
fn report(queried: &Queried, patterns: &[Pattern], proposed: &Proposed, staged: &Staged) -> Value {
    let found = &proposed.found;
    let mut kinds: BTreeMap<Detected, u64> = BTreeMap::new();
    for pattern in patterns {
        *kinds.entry(pattern.kind).or_default() += 1;
    }
    let fix = |fix: &Fix| {
        json!({
            "kind": fix.pattern.kind, "target": fix.target, "severity": fix.pattern.severity(),
            "sessions": fix.pattern.evidence.sessions.len(),
        })
    };
    let mut report = json!({
        "date": queried.date,
        "from": queried.from,
        "observations": queried.findings,
        "sessions": queried.sessions,
        "patterns": kinds,
        "fixes": found.fixes.iter().map(fix).collect::<Vec<_>>(),
        "proposed": staged.proposed,
        "folded": staged.folded,
        "dropped": found.dropped,
        "page": staged.page,
        "by": proposed.by,
        "reported": proposed.reported,
    });
    if let Some(why) = &proposed.degraded {
        report["warning"] = json!(format!("the model failed, so the rules alone looked: {why}"));
    }
    if staged.proposed.is_empty() {
        report["why"] = json!(why_not(patterns.len() + proposed.reported, &found.dropped));
    }
    report
}

/// The reason for no proposal, in a sentence (FRI-08).
fn why_not(patterns: usize, dropped: &BTreeMap<Why, u64>) -> String {
    if patterns == 0 {
        return "nothing was corrected, failed or contradicted".to_owned();
    }
    let parts: Vec<String> = dropped.iter().map(|(why, count)| format!("{count} {}", why.phrase())).collect();
    match parts.is_empty() {
        true => "the same was decided on before".to_owned(),
        false => format!("of {patterns} things that came up, {}", parts.join(", ")),
    }
}
