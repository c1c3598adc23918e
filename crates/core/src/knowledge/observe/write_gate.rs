//! The write gate (FBK-08), in shadow mode: for each finding it records verifiability, usefulness and
//! contradictions. It neither drops nor changes anything, so that its verdicts can be compared with the
//! users' decisions before it enforces them.

use serde::{Deserialize, Serialize};

use super::evidence::MessageEvidence;
use super::finding::{Finding, FindingKind, GateDoubt, GateVerdict, ObservedSession};
use super::retold_steps::is_retold_step;
use super::rules::words::gate;
use crate::base::provenance::Origin;
use crate::text::phrases::{contains_dense, has};
use crate::text::sentences::fold;
use crate::text::similarity::AnalysedStatement;
use crate::text::specific_terms::{is_clock, is_count, specifics};

/// The number of findings, and of each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GateCounts {
    /// The number of judged findings.
    pub judged: u64,
    /// The number that would pass.
    pub passed: u64,
    /// The number that cannot be verified.
    pub unverifiable: u64,
    /// The number that is not useful later.
    pub useless: u64,
    /// The number that contradicts an existing memory.
    pub conflicting: u64,
}

impl GateCounts {
    /// Counts the verdicts of an observation.
    pub fn count(observed: &ObservedSession) -> Self {
        let mut counts = Self::default();
        for verdict in observed.findings().filter_map(|finding| finding.gate.as_ref()) {
            counts.judged += 1;
            counts.passed += u64::from(verdict.is_passing());
            counts.unverifiable += u64::from(!verdict.is_verifiable());
            counts.useless += u64::from(!verdict.is_useful());
            counts.conflicting += u64::from(verdict.is_conflicting());
        }
        counts
    }
}

/// An existing statement: a line of `MEMORY.md`, an entry, an earlier observation.
#[derive(Clone, Debug)]
pub struct EstablishedStatement {
    /// The name of the statement.
    pub id: String,
    /// The statement in parsed form.
    pub statement: AnalysedStatement,
}

impl EstablishedStatement {
    /// Parses a text into a statement.
    pub fn new(id: &str, text: &str) -> Self {
        Self { id: id.to_owned(), statement: AnalysedStatement::from_text(text) }
    }
}

/// Judges a finding by its messages and by existing statements.
pub fn judge_finding(
    finding: &Finding,
    evidence: &MessageEvidence<'_>,
    standing: &[EstablishedStatement],
) -> GateVerdict {
    let doubts = [verifiable(finding, evidence), useful(finding)].into_iter().flatten().collect();
    let statement = AnalysedStatement::from_text(&finding.text);
    let against = standing.iter().find(|other| other.statement.contradicts(&statement));
    GateVerdict { doubts, against: against.map(|other| other.id.clone()) }
}

fn verifiable(finding: &Finding, evidence: &MessageEvidence<'_>) -> Option<GateDoubt> {
    let named: Vec<String> = specifics(&finding.text)
        .into_iter()
        .filter(|specific| !is_clock(specific) && !is_count(specific))
        .collect();
    let founded = named.iter().all(|name| evidence.has(name, &finding.messages));
    if finding.messages.is_empty() || !founded {
        return Some(GateDoubt::Unfounded);
    }
    // The user's words can be verified in their message.
    (named.is_empty() && finding.origin != Origin::User).then_some(GateDoubt::Vague)
}

fn useful(finding: &Finding) -> Option<GateDoubt> {
    let text = fold(&finding.text);
    if has(&text, gate::ONCE) || contains_dense(&text, gate::DENSE_ONCE) {
        return Some(GateDoubt::Once);
    }
    // A rule, a decision or a fix counts regardless of its first words.
    let is_report = matches!(
        finding.kind,
        FindingKind::Other | FindingKind::Files | FindingKind::Change | FindingKind::Workflow
    );
    (is_report && is_retold_step(&finding.text)).then_some(GateDoubt::Step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::time::TimeZone;
    use crate::fixtures;
    use crate::session::{Message, MessageRole};

    fn verdict(kind: FindingKind, origin: Origin, text: &str, standing: &[(&str, &str)]) -> GateVerdict {
        let said = [
            Message::new(
                "m1",
                None,
                MessageRole::User,
                "Always run pnpm test in packages/api before a push, for port 5432",
            ),
            Message::new(
                "m2",
                None,
                MessageRole::Assistant,
                "The pool in src/pool.rs leaked because close() was never called",
            ),
        ];
        let evidence = MessageEvidence::new(&said, &TimeZone::UTC);
        let messages = vec!["m1".to_owned(), "m2".to_owned()];
        let finding = Finding { messages, ..fixtures::finding(kind, origin, text) };
        let standing: Vec<EstablishedStatement> =
            standing.iter().map(|(id, text)| EstablishedStatement::new(id, text)).collect();
        judge_finding(&finding, &evidence, &standing)
    }

    #[test]
    fn fbk_08_concrete_findings_are_verifiable() {
        let passes = |origin, text: &str| verdict(FindingKind::Other, origin, text, &[]).doubts;
        assert_eq!(passes(Origin::Agent, "The leak was in src/pool.rs because close() was never called"), []);
        assert_eq!(passes(Origin::Agent, "The leak was in src/store.rs"), [GateDoubt::Unfounded]);
        assert_eq!(passes(Origin::Agent, "The code is cleaner"), [GateDoubt::Vague]);
        assert_eq!(passes(Origin::User, "Always test before a push"), [], "the person said so");
    }

    #[test]
    fn fbk_08_steps_and_one_off_requests_are_not_useful() {
        for (text, doubt) in [
            ("Ran pnpm test for port 5432", GateDoubt::Step),
            ("The agent checked src/pool.rs", GateDoubt::Step),
            ("Hat src/pool.rs geprüft", GateDoubt::Step),
            ("src/pool.rs を確認しました", GateDoubt::Step),
            ("Leave src/pool.rs as it is for now", GateDoubt::Once),
            ("Vorerst bleibt src/pool.rs so", GateDoubt::Once),
        ] {
            assert_eq!(verdict(FindingKind::Other, Origin::Agent, text, &[]).doubts, [doubt], "{text}");
        }
        let cause = "Ran into a leak in src/pool.rs; the root cause was that close() was never called";
        assert_eq!(verdict(FindingKind::Other, Origin::Agent, cause, &[]).doubts, []);
        assert_eq!(
            verdict(FindingKind::Rule, Origin::User, "Checked in files need a licence header", &[]).doubts,
            []
        );
    }

    #[test]
    fn fbk_08_a_contradiction_names_the_established_statement() {
        let standing = [("MEMORY.md#1", "Use tabs in Go"), ("m-1", "Staging Postgres listens on port 5433.")];
        let found =
            verdict(FindingKind::Rule, Origin::User, "Staging Postgres listens on port 5432.", &standing);
        assert_eq!(found.against.as_deref(), Some("m-1"));
        assert!(found.is_conflicting() && !found.is_passing() && found.is_verifiable() && found.is_useful());
        let same =
            verdict(FindingKind::Rule, Origin::User, "Staging Postgres listens on port 5433.", &standing);
        assert_eq!(same.against, None);
    }
}
