//! Test fixtures that many tests share.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::provenance::StatementStrength;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::observe::{Finding, FindingKind as Found, ObservedSession, ObservedTopic};
use rekindle_core::knowledge::proposal::{Proposal, ProposalEvidence, ProposalSource};
use rekindle_core::vault::priority::Priority;
use rekindle_core::vault::review::{ProposalId, ProposalPlace, ProposalStage};

/// A proposal of that day and time: a pattern that the person stated in one session.
pub fn proposal(day: Date, created: Timestamp, text: &str) -> Proposal {
    let (id, place) =
        (ProposalId::new(ProposalStage::Reflection, day, 1), ProposalPlace::Section("Patterns".to_owned()));
    Proposal {
        confidence: 0.7,
        evidence: ProposalEvidence { sessions: vec!["s1".to_owned()], ..ProposalEvidence::default() },
        ..Proposal::new(id, ProposalSource::Reflection, place, Origin::User, text.to_owned(), created)
    }
}

/// A high-priority finding, stated explicitly in one message.
pub fn finding(kind: Found, origin: Origin, text: &str) -> Finding {
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
pub fn observed(narrative: &str, findings: Vec<Finding>) -> ObservedSession {
    ObservedSession {
        parts: vec![ObservedTopic { narrative: narrative.to_owned(), findings, day: None }],
        ..ObservedSession::default()
    }
}
