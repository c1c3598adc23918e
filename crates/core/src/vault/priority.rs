//! Priority: how long an observation is worth keeping (OBS-04…06).

use serde::{Deserialize, Serialize};

/// The priority of an observation, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// 🟢 Hours: open questions, routine, guesses.
    Low,
    /// 🟡 Days: files and settings with their purpose, solutions that worked.
    Medium,
    /// 🔴 Weeks and months: rules, decisions, root causes, corrections.
    High,
}

impl Priority {
    /// All priorities, highest first.
    pub const ALL: [Self; 3] = [Self::High, Self::Medium, Self::Low];

    /// The priority's sign in documents.
    pub fn emoji(self) -> &'static str {
        match self {
            Self::High => "🔴",
            Self::Medium => "🟡",
            Self::Low => "🟢",
        }
    }

    /// The priority's name in JSON and metadata (OBS-21).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }

    /// Parses the sign at the start of `text`, and returns the rest with it.
    pub fn strip_emoji(text: &str) -> Option<(Self, &str)> {
        let found =
            Self::ALL.into_iter().find_map(|priority| Some((priority, text.strip_prefix(priority.emoji())?)));
        // Some keyboards add a variation selector for a coloured glyph.
        found.map(|(priority, rest)| (priority, rest.trim_start_matches('\u{fe0f}')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_04_signs_read_back_and_order() {
        for priority in Priority::ALL {
            assert_eq!(Priority::strip_emoji(&format!("{} x", priority.emoji())), Some((priority, " x")));
            assert_eq!(serde_json::to_string(&priority).unwrap(), format!("\"{}\"", priority.as_str()));
        }
        assert_eq!(Priority::strip_emoji("🔴\u{fe0f}x"), Some((Priority::High, "x")));
        assert_eq!(Priority::strip_emoji("x 🔴"), None);
        assert!(Priority::High > Priority::Medium && Priority::Medium > Priority::Low);
    }
}
