//! Statements: sentences of a session that hold beyond it.
//!
//! Most of them contain no cue word, so a small classifier labels every sentence that a user typed, with the
//! agent's words before it. `core` gets the labels through a function ([`ClassifyFn`]) and interprets them; the
//! engine runs the model.

/// The number of characters of context before a sentence. `models/teach_statements.py` has the same four
/// numbers.
const MAX_BEFORE_CHARS: usize = 200;
/// The number of characters of the same message on either side of a sentence.
const MAX_AROUND_CHARS: usize = 100;
/// The number of characters of an interrupted call.
const MAX_STOPPED_CHARS: usize = 80;
/// The maximum length of a sentence, in characters.
pub const MAX_SENTENCE_CHARS: usize = 400;

/// The minimum probability at which the kind of a statement is reliable.
const SURE: f32 = 0.5;

/// Labels a sentence in its context.
pub type ClassifyFn<'a> = dyn Fn(&str, &str) -> StatementLabels + 'a;

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// An instruction to do something, or not to.
    Rule,
    /// A preference of the user.
    Preference,
    /// A convention of this project.
    Convention,
    /// A choice that was made.
    Decision,
    /// A fact about hosts, ports, versions, paths or owners.
    Environment,
    /// The cause of a failure or a behaviour.
    Cause,
    /// Work that remains to be done.
    Work,
}

impl StatementKind {
    /// All kinds, in the order of the classifier's outputs.
    pub const ALL: [Self; 7] = [
        Self::Rule,
        Self::Preference,
        Self::Convention,
        Self::Decision,
        Self::Environment,
        Self::Cause,
        Self::Work,
    ];
}

/// The classifier's probabilities for a sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StatementLabels {
    /// It holds beyond the current task.
    pub lasting: f32,
    /// It is a one-off instruction.
    pub once: f32,
    /// The kind, if it lasts, in the order of [`StatementKind::ALL`].
    pub kinds: [f32; 7],
    /// It concerns the user or all of their work.
    pub everywhere: f32,
    /// It ends an earlier state.
    pub ends: f32,
}

impl StatementLabels {
    /// The most likely kind.
    pub fn kind(&self) -> StatementKind {
        let best = (0..StatementKind::ALL.len()).max_by(|a, b| self.kinds[*a].total_cmp(&self.kinds[*b]));
        StatementKind::ALL[best.unwrap_or(0)]
    }

    /// The kind of the resulting memory; `None` if the classifier is not sure.
    pub fn entry_kind(&self) -> Option<&'static str> {
        let is_sure = self.lasting >= SURE && self.kinds.iter().any(|likely| *likely >= SURE);
        let kind = match self.kind() {
            StatementKind::Rule => "rule",
            StatementKind::Preference => "preference",
            StatementKind::Convention => "convention",
            StatementKind::Decision => "decision",
            StatementKind::Environment => "fact",
            StatementKind::Cause => "fix",
            StatementKind::Work => return None,
        };
        is_sure.then_some(kind)
    }
}

/// The speaker of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementSpeaker {
    /// The user typed the sentence.
    User,
    /// The agent wrote the sentence.
    Agent,
}

/// The context of a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementContext<'a> {
    /// The call that the user interrupted.
    pub stopped: Option<&'a str>,
    /// The text before: the agent's words for a user's sentence, the request for an agent's.
    pub before: &'a str,
    /// The same message up to the sentence.
    pub ahead: &'a str,
    /// The same message after the sentence.
    pub behind: &'a str,
}

/// The context in the format that the classifier was trained on.
pub fn context(speaker: StatementSpeaker, around: &StatementContext<'_>) -> String {
    let who = match speaker {
        StatementSpeaker::User => "user",
        StatementSpeaker::Agent => "agent",
    };
    let stopped = around.stopped.map(|act| format!(" stopped {}", head(act.trim(), MAX_STOPPED_CHARS)));
    format!(
        "{who}{}: {} | {} | {}",
        stopped.unwrap_or_default(),
        tail(around.before.trim(), MAX_BEFORE_CHARS),
        tail(around.ahead.trim(), MAX_AROUND_CHARS),
        head(around.behind.trim(), MAX_AROUND_CHARS),
    )
}

fn head(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

fn tail(text: &str, most: usize) -> &str {
    let skipped = text.chars().count().saturating_sub(most);
    text.char_indices().nth(skipped).map_or("", |(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_cut_as_it_was_taught() {
        let long = "ä".repeat(300);
        let around =
            StatementContext { stopped: Some("Bash: npm i"), before: &long, ahead: "so", behind: "" };
        let text = context(StatementSpeaker::User, &around);
        assert_eq!(text, format!("user stopped Bash: npm i: {} | so | ", "ä".repeat(200)));
        assert_eq!(context(StatementSpeaker::Agent, &StatementContext::default()), "agent:  |  | ");
    }

    #[test]
    fn the_likeliest_kind_counts() {
        let mut labels = StatementLabels::default();
        labels.kinds[4] = 0.6;
        assert_eq!(labels.kind(), StatementKind::Environment);
    }
}
