//! Routes candidates: an explicit statement becomes an entry, an implied one a proposal, a single sighting
//! goes to the inbox and is counted (SID-04…07, R-06). Every part is idempotent.

use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::Timestamp;
use rekindle_core::config::{ReviewMode, ScopeRule};
use rekindle_core::knowledge::mine::{MemoryCandidate, MemoryCategory, MinedIdea};
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource, ProposalTarget};
use rekindle_core::knowledge::reflect::memory::MemoryDocument;
use rekindle_core::text::clean::one_line;
use rekindle_core::text::normalise::normalise;
use rekindle_core::text::similarity::AnalysedStatement;
use rekindle_core::vault::entry::{Confidence, EntryProperties, EntryStatus};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::ideas;
use rekindle_core::vault::journal;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::layout::{self, EntryDestination, EntryGroup, VaultShelf};
use rekindle_core::vault::memory::user_section;
use rekindle_core::vault::path::{VaultPath, slug};
use rekindle_core::vault::review::EVERY_PROJECT;
use rekindle_core::vault::review::{ProposalId, ProposalPlace, ProposalStage};
use rekindle_embed::{EncoderScratch, TextRole};
use serde::{Deserialize, Serialize};

use super::STAGE_REGISTRY;
use super::contradictions::{Contradiction, find_contradiction};
use super::idea_links::related;
use super::related_memories::RelatedMemories;
use crate::index::models::{LoadedModel, ModelStore};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::pipeline::sightings::{self, NewSighting, StoredSighting};
use crate::pipeline::statements::StatementClassifier;
use crate::platform::db::Database;
use crate::recall::messages::MessageStore;
use crate::review::page;
use crate::review::proposals::{self, SubmitOutcome};
use crate::vault::{self, NewEntry, NewIdea, Vault};
use rekindle_core::recall::citation::Citation;

/// The number of sessions after which a sighting becomes a proposal (SID-05).
const MIN_SIGHTING_SESSIONS: usize = 3;
/// The length limit of a quotation in a proposal, in characters.
const MAX_QUOTE_CHARS: usize = 240;
/// The number of the nearest statements to compare with a new one.
const MAX_COMPARED_STATEMENTS: usize = 8;
/// The least probability that a statement supersedes another.
const MIN_REPLACES_PROBABILITY: f32 = 0.85;
/// The least probability if the words say that something ended.
const MIN_REPLACES_PROBABILITY_ENDED: f32 = 0.4;
/// The least similarity at which a new value supersedes an old one regardless of the classifier, if the words
/// say that something ended.
const MIN_REVALUED_SIMILARITY: f32 = 0.5;
/// The least probability that two statements say the same.
const MIN_SAME_PROBABILITY: f32 = 0.6;
/// The least similarity of two equivalent statements, regardless of the classifier.
const MIN_SAME_SIMILARITY: f32 = 0.6;
/// The question about a wish that may hold in every project.
const SCOPE_QUESTION: &str = "Does this hold in every project?";
/// The highest number for a name that is taken.
const MAX_NUMBERED_NAMES: usize = 50;

/// The outcomes of the candidates of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoutedCandidates {
    /// Saved entries: paths in the vault.
    pub saved: Vec<String>,
    /// New proposals: their ids.
    pub proposed: Vec<String>,
    /// Entries in the inbox: paths in the vault.
    pub inboxed: Vec<String>,
    /// Ideas: their names in the incubator.
    pub ideas: Vec<String>,
    /// The number of known statements, which were only counted.
    pub known: u64,
}

/// The origin of candidates.
#[derive(Clone, Copy, Debug)]
pub struct CandidateSource<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The project of the session.
    pub project: Option<&'a ProjectId>,
}

/// A message that supports a candidate.
#[derive(Clone, Debug, Default)]
pub struct SupportingMessage {
    /// Its text; empty if only its time is known.
    pub text: String,
    /// The time of the message.
    pub at: Option<Timestamp>,
}

/// Looks up a message by its id.
type MessageLookup<'a> = dyn Fn(&str) -> Option<SupportingMessage> + 'a;

/// The kind folder of the entry that a statement became, if it became one.
fn kind_of_entry(known: &StoredSighting) -> Option<&str> {
    known.became.as_deref()?.rsplit('/').nth(1)
}

/// True for the kinds of what the person told agents to do.
fn is_instruction(kind: Option<&str>) -> bool {
    matches!(kind, Some("rule" | "preference"))
}

/// Routes candidates to entries, proposals or the inbox.
pub fn route_candidates(
    candidates: &[MemoryCandidate],
    from: CandidateSource<'_>,
    quote: &MessageLookup<'_>,
    stage_context: &StageContext,
) -> Result<RoutedCandidates, StepError> {
    let mut keeper = CandidateRouter::new(from, stage_context)?;
    for candidate in candidates {
        keeper.route(candidate, quote)?;
    }
    MessageStore::from_paths(&stage_context.places)
        .add_citations(&keeper.citations)
        .map_err(StepError::retryable)?;
    Ok(keeper.routed)
}

/// The relation of a candidate to known statements.
#[derive(Default)]
struct CandidateMatch {
    /// The known statement that says the same.
    same_statement: Option<StoredSighting>,
    /// The known statement that the candidate supersedes.
    replaced: Option<StoredSighting>,
    /// True if a later statement has superseded it.
    ended: bool,
}

struct CandidateRouter<'a> {
    from: CandidateSource<'a>,
    context: &'a StageContext,
    vault: Vault,
    model: Option<LoadedModel>,
    statements: StatementClassifier,
    routed: RoutedCandidates,
    /// The messages that entries were made from.
    citations: Vec<Citation>,
}

impl<'a> CandidateRouter<'a> {
    fn new(from: CandidateSource<'a>, stage_context: &'a StageContext) -> Result<Self, StepError> {
        // Without a model only the same words count as the same statement.
        let model =
            ModelStore::open(&stage_context.home).load(stage_context.config.embed.model.as_str()).ok();
        let statements = StatementClassifier::builtin();
        let vault = stage_context.vault()?;
        Ok(Self {
            from,
            context: stage_context,
            vault,
            model,
            statements,
            routed: RoutedCandidates::default(),
            citations: Vec::new(),
        })
    }

    fn route(&mut self, candidate: &MemoryCandidate, quote: &MessageLookup<'_>) -> Result<(), StepError> {
        let forgotten = self.vault.graveyard().map_err(StepError::retryable)?;
        if forgotten.holds_text(&candidate.text) {
            return Ok(());
        }
        let quoted: Vec<SupportingMessage> = candidate.messages.iter().filter_map(|id| quote(id)).collect();
        let said_at = quoted.iter().filter_map(|quoted| quoted.at).min();
        let quotes = quoted.iter().map(|quoted| quoted.text.as_str()).filter(|text| !text.is_empty());
        let evidence = ProposalEvidence {
            sessions: vec![self.from.session.to_owned()],
            messages: candidate.messages.clone(),
            quotes: quotes.map(|text| one_line(text, MAX_QUOTE_CHARS)).take(2).collect(),
            said: quoted.iter().filter_map(|quoted| quoted.at).max(),
            ..ProposalEvidence::default()
        };
        let vector = self.model.as_ref().map_or_else(Vec::new, |model| {
            model.embed(&mut EncoderScratch::new(), TextRole::Passage, &candidate.text)
        });
        // A statement that holds everywhere is the same in every project.
        let project = self.from.project.filter(|_| !candidate.everywhere).map(ProjectId::as_str);
        // The time of the statement decides which is newer, not the time of reading.
        let at = said_at.unwrap_or_else(|| self.context.now().timestamp());
        let seen = NewSighting {
            text: &candidate.text,
            vector: &vector,
            project,
            evidence: &evidence,
            at,
            ends: candidate.ends,
        };
        let mut db = self.context.db()?;
        let CandidateMatch { same_statement: same, replaced, ended } = self.compare(&db, candidate, &seen)?;
        if ended {
            let cited = |message: &String| Citation::superseded(self.from.session, message);
            self.citations.extend(candidate.messages.iter().map(cited));
            self.routed.known += 1;
            return Ok(());
        }
        if let Some(known) = same {
            let is_new = !known.evidence.sessions.iter().any(|session| session == self.from.session);
            let rests_on = sightings::add_sighting(&mut db, &known, &seen, None)?;
            let became = known.became.as_deref();
            self.cite(candidate, became);
            let waits = became.and_then(|became| became.parse::<ProposalId>().ok());
            if let Some(id) = waits {
                proposals::add_evidence(&mut db, id, &evidence)?;
            }
            // A sighting becomes a proposal the third time; an explicit statement needs no more sightings.
            let only_seen = became.is_none_or(is_inboxed);
            // An entry that left the inbox was decided on. Only the person's explicit words bring it back, no
            // sighting.
            let decided = match became.filter(|became| is_inboxed(became)) {
                Some(became) => !self.is_there(became)?,
                None => false,
            };
            let outright = candidate.confidence == Confidence::High && candidate.origin == Origin::User;
            let asks = self.context.config.memory.review_mode == ReviewMode::Interactive;
            let often = is_new && rests_on.sessions.len() >= MIN_SIGHTING_SESSIONS;
            let weighs = asks && !decided && (often || candidate.confidence != Confidence::Low);
            let raised = only_seen && (outright || weighs);
            if !raised {
                let entry = became.filter(|became| waits.is_none() && !is_inboxed(became));
                if let Some(entry) = entry.filter(|_| is_new && outright) {
                    self.ask_everywhere(candidate, &seen, entry)?;
                }
                self.routed.known += u64::from(is_new);
                // A repeated step reports the same as before.
                if let Some(became) = became.filter(|_| !is_new) {
                    self.report(became, waits.is_some());
                }
                return Ok(());
            }
            let confidence =
                if candidate.confidence == Confidence::High { Confidence::High } else { Confidence::Medium };
            let candidate = MemoryCandidate { confidence, ..candidate.clone() };
            let became = self.route_to_store(&candidate, &rests_on, said_at)?;
            sightings::add_sighting(&mut db, &known, &seen, Some(&became))?;
            self.cite(&candidate, Some(&became));
            return Ok(());
        }
        if let Some(old) = replaced
            && let Some(path) = self.replace(&old, candidate, said_at)?
        {
            // The old words are no sighting of the new statement.
            sightings::end(&mut db, &old)?;
            sightings::add(&mut db, &seen, Some(&path))?;
            self.cite_superseded(&old);
            self.cite(candidate, Some(&path));
            self.report(&path, false);
            return Ok(());
        }
        let became = self.route_to_store(candidate, &evidence, said_at)?;
        sightings::add(&mut db, &seen, Some(&became))?;
        self.cite(candidate, Some(&became));
        self.ask_everywhere(candidate, &seen, &became)?;
        Ok(())
    }

    /// Asks if a wish of this project holds in every project: the classifier says so, or the person
    /// said the same in another one. Both causes give one question.
    fn ask_everywhere(
        &mut self,
        candidate: &MemoryCandidate,
        seen: &NewSighting<'_>,
        entry: &str,
    ) -> Result<(), StepError> {
        let config = &self.context.config.memory;
        let asks = config.review_mode == ReviewMode::Interactive && config.scope != ScopeRule::Global;
        let stated = candidate.origin == Origin::User && candidate.confidence == Confidence::High;
        let (Some(project), true) = (self.from.project, asks && stated && candidate.is_instruction()) else {
            return Ok(());
        };
        if candidate.everywhere || self.entry_project(entry)?.as_ref() != Some(project) {
            return Ok(());
        }
        let mut db = self.context.db()?;
        let elsewhere = sightings::find_in_other_projects(&db, seen)?;
        if !candidate.perhaps_everywhere && elsewhere.is_none() {
            return Ok(());
        }
        let mut evidence = seen.evidence.clone();
        let mut text = candidate.text.clone();
        if let Some(other) = &elsewhere {
            evidence.merge(&other.evidence);
            // The other project already asked this question.
            let asked = proposals::all_proposals(&db)?;
            let same = asked
                .iter()
                .find(|one| one.global_entry().is_some() && one.global_entry() == other.became.as_deref());
            text = same.map_or(text, |same| same.text.clone());
        }
        let now = self.context.now();
        let id = ProposalId::unnumbered(ProposalStage::Reflection, now.date());
        let place = ProposalPlace::Section(EVERY_PROJECT.to_owned());
        let proposal = Proposal {
            target: Some(ProposalTarget::Everywhere(entry.to_owned())),
            title: SCOPE_QUESTION.to_owned(),
            confidence: if elsewhere.is_some() { 0.8 } else { 0.6 },
            evidence,
            project: Some(project.clone()),
            ..Proposal::new(id, ProposalSource::Everywhere, place, candidate.origin, text, now.timestamp())
        };
        if let [SubmitOutcome::Proposed(id) | SubmitOutcome::Folded(id)] =
            proposals::submit(&mut db, &STAGE_REGISTRY, self.from.session, &[proposal])?[..]
        {
            self.report(&id.to_string(), true);
        }
        Ok(())
    }

    /// Records that an entry holds a person's statement, so that recall can leave out the message.
    fn cite(&mut self, candidate: &MemoryCandidate, became: Option<&str>) {
        let is_entry =
            became.is_some_and(|became| became.parse::<ProposalId>().is_err() && !is_inboxed(became));
        if is_entry && candidate.origin == Origin::User {
            let chars = candidate.text.chars().count();
            let cited = |message: &String| Citation::of_statement(self.from.session, message, chars);
            self.citations.extend(candidate.messages.iter().map(cited));
        }
    }

    /// Records that the statement of these messages no longer holds.
    fn cite_superseded(&mut self, old: &StoredSighting) {
        let ProposalEvidence { sessions, messages, .. } = &old.evidence;
        for session in sessions {
            self.citations.extend(messages.iter().map(|message| Citation::superseded(session, message)));
        }
    }

    /// The project of an entry; `None` if it holds everywhere or does not exist.
    fn entry_project(&self, path: &str) -> Result<Option<ProjectId>, StepError> {
        let Ok(path) = VaultPath::parse(path) else { return Ok(None) };
        let Ok(read) = self.vault.read_entry(&path) else { return Ok(None) };
        let Ok(note) = ParsedNote::parse(&read.text) else { return Ok(None) };
        let entry = EntryProperties::of(&note, &path);
        let holds =
            entry.status == EntryStatus::Active && matches!(layout::shelf_of(&path), VaultShelf::Entry(_));
        Ok(entry.scope.project().cloned().filter(|_| holds))
    }

    /// Finds the statement equivalent to a candidate, the one it supersedes, and a later one that supersedes
    /// it.
    fn compare(
        &self,
        db: &Database,
        candidate: &MemoryCandidate,
        seen: &NewSighting<'_>,
    ) -> Result<CandidateMatch, StepError> {
        if let Some(known) = sightings::find(db, seen)? {
            return Ok(CandidateMatch { same_statement: Some(known), ..CandidateMatch::default() });
        }
        let stated = candidate.origin == Origin::User && candidate.confidence == Confidence::High;
        if !stated {
            return Ok(CandidateMatch::default());
        }
        let new = AnalysedStatement::from_text(&candidate.text);
        let mut replaced: Option<(f32, StoredSighting)> = None;
        for (likeness, known) in sightings::nearest_statements(db, seen, MAX_COMPARED_STATEMENTS)? {
            let (known_text, candidate_text) = (known.text.as_str(), candidate.text.as_str());
            // An older session that is read later is compared the other way round.
            let is_older = seen.at < known.last;
            let pair = match is_older {
                true => self.statements.compare(candidate_text, known_text),
                false => self.statements.compare(known_text, candidate_text),
            };
            let ends = if is_older { known.ends } else { candidate.ends };
            let old = AnalysedStatement::from_text(&known.text);
            let contradicts = old.contradicts(&new);
            let alike = likeness >= MIN_SAME_SIMILARITY && !contradicts && !old.has_other_values(&new);
            if pair.same_statement >= MIN_SAME_PROBABILITY && alike {
                return Ok(CandidateMatch { same_statement: Some(known), ..CandidateMatch::default() });
            }
            // The words may say that something ended, or that the same thing has a new value.
            let certain = match (ends, contradicts || old.has_other_values(&new)) {
                (true, true) => MIN_REPLACES_PROBABILITY_ENDED / 2.0,
                (true, false) => MIN_REPLACES_PROBABILITY_ENDED,
                (false, false) => MIN_REPLACES_PROBABILITY,
                // "Valve 2 is blue" has another number than "valve 1 is blue" and supersedes nothing: the
                // person decides.
                (false, true) => f32::INFINITY,
            };
            let revalued = ends && old.has_other_values(&new) && likeness >= MIN_REVALUED_SIMILARITY;
            // An exception in one project does not supersede a statement about all of them.
            let reaches = known.project.is_some() || seen.project.is_none() || candidate.perhaps_everywhere;
            // A cause explains a failure. It supersedes no instruction, however alike the words are.
            let (old_kind, new_kind) = match is_older {
                true => (Some(candidate.entry_kind()), kind_of_entry(&known)),
                false => (kind_of_entry(&known), Some(candidate.entry_kind())),
            };
            let explains = is_instruction(old_kind) && new_kind == Some(MemoryCategory::Fix.as_str());
            let replaces =
                reaches && !explains && old.is_related_to(&new) && (pair.replaces >= certain || revalued);
            if replaces && is_older {
                return Ok(CandidateMatch { ended: true, ..CandidateMatch::default() });
            }
            if replaces && replaced.as_ref().is_none_or(|(best, _)| pair.replaces > *best) {
                replaced = Some((pair.replaces, known));
            }
        }
        Ok(CandidateMatch { replaced: replaced.map(|(_, known)| known), ..CandidateMatch::default() })
    }

    /// Replaces the text of an entry that holds only the old words; the archive keeps the old version.
    /// Returns `None` if there is no such entry.
    fn replace(
        &self,
        old: &StoredSighting,
        candidate: &MemoryCandidate,
        said_at: Option<Timestamp>,
    ) -> Result<Option<String>, StepError> {
        let path = old.became.as_deref().and_then(|became| VaultPath::parse(became).ok());
        let Some(path) = path.filter(|path| !is_inboxed(path.as_str())) else { return Ok(None) };
        let Ok(read) = self.vault.read_entry(&path) else { return Ok(None) };
        let Ok(note) = ParsedNote::parse(&read.text) else { return Ok(None) };
        let entry = EntryProperties::of(&note, &path);
        let is_ours = entry.provenance.session.is_some()
            && entry.status == EntryStatus::Active
            && normalise(note.body()) == normalise(&old.text);
        if !is_ours {
            return Ok(None);
        }
        let now = self.context.now();
        let reason = format!("you said so in session {}", self.from.session);
        let evolved =
            self.vault.evolve_statement(&path, &candidate.text, &reason, said_at, candidate.sentiment, &now);
        match evolved {
            Ok(evolved) => Ok(Some(evolved.path.to_string())),
            // The entry is being edited: keep both and ask the person.
            Err(vault::Error::Changed { .. }) => Ok(None),
            Err(error) => Err(StepError::retryable(error)),
        }
    }

    fn is_there(&self, path: &str) -> Result<bool, StepError> {
        let place = journal::ChangedFile::vault(VaultPath::parse(path).map_err(StepError::fatal)?);
        Ok(self.vault.read(&place).map_err(StepError::retryable)?.is_some())
    }

    fn report(&mut self, became: &str, proposed: bool) {
        let list = match (proposed, is_inboxed(became)) {
            (true, _) => &mut self.routed.proposed,
            (_, true) => &mut self.routed.inboxed,
            _ => &mut self.routed.saved,
        };
        if !list.iter().any(|known| known == became) {
            list.push(became.to_owned());
        }
    }

    /// Writes a candidate to its destination and returns its path or id.
    fn route_to_store(
        &mut self,
        candidate: &MemoryCandidate,
        evidence: &ProposalEvidence,
        said_at: Option<Timestamp>,
    ) -> Result<String, StepError> {
        let silent = self.context.config.memory.review_mode == ReviewMode::Silent;
        let became = match candidate.confidence {
            // Only the person's own words are saved without a question.
            Confidence::High if candidate.origin == Origin::User => {
                let saved =
                    self.save(candidate, EntryDestination::Group(EntryGroup::PersonalPrivate), said_at)?;
                // Only the person can retract an earlier statement that this contradicts.
                if let Some(against) = self.contrary(candidate, said_at)?.filter(|_| !silent)
                    && let (id, true) = self.propose(candidate, evidence, Some(&against))?
                {
                    self.report(&id, true);
                }
                saved
            }
            Confidence::High | Confidence::Medium if !silent => {
                let against = self.contrary(candidate, said_at)?;
                let (id, asked) = self.propose(candidate, evidence, against.as_ref())?;
                if !asked {
                    // It was asked before: that answer stands.
                    self.routed.known += 1;
                    return Ok(id);
                }
                id
            }
            _ => self.save(candidate, EntryDestination::Inbox, said_at)?,
        };
        self.report(&became, became.parse::<ProposalId>().is_ok());
        Ok(became)
    }

    /// Finds a contradiction of a candidate, except its own entry and later statements.
    fn contrary(
        &self,
        candidate: &MemoryCandidate,
        said_at: Option<Timestamp>,
    ) -> Result<Option<Contradiction>, StepError> {
        let near = RelatedMemories::new(&self.vault, self.context);
        let against = find_contradiction(&candidate.text, self.from.project, &near, &self.vault)?;
        Ok(against.filter(|against| !self.is_newer(against, candidate, said_at)))
    }

    fn is_newer(
        &self,
        against: &Contradiction,
        candidate: &MemoryCandidate,
        said_at: Option<Timestamp>,
    ) -> bool {
        let Some(said_at) = said_at else { return false };
        match against {
            Contradiction::Entry(path, _) => self
                .vault
                .read_entry(path)
                .ok()
                .and_then(|read| {
                    ParsedNote::parse(&read.text).ok().map(|note| EntryProperties::of(&note, path))
                })
                .and_then(|entry| entry.updated.or(entry.created))
                .is_some_and(|written| written > said_at),
            Contradiction::Line(_) => self
                .vault
                .read(&journal::ChangedFile::vault(layout::fixed_path(layout::MEMORY)))
                .ok()
                .flatten()
                .and_then(|read| {
                    MemoryDocument::read(&read.text)
                        .contradicted_by(&AnalysedStatement::from_text(&candidate.text))?
                        .date
                })
                .is_some_and(|written| written > self.context.zoned(said_at).date()),
        }
    }

    /// Proposes a candidate. Returns the id, and true if the person is asked: a decided question is not
    /// repeated.
    fn propose(
        &self,
        candidate: &MemoryCandidate,
        evidence: &ProposalEvidence,
        against: Option<&Contradiction>,
    ) -> Result<(String, bool), StepError> {
        let now = self.context.now();
        let section = candidate.section(&user_section(&self.context.config.user.name)).to_owned();
        let id = ProposalId::unnumbered(ProposalStage::Reflection, now.date());
        let source = if against.is_some() { ProposalSource::Supersede } else { ProposalSource::Sidecar };
        let (place, text) = (ProposalPlace::Section(section), candidate.text.clone());
        let confidence = if candidate.confidence == Confidence::High { 0.9 } else { 0.7 };
        let target = match against {
            Some(Contradiction::Entry(path, _)) => Some(ProposalTarget::Entry(path.to_string())),
            Some(Contradiction::Line(_)) | None => None,
        };
        let mut proposal = Proposal {
            target,
            title: candidate.title.clone(),
            supersedes: against.map(|against| against.text().to_owned()),
            explicit: candidate.origin == Origin::User && candidate.confidence == Confidence::High,
            confidence,
            project: self.from.project.cloned(),
            ..Proposal::new(id, source, place, candidate.origin, text, now.timestamp())
        };
        proposal.add_evidence(evidence);
        let handed =
            proposals::submit(&mut self.context.db()?, &STAGE_REGISTRY, self.from.session, &[proposal])?;
        let id = handed.first().map(|handed| match handed {
            SubmitOutcome::Proposed(id) | SubmitOutcome::Folded(id) => (id.to_string(), true),
            SubmitOutcome::Decided(id, _) => (id.to_string(), false),
        });
        id.ok_or_else(|| StepError::fatal("a proposal was handed in and none came back"))
    }

    fn save(
        &self,
        candidate: &MemoryCandidate,
        to: EntryDestination,
        said_at: Option<Timestamp>,
    ) -> Result<String, StepError> {
        let kind = candidate.entry_kind();
        let scope = match (self.context.config.memory.scope, self.from.project) {
            // The person said themselves that they work this way everywhere.
            _ if candidate.everywhere && candidate.origin == Origin::User => Scope::Global,
            (ScopeRule::Global, _) | (_, None) => Scope::Global,
            (_, Some(project)) => Scope::Project(project.clone()),
        };
        let mut new = NewEntry {
            kind: kind.to_owned(),
            slug: candidate.title.clone(),
            to,
            tags: Vec::new(),
            scope,
            body: candidate.text.clone(),
            confidence: candidate.confidence,
            provenance: Provenance {
                origin: candidate.origin,
                session: Some(self.from.session.to_owned()),
                messages: candidate.messages.clone(),
            },
            said_at,
        };
        for number in 1..=MAX_NUMBERED_NAMES {
            if number > 1 {
                new.slug = format!("{} {number}", candidate.title);
            }
            let path = layout::entry(to, kind, &new.slug).map_err(StepError::fatal)?;
            // The name of a rejected entry stays reserved; otherwise it would seem to wait again.
            if to == EntryDestination::Inbox && sightings::has_become(&self.context.db()?, path.as_str())? {
                continue;
            }
            match self.vault.save_statement(
                &new,
                candidate.sentiment,
                ChangeActor::Worker,
                &self.context.now(),
            ) {
                Ok(saved) => return Ok(saved.path.to_string()),
                Err(vault::Error::Exists(_)) => {
                    let there = self.vault.read_entry(&path).map_err(StepError::retryable)?;
                    // The same words of another project are a memory of their own.
                    let same = ParsedNote::parse(&there.text).is_ok_and(|note| {
                        let scope = EntryProperties::of(&note, &path).scope;
                        let holds = scope == Scope::Global || scope == new.scope;
                        holds && normalise(note.body()) == normalise(&candidate.text)
                    });
                    if same {
                        return Ok(path.to_string());
                    }
                }
                Err(error) => return Err(StepError::retryable(error)),
            }
        }
        Err(StepError::fatal(format!("there are too many memories called `{}`", candidate.title)))
    }
}

/// Refreshes the review page. A page that a person is editing stays; the store has everything.
pub fn refresh_review_page(stage_context: &StageContext) -> Result<(), StepError> {
    let user = user_section(&stage_context.config.user.name);
    let per_day = stage_context.config.review.per_day;
    page::refresh_page(
        &mut stage_context.db()?,
        &stage_context.vault()?,
        &user,
        per_day,
        ChangeActor::Worker,
        &stage_context.now(),
    )
    .map(drop)
    .map_err(StepError::retryable)
}

/// True if the path is in the inbox.
fn is_inboxed(became: &str) -> bool {
    VaultPath::parse(became).is_ok_and(|path| layout::shelf_of(&path) == VaultShelf::Inbox)
}

/// The outcomes of the ideas of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RoutedIdeas {
    /// Their names in the incubator.
    pub ideas: Vec<String>,
    /// Proposals to turn an idea into a project.
    pub proposed: Vec<String>,
}

/// Counts a repeated idea. In the third session the person is asked to make it a project.
fn repeat_idea(
    idea: &MinedIdea,
    from: CandidateSource<'_>,
    vault: &Vault,
    stage_context: &StageContext,
) -> Result<Option<String>, StepError> {
    let now = stage_context.now();
    let slug = match slug("title", &idea.title) {
        Ok(slug) => slug,
        Err(_) => return Ok(None),
    };
    // A page that the person restructured is left alone.
    let Ok(sessions) = vault.record_idea_session(&slug, from.session, ChangeActor::Worker, &now) else {
        return Ok(None);
    };
    let asks = stage_context.config.memory.review_mode == ReviewMode::Interactive;
    if sessions.len() < MIN_SIGHTING_SESSIONS || !asks {
        return Ok(None);
    }
    let text = format!("Make the idea “{}” a project: {}", idea.title, idea.summary);
    let id = ProposalId::unnumbered(ProposalStage::Reflection, now.date());
    let place = ProposalPlace::Section(layout::IDEAS.to_owned());
    let evidence = ProposalEvidence {
        sessions,
        messages: idea.messages.clone(),
        quotes: vec![one_line(&idea.summary, MAX_QUOTE_CHARS)],
        ..ProposalEvidence::default()
    };
    let proposal = Proposal {
        target: Some(ProposalTarget::Idea(slug)),
        confidence: 0.7,
        evidence,
        project: from.project.cloned(),
        ..Proposal::new(id, ProposalSource::Idea, place, idea.origin, text, now.timestamp())
    };
    let handed = proposals::submit(&mut stage_context.db()?, &STAGE_REGISTRY, from.session, &[proposal])?;
    Ok(handed.first().and_then(|handed| match handed {
        SubmitOutcome::Proposed(id) | SubmitOutcome::Folded(id) => Some(id.to_string()),
        SubmitOutcome::Decided(..) => None,
    }))
}

/// Writes down new ideas (IDEA-01…03) and counts known ones.
pub fn route_ideas(
    ideas: &[MinedIdea],
    from: CandidateSource<'_>,
    quote: &MessageLookup<'_>,
    stage_context: &StageContext,
) -> Result<RoutedIdeas, StepError> {
    let vault = stage_context.vault()?;
    let forgotten = vault.graveyard().map_err(StepError::retryable)?;
    let near = RelatedMemories::new(&vault, stage_context);
    let mut kept = RoutedIdeas::default();
    let known = vault.ideas().map_err(StepError::retryable)?;
    for idea in ideas {
        let is_it = |known: &&ideas::IdeaEntry| known.slug == slug("title", &idea.title).ok();
        // An idea that became a project or was dropped is decided; one of another project stays there.
        let decided = known.iter().find(is_it).is_some_and(|known| {
            !known.is_open() || known.project.as_ref().is_some_and(|project| Some(project) != from.project)
        });
        if decided || forgotten.holds_text(&idea.summary) || forgotten.holds_text(&idea.title) {
            continue;
        }
        let provenance = Provenance {
            origin: idea.origin,
            session: Some(from.session.to_owned()),
            messages: idea.messages.clone(),
        };
        let words = format!("{}\n{}", idea.title, idea.summary);
        let related = related(&near, &words, from.project);
        // It is shown in its own project, also in Ideas.md.
        let project = from.project.filter(|_| stage_context.config.memory.scope != ScopeRule::Global);
        let scope = project.cloned().map_or(Scope::Global, Scope::Project);
        let said_at = idea.messages.iter().filter_map(|id| quote(id)?.at).min();
        let new = NewIdea { title: &idea.title, summary: &idea.summary, provenance, scope, related, said_at };
        match vault.add_idea(&new, ChangeActor::Worker, &stage_context.now()) {
            Ok(added) => kept.ideas.push(added.outcome),
            // The same name is the same idea: it came up again.
            Err(vault::Error::Exists(_)) => {
                kept.proposed.extend(repeat_idea(idea, from, &vault, stage_context)?);
            }
            Err(error) => return Err(StepError::retryable(error)),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests;
