//! The prompts for language models. The texts are in Markdown files beside this one. Each has a version, so
//! that an output can be traced to the prompt it came from. They contain no worked examples, because small
//! models return those as facts.

/// A prompt for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptTemplate {
    /// The name of the job.
    pub name: &'static str,
    /// The version, increased with every change of the text.
    pub version: u32,
    text: &'static str,
}

impl PromptTemplate {
    /// The text without its first line, which holds name and version.
    pub fn instructions(&self) -> &'static str {
        self.text.split_once('\n').map_or(self.text, |(_, words)| words).trim()
    }
}

/// Rewrites a question as search terms (REC-05).
pub const REWRITE: PromptTemplate =
    PromptTemplate { name: "rewrite", version: 1, text: include_str!("rewrite.md") };

/// Turns a session into observations (OBS-03…16).
pub const OBSERVE: PromptTemplate =
    PromptTemplate { name: "observe", version: 2, text: include_str!("observe.md") };

/// Turns observations into memories worth keeping (SID-02, SID-03).
pub const MINE: PromptTemplate = PromptTemplate { name: "mine", version: 1, text: include_str!("mine.md") };

/// Turns observations into ideas (IDEA-01).
pub const IDEAS: PromptTemplate =
    PromptTemplate { name: "ideas", version: 1, text: include_str!("ideas.md") };

/// Answers a question from passages (REC-16).
pub const ANSWER: PromptTemplate =
    PromptTemplate { name: "answer", version: 1, text: include_str!("answer.md") };

/// Asks for one word, to test if the model answers.
pub const PROBE: PromptTemplate =
    PromptTemplate { name: "probe", version: 1, text: include_str!("probe.md") };

/// Turns observations into proposals (REF-04…11).
pub const REFLECT: PromptTemplate =
    PromptTemplate { name: "reflect", version: 1, text: include_str!("reflect.md") };

/// Researches an idea (IDEA-04).
pub const RESEARCH: PromptTemplate =
    PromptTemplate { name: "research", version: 1, text: include_str!("research.md") };
/// Finds recurring friction in observations (FRI-03).
pub const FRICTION: PromptTemplate =
    PromptTemplate { name: "friction", version: 1, text: include_str!("friction.md") };
/// Selects the proposals worth asking about (REV-09).
pub const TRIAGE: PromptTemplate =
    PromptTemplate { name: "triage", version: 1, text: include_str!("triage.md") };
/// Grades an inferred proposal (SID-09).
pub const GRADE: PromptTemplate =
    PromptTemplate { name: "grade", version: 1, text: include_str!("grade.md") };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::ContentHash;

    /// Every template with the hash of its text in this version.
    const ALL: [(PromptTemplate, &str); 11] = [
        (FRICTION, "7ae4a32f59d2f97c"),
        (REWRITE, "ea4854b5b56c0d3e"),
        (OBSERVE, "a8379c53ebafbeca"),
        (MINE, "a4d1b8555719af32"),
        (IDEAS, "196e2d902fdfb0c3"),
        (ANSWER, "39c2861fd23c81ea"),
        (REFLECT, "0df0ce08713eb552"),
        (TRIAGE, "b712b012f7803121"),
        (PROBE, "656a16b05c64965c"),
        (RESEARCH, "235f29968170f040"),
        (GRADE, "86e44567086a139d"),
    ];

    /// Requirements: OBS-23.
    #[test]
    fn a_changed_word_is_a_new_version() {
        for (template, hash) in ALL {
            let PromptTemplate { name, version, text } = template;
            assert_eq!(text.lines().next().unwrap(), format!("<!-- {name}, version {version} -->"));
            assert_eq!(
                ContentHash::of_bytes(text.as_bytes()).short_hex(16),
                hash,
                "{name}.md changed: raise its version here and in the file, then put the new hash into this test"
            );
            assert!(template.instructions().len() > 100);
        }
    }
}
