//! `echo-fizzle` (FBK-01…05): compares a turn with the memories injected for it. Useful memories rise,
//! ignored ones sink a little. After a correction the missed memory rises, the misleading one sinks, and the
//! person's words become a proposed lesson. Wishes to remember something are kept at once, so that the next
//! hook can confirm them.

mod stated_candidates;
mod turn;

use std::collections::{HashMap, HashSet};

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::ReviewMode;
use rekindle_core::event::{EchoRequested, Event};
use rekindle_core::knowledge::feedback::{JudgedMemory, UsageVerdict, correction, usage_verdict};
use rekindle_core::knowledge::observe::rules::UserCorrection;
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource as Came};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::memory_usage::UsageSignal;
use rekindle_core::text::clean::one_line;
use rekindle_core::text::word_rarity::rarity;
use rekindle_core::vault::layout;
use rekindle_core::vault::review::{ProposalId, ProposalPlace, ProposalStage};
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::stated_candidates::StatedCandidates;
use self::turn::TranscriptTurn;
use super::STAGE_REGISTRY;
use super::notify;
use super::route_candidates::{self, RoutedCandidates};
use crate::context::injection_log::{self, InjectedTurn, InjectionRecord, TurnOutcome};
use crate::index::models::{LoadedModel, ModelStore};
use crate::index::{Embedder, RecallIndex};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::recall::ask::{RecallRequest, ask};
use crate::recall::relevance_gate::reading::RescoringMode;
use crate::recall::search::SearchRules;
use crate::recall::usage::UsageSummary;
use crate::review::proposals::{self, SubmitOutcome};

/// The section of `MEMORY.md` for lessons (FBK-05).
const LESSONS_SECTION: &str = "Lessons";
/// The kinds of memories that an agent can follow without a trace.
const TRACELESS_KINDS: [&str; 3] = ["rule", "preference", "Hard Rules"];
/// The confidence of a correction.
const CORRECTION_CONFIDENCE: f64 = 0.9;
/// The number of candidates for the missed memory.
const MAX_CANDIDATES: usize = 5;
/// The length limit of a quotation in a proposal, in characters.
const MAX_QUOTE_CHARS: usize = 240;
/// The rarity of a word if there is no model.
const DEFAULT_RARITY: f64 = 0.7;

/// The outcome of one turn, and the person's corrections in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct JudgedTurn {
    outcome: TurnOutcome,
    lessons: Vec<ProposedLesson>,
    #[serde(default)]
    stated: StatedCandidates,
}

/// A lesson to propose.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ProposedLesson {
    text: String,
    message: String,
}

pub(super) fn echo_fizzle(
    event: &Event,
    steps: &mut dyn StepRunner,
    stage_context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let request = EchoRequested::deserialize(&event.data)
        .map_err(|error| RunInterrupt::Failed { step: "judge".to_owned(), error: StepError::fatal(error) })?;
    if request.synthetic {
        return Ok(FunctionOutcome::Skipped("synthetic".to_owned()));
    }
    let mut found: Vec<JudgedTurn> = steps.run("judge", || judge_turns(&request, stage_context))?;
    if found.is_empty() {
        return Ok(FunctionOutcome::Skipped("there is no answer to assess yet".to_owned()));
    }
    steps.run("store-usage", || {
        let path = stage_context.places.usage();
        for JudgedTurn { outcome, .. } in &found {
            UsageSummary::record_turn(&path, &outcome.turn, &usage_signals(outcome), event.at)?;
        }
        UsageSummary::write_summary(&path)?;
        Ok(())
    })?;
    let run = steps.run_id().to_owned();
    let lessons: Vec<Vec<String>> = steps.run("propose-lessons", || {
        found.iter().map(|found| propose_lessons(&request, &found.lessons, &run, stage_context)).collect()
    })?;
    for (found, lessons) in found.iter_mut().zip(lessons) {
        found.outcome.lessons = lessons;
    }
    let stated: Vec<&StatedCandidates> = found.iter().map(|found| &found.stated).collect();
    let mut kept = RoutedCandidates::default();
    if stated.iter().any(|stated| !stated.is_empty()) {
        kept =
            steps.run("keep-stated", || stated_candidates::route_stated(&request, &stated, stage_context))?;
        let project = stage_context.project(request.cwd.as_deref());
        steps.run("announce", || {
            notify::announce_saved(&kept.saved, project.as_ref(), event.at, stage_context)
        })?;
    }
    if !kept.proposed.is_empty() || found.iter().any(|found| !found.outcome.lessons.is_empty()) {
        steps.run("stage-review", || route_candidates::refresh_review_page(stage_context))?;
    }
    steps.run("mark-judged", || {
        for JudgedTurn { outcome, .. } in &found {
            injection_log::record_outcome(&stage_context.places, &request.session_id, outcome)?;
        }
        Ok(())
    })?;
    let all = || found.iter().map(|found| &found.outcome);
    let count =
        |verdict| all().flat_map(|one| &one.judged).filter(|judged| judged.verdict == verdict).count();
    let names = |list: fn(&TurnOutcome) -> &Vec<String>| all().flat_map(list).cloned().collect::<Vec<_>>();
    Ok(FunctionOutcome::Completed(json!({
        "turns": found.len(),
        "used": count(UsageVerdict::Used),
        "ignored": count(UsageVerdict::Ignored),
        "unclear": count(UsageVerdict::Unclear),
        "missed": names(|one| &one.missed),
        "misled": names(|one| &one.misled),
        "lessons": names(|one| &one.lessons),
        "saved": kept.saved,
    })))
}

/// The usage signals of a turn.
fn usage_signals(outcome: &TurnOutcome) -> Vec<(String, UsageSignal)> {
    let judged = outcome.judged.iter().map(|judged| {
        let signal = match judged.verdict {
            UsageVerdict::Used => UsageSignal::Used,
            UsageVerdict::Ignored => UsageSignal::Ignored,
            UsageVerdict::Unclear => UsageSignal::Shown,
        };
        (judged.id.clone(), signal)
    });
    let missed = outcome.missed.iter().map(|id| (id.clone(), UsageSignal::Missed));
    let misled = outcome.misled.iter().map(|id| (id.clone(), UsageSignal::Misled));
    judged.chain(missed).chain(misled).collect()
}

/// Judges every waiting turn that has an answer.
fn judge_turns(request: &EchoRequested, stage_context: &StageContext) -> Result<Vec<JudgedTurn>, StepError> {
    let record = injection_log::read(&stage_context.places, &request.session_id);
    let (turns, waiting) = (record.turns(), record.unjudged_turns());
    let prompts: Vec<_> = waiting.iter().map(|at| turns[*at].prompt).collect();
    let Some(transcript_turns) = turn::read_turns(request, &prompts, stage_context)? else {
        return Ok(Vec::new());
    };
    let judge = TurnJudge::new(request, &record, &turns, stage_context);
    let mut found = Vec::new();
    for (at, transcript_turns) in waiting.into_iter().zip(transcript_turns) {
        let answered = transcript_turns.as_ref().is_some_and(TranscriptTurn::is_answered);
        if answered || request.last {
            found.push(judge.judge_turn(at, &transcript_turns.unwrap_or_default())?);
        }
    }
    Ok(found)
}

struct TurnJudge<'a> {
    record: &'a InjectionRecord,
    turns: &'a [InjectedTurn<'a>],
    context: &'a StageContext,
    cwd: Option<&'a str>,
    project: Option<ProjectId>,
    model: Option<LoadedModel>,
    documents: HashMap<String, Document>,
}

impl<'a> TurnJudge<'a> {
    fn new(
        request: &'a EchoRequested,
        record: &'a InjectionRecord,
        turns: &'a [InjectedTurn<'a>],
        context: &'a StageContext,
    ) -> Self {
        let model = ModelStore::open(&context.home).load(context.config.embed.model.as_str()).ok();
        let shown: HashSet<&str> = turns.iter().flat_map(InjectedTurn::shown_ids).collect();
        let cwd = request.cwd.as_deref();
        let project = context.project(cwd);
        Self { record, turns, context, cwd, project, model, documents: documents(&shown, context) }
    }

    fn rarity(&self, word: &str) -> f64 {
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        embedder.map_or(DEFAULT_RARITY, |embedder| rarity(embedder.word_id(word)))
    }

    fn judge_turn(&self, at: usize, transcript_turn: &TranscriptTurn) -> Result<JudgedTurn, StepError> {
        let turn = &self.turns[at];
        let known: Vec<&str> = transcript_turn
            .before
            .iter()
            .map(String::as_str)
            .chain([transcript_turn.prompt.as_str()])
            .collect();
        let looked_at = usage_verdict::FeedbackTurn::new(&known, &transcript_turn.messages);
        let mut judged: Vec<JudgedMemory> = Vec::new();
        for id in turn.shown_ids() {
            // A deleted memory or a raw message has no rank to change.
            let Some(document) = self.documents.get(id) else { continue };
            let silent = TRACELESS_KINDS.contains(&document.kind.as_str());
            let memory = usage_verdict::ShownMemory { id, text: &document.text, silent };
            if judged.iter().all(|known| known.id != id) {
                judged.push(usage_verdict::judge_usage(&memory, &looked_at, &|word| self.rarity(word)));
            }
        }
        let mut outcome = TurnOutcome { turn: turn.prompt.turn.clone(), judged, ..TurnOutcome::default() };
        let corrections =
            if turn.prompt.corrects { correction::corrections(&transcript_turn.request) } else { Vec::new() };
        let mut lessons = Vec::new();
        for correction in &corrections {
            outcome.corrections += 1;
            outcome.missed.extend(self.find_missed(at, correction)?);
            outcome.misled.extend(self.find_misleading(at, correction));
            lessons
                .push(ProposedLesson { text: correction.text.clone(), message: correction.message.clone() });
        }
        for list in [&mut outcome.missed, &mut outcome.misled] {
            list.sort();
            list.dedup();
        }
        let keeps = turn.prompt.asks || turn.prompt.corrects;
        let stated = if keeps {
            StatedCandidates::from_turn(transcript_turn, self.cwd, self.context)
        } else {
            StatedCandidates::default()
        };
        Ok(JudgedTurn { outcome, lessons, stated })
    }

    /// Finds the memory that states a correction and that the session did not have.
    fn find_missed(&self, at: usize, correction: &UserCorrection) -> Result<Option<String>, StepError> {
        let now = self.turns[at].prompt.at;
        let before = || self.record.injections.iter().take_while(|corrected| corrected.at < now);
        let had: HashSet<&str> =
            before().flat_map(|corrected| &corrected.shown).map(String::as_str).collect();
        let briefed = before().any(|corrected| corrected.whole);
        let always = format!("/{}/", layout::ALWAYS_LOAD);
        let has = |document: &Document| {
            let loads = document.source == DocumentSource::Memory || document.path.contains(&always);
            had.contains(document.id.as_str()) || (briefed && loads)
        };
        let filters = RecallFilters {
            sources: vec![
                DocumentSource::Entry,
                DocumentSource::Skill,
                DocumentSource::Memory,
                DocumentSource::Observation,
                DocumentSource::Note,
            ],
            ..RecallFilters::default()
        };
        let project = self.project.as_ref().map(ProjectId::as_str);
        let rules = SearchRules::from_settings(&self.context.config.recall, project, &self.context.now());
        let request = RecallRequest {
            prompt: &correction.right,
            rewritten: None,
            filters: &filters,
            // A memory written because of this correction does not count.
            rules: SearchRules { until: Some(now.as_second()), ..rules },
            k: MAX_CANDIDATES,
            anyway: true,
            reading: RescoringMode::Never,
            held_ids: &HashSet::new(),
            mentions: true,
            messages: None,
            reserved_messages: 0,
            leave_out: |_| false,
        };
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        let index = RecallIndex::in_folder(self.context.places.index());
        let usage = UsageSummary::read(&self.context.places.usage());
        let answer =
            ask(&self.context.vault()?, &index, embedder, &usage, &request).map_err(StepError::retryable)?;
        let hits = answer.selection.hits.into_iter().map(|hit| hit.document);
        let corrected =
            hits.into_iter().find(|document| correction::states_correction(&document.text, correction));
        Ok(corrected.filter(|document| !has(document)).map(|document| document.id))
    }

    /// Finds the memories of the corrected turn that state the opposite.
    fn find_misleading(&self, at: usize, correction: &UserCorrection) -> Vec<String> {
        let Some(before) = at.checked_sub(1).and_then(|at| self.turns.get(at)) else { return Vec::new() };
        let says_otherwise = |id: &&str| {
            self.documents
                .get(*id)
                .is_some_and(|document| correction::contradicts_correction(&document.text, correction))
        };
        before.shown_ids().filter(says_otherwise).map(str::to_owned).collect()
    }
}

/// Reads the documents with these ids. Without an index there is no ranking either.
fn documents(ids: &HashSet<&str>, stage_context: &StageContext) -> HashMap<String, Document> {
    let Ok(Some(snapshot)) = RecallIndex::in_folder(stage_context.places.index()).open() else {
        return HashMap::new();
    };
    (0..snapshot.len())
        .filter_map(|number| snapshot.document(number))
        .filter(|document| ids.contains(document.id.as_str()))
        .map(|document| (document.id.clone(), document))
        .collect()
}

/// Proposes corrections as lessons and returns their ids. If the person turned proposals off, the observation
/// of the session keeps them.
fn propose_lessons(
    request: &EchoRequested,
    lessons: &[ProposedLesson],
    run: &str,
    stage_context: &StageContext,
) -> Result<Vec<String>, StepError> {
    if lessons.is_empty() || stage_context.config.memory.review_mode == ReviewMode::Silent {
        return Ok(Vec::new());
    }
    let forgotten = stage_context.vault()?.graveyard().map_err(StepError::retryable)?;
    let now = stage_context.now();
    let id = ProposalId::unnumbered(ProposalStage::Reflection, now.date());
    let new: Vec<Proposal> = lessons
        .iter()
        .filter(|lesson| !forgotten.holds_text(&lesson.text))
        .map(|lesson| Proposal {
            // A correction in passing is no rule yet: the person decides.
            explicit: false,
            confidence: CORRECTION_CONFIDENCE,
            evidence: ProposalEvidence {
                sessions: vec![request.session_id.clone()],
                messages: vec![lesson.message.clone()],
                quotes: vec![one_line(&lesson.text, MAX_QUOTE_CHARS)],
                ..ProposalEvidence::default()
            },
            project: stage_context.project(request.cwd.as_deref()),
            ..Proposal::new(
                id,
                Came::Correction,
                ProposalPlace::Section(LESSONS_SECTION.to_owned()),
                Origin::User,
                lesson.text.clone(),
                now.timestamp(),
            )
        })
        .collect();
    let handed = proposals::submit(&mut stage_context.db()?, &STAGE_REGISTRY, run, &new)?;
    let open = handed.into_iter().filter_map(|handed| match handed {
        SubmitOutcome::Proposed(id) | SubmitOutcome::Folded(id) => Some(id.to_string()),
        SubmitOutcome::Decided(..) => None,
    });
    Ok(open.collect())
}
