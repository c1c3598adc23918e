//! Score factors beyond relevance: age, usage, review and project. Every factor is near 1, so relevance
//! dominates and the factors decide between hits of similar relevance.

use serde::Serialize;

use super::collection::{DocumentFlags, NO_TIMESTAMP};
use crate::base::provenance::Origin;
use crate::config::DecayMode;
use crate::vault::entry::Confidence;

/// The maximum share of a score that age removes.
pub const MAX_DECAY: f32 = 0.04;
/// The decay rate per day, from REC-03.
const DECAY_PER_DAY: f32 = 0.01;
/// The maximum change by usage, for a memory that helped or misled every time.
const MAX_USAGE_BOOST: f32 = 0.15;
/// The factor for a hit that is marked as outdated (REC-09).
const STALE_FACTOR: f32 = 0.8;
/// The factor for an unreviewed hit.
const UNREVIEWED_FACTOR: f32 = 0.93;
/// The factor for a hit in the inbox, unless the search includes the inbox.
const INBOX_FACTOR: f32 = 0.88;
/// The factor for a hit that only tool output supports.
const TOOL_ORIGIN_FACTOR: f32 = 0.95;
/// The factor for a hit with low confidence at capture.
const LOW_CONFIDENCE_FACTOR: f32 = 0.95;
/// The factor for a hit of the current project (B-05).
const SAME_PROJECT_FACTOR: f32 = 1.06;

/// The factors of one hit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScoreFactors {
    /// The factor for age.
    pub decay: f32,
    /// The factor for past usage.
    pub usage: f32,
    /// The factor for outdated hits.
    pub stale: f32,
    /// The factor for review and origin.
    pub trust: f32,
    /// The factor for the current project.
    pub project: f32,
}

impl ScoreFactors {
    /// Replaces the usage, given between -1 and 1.
    #[must_use]
    pub fn with_usage(self, usage: f32) -> Self {
        Self { usage: usage_factor(usage), ..self }
    }

    /// Replaces the factor for outdated hits.
    #[must_use]
    pub fn with_stale(self, stale: bool) -> Self {
        Self { stale: if stale { STALE_FACTOR } else { 1.0 }, ..self }
    }

    /// The product of all factors.
    pub fn combined(&self) -> f32 {
        self.decay * self.usage * self.stale * self.trust * self.project
    }
}

/// The context of the factors besides the hit.
#[derive(Clone, Copy, Debug)]
pub struct FactorContext {
    /// The current time in seconds since 1970.
    pub now: i64,
    /// The rule by which age counts.
    pub decay: DecayMode,
    /// True if hits in the inbox have no penalty.
    pub include_inbox: bool,
}

/// Computes the factors of a hit. `usage` is between -1 and 1; `here` is true for a hit of the current
/// project.
pub fn factors(
    circumstances: &FactorContext,
    flags: DocumentFlags,
    created: i64,
    usage: f32,
    here: bool,
) -> ScoreFactors {
    let when = |holds: bool, factor: f32| if holds { factor } else { 1.0 };
    let unreviewed = match (flags.is_reviewed(), flags.is_inbox()) {
        (true, _) => 1.0,
        (false, true) if circumstances.include_inbox => 1.0,
        (false, true) => INBOX_FACTOR,
        (false, false) => UNREVIEWED_FACTOR,
    };
    ScoreFactors {
        decay: decay_factor(circumstances.decay, circumstances.now, created),
        usage: usage_factor(usage),
        stale: when(flags.is_stale(), STALE_FACTOR),
        trust: unreviewed
            * when(!flags.is_reviewed() && flags.origin() == Origin::Tool, TOOL_ORIGIN_FACTOR)
            * when(
                !flags.is_reviewed() && flags.confidence() == Some(Confidence::Low),
                LOW_CONFIDENCE_FACTOR,
            ),
        project: when(here, SAME_PROJECT_FACTOR),
    }
}

fn usage_factor(usage: f32) -> f32 {
    1.0 + MAX_USAGE_BOOST * if usage.is_nan() { 0.0 } else { usage.clamp(-1.0, 1.0) }
}

/// The decay factor of a hit that was created at `created` (REC-03). Both times are seconds since 1970.
///
/// A hit with a future date or without a date does not decay, because a future date means a wrong clock.
pub fn decay_factor(rule: DecayMode, now: i64, created: i64) -> f32 {
    if created == NO_TIMESTAMP {
        return 1.0;
    }
    let days = now.saturating_sub(created).max(0) as f32 / 86_400.0;
    let literal = (-DECAY_PER_DAY * days).exp();
    match rule {
        DecayMode::Bounded => 1.0 - MAX_DECAY * (1.0 - literal),
        DecayMode::Literal => literal,
        DecayMode::Off => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;
    const REVIEWED_BIT: u32 = 1 << 16;

    fn of(decay: DecayMode, flags: u32, days: i64, usage: f32, here: bool) -> ScoreFactors {
        let circumstances = FactorContext { now: NOW, decay, include_inbox: false };
        factors(&circumstances, DocumentFlags::from_bits(flags), NOW - days * 86_400, usage, here)
    }

    #[test]
    fn rec_03_literal_decay_is_the_formula() {
        for days in [0, 1, 30, 100, 365] {
            let truth = (-0.01 * days as f32).exp();
            assert!((of(DecayMode::Literal, REVIEWED_BIT, days, 0.0, false).decay - truth).abs() < 1e-6);
        }
    }

    #[test]
    fn r_09_bounded_decay_orders_equals_and_never_more() {
        let age = |days| of(DecayMode::Bounded, REVIEWED_BIT, days, 0.0, false).decay;
        assert!(age(0) > age(7) && age(7) > age(90));
        assert!(age(36_500) >= 1.0 - MAX_DECAY);
        assert_eq!(of(DecayMode::Off, REVIEWED_BIT, 900, 0.0, false).decay, 1.0);
    }

    #[test]
    fn a_clock_in_the_past_makes_nothing_young_or_old() {
        assert_eq!(of(DecayMode::Literal, REVIEWED_BIT, -4000, 0.0, false).decay, 1.0);
        let circumstances = FactorContext { now: i64::MIN, decay: DecayMode::Bounded, include_inbox: false };
        assert_eq!(factors(&circumstances, DocumentFlags::from_bits(0), i64::MAX, 0.0, false).decay, 1.0);
        assert_eq!(factors(&circumstances, DocumentFlags::from_bits(0), NO_TIMESTAMP, 0.0, false).decay, 1.0);
    }

    #[test]
    fn rec_08_what_helped_rises_and_what_misled_falls() {
        let usage = |usage| of(DecayMode::Off, REVIEWED_BIT, 0, usage, false).usage;
        assert!(usage(0.5) > usage(0.0) && usage(0.0) > usage(-0.5));
        assert_eq!(usage(90.0), usage(1.0));
    }

    #[test]
    fn r_05_and_b_05_unreviewed_falls_and_this_project_rises() {
        let trust = |flags| of(DecayMode::Off, flags, 0, 0.0, false).trust;
        let (inbox, stale) = (1 << 17, 1 << 19);
        assert!(trust(REVIEWED_BIT) > trust(0) && trust(0) > trust(inbox));
        assert!(of(DecayMode::Off, REVIEWED_BIT | stale, 0, 0.0, false).stale < 1.0);
        assert!(
            of(DecayMode::Off, REVIEWED_BIT, 0, 0.0, true).combined()
                > of(DecayMode::Off, REVIEWED_BIT, 0, 0.0, false).combined()
        );
        let asked = FactorContext { now: NOW, decay: DecayMode::Off, include_inbox: true };
        assert_eq!(factors(&asked, DocumentFlags::from_bits(inbox), NOW, 0.0, false).trust, 1.0);
    }
}
