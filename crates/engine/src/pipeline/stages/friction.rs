//! `friction` (EXE-06, FRI-01…08): finds recurring problems of a week, every morning after reflection and on
//! request. It proposes fixes and never writes to the file of a proposal. A run without a proposal says why.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rekindle_core::base::time::Date;
use rekindle_core::event::Event;
use rekindle_core::knowledge::friction::{
    EarlierProposal, FixContext, FixDropReason, FrictionFix, FrictionFixes, FrictionGate,
    FrictionKind as Detected, FrictionPattern, WINDOW_DAYS, ask, detect, parse_patterns, propose_fixes,
};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::llm::LanguageModel;
use rekindle_core::vault::identity::SHARED_DOCUMENT;
use rekindle_core::vault::journal::{ChangeRoot, ChangedFile};
use rekindle_core::vault::layout;
use rekindle_core::vault::review::ProposalId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::STAGE_REGISTRY;
use super::observation_window::ObservationWindow;
use super::promote;
use super::share;
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::llm::ModelJob;
use crate::pipeline::observations::{self, RETENTION_DAYS};
use crate::review::proposals::{self, SubmitOutcome};

/// The name of the function in the registry.
pub const FRICTION: &str = "friction";

pub(super) fn friction(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    // `rekindle llm` and `doctor` report unusable model settings; the rules do the work meanwhile.
    let model = context.model(ModelJob::Reflector).ok().flatten();
    friction_with(event, steps, context, model.as_ref().map(|model| model as &dyn LanguageModel))
}

fn friction_with(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
    model: Option<&dyn LanguageModel>,
) -> Result<FunctionOutcome, RunInterrupt> {
    let run = steps.run_id().to_owned();
    if share::is_done_elsewhere(FRICTION, event, steps, context)? {
        return Ok(FunctionOutcome::Skipped(share::DONE_ELSEWHERE.to_owned()));
    }
    let queried = steps.run("query-observations", || query(event, context))?;
    if let Some(why) = queried.closed {
        return Ok(FunctionOutcome::Skipped(why));
    }
    let patterns = steps
        .run("detect-patterns", || Ok(detect(&queried.load_week(context)?.reflection_period(context))))?;
    let proposed = steps.run("propose-fixes", || match_fixes(&queried, &patterns, model, context))?;
    let staged = steps.run("stage-proposals", || stage_fixes(&run, &queried, &proposed.found, context))?;
    Ok(FunctionOutcome::Completed(report(&queried, &patterns, &proposed, &staged)))
}

/// The result of comparing patterns with existing rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FrictionProposals {
    found: FrictionFixes,
    /// The number of patterns from a model that the observations confirm.
    reported: usize,
    /// The name of the model or the rules.
    by: String,
    /// The reason the model was not used.
    degraded: Option<String>,
}

/// The keys of the observations of a run. Their text stays in the list, so that forgotten text is never here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FrictionQuery {
    date: Date,
    from: Date,
    keys: BTreeSet<String>,
    sessions: usize,
    findings: usize,
    /// The reason there is too little material (FRI-07).
    closed: Option<String>,
}

fn query(event: &Event, context: &StageContext) -> Result<FrictionQuery, StepError> {
    let date = context.day_of(event);
    let back = |days: i64| date.checked_sub(jiff::Span::new().days(days - 1)).unwrap_or(date);
    let db = context.db()?;
    let known = observations::in_date_range(&db, back(RETENTION_DAYS), date)?;
    let count = |entry: &observations::ObservationRecord| entry.observed.findings().count();
    let gate = friction_gate(context);
    let oldest = known.iter().map(|entry| entry.day).min();
    let closed = gate.closed_reason(known.iter().map(count).sum(), oldest, date);
    let from = back(WINDOW_DAYS);
    let week: Vec<&observations::ObservationRecord> =
        known.iter().filter(|entry| entry.day >= from).collect();
    let sessions: BTreeSet<&str> = week.iter().map(|entry| entry.session.as_str()).collect();
    Ok(FrictionQuery {
        date,
        from,
        sessions: sessions.len(),
        findings: week.iter().map(|entry| count(entry)).sum(),
        keys: week.iter().map(|entry| entry.dedupe_key.clone()).collect(),
        closed,
    })
}

fn friction_gate(context: &StageContext) -> FrictionGate {
    let settings = &context.config.friction;
    FrictionGate {
        observations: settings.min_observations,
        days: settings.min_days,
        sessions: settings.min_sessions,
    }
}

impl FrictionQuery {
    /// Reads the observations of the week.
    fn load_week(&self, context: &StageContext) -> Result<ObservationWindow, StepError> {
        let mut entries = observations::in_date_range(&context.db()?, self.from, self.date)?;
        entries.retain(|entry| self.keys.contains(&entry.dedupe_key));
        ObservationWindow::read(self.date, entries, context)
    }
}

/// Compares the patterns with existing rules and earlier proposals.
fn match_fixes(
    queried: &FrictionQuery,
    patterns: &[FrictionPattern],
    model: Option<&dyn LanguageModel>,
    context: &StageContext,
) -> Result<FrictionProposals, StepError> {
    let week = queried.load_week(context)?;
    let standings = proposals::list_proposals(&context.db()?, false)?;
    let before: Vec<EarlierProposal> = standings
        .into_iter()
        .map(|standing| EarlierProposal { decided: standing.decided, proposal: standing.proposal })
        .collect();
    let shared = ChangedFile { root: ChangeRoot::Identity, path: layout::fixed_path(SHARED_DOCUMENT) };
    let agents = context.vault()?.read(&shared).map_err(StepError::retryable)?.map(|note| note.text);
    let period = week.reflection_period(context);
    let (mut all, mut reported, mut degraded) = (patterns.to_vec(), 0, None);
    if let Some(model) = model {
        let deadline = Duration::from_secs(context.config.llm.timeout_seconds.into());
        let answer = model.answer(&ask(&period, agents.as_deref(), patterns, deadline));
        match answer.map(|said| parse_patterns(&said.text, said.whole, &period)) {
            Ok(Some(more)) => {
                reported = more.len();
                all.extend(more);
            }
            Ok(None) => degraded = Some("it did not answer in the requested format".to_owned()),
            Err(error) => degraded = Some(error.to_string()),
        }
    }
    let known = FixContext {
        period: &period,
        agents: agents.as_deref(),
        before: &before,
        gate: friction_gate(context),
    };
    let by = model.filter(|_| degraded.is_none()).map_or("rules", LanguageModel::name).to_owned();
    Ok(FrictionProposals { found: propose_fixes(all, &known), reported, by, degraded })
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct StagedFixes {
    proposed: Vec<ProposalId>,
    /// Existing proposals that gained evidence.
    folded: Vec<ProposalId>,
    /// The outcome for REVIEW.md.
    page: String,
}

/// Submits proposals and refreshes the page (FRI-06).
fn stage_fixes(
    run: &str,
    queried: &FrictionQuery,
    found: &FrictionFixes,
    context: &StageContext,
) -> Result<StagedFixes, StepError> {
    let mut db = context.db()?;
    let mut staged = StagedFixes::default();
    for (id, evidence) in &found.again {
        proposals::add_evidence(&mut db, *id, evidence)?;
        staged.folded.push(*id);
    }
    let now = context.now().timestamp();
    let day = queried.date;
    let new: Vec<Proposal> = found.fixes.iter().map(|fix| fix.proposal(day, now)).collect();
    for handed in proposals::submit(&mut db, &STAGE_REGISTRY, run, &new)? {
        match handed {
            SubmitOutcome::Proposed(id) => staged.proposed.push(id),
            SubmitOutcome::Folded(id) => staged.folded.push(id),
            SubmitOutcome::Decided(..) => {}
        }
    }
    staged.page = promote::refresh_page(context)?;
    Ok(staged)
}

/// Builds the output that `rekindle runs` and `rekindle friction` show.
fn report(
    queried: &FrictionQuery,
    patterns: &[FrictionPattern],
    proposed: &FrictionProposals,
    staged: &StagedFixes,
) -> Value {
    let found = &proposed.found;
    let mut kinds: BTreeMap<Detected, u64> = BTreeMap::new();
    for pattern in patterns {
        *kinds.entry(pattern.kind).or_default() += 1;
    }
    let fix = |fix: &FrictionFix| {
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
        report["warning"] = json!(format!("the model failed, so only the rules ran: {why}"));
    }
    if staged.proposed.is_empty() {
        report["why"] = json!(no_fix_reason(patterns.len() + proposed.reported, &found.dropped));
    }
    report
}

/// The reason for no proposal, in a sentence (FRI-08).
fn no_fix_reason(patterns: usize, dropped: &BTreeMap<FixDropReason, u64>) -> String {
    if patterns == 0 {
        return "nothing was corrected, failed or contradicted".to_owned();
    }
    let parts: Vec<String> = dropped.iter().map(|(why, count)| format!("{count} {}", why.phrase())).collect();
    match parts.is_empty() {
        true => "the same was already decided".to_owned(),
        false => format!("{patterns} recurring problems found, but {}", parts.join(", ")),
    }
}
