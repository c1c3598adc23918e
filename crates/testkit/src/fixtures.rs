//! Test fixtures that many tests share.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::provenance::Strength;
use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::knowledge::observe::{Finding, Kind as Found, Observed, Part};
use rekindle_core::knowledge::proposal::{Evidence, Proposal, Source};
use rekindle_core::vault::priority::Priority;
use rekindle_core::vault::review::{Id, Kind, Place};

/// A proposal of that day and time: a pattern that the person stated in one session.
pub fn proposal(day: Date, created: Timestamp, text: &str) -> Proposal {
    let (id, place) = (Id::new(Kind::Reflection, day, 1), Place::Section("Patterns".to_owned()));
    Proposal {
        confidence: 0.7,
        evidence: Evidence { sessions: vec!["s1".to_owned()], ..Evidence::default() },
        ..Proposal::new(id, Source::Reflection, place, Origin::User, text.to_owned(), created)
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
        strength: Strength::Explicit,
        everywhere: false,
        perhaps_everywhere: false,
        ends: false,
        sentiment: None,
        gate: None,
        messages: vec!["m1".to_owned()],
    }
}

/// The observations of a session with a single topic.
pub fn observed(narrative: &str, findings: Vec<Finding>) -> Observed {
    Observed {
        parts: vec![Part { narrative: narrative.to_owned(), findings, day: None }],
        ..Observed::default()
    }
}
