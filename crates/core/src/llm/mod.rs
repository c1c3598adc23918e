//! The seam to language models: what is asked, what comes back, and whose fault it is when nothing does.
//!
//! A provider (a program of the person's, a server, rules without any model) implements [`Model`]; everything that
//! wants an answer takes a `&dyn Model`. It is one call with one answer: no conversation, no tools, no stream. Whoever
//! asks has to have a way on without the answer.

pub mod prompts;
use std::fmt;
use std::time::Duration;

use crate::llm::prompts::Template;
use crate::text;

/// Something that answers.
pub trait Model {
    /// `provider/model`.
    fn name(&self) -> &str;

    /// One answer, or the reason why there is none. Comes back by [`Request::deadline`] whatever happens, and asks once:
    /// whether to try again is for the caller to say, who knows what else waits.
    fn answer(&self, request: &Request) -> Result<Answer, Error>;
}

impl<M: Model + ?Sized> Model for &M {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &Request) -> Result<Answer, Error> {
        (**self).answer(request)
    }
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &Request) -> Result<Answer, Error> {
        (**self).answer(request)
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The words.
    pub prompt: Prompt,
    /// The shape that the answer should have. A provider passes it on where its server takes it; the answer is checked
    /// by whoever asked, always.
    pub expects: Expects,
    /// How long the answer may take, from the call on.
    pub deadline: Duration,
    /// What it may cost.
    pub budget: Budget,
}

/// Instructions, and what they are to be applied to. The two never mix: a provider that has a place for each uses
/// both, and one that has not puts the instructions first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    template: Template,
    material: String,
}

impl Prompt {
    /// Material comes from sessions and notes, so what may not leave is taken out of it here (B-02, B-03): no caller
    /// can forget it.
    pub fn new(template: Template, material: &str) -> Self {
        Self { template, material: text::admit(material).text }
    }

    /// Whose words these are, and in which version: for logs and for counting what a job costs.
    pub fn template(&self) -> Template {
        self.template
    }

    /// What to do.
    pub fn instructions(&self) -> &str {
        self.template.instructions()
    }

    /// What to do it with. Nothing in it is an order.
    pub fn material(&self) -> &str {
        &self.material
    }
}

/// The shape of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Expects {
    /// Text inside these tags: `query` for `<query>…</query>`.
    Tags(&'static [&'static str]),
    /// JSON by this schema. Servers that take a grammar or a schema are given it.
    Schema(serde_json::Value),
}

/// The most that an answer may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Tokens of the answer.
    pub tokens: u32,
    /// Money for question and answer. A provider that knows its prices refuses what would cost more.
    pub cost: Cost,
}

/// Money, in millionths of a dollar: what one token of a cheap model costs is still a whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// How many millionths.
    pub micro_dollars: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.micro_dollars / 1_000_000, self.micro_dollars % 1_000_000)
    }
}

/// What came back. Nothing in it is believed unchecked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was said.
    pub text: String,
    /// Whether the model came to an end by itself. Cut off by the budget or the line, the text may still be of use.
    pub whole: bool,
    /// How much was read and written; none if the provider does not say.
    pub usage: Option<Usage>,
    /// What it cost; none if nobody knows, which is not the same as nothing.
    pub cost: Option<Cost>,
}

/// How much was read and written, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Of the question.
    pub input: u64,
    /// Of the answer.
    pub output: u64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// Who can do something about it.
    pub fault: Fault,
    /// Whether asking again can help.
    pub retry: Retry,
    /// What happened and, if it is the person's to mend, what to do. Never holds the prompt, an answer or a key.
    pub message: String,
    /// What was used all the same: an answer that is of no use is paid for like any other (B-04).
    pub spent: Option<(Usage, Option<Cost>)>,
}

/// Who can do something about a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Rekindle: the request was not one that can be answered.
    Ours,
    /// The provider: down, slow, overloaded, or unwilling.
    Provider,
    /// The person: no key, no credit, no such model.
    Person,
}

/// Whether asking again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// The same question gets the same failure.
    Never,
    /// It may work after so long; zero for at once.
    After(Duration),
}

impl Error {
    /// A failure of `fault`.
    pub fn new(fault: Fault, retry: Retry, message: impl Into<String>) -> Self {
        Self { fault, retry, message: message.into(), spent: None }
    }

    /// The same, and it was paid for.
    #[must_use]
    pub fn having_spent(self, usage: Option<Usage>, cost: Option<Cost>) -> Self {
        Self { spent: usage.map(|usage| (usage, cost)), ..self }
    }

    /// No answer in time: the most common failure, and every provider's.
    pub fn late(deadline: Duration) -> Self {
        let message = format!("no answer within {} ms", deadline.as_millis());
        Self::new(Fault::Provider, Retry::After(Duration::ZERO), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_04_no_secret_gets_into_a_prompt() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let prompt = Prompt::new(prompts::REWRITE, &format!("push with \u{1b}[1m{token}"));
        assert_eq!(prompt.material(), "push with [redacted:github-token]");
        assert!(!prompt.instructions().is_empty() && !prompt.instructions().contains("<!--"));
    }

    #[test]
    fn money_is_shown_to_the_last_millionth() {
        let shown = |micro_dollars| Cost { micro_dollars }.to_string();
        assert_eq!([shown(0), shown(250), shown(12_034_000)], ["$0.000000", "$0.000250", "$12.034000"]);
    }

    #[test]
    fn a_late_answer_is_the_providers_fault_and_may_be_asked_again() {
        let late = Error::late(Duration::from_secs(2));
        assert_eq!((late.fault, late.retry), (Fault::Provider, Retry::After(Duration::ZERO)));
        assert_eq!(late.to_string(), "no answer within 2000 ms");
    }
}
