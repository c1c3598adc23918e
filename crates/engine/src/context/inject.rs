//! Context that a hook adds for an agent: the briefing at session start and the memories for a prompt. This
//! module only reads; the hook records what it printed ([`crate::context::injection_log`]), so that nothing
//! is repeated.

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rekindle_core::base::agent::Agent;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::{ProjectId, is_project_visible_in};
use rekindle_core::base::time::{Zoned, day};
use rekindle_core::config::Config;
use rekindle_core::context::briefing;
use rekindle_core::context::briefing::{
    AlwaysLoadEntry, Briefing, BriefingMaterial, BriefingMoment, CardLine, MAX_ALWAYS_LOAD_ENTRIES,
};
use rekindle_core::context::inject;
use rekindle_core::context::inject::{InjectedMemory, InjectionBlock};
use rekindle_core::recall::collection::DocumentFlags;
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::select::MAX_RESULTS;
use rekindle_core::telemetry::milestones::is_milestone;
use rekindle_core::text::specific_terms;
use rekindle_core::vault::entry::{EntryProperties, EntryStatus, is_reviewed};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::{identity, layout, system_log};

use crate::context::injection_log;
use crate::index::models::ModelStore;
use crate::index::{Embedder, RecallIndex};
use crate::jobs::health;
use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};
use crate::platform::random;
use crate::recall::ask::{RecallAnswer, RecallRequest, ask};
use crate::recall::indexer;
use crate::recall::messages::MessageStore;
use crate::recall::relevance_gate::reading::{ReadingBudget, RescoringMode};
use crate::recall::search::SearchRules;
use crate::recall::usage::UsageSummary;
use crate::vault::{self, Vault};

/// The number of lines read from the end of the system log.
const MAX_SYSTEM_LOG_LINES: usize = 50;
/// The most infrastructure changes in a briefing.
const MAX_SYSTEM_CHANGES: usize = 3;
/// The age limit of an infrastructure change.
const SYSTEM_LOG_DAYS: i64 = 7;
/// The number of days back to search for daily logs.
const DAILY_LOG_DAYS: i64 = 14;
/// The most daily logs in a briefing.
const MAX_DAILY_LOGS: usize = 10;
/// The size limit of a document in a briefing; a longer one is left out.
const MAX_DOCUMENT_BYTES: u64 = 1024 * 1024;
const SECRET_NAME: &str = "secret";
/// The length limit of a statement; a longer entry is a note, which recall finds.
const MAX_STATEMENT_CHARS: usize = 400;
/// The number of the person's newest statements considered for the card.
const MAX_STATEMENTS: usize = 1_000;
/// The number of the newest agent observations considered for the card.
const MAX_FINDINGS: usize = 200;
/// The number of messages to look for beside notes: some are told by a note already.
const RESERVED_MESSAGES: usize = 2;
/// A prompt with fewer words is too short to compare by embedding.
const MIN_EMBEDDED_WORDS: usize = 3;

/// The reason that no context can be built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The notes could not be read.
    #[error(transparent)]
    Vault(#[from] vault::Error),
    /// The index could not be read.
    #[error(transparent)]
    Index(#[from] indexer::Error),
    /// A file of the state folder.
    #[error("{path} cannot be used: {cause}")]
    State {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        cause: io::Error,
    },
}

/// The session that context is built for, and its local time.
#[derive(Clone, Debug)]
pub struct InjectionContext {
    /// The agent of the session.
    pub agent: Agent,
    /// The id of the session.
    pub session: String,
    /// The project of the session.
    pub project: Option<ProjectId>,
    /// Now, in the person's zone.
    pub now: Zoned,
}

/// Builds the briefing of a session.
pub fn start_briefing(
    places: &DataPaths,
    here: &InjectionContext,
    moment: BriefingMoment,
) -> Result<Briefing, Error> {
    let vault = Vault::open(places)?.in_zone(here.now.time_zone().clone());
    let (secret, marker) = markers(places, &here.session)?;
    let material = briefing_material(&vault, places, here);
    Ok(briefing::build_briefing(&material, moment, here.agent, &secret, &marker))
}

/// Reads the material of a briefing. An unreadable file counts as missing: a session must always start.
fn briefing_material(vault: &Vault, places: &DataPaths, here: &InjectionContext) -> BriefingMaterial {
    let own = identity::DOCUMENTS.iter().filter(|document| document.read_at_start);
    let (card, findings) = cards(places, here);
    let today = here.now.date();
    let days = (0..DAILY_LOG_DAYS).filter_map(|back| today.checked_sub(jiff::Span::new().days(back)).ok());
    let inside = |name: &str| read_vault_file(vault.folder(), &vault.folder().join(name));
    let log = |date| Some((date, inside(layout::daily_log(date).as_str())?));
    BriefingMaterial {
        identity: own.filter_map(|document| read(&places.identity().join(document.name))).collect(),
        memory: inside(layout::MEMORY),
        always: always_load_entries(vault.folder(), here.project.as_ref().map(ProjectId::as_str)),
        card,
        findings,
        logs: days.filter_map(log).take(MAX_DAILY_LOGS).collect(),
        pending: vault.pending_review().unwrap_or(0),
        project: here.project.as_ref().map(|project| project.as_str().to_owned()),
        state: state(vault, places, here),
    }
}

/// Lists recent infrastructure changes, the newest first, and problems with the background runs, the index
/// and the identity files (BRF-01, BRF-12).
fn state(vault: &Vault, places: &DataPaths, here: &InjectionContext) -> Vec<String> {
    let path = vault.folder().join(layout::SYSTEM_LOG);
    let text = read_vault_file(vault.folder(), &path).unwrap_or_default();
    let newest = text.lines().rev().take(MAX_SYSTEM_LOG_LINES);
    let mut changes: Vec<system_log::SystemLogLine> =
        newest.flat_map(|line| system_log::parse(line).lines).filter(|line| !is_milestone(line)).collect();
    changes.sort_by_key(|line| Reverse(line.at));
    let recent = here.now.timestamp() - jiff::SignedDuration::from_hours(24 * SYSTEM_LOG_DAYS);
    let day = |line: &system_log::SystemLogLine| day(line.at.to_zoned(here.now.time_zone().clone()).date());
    let changes = changes.iter().filter(|line| line.at >= recent).take(MAX_SYSTEM_CHANGES);
    let mut state: Vec<String> = changes
        .map(|line| format!("System change {}: {}", day(line), system_log::describe_change(line)))
        .collect();
    state.extend(health::read(places).line());
    if is_index_behind(vault, places) {
        state.push("Rekindle: the newest notes are not in the index yet (`rekindle reindex`)".to_owned());
    }
    let links = crate::agents::identity::check(places).links;
    let other = links.iter().filter(|(_, link)| *link == crate::agents::identity::IdentityLink::Differs);
    state.extend(other.map(|(path, _)| {
        format!(
            "{} is not the shared identity file; agents follow different instructions (`rekindle identity`)",
            path.display()
        )
    }));
    state
}

/// True if an index exists and lacks the newest change in the journal.
fn is_index_behind(vault: &Vault, places: &DataPaths) -> bool {
    let Ok(Some(snapshot)) = RecallIndex::in_folder(places.index()).open() else { return false };
    indexer::newest_change(vault).is_ok_and(|newest| newest.as_ref() != snapshot.last_seen_change())
}

fn read(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    let fits = metadata.is_file() && metadata.len() <= MAX_DOCUMENT_BYTES;
    fits.then(|| std::fs::read_to_string(path).ok()).flatten()
}

/// Reads a file of the vault. A link that leads out of the vault is not followed: otherwise a cloned file
/// could put any file of the machine in front of an agent (B-02).
fn read_vault_file(vault: &Path, path: &Path) -> Option<String> {
    let real = path.canonicalize().ok()?;
    real.starts_with(vault.canonicalize().ok()?).then(|| read(&real)).flatten()
}

/// Reads `personal-private/_always-load/*.md`, sorted by name (BRF-06). An entry pinned to another project
/// loads only there.
fn always_load_entries(vault: &Path, here: Option<&str>) -> Vec<AlwaysLoadEntry> {
    let group = layout::EntryGroup::PersonalPrivate.folder_name();
    let folder = vault.join(group).join(layout::ALWAYS_LOAD);
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = files
        .filter_map(|file| file.file_name().into_string().ok())
        .filter(|name| name.ends_with(".md") && !name.starts_with('.'))
        .collect();
    names.sort();
    let entry = |name: &String| {
        let text = read_vault_file(vault, &folder.join(name))?;
        let note = ParsedNote::parse(&text).ok()?;
        let path = VaultPath::parse(&format!("{group}/{}/{name}", layout::ALWAYS_LOAD)).ok()?;
        let entry = EntryProperties::of(&note, &path);
        // An agent's entry is found by recall; it loads by itself only after a person has reviewed it (B-01).
        let holds = entry.status == EntryStatus::Active
            && (entry.provenance.origin == Origin::User || is_reviewed(&note))
            && entry.scope.is_visible_in(here);
        let title = name.trim_end_matches(".md").replace('-', " ");
        holds.then(|| AlwaysLoadEntry { title, text: note.body().trim().to_owned() })
    };
    names.iter().filter_map(entry).take(MAX_ALWAYS_LOAD_ENTRIES).collect()
}

/// Lists the person's statements for this project and for all work, and the agents' findings in this project,
/// from the index. Both are empty without an index: a session must always start.
fn cards(places: &DataPaths, here: &InjectionContext) -> (Vec<CardLine>, Vec<CardLine>) {
    let project = here.project.as_ref().map(ProjectId::as_str);
    let Ok(Some(snapshot)) = RecallIndex::in_folder(places.index()).open() else { return Default::default() };
    let columns = snapshot.columns(|name| is_project_visible_in(name, project));
    let usage = UsageSummary::read(&places.usage());
    let always = format!("/{}/", layout::ALWAYS_LOAD);
    let is_statement = |flags: &DocumentFlags| {
        flags.source() == DocumentSource::Entry && flags.origin() == Origin::User && !flags.is_inbox()
    };
    let is_finding = |flags: &DocumentFlags| {
        flags.source() == DocumentSource::Observation && flags.origin() == Origin::Agent
    };
    let newest = |belongs: &dyn Fn(&DocumentFlags) -> bool, most: usize| -> Vec<Document> {
        let mut numbers: Vec<usize> = (0..columns.len())
            .filter(|number| columns.visible[*number] && columns.flags[*number].is_active())
            .filter(|number| belongs(&columns.flags[*number]))
            .collect();
        numbers.sort_by_key(|number| Reverse(columns.created[*number]));
        let documents = numbers.into_iter().take(most).filter_map(|number| u32::try_from(number).ok());
        let short = |document: &Document| document.text.chars().count() <= MAX_STATEMENT_CHARS;
        documents.filter_map(|number| snapshot.document(number)).filter(short).collect()
    };
    let stated = newest(&is_statement, MAX_STATEMENTS).into_iter();
    let stated = stated.filter(|document| !document.path.contains(&always));
    let found = newest(&is_finding, MAX_FINDINGS).into_iter();
    let found =
        found.filter(|document| document.project == here.project && inject::is_agent_finding(document));
    let line = |document| card_line(document, &usage, here);
    (stated.map(line).collect(), found.map(line).collect())
}

fn card_line(document: Document, usage: &UsageSummary, here: &InjectionContext) -> CardLine {
    let date = document.created.map(|at| at.to_zoned(here.now.time_zone().clone()).date());
    let uses = usage.usage_score(&document, here.now.timestamp().as_second()).strength;
    #[expect(clippy::cast_possible_truncation, reason = "between -100 and 100")]
    let uses = (uses * 100.0) as i64;
    let Document { id, text, kind, project, .. } = document;
    CardLine { id, text, kind, said_on: date, is_project_only: project.is_some(), uses }
}

/// Returns the secret of this machine and the marker of a session: constant within the session and not
/// guessable (B-02).
fn markers(places: &DataPaths, session: &str) -> Result<(Vec<u8>, String), Error> {
    let path = places.state().join(SECRET_NAME);
    let failed = |cause| Error::State { path: path.clone(), cause };
    let secret = match std::fs::read(&path) {
        Ok(secret) if secret.len() >= 32 => secret,
        _ => {
            let fresh: [u8; 32] = random::bytes().map_err(failed)?;
            disk::write_atomic(&path, &fresh).map_err(failed)?;
            fresh.to_vec()
        }
    };
    let marker = ContentHash::of_parts(&[&secret, b"session", session.as_bytes()]).short_hex(16);
    Ok((secret, marker))
}

/// The marker of a session's fence, for output that does not come from a hook.
pub fn marker(places: &DataPaths, session: &str) -> Result<String, Error> {
    markers(places, session).map(|(_, marker)| marker)
}

/// True if a session belongs to the control group without recall. The answer is stable per session and not
/// predictable from outside.
pub fn is_held_out(places: &DataPaths, session: &str, share: f64) -> Result<bool, Error> {
    if share <= 0.0 {
        return Ok(false);
    }
    let (secret, _) = markers(places, session)?;
    let hash = ContentHash::of_parts(&[&secret, b"holdout", session.as_bytes()]).short_hex(8);
    let place = u32::from_str_radix(&hash, 16).unwrap_or(u32::MAX);
    Ok(f64::from(place) < share * f64::from(u32::MAX))
}

/// The result of recall for a prompt.
#[derive(Debug)]
pub struct RecalledBlock {
    /// The block in front of the prompt.
    pub block: InjectionBlock,
    /// The names of the chosen memories; the block may have no room for some.
    pub chosen: Vec<String>,
    /// The answer of the search.
    pub answer: RecallAnswer,
    /// The query of the search.
    pub question: String,
}

/// The scope of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecallDepth {
    /// Embeddings and keywords, over notes and messages.
    Whole,
    /// Keywords over notes: the fallback if the rest takes too long.
    Words,
    /// For a tool call: embeddings and keywords over notes, with at most two results.
    Call,
}

/// The memories that a prompt needs, without those that the session has already. `None` if there is nothing to look for.
/// `decide_by` is the moment when somebody who waits needs the answer; what cannot be read until then is decided without.
pub fn prompt(
    home: &HomeFolder,
    places: &DataPaths,
    config: &Config,
    here: &InjectionContext,
    prompt: &str,
    how: RecallDepth,
    decide_by: Option<Instant>,
) -> Result<Option<RecalledBlock>, Error> {
    let question = inject::question(prompt);
    if question.trim().is_empty() {
        return Ok(None);
    }
    let vault = Vault::open(places)?.in_zone(here.now.time_zone().clone());
    let (_, marker) = markers(places, &here.session)?;
    let record = injection_log::read(places, &here.session);
    let (held, briefed) = (record.held_ids(), record.has_briefing());
    // Without a model, search uses keywords only (REC-11).
    let model = (how != RecallDepth::Words)
        .then(|| ModelStore::open(home).load(config.embed.model.as_str()).ok())
        .flatten();
    let messages = MessageStore::from_paths(places);
    let pace_file = places.reading_pace();
    let request = RecallRequest {
        prompt: &question,
        rewritten: None,
        filters: &RecallFilters::default(),
        rules: SearchRules::from_settings(
            &config.recall,
            here.project.as_ref().map(ProjectId::as_str),
            &here.now,
        ),
        k: config.recall.k.min(if how == RecallDepth::Call {
            inject::MAX_TOOL_MEMORIES
        } else {
            MAX_RESULTS
        }),
        anyway: false,
        reading: match decide_by {
            Some(end) => RescoringMode::Until(ReadingBudget { end, pace_file: &pace_file }),
            None => RescoringMode::AsNeeded,
        },
        held_ids: &held,
        mentions: true,
        messages: (how == RecallDepth::Whole).then_some(&messages),
        reserved_messages: RESERVED_MESSAGES,
        // The memory that a proposal was made from represents it, and a proposal may belong to another
        // project.
        leave_out: |document| {
            document.source == DocumentSource::Proposal
                || inject::is_research(document)
                || inject::is_superseded_by_entry(document)
        },
    };
    let embedder = model.as_ref().map(|model| Embedder::new(model.name(), model));
    let usage = LazyCell::new(|| UsageSummary::read(&places.usage()));
    let answer = ask(&vault, &RecallIndex::in_folder(places.index()), embedder, usage, &request)?;
    // A short prompt such as "go on" resembles everything, so its words must occur in the memory.
    let terse = specific_terms::content_words(&question).len() < MIN_EMBEDDED_WORDS;
    let always = format!("/{}/", layout::ALWAYS_LOAD);
    let is_told =
        |document: &Document| document.source == DocumentSource::Memory || document.path.contains(&always);
    let chosen: Vec<InjectedMemory<'_>> = answer
        .selection
        .hits
        .iter()
        .zip(&answer.passages)
        .filter(|(hit, _)| !(briefed && is_told(&hit.document)))
        .filter(|(hit, shown)| {
            hit.document.source != DocumentSource::Message || inject::adds_to_question(&shown.text, &question)
        })
        .filter(|(hit, _)| !terse || hit.ranked.parts.words > 0.0)
        .filter(|(hit, _)| {
            how != RecallDepth::Words || inject::covers_question(&hit.document.searched_text(), &question)
        })
        .map(|(hit, shown)| InjectedMemory::from_hit(hit, &shown.text, &shown.near))
        .collect();
    let block = inject::build_block(&chosen, &question, &here.now, &marker);
    let chosen = chosen.iter().map(|chosen| chosen.document.id.clone()).collect();
    Ok(Some(RecalledBlock { block, chosen, answer, question }))
}
