//! `echo-fizzle` (FBK-01…05): compares a turn with the memories injected for it. Useful memories rise,
//! ignored ones sink a little. After a correction the missed memory rises, the misleading one sinks, and the
//! person's words become a proposed lesson. Wishes to remember something are kept at once, so that the next
//! hook can confirm them.

mod stated;
mod turn;

use std::collections::{HashMap, HashSet};

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::config::ReviewMode;
use rekindle_core::event::{EchoRequested, Event};
use rekindle_core::knowledge::feedback::{Judged, Verdict, correction, used};
use rekindle_core::knowledge::observe::rules::Correction;
use rekindle_core::knowledge::proposal::{Evidence, Proposal, Source as Came};
use rekindle_core::recall::document::{Document, Source};
use rekindle_core::recall::filter::Filters;
use rekindle_core::text::clean::one_line;
use rekindle_core::text::word_rarity::rarity;
use rekindle_core::vault::layout;
use rekindle_core::vault::review::{Id, Kind, Place};
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::stated::Stated;
use self::turn::Heard;
use super::REGISTRY;
use super::announce;
use super::keep::{self, Kept};
use crate::context::injection_log::{self, Outcome, Record, Turn};
use crate::index::models::{LoadedModel, Models};
use crate::index::{Embedder, Index};
use crate::jobs::context::World;
use crate::jobs::queue::{Ended, Interrupt, StepError, Steps, StepsExt};
use crate::recall::ask::{Request, ask};
use crate::recall::relevance_gate::reading::Reading;
use crate::recall::search::Rules;
use crate::recall::usage::{Signal, Usage};
use crate::review::proposals::{self, Handed};

/// The section of `MEMORY.md` for lessons (FBK-05).
const LESSONS: &str = "Lessons";
/// The kinds of memories that an agent can follow without a trace.
const SILENT: [&str; 3] = ["rule", "preference", "Hard Rules"];
/// The confidence of a correction.
const SURE: f64 = 0.9;
/// The number of candidates for the missed memory.
const LOOKED_AT: usize = 5;
/// The length limit of a quotation in a proposal, in characters.
const QUOTE_CHARS: usize = 240;
/// The rarity of a word if there is no model.
const RATHER_RARE: f64 = 0.7;

/// The outcome of one turn, and the person's corrections in it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Found {
    outcome: Outcome,
    lessons: Vec<Lesson>,
    #[serde(default)]
    stated: Stated,
}

/// A lesson to propose.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lesson {
    text: String,
    message: String,
}

pub(super) fn echo(event: &Event, steps: &mut dyn Steps, world: &World) -> Result<Ended, Interrupt> {
    let request = EchoRequested::deserialize(&event.data)
        .map_err(|error| Interrupt::Failed { step: "judge".to_owned(), error: StepError::fatal(error) })?;
    if request.synthetic {
        return Ok(Ended::Skipped("synthetic".to_owned()));
    }
    let mut found: Vec<Found> = steps.run("judge", || judge(&request, world))?;
    if found.is_empty() {
        return Ok(Ended::Skipped("there is no answer to be judged yet".to_owned()));
    }
    steps.run("store-usage", || {
        let path = world.places.usage();
        for Found { outcome, .. } in &found {
            Usage::record_turn(&path, &outcome.turn, &signals(outcome), event.at)?;
        }
        Usage::settle(&path)?;
        Ok(())
    })?;
    let run = steps.run_id().to_owned();
    let lessons: Vec<Vec<String>> = steps.run("propose-lessons", || {
        found.iter().map(|found| propose(&request, &found.lessons, &run, world)).collect()
    })?;
    for (found, lessons) in found.iter_mut().zip(lessons) {
        found.outcome.lessons = lessons;
    }
    let stated: Vec<&Stated> = found.iter().map(|found| &found.stated).collect();
    let mut kept = Kept::default();
    if stated.iter().any(|stated| !stated.is_empty()) {
        kept = steps.run("keep-stated", || stated::keep(&request, &stated, world))?;
        let project = world.project(request.cwd.as_deref());
        steps.run("announce", || announce::announce(&kept.saved, project.as_ref(), event.at, world))?;
    }
    if !kept.proposed.is_empty() || found.iter().any(|found| !found.outcome.lessons.is_empty()) {
        steps.run("stage-review", || keep::show(world))?;
    }
    steps.run("mark-judged", || {
        for Found { outcome, .. } in &found {
            injection_log::came(&world.places, &request.session_id, outcome)?;
        }
        Ok(())
    })?;
    let all = || found.iter().map(|found| &found.outcome);
    let count =
        |verdict| all().flat_map(|one| &one.judged).filter(|judged| judged.verdict == verdict).count();
    let names = |list: fn(&Outcome) -> &Vec<String>| all().flat_map(list).cloned().collect::<Vec<_>>();
    Ok(Ended::Completed(json!({
        "turns": found.len(),
        "used": count(Verdict::Used),
        "ignored": count(Verdict::Ignored),
        "unclear": count(Verdict::Unclear),
        "missed": names(|one| &one.missed),
        "misled": names(|one| &one.misled),
        "lessons": names(|one| &one.lessons),
        "saved": kept.saved,
    })))
}

/// The usage signals of a turn.
fn signals(outcome: &Outcome) -> Vec<(String, Signal)> {
    let judged = outcome.judged.iter().map(|judged| {
        let signal = match judged.verdict {
            Verdict::Used => Signal::Used,
            Verdict::Ignored => Signal::Ignored,
            Verdict::Unclear => Signal::Shown,
        };
        (judged.id.clone(), signal)
    });
    let missed = outcome.missed.iter().map(|id| (id.clone(), Signal::Missed));
    let misled = outcome.misled.iter().map(|id| (id.clone(), Signal::Misled));
    judged.chain(missed).chain(misled).collect()
}

/// Judges every waiting turn that has an answer.
fn judge(request: &EchoRequested, world: &World) -> Result<Vec<Found>, StepError> {
    let record = injection_log::read(&world.places, &request.session_id);
    let (turns, waiting) = (record.turns(), record.waiting());
    let prompts: Vec<_> = waiting.iter().map(|at| turns[*at].prompt).collect();
    let Some(heard) = turn::hear(request, &prompts, world)? else {
        return Ok(Vec::new());
    };
    let judge = Judge::new(request, &record, &turns, world);
    let mut found = Vec::new();
    for (at, heard) in waiting.into_iter().zip(heard) {
        let answered = heard.as_ref().is_some_and(Heard::is_answered);
        if answered || request.last {
            found.push(judge.turn(at, &heard.unwrap_or_default())?);
        }
    }
    Ok(found)
}

struct Judge<'a> {
    record: &'a Record,
    turns: &'a [Turn<'a>],
    world: &'a World,
    cwd: Option<&'a str>,
    project: Option<ProjectId>,
    model: Option<LoadedModel>,
    documents: HashMap<String, Document>,
}

impl<'a> Judge<'a> {
    fn new(request: &'a EchoRequested, record: &'a Record, turns: &'a [Turn<'a>], world: &'a World) -> Self {
        let model = Models::open(&world.home).load(world.config.embed.model.as_str()).ok();
        let shown: HashSet<&str> = turns.iter().flat_map(Turn::shown).collect();
        let cwd = request.cwd.as_deref();
        let project = world.project(cwd);
        Self { record, turns, world, cwd, project, model, documents: documents(&shown, world) }
    }

    fn rarity(&self, word: &str) -> f64 {
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        embedder.map_or(RATHER_RARE, |embedder| rarity(embedder.word(word)))
    }

    fn turn(&self, at: usize, heard: &Heard) -> Result<Found, StepError> {
        let turn = &self.turns[at];
        let known: Vec<&str> =
            heard.before.iter().map(String::as_str).chain([heard.prompt.as_str()]).collect();
        let looked_at = used::Turn::new(&known, &heard.messages);
        let mut judged: Vec<Judged> = Vec::new();
        for id in turn.shown() {
            // A deleted memory or a raw message has no rank to change.
            let Some(document) = self.documents.get(id) else { continue };
            let silent = SILENT.contains(&document.kind.as_str());
            let memory = used::Memory { id, text: &document.text, silent };
            if judged.iter().all(|known| known.id != id) {
                judged.push(used::judge(&memory, &looked_at, &|word| self.rarity(word)));
            }
        }
        let mut outcome = Outcome { turn: turn.prompt.turn.clone(), judged, ..Outcome::default() };
        let corrections =
            if turn.prompt.corrects { correction::corrections(&heard.asked) } else { Vec::new() };
        let mut lessons = Vec::new();
        for correction in &corrections {
            outcome.corrections += 1;
            outcome.missed.extend(self.missed(at, correction)?);
            outcome.misled.extend(self.misled(at, correction));
            lessons.push(Lesson { text: correction.text.clone(), message: correction.message.clone() });
        }
        for list in [&mut outcome.missed, &mut outcome.misled] {
            list.sort();
            list.dedup();
        }
        let keeps = turn.prompt.asks || turn.prompt.corrects;
        let stated = if keeps { Stated::of(heard, self.cwd, self.world) } else { Stated::default() };
        Ok(Found { outcome, lessons, stated })
    }

    /// Finds the memory that states a correction and that the session did not have.
    fn missed(&self, at: usize, correction: &Correction) -> Result<Option<String>, StepError> {
        let now = self.turns[at].prompt.at;
        let before = || self.record.told.iter().take_while(|told| told.at < now);
        let had: HashSet<&str> = before().flat_map(|told| &told.shown).map(String::as_str).collect();
        let briefed = before().any(|told| told.whole);
        let always = format!("/{}/", layout::ALWAYS_LOAD);
        let has = |document: &Document| {
            let loads = document.source == Source::Memory || document.path.contains(&always);
            had.contains(document.id.as_str()) || (briefed && loads)
        };
        let filters = Filters {
            sources: vec![Source::Entry, Source::Skill, Source::Memory, Source::Observation, Source::Note],
            ..Filters::default()
        };
        let project = self.project.as_ref().map(ProjectId::as_str);
        let rules = Rules::of(&self.world.config.recall, project, &self.world.now());
        let request = Request {
            prompt: &correction.right,
            rewritten: None,
            filters: &filters,
            // A memory written because of this correction does not count.
            rules: Rules { until: Some(now.as_second()), ..rules },
            k: LOOKED_AT,
            anyway: true,
            reading: Reading::Never,
            held: &HashSet::new(),
            mentions: true,
            messages: None,
            leave_out: |_| false,
        };
        let embedder = self.model.as_ref().map(|model| Embedder::new(model.name(), model));
        let index = Index::at(self.world.places.index());
        let usage = Usage::read(&self.world.places.usage());
        let answer =
            ask(&self.world.vault()?, &index, embedder, &usage, &request).map_err(StepError::passing)?;
        let hits = answer.selection.hits.into_iter().map(|hit| hit.document);
        let told = hits.into_iter().find(|document| correction::covers(&document.text, correction));
        Ok(told.filter(|document| !has(document)).map(|document| document.id))
    }

    /// Finds the memories of the corrected turn that state the opposite.
    fn misled(&self, at: usize, correction: &Correction) -> Vec<String> {
        let Some(before) = at.checked_sub(1).and_then(|at| self.turns.get(at)) else { return Vec::new() };
        let says_otherwise = |id: &&str| {
            self.documents
                .get(*id)
                .is_some_and(|document| correction::contradicts(&document.text, correction))
        };
        before.shown().filter(says_otherwise).map(str::to_owned).collect()
    }
}

/// Reads the documents with these ids. Without an index there is no ranking either.
fn documents(ids: &HashSet<&str>, world: &World) -> HashMap<String, Document> {
    let Ok(Some(snapshot)) = Index::at(world.places.index()).open() else { return HashMap::new() };
    (0..snapshot.len())
        .filter_map(|number| snapshot.document(number))
        .filter(|document| ids.contains(document.id.as_str()))
        .map(|document| (document.id.clone(), document))
        .collect()
}

/// Proposes corrections as lessons and returns their ids. If the person turned proposals off, the observation
/// of the session keeps them.
fn propose(
    request: &EchoRequested,
    lessons: &[Lesson],
    run: &str,
    world: &World,
) -> Result<Vec<String>, StepError> {
    if lessons.is_empty() || world.config.memory.review_mode == ReviewMode::Silent {
        return Ok(Vec::new());
    }
    let forgotten = world.vault()?.graveyard().map_err(StepError::passing)?;
    let now = world.now();
    let id = Id::uncounted(Kind::Reflection, now.date());
    let new: Vec<Proposal> = lessons
        .iter()
        .filter(|lesson| !forgotten.holds_text(&lesson.text))
        .map(|lesson| Proposal {
            // A correction in passing is no rule yet: the person decides.
            explicit: false,
            confidence: SURE,
            evidence: Evidence {
                sessions: vec![request.session_id.clone()],
                messages: vec![lesson.message.clone()],
                quotes: vec![one_line(&lesson.text, QUOTE_CHARS)],
                ..Evidence::default()
            },
            project: world.project(request.cwd.as_deref()),
            ..Proposal::new(
                id,
                Came::Correction,
                Place::Section(LESSONS.to_owned()),
                Origin::User,
                lesson.text.clone(),
                now.timestamp(),
            )
        })
        .collect();
    let handed = proposals::hand_in(&mut world.db()?, &REGISTRY, run, &new)?;
    let open = handed.into_iter().filter_map(|handed| match handed {
        Handed::Proposed(id) | Handed::Folded(id) => Some(id.to_string()),
        Handed::Decided(..) => None,
    });
    Ok(open.collect())
}
