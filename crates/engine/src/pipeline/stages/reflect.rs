//! `reflect`: turns the observations of some days into proposals for the person (EXE-04, REF-01…17). It never
//! writes to MEMORY.md.
//!
//! Without a model the rules of `core::reflect::offline` do the work. With one, the run retries a retryable
//! error. After any other error, or too many, it falls back to the rules and leaves the observations
//! unmarked, so that the next reflection asks the model again.
//! `docs/adr/0018-reflection-is-checked-and-staged.md` gives the reasons.

mod ask;
#[cfg(test)]
mod tests;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Date;
use rekindle_core::event::{Accumulated, Event, Reflected, names};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::knowledge::reflect::memory::Memory;
use rekindle_core::knowledge::reflect::settle::settle;
use rekindle_core::knowledge::reflect::{Draft, Dropped, check, distil, prompt, summary};
use rekindle_core::llm::Model;
use rekindle_core::text::tokens;
use rekindle_core::vault::daily_log::{self, Clock, Section, Source};
use rekindle_core::vault::journal::Actor;
use rekindle_core::vault::memory::user_section;
use rekindle_core::vault::review::{Id, Kind};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::REGISTRY;
use super::material::Material;
use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::llm::Job;
use crate::pipeline::observations::{self, Entry, KEPT_DAYS};
use crate::review::page;
use crate::review::proposals::{self, Handed};
use crate::vault::ReviewShown;

pub(super) fn reflect(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = world.model(Job::Reflector).ok().flatten();
    reflect_with(event, steps, world, model.as_ref().map(|model| model as &dyn Model))
}

fn reflect_with(
    event: &Event,
    steps: &mut dyn Steps,
    world: &World,
    model: Option<&dyn Model>,
) -> Result<Ended, Interrupt> {
    let run = steps.run_id().to_owned();
    let loaded = steps.run("load-observations", || load(event, world))?;
    if loaded.keys.is_empty() {
        return Ok(Ended::Skipped("no observations".to_owned()));
    }
    let distilled = steps.run("recursive-distill", || distil_old(&loaded, world))?;
    if loaded.new.is_empty() {
        // The threshold and the schedule may both request the same day.
        return Ok(Ended::Skipped("nothing was observed since the last reflection".to_owned()));
    }
    let thought = steps.run("reflect", || {
        let material = loaded.material(world)?;
        ask::think(&material.period(world), model, ask::attempt(&run, world)?)
    })?;
    let valid = steps.run("validate", || validate(&loaded, &thought, world))?;
    let staged = steps.run("stage-review", || stage(&run, &loaded, &valid, world))?;
    let logged = steps.run("append-daily-log", || log(&run, &valid, &staged, world))?;
    let ratio = match thought.input_tokens {
        0 => 0.0,
        input => (valid.output_tokens as f64 / input as f64 * 1000.0).round() / 1000.0,
    };
    steps.run_and_send("emit-complete", || {
        if thought.degraded.is_none() {
            observations::mark_reflected(&mut world.db()?, &loaded.new)?;
        }
        let now = world.now().timestamp();
        let reflected = Reflected {
            date: loaded.date,
            input_tokens: thought.input_tokens,
            output_tokens: valid.output_tokens,
            compression_ratio: ratio,
            proposal_count: staged.proposed.len() as u64,
            captured_at: now,
            retry_level: thought.flagged.then_some(thought.level),
        };
        let data = serde_json::to_value(reflected).map_err(StepError::fatal)?;
        let name = names::OBSERVATIONS_REFLECTED.to_owned();
        Ok(((), vec![Event { id: format!("reflected-{run}"), name, data, at: now }]))
    })?;
    Ok(Ended::Completed(report(&loaded, &distilled, &thought, &valid, &staged, logged)))
}

/// Builds the output that `rekindle runs` shows.
fn report(
    loaded: &Loaded,
    distilled: &Distilled,
    thought: &ask::Thought,
    valid: &Valid,
    staged: &Staged,
    logged: bool,
) -> Value {
    let mut report = json!({
        "date": loaded.date,
        "observations": loaded.keys.len(),
        "new": loaded.new.len(),
        "distilled": distilled.windows,
        "by": thought.by,
        "inputTokens": thought.input_tokens,
        "outputTokens": valid.output_tokens,
        "proposalCount": staged.proposed.len(),
        "folded": staged.folded.len(),
        "dropped": valid.dropped,
        "page": staged.page,
        "logged": logged,
    });
    if thought.flagged {
        report["warning"] =
            json!("the model's answer stayed longer than the observations; the shortest was taken");
        report["retryLevel"] = json!(thought.level);
    }
    if let Some(degraded) = &thought.degraded {
        report["warning"] = json!(format!("the model failed, so the rules reflected: {degraded}"));
    }
    if valid.redated > 0 {
        report["redated"] = json!(valid.redated);
    }
    if thought.left_out > 0 {
        report["leftOut"] = json!(thought.left_out);
    }
    report
}

/// The keys of the observations of a run. Their text stays in the list, so that forgotten text is never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Loaded {
    date: Date,
    from: Date,
    /// The keys of all windows of the period.
    keys: Vec<String>,
    /// The keys of windows without a reflection.
    new: Vec<String>,
}

fn load(event: &Event, world: &World) -> Result<Loaded, StepError> {
    let date = match event.name.as_str() {
        names::OBSERVATIONS_ACCUMULATED => {
            Accumulated::deserialize(&event.data).map_err(StepError::fatal)?.date
        }
        _ => world.day_of(event),
    };
    let from = date.checked_sub(jiff::Span::new().days(KEPT_DAYS - 1)).unwrap_or(date);
    let db = world.db()?;
    let keys = observations::between(&db, from, date)?.into_iter().map(|entry| entry.dedupe_key).collect();
    Ok(Loaded { date, from, keys, new: observations::unreflected(&db, from, date)? })
}

impl Loaded {
    /// Reads the observations of the run from the list.
    fn entries(&self, world: &World) -> Result<Vec<Entry>, StepError> {
        let mut entries = observations::between(&world.db()?, self.from, self.date)?;
        entries.retain(|entry| self.keys.contains(&entry.dedupe_key));
        Ok(entries)
    }

    /// Builds the input of reflection.
    fn material(&self, world: &World) -> Result<Material, StepError> {
        Material::read(self.date, self.entries(world)?, world)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Distilled {
    /// The number of shortened windows.
    windows: u64,
}

/// Shortens old observations in the list (REF-15).
fn distil_old(loaded: &Loaded, world: &World) -> Result<Distilled, StepError> {
    let mut db = world.db()?;
    let mut distilled = Distilled::default();
    for entry in loaded.entries(world)? {
        let age = loaded.date.since(entry.day).map_or(0, |span| span.get_days());
        let level = distil::level(age);
        if level <= entry.distilled {
            continue;
        }
        let observed = distil::distil(&entry.observed, level);
        let tokens = tokens::estimate(&prompt::text_of(&observed.parts));
        let shorter = Entry { tokens: tokens.min(entry.tokens), observed, distilled: level, ..entry };
        distilled.windows += u64::from(observations::replace(&mut db, &shorter)?);
    }
    Ok(distilled)
}

/// The claims that passed the checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Valid {
    drafts: Vec<Draft>,
    dropped: Dropped,
    redated: u64,
    summary: String,
    output_tokens: u64,
}

/// Checks the result against the observations, MEMORY.md and earlier proposals.
fn validate(loaded: &Loaded, thought: &ask::Thought, world: &World) -> Result<Valid, StepError> {
    let material = loaded.material(world)?;
    let period = material.period(world);
    let mut dropped = thought.dropped.clone();
    let checked = check::check(&thought.answer.claims, &period);
    dropped.merge(&checked.dropped);
    let drafts = thought.drafts.iter().cloned().chain(checked.drafts).collect();
    let before: Vec<Proposal> = proposals::all(&world.db()?)?;
    let settled = settle(drafts, &Memory::read(period.memory), &before);
    dropped.merge(&settled.dropped);
    let said = thought.answer.summary.as_deref().and_then(|text| check::check_summary(text, &period));
    let summary = said.unwrap_or_else(|| summary(&period, &settled.drafts));
    let output_tokens = thought.output_tokens.unwrap_or_else(|| {
        let texts: Vec<&str> = settled.drafts.iter().map(|draft| draft.text.as_str()).collect();
        tokens::estimate(&texts.join("\n"))
    });
    Ok(Valid { drafts: settled.drafts, dropped, redated: checked.redated, summary, output_tokens })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Staged {
    proposed: Vec<Id>,
    /// Existing proposals that gained evidence.
    folded: Vec<Id>,
    /// The outcome for REVIEW.md.
    page: String,
}

/// Submits proposals and refreshes the page (REV-01, STO-05).
fn stage(run: &str, loaded: &Loaded, valid: &Valid, world: &World) -> Result<Staged, StepError> {
    let mut db = world.db()?;
    let now = world.now();
    let user = &world.config.user.name;
    let (mut proposed, mut folded) = (Vec::new(), Vec::new());
    let (joining, new): (Vec<&Draft>, Vec<&Draft>) =
        valid.drafts.iter().partition(|draft| draft.joins.is_some());
    for draft in joining {
        if let Some(id) = draft.joins {
            proposals::support(&mut db, id, &draft.evidence)?;
            folded.push(id);
        }
    }
    // Use the day of the run, not of the attempt: ids are the same in every retry.
    let blank = Id::uncounted(Kind::Reflection, loaded.date);
    let new: Vec<Proposal> =
        new.into_iter().map(|draft| draft.proposal(user, blank, now.timestamp())).collect();
    for handed in proposals::hand_in(&mut db, &REGISTRY, run, &new)? {
        match handed {
            Handed::Proposed(id) => proposed.push(id),
            Handed::Folded(id) => folded.push(id),
            Handed::Decided(..) => {}
        }
    }
    let per_day = world.config.review.per_day;
    let shown = page::refresh(&mut db, &world.vault()?, &user_section(user), per_day, Actor::Worker, &now);
    let page = match shown.map_err(StepError::passing)? {
        ReviewShown::Written(_) => "written".to_owned(),
        ReviewShown::Unchanged => "unchanged".to_owned(),
        // The store has the proposals; the person must repair the page.
        ReviewShown::Left(why) => format!("left as it is: {why}"),
    };
    Ok(Staged { proposed, folded, page })
}

/// Logs the reflection in the daily log (LOG-04). The observations themselves are in the logs of their days.
fn log(run: &str, valid: &Valid, staged: &Staged, world: &World) -> Result<bool, StepError> {
    let now = world.now();
    let section = Section::Reflected(daily_log::Reflected {
        source: Source {
            dedupe_key: Some(ContentHash::of(format!("reflected {run}").as_bytes()).short(32)),
            ..Source::default()
        },
        time: Clock::of(&now),
        summary: valid.summary.clone(),
        proposals: staged.proposed.iter().map(ToString::to_string).collect(),
    });
    let committed = world.vault()?.log_once(&section, Actor::Worker, &now).map_err(StepError::passing)?;
    Ok(committed.is_some())
}
