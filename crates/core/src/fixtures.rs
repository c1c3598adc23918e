//! Test fixtures that many tests share.

use crate::base::provenance::Origin;
use crate::base::provenance::StatementStrength;
use crate::base::time;
use crate::base::time::{Date, Timestamp};
use crate::knowledge::observe::{Finding, FindingKind as Found, ObservedSession, ObservedTopic};
use crate::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource};
use crate::session::{Message, MessageRole};
use crate::vault::priority::Priority;
use crate::vault::review::{ProposalId, ProposalPlace, ProposalStage};

/// The day of all fixture ids and notes.
pub(crate) const DAY: Date = Date::constant(2026, 11, 15);

/// The fixed current time of all fixtures.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

/// Proposal number `number` of the day: a pattern that the person stated in one session.
/// A proposal with two sessions and a quote of two lines as evidence.
pub(crate) fn sample_proposal(text: &str) -> Proposal {
    let evidence = ProposalEvidence {
        sessions: vec!["s1".to_owned(), "s2".to_owned()],
        quotes: vec!["From now on\nuse tabs".to_owned()],
        ..ProposalEvidence::default()
    };
    Proposal { evidence, ..proposal(7, text) }
}

pub(crate) fn proposal(number: u32, text: &str) -> Proposal {
    let (id, place) = (
        ProposalId::new(ProposalStage::Reflection, DAY, number),
        ProposalPlace::Section("Patterns".to_owned()),
    );
    Proposal {
        title: text.to_owned(),
        confidence: 0.7,
        evidence: ProposalEvidence { sessions: vec!["a".to_owned()], ..ProposalEvidence::default() },
        ..Proposal::new(id, ProposalSource::Reflection, place, Origin::User, text.to_owned(), now())
    }
}

/// A high-priority finding, stated explicitly in one message.
pub(crate) fn finding(kind: Found, origin: Origin, text: &str) -> Finding {
    Finding {
        kind,
        priority: Priority::High,
        when: None,
        text: text.to_owned(),
        origin,
        strength: StatementStrength::Explicit,
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        sentiment: None,
        gate: None,
        messages: vec!["m1".to_owned()],
    }
}

/// The observations of a session with a single topic.
pub(crate) fn observed(narrative: &str, findings: Vec<Finding>) -> ObservedSession {
    ObservedSession {
        parts: vec![ObservedTopic { narrative: narrative.to_owned(), findings, day: None }],
        ..ObservedSession::default()
    }
}

/// A message sent at `minute` past ten.
pub(crate) fn message(minute: u32, role: MessageRole, text: &str) -> Message {
    let at = time::parse(&format!("2026-02-14T10:{minute:02}:00Z"));
    Message::new(format!("m{minute}"), at, role, text)
}
