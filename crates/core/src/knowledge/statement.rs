//! Statements: sentences of a session that hold beyond it.
//!
//! Most of them carry no telling word, so a small classifier looks at every sentence that a person typed, with what the agent
//! said before it. `core` asks for its labels through a function ([`Classify`]) and decides what becomes of them; the engine
//! runs the model.

/// Characters of what was said before a sentence. `models/teach_statements.py` has the same four numbers.
const BEFORE_CHARS: usize = 200;
/// Characters of the same message on either side of a sentence.
const AROUND_CHARS: usize = 100;
/// Characters of what the agent was doing when it was stopped.
const STOPPED_CHARS: usize = 80;
/// The most characters of a sentence.
pub const SENTENCE_CHARS: usize = 400;

/// The least probability at which a label counts.
const SURE: f32 = 0.5;

/// Labels a sentence in its context.
pub type Classify<'a> = dyn Fn(&str, &str) -> Labels + 'a;

/// What kind of thing a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StatementKind {
    /// Do this, or do not.
    Rule,
    /// How the person likes things.
    Preference,
    /// How this project does it.
    Convention,
    /// What was chosen.
    Decision,
    /// Hosts, ports, versions, paths, owners.
    Environment,
    /// Why something broke or behaves as it does.
    Cause,
    /// What is left to do.
    Work,
}

impl StatementKind {
    /// In the order of the classifier's outputs.
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

/// What the classifier says of a sentence: probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Labels {
    /// It holds beyond the present task.
    pub lasting: f32,
    /// It is an instruction for this once.
    pub once: f32,
    /// Which kind it is if it lasts, in the order of [`StatementKind::ALL`].
    pub kinds: [f32; 7],
    /// It is about the person or all of their work.
    pub everywhere: f32,
    /// It ends something that held before.
    pub ends: f32,
}

impl Labels {
    /// The likeliest kind.
    pub fn kind(&self) -> StatementKind {
        let best = (0..StatementKind::ALL.len()).max_by(|a, b| self.kinds[*a].total_cmp(&self.kinds[*b]));
        StatementKind::ALL[best.unwrap_or(0)]
    }

    /// The kind of the memory that such a statement becomes; `None` where the classifier is not sure.
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

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    User,
    /// The agent.
    Agent,
}

/// What stands around a sentence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// What the agent was doing when the person stopped it.
    pub stopped: Option<&'a str>,
    /// For a person's sentence what the agent said before, for an agent's the request.
    pub before: &'a str,
    /// The same message up to the sentence.
    pub ahead: &'a str,
    /// The same message behind it.
    pub behind: &'a str,
}

/// The context as the classifier was taught to read it.
pub fn context(speaker: Speaker, around: &Surroundings<'_>) -> String {
    let who = match speaker {
        Speaker::User => "user",
        Speaker::Agent => "agent",
    };
    let stopped = around.stopped.map(|act| format!(" stopped {}", head(act.trim(), STOPPED_CHARS)));
    format!(
        "{who}{}: {} | {} | {}",
        stopped.unwrap_or_default(),
        tail(around.before.trim(), BEFORE_CHARS),
        tail(around.ahead.trim(), AROUND_CHARS),
        head(around.behind.trim(), AROUND_CHARS),
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
        let around = Surroundings { stopped: Some("Bash: npm i"), before: &long, ahead: "so", behind: "" };
        let text = context(Speaker::User, &around);
        assert_eq!(text, format!("user stopped Bash: npm i: {} | so | ", "ä".repeat(200)));
        assert_eq!(context(Speaker::Agent, &Surroundings::default()), "agent:  |  | ");
    }

    #[test]
    fn the_likeliest_kind_counts() {
        let mut labels = Labels::default();
        labels.kinds[4] = 0.6;
        assert_eq!(labels.kind(), StatementKind::Environment);
    }
}
