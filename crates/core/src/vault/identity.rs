//! Identity files, the permanent tier: who the agent is and whom it works for (IDN-01). The person writes
//! them. Rekindle reads them, proposes changes (IDN-05), and writes only the starters below, once, on `init`.

/// One of the identity files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityDocument {
    /// The name of the file.
    pub name: &'static str,
    /// The purpose of the file in a few words.
    pub purpose: &'static str,
    /// The initial content: a heading and a hint that note apps hide.
    pub starter: &'static str,
    /// True if a session starts by reading it, in this order, before MEMORY.md and today's log (IDN-04).
    pub read_at_start: bool,
}

/// All identity files, in reading order.
pub const DOCUMENTS: [IdentityDocument; 4] = [
    IdentityDocument {
        name: "SOUL.md",
        purpose: "voice, values, boundaries",
        starter: "# Soul\n\n<!-- How your agents should sound, what they value, what they must never do. -->\n",
        read_at_start: true,
    },
    IdentityDocument {
        name: "USER.md",
        purpose: "about you",
        starter: "# User\n\n<!-- What an agent should know about you: your work, your machine, how you like things. -->\n",
        read_at_start: true,
    },
    IdentityDocument {
        name: "IDENTITY.md",
        purpose: "the agent's name and nature",
        starter: "# Identity\n\n<!-- What the agent is called and what it is. -->\n",
        read_at_start: false,
    },
    IdentityDocument {
        name: "AGENTS.md",
        purpose: "operating instructions that every agent shares",
        starter: "# Agents\n\n<!-- Instructions for every agent. `rekindle identity link DIR` makes an agent's folder use this file. -->\n",
        read_at_start: false,
    },
];

/// The file that all agents must share (IDN-02).
pub const SHARED_DOCUMENT: &str = "AGENTS.md";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idn_04_soul_comes_before_user() {
        let read: Vec<_> = DOCUMENTS.iter().filter(|d| d.read_at_start).map(|d| d.name).collect();
        assert_eq!(read, ["SOUL.md", "USER.md"]);
    }
}
