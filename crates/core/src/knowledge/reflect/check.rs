//! Checks the claims of a model: each needs supporting observations, which must contain its dates, numbers,
//! paths, identifiers and quotations.

use std::collections::BTreeSet;

use super::memory::MemoryDocument;
use super::parse::ReflectorClaim;
use super::{
    DraftDropReason, DroppedDrafts, MAX_SUMMARY_CHARS, MAX_TEXT_CHARS, Observation, ProposalDraft,
    ReflectionPeriod, TargetSection, distance, is_forged,
};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::knowledge::proposal::ProposalEvidence;
use crate::text::clean::one_line;
use crate::text::clean_and_redact;
use crate::text::similarity::{AnalysedStatement, overlap};
use crate::text::specific_terms::{contains_specific, specifics};

/// The minimum share of a claim's terms in its support.
const MIN_SUPPORTED_SHARE: f64 = 0.7;
/// The number of terms found only in a less trusted source that makes that source necessary.
const MIN_NEEDED_TERMS: usize = 2;
/// The maximum number of supporting findings; a claim that needs more is a summary.
const MAX_SUPPORTING_FINDINGS: usize = 6;
/// The share of a claim's terms from which a source must agree with its meaning.
const MIN_DECISIVE_SHARE: f64 = 0.5;
/// The maximum length of a quoted finding.
pub(super) const MAX_QUOTE_CHARS: usize = 200;

/// The result of checking claims.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedDrafts {
    /// The drafts that passed the checks.
    pub drafts: Vec<ProposalDraft>,
    /// The number of dropped claims by reason.
    pub dropped: DroppedDrafts,
    /// The number of claims whose day was wrong and was corrected.
    pub redated: u64,
}

/// Checks claims against the observations of the period.
pub fn check(claims: &[ReflectorClaim], period: &ReflectionPeriod<'_>) -> CheckedDrafts {
    let sources = sources(period);
    let memory = MemoryDocument::read(period.memory);
    let mut checked = CheckedDrafts::default();
    for claim in claims {
        match check_one(claim, period, &sources, &memory) {
            Ok((draft, redated)) => {
                checked.redated += u64::from(redated);
                checked.drafts.push(draft);
            }
            Err(why) => checked.dropped.add(why),
        }
    }
    checked
}

/// Returns a summary without invented details; `None` for any other.
pub fn check_summary(summary: &str, period: &ReflectionPeriod<'_>) -> Option<String> {
    let summary = one_line(&clean_and_redact(summary).text, MAX_SUMMARY_CHARS);
    let all: String = sources(period).iter().map(|source| format!("{}\n", source.statement.text())).collect();
    let fits = !summary.is_empty()
        && !is_forged(&summary)
        && specifics(&summary).iter().all(|it| contains_specific(it, &all));
    fits.then_some(summary)
}

/// An observation that can support a claim.
struct SupportingFinding<'a> {
    statement: AnalysedStatement,
    origin: Origin,
    strength: StatementStrength,
    messages: &'a [String],
    observation: &'a Observation,
}

/// The findings and their narratives. A narrative is the observer's text, so it has the least trusted origin
/// of its findings.
fn sources<'a>(period: &ReflectionPeriod<'a>) -> Vec<SupportingFinding<'a>> {
    let mut sources: Vec<SupportingFinding<'a>> = period
        .findings()
        .map(|seen| SupportingFinding {
            statement: AnalysedStatement::from_text(&seen.finding.text),
            origin: seen.finding.origin,
            strength: seen.finding.strength,
            messages: &seen.finding.messages,
            observation: seen.observation,
        })
        .collect();
    for observation in period.observations {
        for part in &observation.observed.parts {
            if part.narrative.is_empty() || is_forged(&part.narrative) {
                continue;
            }
            let origins = part.findings.iter().map(|finding| finding.origin).chain([Origin::Agent]);
            sources.push(SupportingFinding {
                statement: AnalysedStatement::from_text(&part.narrative),
                origin: origins.max_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool),
                strength: StatementStrength::Inferred,
                messages: &[],
                observation,
            });
        }
    }
    sources
}

fn check_one(
    claim: &ReflectorClaim,
    period: &ReflectionPeriod<'_>,
    sources: &[SupportingFinding<'_>],
    memory: &MemoryDocument,
) -> Result<(ProposalDraft, bool), DraftDropReason> {
    let text = one_line(&clean_and_redact(&claim.text).text, MAX_TEXT_CHARS + 1);
    if text.chars().count() > MAX_TEXT_CHARS {
        return Err(DraftDropReason::Long);
    }
    if is_forged(&text) {
        return Err(DraftDropReason::Forged);
    }
    let statement = AnalysedStatement::from_text(&text);
    let support = supported(&statement, sources)?;
    let origin = least_trusted(&support);
    let mut evidence = ProposalEvidence::default();
    let as_trusted = |source: &&SupportingFinding<'_>| distance(source.origin) <= distance(origin);
    let merged = sources.iter().filter(as_trusted).filter(|source| source.statement.is_same(&statement));
    let mut all: Vec<&SupportingFinding<'_>> = support.clone();
    for source in merged {
        if !all.iter().any(|other| std::ptr::eq(*other, source)) {
            all.push(source);
        }
    }
    for source in &all {
        evidence.merge(&ProposalEvidence {
            sessions: vec![source.observation.session.clone()],
            messages: source.messages.to_vec(),
            quotes: vec![one_line(&clean_and_redact(source.statement.text()).text, MAX_QUOTE_CHARS)],
            said: Some(source.observation.at),
            ..ProposalEvidence::default()
        });
    }
    let date = all.iter().map(|source| source.observation.day).max().unwrap_or(period.today);
    let redated = claim.date.is_some_and(|given| !all.iter().any(|source| source.observation.day == given));
    let strength = support.iter().map(|source| source.strength).min().unwrap_or(StatementStrength::Inferred);
    let draft = ProposalDraft {
        section: allowed_section(
            TargetSection::from_heading(&claim.section, period.user, memory.titles()),
            origin,
        ),
        date,
        origin,
        explicit: origin == Origin::User && strength == StatementStrength::Explicit,
        confidence: confidence(strength.value(), evidence.sessions.len(), origin),
        evidence,
        project: common_project(all.iter().map(|source| source.observation)),
        supersedes: None,
        joins: None,
        text,
    };
    Ok((draft, redated))
}

/// The section allowed for an origin: rules need the user's own words, and tool output never describes the
/// user (B-01).
pub(super) fn allowed_section(section: TargetSection, origin: Origin) -> TargetSection {
    match (section, origin) {
        (TargetSection::HardRules, Origin::Agent | Origin::Tool | Origin::Import) => TargetSection::Patterns,
        (TargetSection::User, Origin::Tool) => TargetSection::Patterns,
        (section, _) => section,
    }
}

/// The single project of all observations, if there is one.
pub(super) fn common_project<'a>(
    mut observations: impl Iterator<Item = &'a Observation>,
) -> Option<crate::base::scope::ProjectId> {
    let first = observations.next()?.project.clone()?;
    observations.all(|observation| observation.project.as_ref() == Some(&first)).then_some(first)
}

fn least_trusted(support: &[&SupportingFinding<'_>]) -> Origin {
    support.iter().map(|source| source.origin).max_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool)
}

/// The sources that support a claim, of the most trusted origins that suffice.
fn supported<'a, 'b>(
    claim: &AnalysedStatement,
    sources: &'b [SupportingFinding<'a>],
) -> Result<Vec<&'b SupportingFinding<'a>>, DraftDropReason> {
    let mut why = DraftDropReason::Unsupported;
    for trust in 0..Origin::ALL.len() {
        let pool: Vec<&SupportingFinding<'_>> =
            sources.iter().filter(|source| distance(source.origin) <= trust).collect();
        match covering(claim, &pool) {
            Err(reason) => why = why.or(reason),
            // A less trusted source supplies the rest of it, so its words are needed as well (B-01).
            Ok(support) if needs_more(claim, &support, sources) => {}
            // Every source with a large part of it must agree in meaning.
            Ok(support) if support.iter().all(|source| means(claim, source)) => return Ok(support),
            Ok(_) => why = why.or(DraftDropReason::Turned),
        }
    }
    Err(why)
}

/// True if a source agrees with the claim, or shares too little with it to tell.
fn means(claim: &AnalysedStatement, source: &SupportingFinding<'_>) -> bool {
    overlap(claim.terms(), source.statement.terms()) < MIN_DECISIVE_SHARE
        || claim.preserves_sense_of(&source.statement)
}

/// True if a less trusted source contains terms that the support lacks.
fn needs_more(
    claim: &AnalysedStatement,
    support: &[&SupportingFinding<'_>],
    sources: &[SupportingFinding<'_>],
) -> bool {
    let trusted = distance(least_trusted(support));
    let open = |term: &&u64| !support.iter().any(|source| source.statement.terms().contains(term));
    let open: BTreeSet<u64> = claim.terms().iter().filter(open).copied().collect();
    let says = |source: &SupportingFinding<'_>| {
        open.intersection(source.statement.terms()).count() >= MIN_NEEDED_TERMS
    };
    sources.iter().any(|source| distance(source.origin) > trusted && says(source))
}

impl DraftDropReason {
    /// The more specific of two reasons.
    fn or(self, other: Self) -> Self {
        if self == Self::Unsupported { other } else { self }
    }
}

/// The fewest sources that cover the claim, best first, plus those with its specifics.
fn covering<'a, 'b>(
    claim: &AnalysedStatement,
    pool: &[&'b SupportingFinding<'a>],
) -> Result<Vec<&'b SupportingFinding<'a>>, DraftDropReason> {
    let terms = claim.terms();
    let mut left = terms.clone();
    let mut support: Vec<&SupportingFinding<'_>> = Vec::new();
    while support.len() < MAX_SUPPORTING_FINDINGS {
        let gain = |source: &&&SupportingFinding<'_>| {
            let fit = (overlap(terms, source.statement.terms()) * 1000.0) as i64;
            (left.intersection(source.statement.terms()).count(), fit, source.observation.at)
        };
        let Some(best) = pool.iter().max_by_key(gain) else { break };
        let gained = left.intersection(best.statement.terms()).count();
        // A single shared word is no support.
        if gained == 0
            || (!support.is_empty()
                && gained < MIN_NEEDED_TERMS
                && support_share(terms, &support) >= MIN_SUPPORTED_SHARE)
        {
            break;
        }
        left.retain(|term| !best.statement.terms().contains(term));
        support.push(best);
    }
    if support_share(terms, &support) < MIN_SUPPORTED_SHARE {
        return Err(DraftDropReason::Unsupported);
    }
    for it in claim.specifics() {
        if support.iter().any(|source| contains_specific(it, source.statement.text())) {
            continue;
        }
        let has = |source: &&&SupportingFinding<'_>| {
            contains_specific(it, source.statement.text()) && overlap(terms, source.statement.terms()) > 0.0
        };
        let Some(more) = pool.iter().find(has).filter(|_| support.len() < MAX_SUPPORTING_FINDINGS) else {
            return Err(DraftDropReason::Invented);
        };
        support.push(more);
    }
    Ok(support)
}

fn support_share(terms: &BTreeSet<u64>, support: &[&SupportingFinding<'_>]) -> f64 {
    let all: BTreeSet<u64> =
        support.iter().flat_map(|source| source.statement.terms().iter().copied()).collect();
    overlap(terms, &all)
}
