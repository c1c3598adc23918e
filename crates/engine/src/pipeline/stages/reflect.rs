//! `reflect`: turns the observations of some days into proposals for the person (EXE-04, REF-01…17). It never
//! writes to MEMORY.md.
//!
//! Without a model the rules of `core::reflect::offline` do the work. With one, the run retries a retryable
//! error. After any other error, or too many, it falls back to the rules and leaves the observations
//! unmarked, so that the next reflection asks the model again.
//! `docs/adr/0018-reflection-is-checked-and-staged.md` gives the reasons.

mod draft;
#[cfg(test)]
mod tests;

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Date;
use rekindle_core::event::{Event, ObservationsAccumulated, ObservationsReflected, names};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::knowledge::reflect::memory::MemoryDocument;
use rekindle_core::knowledge::reflect::settle_drafts::settle_drafts;
use rekindle_core::knowledge::reflect::{DroppedDrafts, ProposalDraft, check, distil, prompt, summary};
use rekindle_core::llm::LanguageModel;
use rekindle_core::text::tokens;
use rekindle_core::vault::daily_log::{self, LogSection, SectionSource, TimeOfDay};
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::memory::user_section;
use rekindle_core::vault::review::{ProposalId, ProposalStage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::observation_window::ObservationWindow;
use super::{STAGE_REGISTRY, share};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::llm::ModelJob;
use crate::pipeline::observations::{self, ObservationRecord, RETENTION_DAYS};
use crate::review::page;
use crate::review::proposals::{self, SubmitOutcome};
use crate::vault::ReviewPageOutcome;

pub(super) fn reflect(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = context.model(ModelJob::Reflector).ok().flatten();
    reflect_with(event, steps, context, model.as_ref().map(|model| model as &dyn LanguageModel))
}

fn reflect_with(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
    model: Option<&dyn LanguageModel>,
) -> Result<FunctionOutcome, RunInterrupt> {
    let run = steps.run_id().to_owned();
    if share::is_done_elsewhere("reflect", event, steps, context)? {
        return Ok(FunctionOutcome::Skipped(share::DONE_ELSEWHERE.to_owned()));
    }
    let loaded = steps.run("load-observations", || load(event, context))?;
    if loaded.keys.is_empty() {
        return Ok(FunctionOutcome::Skipped("no observations".to_owned()));
    }
    let distilled = steps.run("recursive-distill", || distil_old(&loaded, context))?;
    if loaded.new.is_empty() {
        // The threshold and the schedule may both request the same day.
        return Ok(FunctionOutcome::Skipped(
            "there are no observations since the last reflection".to_owned(),
        ));
    }
    let thought = steps.run("reflect", || {
        let material = loaded.load_material(context)?;
        draft::draft_proposals(
            &material.reflection_period(context),
            model,
            draft::attempt_number(&run, context)?,
        )
    })?;
    let valid = steps.run("validate", || validate(&loaded, &thought, context))?;
    let staged = steps.run("stage-review", || stage_drafts(&run, &loaded, &valid, context))?;
    let logged = steps.run("append-daily-log", || log(&run, &valid, &staged, context))?;
    let ratio = match thought.input_tokens {
        0 => 0.0,
        input => (valid.output_tokens as f64 / input as f64 * 1000.0).round() / 1000.0,
    };
    steps.run_and_send("emit-complete", || {
        if thought.degraded.is_none() {
            observations::mark_reflected(&mut context.db()?, &loaded.new)?;
        }
        let now = context.now().timestamp();
        let reflected = ObservationsReflected {
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
    Ok(FunctionOutcome::Completed(report(&loaded, &distilled, &thought, &valid, &staged, logged)))
}

/// Builds the output that `rekindle runs` shows.
fn report(
    loaded: &ReflectionInput,
    distilled: &DistillResult,
    thought: &draft::ReflectionDraft,
    valid: &ValidatedDrafts,
    staged: &StagedProposals,
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
            json!("the model's summary was never shorter than the observations; the shortest was used");
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
struct ReflectionInput {
    date: Date,
    from: Date,
    /// The keys of all windows of the period.
    keys: Vec<String>,
    /// The keys of windows without a reflection.
    new: Vec<String>,
}

fn load(event: &Event, context: &StageContext) -> Result<ReflectionInput, StepError> {
    let date = match event.name.as_str() {
        names::OBSERVATIONS_ACCUMULATED => {
            ObservationsAccumulated::deserialize(&event.data).map_err(StepError::fatal)?.date
        }
        _ => context.day_of(event),
    };
    let from = date.checked_sub(jiff::Span::new().days(RETENTION_DAYS - 1)).unwrap_or(date);
    let db = context.db()?;
    let keys =
        observations::in_date_range(&db, from, date)?.into_iter().map(|entry| entry.dedupe_key).collect();
    Ok(ReflectionInput { date, from, keys, new: observations::unreflected(&db, from, date)? })
}

impl ReflectionInput {
    /// Reads the observations of the run from the list.
    fn entries(&self, context: &StageContext) -> Result<Vec<ObservationRecord>, StepError> {
        let mut entries = observations::in_date_range(&context.db()?, self.from, self.date)?;
        entries.retain(|entry| self.keys.contains(&entry.dedupe_key));
        Ok(entries)
    }

    /// Builds the input of reflection.
    fn load_material(&self, context: &StageContext) -> Result<ObservationWindow, StepError> {
        ObservationWindow::read(self.date, self.entries(context)?, context)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct DistillResult {
    /// The number of shortened windows.
    windows: u64,
}

/// Shortens old observations in the list (REF-15).
fn distil_old(loaded: &ReflectionInput, context: &StageContext) -> Result<DistillResult, StepError> {
    let mut db = context.db()?;
    let mut distilled = DistillResult::default();
    for entry in loaded.entries(context)? {
        let age = loaded.date.since(entry.day).map_or(0, |span| span.get_days());
        let level = distil::level(age);
        if level <= entry.distilled {
            continue;
        }
        let observed = distil::distil_to_level(&entry.observed, level);
        let tokens = tokens::estimate_tokens(&prompt::text_of(&observed.parts));
        let shorter =
            ObservationRecord { tokens: tokens.min(entry.tokens), observed, distilled: level, ..entry };
        distilled.windows += u64::from(observations::replace(&mut db, &shorter)?);
    }
    Ok(distilled)
}

/// The claims that passed the checks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ValidatedDrafts {
    drafts: Vec<ProposalDraft>,
    dropped: DroppedDrafts,
    redated: u64,
    summary: String,
    output_tokens: u64,
}

/// Checks the result against the observations, MEMORY.md and earlier proposals.
fn validate(
    loaded: &ReflectionInput,
    thought: &draft::ReflectionDraft,
    context: &StageContext,
) -> Result<ValidatedDrafts, StepError> {
    let material = loaded.load_material(context)?;
    let period = material.reflection_period(context);
    let mut dropped = thought.dropped.clone();
    let checked = check::check(&thought.answer.claims, &period);
    dropped.merge(&checked.dropped);
    let drafts = thought.drafts.iter().cloned().chain(checked.drafts).collect();
    let before: Vec<Proposal> = proposals::all_proposals(&context.db()?)?;
    let settled = settle_drafts(drafts, &MemoryDocument::read(period.memory), &before);
    dropped.merge(&settled.dropped);
    let summary_text = thought.answer.summary.as_deref().and_then(|text| check::check_summary(text, &period));
    let summary = summary_text.unwrap_or_else(|| summary(&period, &settled.drafts));
    let output_tokens = thought.output_tokens.unwrap_or_else(|| {
        let texts: Vec<&str> = settled.drafts.iter().map(|draft| draft.text.as_str()).collect();
        tokens::estimate_tokens(&texts.join("\n"))
    });
    Ok(ValidatedDrafts { drafts: settled.drafts, dropped, redated: checked.redated, summary, output_tokens })
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct StagedProposals {
    proposed: Vec<ProposalId>,
    /// Existing proposals that gained evidence.
    folded: Vec<ProposalId>,
    /// The outcome for REVIEW.md.
    page: String,
}

/// Submits proposals and refreshes the page (REV-01, STO-05).
fn stage_drafts(
    run: &str,
    loaded: &ReflectionInput,
    valid: &ValidatedDrafts,
    context: &StageContext,
) -> Result<StagedProposals, StepError> {
    let mut db = context.db()?;
    let now = context.now();
    let user = &context.config.user.name;
    let (mut proposed, mut folded) = (Vec::new(), Vec::new());
    let (joining, new): (Vec<&ProposalDraft>, Vec<&ProposalDraft>) =
        valid.drafts.iter().partition(|draft| draft.joins.is_some());
    for draft in joining {
        if let Some(id) = draft.joins {
            proposals::add_evidence(&mut db, id, &draft.evidence)?;
            folded.push(id);
        }
    }
    // Use the day of the run, not of the attempt: ids are the same in every retry.
    let blank = ProposalId::unnumbered(ProposalStage::Reflection, loaded.date);
    let new: Vec<Proposal> =
        new.into_iter().map(|draft| draft.proposal(user, blank, now.timestamp())).collect();
    for handed in proposals::submit(&mut db, &STAGE_REGISTRY, run, &new)? {
        match handed {
            SubmitOutcome::Proposed(id) => proposed.push(id),
            SubmitOutcome::Folded(id) => folded.push(id),
            SubmitOutcome::Decided(..) => {}
        }
    }
    let per_day = context.config.review.per_day;
    let shown = page::refresh_page(
        &mut db,
        &context.vault()?,
        &user_section(user),
        per_day,
        ChangeActor::Worker,
        &now,
    );
    let page = match shown.map_err(StepError::retryable)? {
        ReviewPageOutcome::Written(_) => "written".to_owned(),
        ReviewPageOutcome::Unchanged => "unchanged".to_owned(),
        // The store has the proposals; the person must repair the page.
        ReviewPageOutcome::Left(why) => format!("not changed: {why}"),
    };
    Ok(StagedProposals { proposed, folded, page })
}

/// Logs the reflection in the daily log (LOG-04). The observations themselves are in the logs of their days.
fn log(
    run: &str,
    valid: &ValidatedDrafts,
    staged: &StagedProposals,
    context: &StageContext,
) -> Result<bool, StepError> {
    let now = context.now();
    let section = LogSection::Reflected(daily_log::LoggedReflection {
        source: SectionSource {
            dedupe_key: Some(ContentHash::of_bytes(format!("reflected {run}").as_bytes()).short_hex(32)),
            ..SectionSource::default()
        },
        time: TimeOfDay::from_zoned(&now),
        summary: valid.summary.clone(),
        proposals: staged.proposed.iter().map(ToString::to_string).collect(),
    });
    let committed =
        context.vault()?.log_once(&section, ChangeActor::Worker, &now).map_err(StepError::retryable)?;
    Ok(committed.is_some())
}
