//! Nothing a model says is believed unchecked: a claim needs observations that say it, and its dates, numbers, paths,
//! identifiers and quotations have to stand in them.

use std::collections::BTreeSet;

use super::memory::Memory;
use super::parse::Claim;
use super::{
    Draft, Dropped, MAX_SUMMARY_CHARS, MAX_TEXT_CHARS, Observation, Period, Section, Why, distance, is_forged,
};
use crate::base::confidence::confidence;
use crate::base::provenance::Origin;
use crate::base::provenance::Strength;
use crate::knowledge::proposal::Evidence;
use crate::text::admit;
use crate::text::clean::one_line;
use crate::text::similarity::{Statement, share};
use crate::text::specifics::{occurs, specifics};

/// So much of a claim's terms has to be in what supports it.
const SUPPORTED: f64 = 0.7;
/// So many words of a claim that only a less trusted source has make that source one that is needed.
const NEEDED_TERMS: usize = 2;
/// A claim that needs more findings than this is a summary of everything.
const MOST_SUPPORT: usize = 6;
/// A source that has so much of a claim decides what it means.
const TELLING: f64 = 0.5;
/// How much of a finding is kept as a quotation.
pub(super) const MAX_QUOTE_CHARS: usize = 200;

/// What was checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// What holds.
    pub drafts: Vec<Draft>,
    /// What does not.
    pub dropped: Dropped,
    /// Claims whose day was not one of the days they rest on; they were given the right one.
    pub redated: u64,
}

/// Holds claims against the observations of the period.
pub fn check(claims: &[Claim], period: &Period<'_>) -> Checked {
    let sources = sources(period);
    let memory = Memory::read(period.memory);
    let mut checked = Checked::default();
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

/// A summary that makes nothing up; `None` for any other.
pub fn check_summary(summary: &str, period: &Period<'_>) -> Option<String> {
    let summary = one_line(&admit(summary).text, MAX_SUMMARY_CHARS);
    let all: String = sources(period).iter().map(|source| format!("{}\n", source.statement.text())).collect();
    let fits =
        !summary.is_empty() && !is_forged(&summary) && specifics(&summary).iter().all(|it| occurs(it, &all));
    fits.then_some(summary)
}

/// Something that was observed and can support a claim.
struct Source<'a> {
    statement: Statement,
    origin: Origin,
    strength: Strength,
    messages: &'a [String],
    observation: &'a Observation,
}

/// The findings, and the narratives around them: those are the observer's words, worth no more than the least of what they
/// sum up.
fn sources<'a>(period: &Period<'a>) -> Vec<Source<'a>> {
    let mut sources: Vec<Source<'a>> = period
        .findings()
        .map(|seen| Source {
            statement: Statement::of(&seen.finding.text),
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
            sources.push(Source {
                statement: Statement::of(&part.narrative),
                origin: origins.max_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool),
                strength: Strength::Inferred,
                messages: &[],
                observation,
            });
        }
    }
    sources
}

fn check_one(
    claim: &Claim,
    period: &Period<'_>,
    sources: &[Source<'_>],
    memory: &Memory,
) -> Result<(Draft, bool), Why> {
    let text = one_line(&admit(&claim.text).text, MAX_TEXT_CHARS + 1);
    if text.chars().count() > MAX_TEXT_CHARS {
        return Err(Why::Long);
    }
    if is_forged(&text) {
        return Err(Why::Forged);
    }
    let statement = Statement::of(&text);
    let support = supported(&statement, sources)?;
    let origin = worst(&support);
    let mut evidence = Evidence::default();
    let as_trusted = |source: &&Source<'_>| distance(source.origin) <= distance(origin);
    let merged = sources.iter().filter(as_trusted).filter(|source| source.statement.is_same(&statement));
    let mut all: Vec<&Source<'_>> = support.clone();
    for source in merged {
        if !all.iter().any(|other| std::ptr::eq(*other, source)) {
            all.push(source);
        }
    }
    for source in &all {
        evidence.merge(&Evidence {
            sessions: vec![source.observation.session.clone()],
            messages: source.messages.to_vec(),
            quotes: vec![one_line(&admit(source.statement.text()).text, MAX_QUOTE_CHARS)],
            said: Some(source.observation.at),
            ..Evidence::default()
        });
    }
    let date = all.iter().map(|source| source.observation.day).max().unwrap_or(period.today);
    let redated = claim.date.is_some_and(|given| !all.iter().any(|source| source.observation.day == given));
    let strength = support.iter().map(|source| source.strength).min().unwrap_or(Strength::Inferred);
    let draft = Draft {
        section: allowed(Section::of(&claim.section, period.user, memory.titles()), origin),
        date,
        origin,
        explicit: origin == Origin::User && strength == Strength::Explicit,
        confidence: confidence(strength.value(), evidence.sessions.len(), origin),
        evidence,
        project: common_project(all.iter().map(|source| source.observation)),
        supersedes: None,
        joins: None,
        text,
    };
    Ok((draft, redated))
}

/// Where something of that origin may go: a rule is the person's own word, and nothing that only tools said is about the
/// person (B-01).
pub(super) fn allowed(section: Section, origin: Origin) -> Section {
    match (section, origin) {
        (Section::HardRules, Origin::Agent | Origin::Tool | Origin::Import) => Section::Patterns,
        (Section::User, Origin::Tool) => Section::Patterns,
        (section, _) => section,
    }
}

/// The one project that all of it comes from.
pub(super) fn common_project<'a>(
    mut observations: impl Iterator<Item = &'a Observation>,
) -> Option<crate::base::scope::ProjectId> {
    let first = observations.next()?.project.clone()?;
    observations.all(|observation| observation.project.as_ref() == Some(&first)).then_some(first)
}

fn worst(support: &[&Source<'_>]) -> Origin {
    support.iter().map(|source| source.origin).max_by_key(|origin| distance(*origin)).unwrap_or(Origin::Tool)
}

/// The sources that a claim needs, of the most trusted origins that suffice.
fn supported<'a, 'b>(claim: &Statement, sources: &'b [Source<'a>]) -> Result<Vec<&'b Source<'a>>, Why> {
    let mut why = Why::Unsupported;
    for trust in 0..Origin::ALL.len() {
        let pool: Vec<&Source<'_>> =
            sources.iter().filter(|source| distance(source.origin) <= trust).collect();
        match covering(claim, &pool) {
            Err(reason) => why = why.or(reason),
            // The rest of it comes from somebody else, whose words are then needed as well (B-01).
            Ok(support) if needs_more(claim, &support, sources) => {}
            // Every source that has a good part of it has to mean the same.
            Ok(support) if support.iter().all(|source| means(claim, source)) => return Ok(support),
            Ok(_) => why = why.or(Why::Turned),
        }
    }
    Err(why)
}

/// Whether a source says what the claim says, or too little of it to tell.
fn means(claim: &Statement, source: &Source<'_>) -> bool {
    share(claim.terms(), source.statement.terms()) < TELLING || claim.keeps_sense_of(&source.statement)
}

/// Whether what the support leaves open is said by a source that is less trusted.
fn needs_more(claim: &Statement, support: &[&Source<'_>], sources: &[Source<'_>]) -> bool {
    let trusted = distance(worst(support));
    let open = |term: &&u64| !support.iter().any(|source| source.statement.terms().contains(term));
    let open: BTreeSet<u64> = claim.terms().iter().filter(open).copied().collect();
    let says = |source: &Source<'_>| open.intersection(source.statement.terms()).count() >= NEEDED_TERMS;
    sources.iter().any(|source| distance(source.origin) > trusted && says(source))
}

impl Why {
    /// The more telling of two reasons.
    fn or(self, other: Self) -> Self {
        if self == Self::Unsupported { other } else { self }
    }
}

/// The fewest sources that say enough of it, the most fitting first, and then those that have the specifics.
fn covering<'a, 'b>(claim: &Statement, pool: &[&'b Source<'a>]) -> Result<Vec<&'b Source<'a>>, Why> {
    let terms = claim.terms();
    let mut left = terms.clone();
    let mut support: Vec<&Source<'_>> = Vec::new();
    while support.len() < MOST_SUPPORT {
        let gain = |source: &&&Source<'_>| {
            let fit = (share(terms, source.statement.terms()) * 1000.0) as i64;
            (left.intersection(source.statement.terms()).count(), fit, source.observation.at)
        };
        let Some(best) = pool.iter().max_by_key(gain) else { break };
        let gained = left.intersection(best.statement.terms()).count();
        // A stray word in common is no support.
        if gained == 0
            || (!support.is_empty() && gained < NEEDED_TERMS && support_share(terms, &support) >= SUPPORTED)
        {
            break;
        }
        left.retain(|term| !best.statement.terms().contains(term));
        support.push(best);
    }
    if support_share(terms, &support) < SUPPORTED {
        return Err(Why::Unsupported);
    }
    for it in claim.specifics() {
        if support.iter().any(|source| occurs(it, source.statement.text())) {
            continue;
        }
        let has = |source: &&&Source<'_>| {
            occurs(it, source.statement.text()) && share(terms, source.statement.terms()) > 0.0
        };
        let Some(more) = pool.iter().find(has).filter(|_| support.len() < MOST_SUPPORT) else {
            return Err(Why::Invented);
        };
        support.push(more);
    }
    Ok(support)
}

fn support_share(terms: &BTreeSet<u64>, support: &[&Source<'_>]) -> f64 {
    let all: BTreeSet<u64> =
        support.iter().flat_map(|source| source.statement.terms().iter().copied()).collect();
    share(terms, &all)
}
