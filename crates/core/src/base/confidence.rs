//! Confidence in a statement, from how explicitly, in how many sessions and by whom it was said (FBK-06,
//! STO-16).

use super::provenance::Origin;

/// Confidence in a statement of this strength, from `sessions` sessions and this origin (FBK-06).
pub(crate) fn confidence(strength: f64, sessions: usize, origin: Origin) -> f64 {
    const CONFIDENCE_PER_SESSION: f64 = 0.05;
    let more = CONFIDENCE_PER_SESSION * sessions.saturating_sub(1) as f64;
    ((strength + more).min(most_confidence(origin)) * 100.0).round() / 100.0
}

/// The upper bound of confidence per origin, however often the statement comes up.
fn most_confidence(origin: Origin) -> f64 {
    match origin {
        Origin::User => 0.95,
        Origin::Agent | Origin::Import => 0.7,
        Origin::Tool => 0.5,
    }
}

/// The confidence after support has grown from `before` to `after` sessions (STO-16). It never falls.
pub(crate) fn raised_confidence(so_far: f64, before: usize, after: usize, origin: Origin) -> f64 {
    let more = after.saturating_sub(before.max(1));
    so_far.max(confidence(so_far, more + 1, origin))
}
