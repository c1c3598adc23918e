//! The usage of a memory: what its signals do to its strength, and when it counts as stale (REC-08, FBK-03).

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// The maximum absolute change of strength by observed signals: a person's own judgement weighs more
/// (FBK-09).
pub const OBSERVED_WEIGHT_CAP: f32 = 0.5;
/// The age in days after which a memory that was never recalled may be outdated (FBK-04).
const STALE_DAYS: i64 = 90;
/// A signal about a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageSignal {
    /// A person or an agent says that it helped.
    Good,
    /// A person or an agent says that it misled.
    Wrong,
    /// A person or an agent says that it is outdated.
    Stale,
    /// It was shown in a turn, and the turn used it (FBK-01).
    Used,
    /// It was shown in a turn that did not use it.
    Ignored,
    /// It was shown in a turn, and its use is unknown.
    Shown,
    /// It was among the answers to a query.
    Recalled,
    /// The person had to repeat what it says: it should have been shown (FBK-05).
    Missed,
    /// It was shown in a turn that the person corrected, and it contradicts the correction.
    Misled,
}

impl UsageSignal {
    /// The change that it makes to a memory's strength.
    fn worth(self) -> f32 {
        match self {
            Self::Good => 0.2,
            Self::Wrong => -0.4,
            Self::Stale => -0.2,
            Self::Used | Self::Missed => 0.1,
            Self::Ignored => -0.05,
            Self::Misled => -0.2,
            Self::Shown | Self::Recalled => 0.0,
        }
    }

    /// True for an explicit judgement.
    fn is_said(self) -> bool {
        matches!(self, Self::Good | Self::Wrong | Self::Stale)
    }

    /// True if the memory was recalled.
    fn is_recall(self) -> bool {
        matches!(self, Self::Used | Self::Ignored | Self::Shown | Self::Recalled)
    }
}

/// The usage of one memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MemoryUsage {
    /// The sum of the explicit signals.
    said: f32,
    /// The sum of the observed signals.
    seen: f32,
    /// The number of times it was recalled.
    pub recall_count: u32,
    /// The number of times it was used.
    pub used: u32,
    /// The number of times it was shown but not used.
    pub ignored: u32,
    /// The number of times it should have been shown.
    pub missed: u32,
    /// The number of times it misled an agent.
    pub misled: u32,
    /// The time of its last use in seconds since 1970.
    pub last_used_at: Option<i64>,
}

impl MemoryUsage {
    /// True if it was never recalled or missed since `from`, in seconds since 1970, and that is long ago.
    pub fn is_stale(&self, from: i64, now: i64) -> bool {
        self.recall_count == 0 && self.missed == 0 && now.saturating_sub(from) > STALE_DAYS * 86_400
    }

    /// The strength, between -1 (misled) and 1 (helped).
    pub fn strength(&self) -> f32 {
        (self.said + self.seen).clamp(-1.0, 1.0)
    }

    /// Adds a signal that came at this time.
    pub fn add(&mut self, signal: UsageSignal, at: Option<Timestamp>) {
        if signal.is_said() {
            self.said = (self.said + signal.worth()).clamp(-1.0, 1.0);
        } else {
            self.seen = (self.seen + signal.worth()).clamp(-OBSERVED_WEIGHT_CAP, OBSERVED_WEIGHT_CAP);
        }
        self.recall_count = self.recall_count.saturating_add(signal.is_recall().into());
        match signal {
            UsageSignal::Used => {
                self.used = self.used.saturating_add(1);
                self.last_used_at = at.map(Timestamp::as_second).max(self.last_used_at);
            }
            UsageSignal::Ignored => self.ignored += 1,
            UsageSignal::Missed => self.missed += 1,
            UsageSignal::Misled => self.misled += 1,
            UsageSignal::Good
            | UsageSignal::Wrong
            | UsageSignal::Stale
            | UsageSignal::Shown
            | UsageSignal::Recalled => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fbk_09_explicit_feedback_outweighs_observed_use() {
        for seen in [UsageSignal::Used, UsageSignal::Ignored, UsageSignal::Missed] {
            assert!(seen.worth().abs() < UsageSignal::Good.worth().abs());
        }
    }

    #[test]
    fn fbk_04_a_memory_is_stale_if_nobody_recalled_or_missed_it_for_three_months() {
        let (day, mut usage) = (86_400, MemoryUsage::default());
        assert!(!usage.is_stale(0, 90 * day) && usage.is_stale(0, 90 * day + 1));
        usage.add(UsageSignal::Recalled, None);
        assert!(!usage.is_stale(0, 400 * day));
    }
}
