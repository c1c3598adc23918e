//! Detects patterns in a week of observations (FRI-02) by counting: a single statement is no pattern.

use std::collections::BTreeMap;

use super::{FrictionKind, FrictionPattern};
use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::scope::ProjectId;
use crate::base::time::Timestamp;
use crate::knowledge::observe;
use crate::knowledge::proposal::ProposalEvidence;
use crate::knowledge::reflect::{MAX_TEXT_CHARS, ReflectionPeriod, SeenFinding, distance, is_forged};
use crate::text::clean::one_line;
use crate::text::clean_and_redact;
use crate::text::similarity::AnalysedStatement;
use crate::vault::memory::sections;

/// The maximum number of findings compared with each other, newest first.
const MAX_FINDINGS: usize = 600;
/// The maximum length of a quoted finding.
const MAX_QUOTE_CHARS: usize = 200;
/// The maximum length of a command's name.
const MAX_COMMAND_CHARS: usize = 80;

/// Sightings of the same thing.
struct FindingCluster<'a> {
    statement: AnalysedStatement,
    findings: Vec<SeenFinding<'a>>,
}

/// Detects all patterns, including rare ones. [`super::propose_fixes`] counts and drops the rare ones.
pub fn detect(period: &ReflectionPeriod<'_>) -> Vec<FrictionPattern> {
    let mut seen: Vec<SeenFinding<'_>> = period.findings().collect();
    seen.sort_by_key(|seen| seen.observation.at);
    let surplus = seen.len().saturating_sub(MAX_FINDINGS);
    seen.drain(..surplus);
    let mut patterns = corrections(&seen);
    patterns.extend(failures(period));
    patterns.extend(stale(period, &seen));
    patterns
}

fn clusters<'a>(seen: impl Iterator<Item = SeenFinding<'a>>) -> Vec<FindingCluster<'a>> {
    let mut clusters: Vec<FindingCluster<'a>> = Vec::new();
    for seen in seen {
        let statement = AnalysedStatement::from_text(&seen.finding.text);
        match clusters.iter_mut().find(|cluster| cluster.statement.is_same(&statement)) {
            Some(cluster) => {
                cluster.findings.push(seen);
                cluster.statement = statement;
            }
            None => clusters.push(FindingCluster { statement, findings: vec![seen] }),
        }
    }
    clusters
}

/// Repeated corrections. Only the user's own words count (B-01).
fn corrections(seen: &[SeenFinding<'_>]) -> Vec<FrictionPattern> {
    use observe::FindingKind::{Correction, Preference, Rule};
    let own = seen.iter().copied().filter(|seen| {
        seen.finding.origin == Origin::User && matches!(seen.finding.kind, Correction | Rule | Preference)
    });
    clusters(own).iter().filter_map(|cluster| cluster.pattern(FrictionKind::RepeatedCorrection)).collect()
}

impl FindingCluster<'_> {
    fn pattern(&self, kind: FrictionKind) -> Option<FrictionPattern> {
        let origin = self.findings.iter().map(|seen| seen.finding.origin).min_by_key(|one| distance(*one))?;
        // The newest words of the most trusted origin: tool output does not speak for the user.
        let newest = self.findings.iter().rev().find(|seen| seen.finding.origin == origin)?;
        let text = one_line(&clean_and_redact(&newest.finding.text).text, usize::MAX);
        if text.is_empty() || text.chars().count() > MAX_TEXT_CHARS {
            return None;
        }
        let same_origin = self.findings.iter().filter(|seen| seen.finding.origin == origin);
        let sightings = self.findings.iter().map(|seen| FrictionSighting {
            session: &seen.observation.session,
            at: seen.observation.at,
            window: &seen.observation.key,
            messages: &seen.finding.messages,
            quote: &seen.finding.text,
        });
        let (evidence, times) = merge_evidence(sightings);
        let mut projects = self.findings.iter().map(|seen| seen.observation.project.clone());
        let first = projects.next().flatten();
        Some(FrictionPattern {
            kind,
            text,
            supersedes: None,
            section: None,
            origin,
            strength: same_origin
                .map(|seen| seen.finding.strength)
                .max()
                .unwrap_or(StatementStrength::Inferred),
            evidence,
            times,
            project: first.filter(|first| projects.all(|other| other.as_ref() == Some(first))),
        })
    }
}

struct FrictionSighting<'a> {
    session: &'a str,
    at: Timestamp,
    window: &'a str,
    messages: &'a [String],
    quote: &'a str,
}

/// The evidence of sightings, and the newest time in each session.
fn merge_evidence<'a>(
    sightings: impl Iterator<Item = FrictionSighting<'a>>,
) -> (ProposalEvidence, Vec<Timestamp>) {
    let mut evidence = ProposalEvidence::default();
    let mut times: BTreeMap<&str, Timestamp> = BTreeMap::new();
    for seen in sightings {
        evidence.merge(&ProposalEvidence {
            sessions: vec![seen.session.to_owned()],
            messages: seen.messages.to_vec(),
            quotes: vec![one_line(&clean_and_redact(seen.quote).text, MAX_QUOTE_CHARS)],
            observations: vec![seen.window.to_owned()],
            said: Some(seen.at),
        });
        let newest = times.entry(seen.session).or_insert(seen.at);
        *newest = seen.at.max(*newest);
    }
    (evidence, times.into_values().collect())
}

/// Failed commands, as the observation rules write them down: in a finding or in a session's ending.
fn failures(period: &ReflectionPeriod<'_>) -> Vec<FrictionPattern> {
    let mut found: BTreeMap<(String, String), Vec<FrictionSighting<'_>>> = BTreeMap::new();
    for observation in period.observations {
        for part in &observation.observed.parts {
            let own: &[String] = &[];
            let findings =
                part.findings.iter().map(|finding| (finding.text.as_str(), finding.messages.as_slice()));
            for (text, messages) in findings.chain([(part.narrative.as_str(), own)]) {
                if is_forged(text) {
                    continue;
                }
                let Some(command) = failed(text) else { continue };
                let project = observation.project.as_ref().map(ToString::to_string).unwrap_or_default();
                found.entry((project, command)).or_default().push(FrictionSighting {
                    session: &observation.session,
                    at: observation.at,
                    window: &observation.key,
                    messages,
                    quote: text,
                });
            }
        }
    }
    let pattern = |((project, command), sightings): ((String, String), Vec<FrictionSighting<'_>>)| {
        let (evidence, times) = merge_evidence(sightings.into_iter());
        let of = period
            .observations
            .iter()
            .find_map(|observation| observation.project.clone().filter(|known| known.to_string() == project));
        FrictionPattern {
            kind: FrictionKind::RecurringFailure,
            text: format!(
                "`{command}` keeps failing: run it before a change is called done, and read its first error."
            ),
            supersedes: None,
            section: None,
            // A failure is reported by the tool.
            origin: Origin::Tool,
            strength: StatementStrength::Inferred,
            evidence,
            times,
            project: of,
        }
    };
    found.into_iter().map(pattern).collect()
}

/// The command in "`cargo test` failed…" or "… `cargo test` still failed at the end".
fn failed(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('`') {
        let (command, after) = behind.split_once('`')?;
        let fails = [" failed", " still failed"].iter().any(|word| after.starts_with(word));
        let command = one_line(&clean_and_redact(command).text, usize::MAX);
        if fails
            && !command.is_empty()
            && command.chars().count() <= MAX_COMMAND_CHARS
            && !command.contains('<')
        {
            return Some(command);
        }
        rest = after;
    }
    None
}

/// The lines of `MEMORY.md` that newer observations contradict, each with the newer words.
fn stale(period: &ReflectionPeriod<'_>, seen: &[SeenFinding<'_>]) -> Vec<FrictionPattern> {
    let Ok(sections) = sections(period.memory) else { return Vec::new() };
    let mut patterns = Vec::new();
    for section in &sections {
        for item in section.items.iter().filter(|item| item.superseded.is_none()) {
            let line = AnalysedStatement::from_text(&item.text);
            let newer = seen.iter().copied().filter(|seen| {
                // Another project cannot contradict a line of this one.
                item.is_visible_in(seen.observation.project.as_ref().map(ProjectId::as_str))
                    && seen.finding.origin != Origin::Tool
                    && item.date.is_none_or(|since| since < seen.observation.day)
                    && line.contradicts(&AnalysedStatement::from_text(&seen.finding.text))
            });
            for cluster in clusters(newer) {
                let pattern = cluster.pattern(FrictionKind::StaleMemory);
                patterns.extend(pattern.map(|pattern| FrictionPattern {
                    supersedes: Some(item.text.clone()),
                    section: Some(section.title.clone()),
                    ..pattern
                }));
            }
        }
    }
    patterns
}
