//! The interface to language models: requests, answers, and errors that say who can fix them.
//!
//! A provider (a local program, a server, or rules without a model) implements [`LanguageModel`]. Callers take a
//! `&dyn LanguageModel`. A call has one answer: no conversation, no tools, no streaming. Every caller must have a
//! fallback for a missing answer.

pub mod prompts;
use std::fmt;
use std::time::Duration;

use crate::llm::prompts::PromptTemplate;
use crate::text;

/// A language model that answers requests.
pub trait LanguageModel {
    /// The model's full name, `provider/model`.
    fn name(&self) -> &str;

    /// Answers the request once, or says why not. Always returns by [`LlmRequest::deadline`]. Retrying is up to
    /// the caller, who knows what else is waiting.
    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error>;
}

impl<M: LanguageModel + ?Sized> LanguageModel for &M {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        (**self).answer(request)
    }
}

impl<M: LanguageModel + ?Sized> LanguageModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        (**self).answer(request)
    }
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct LlmRequest {
    /// The instructions and the material.
    pub prompt: LlmPrompt,
    /// The expected shape of the answer. A provider passes it on if its server supports that. The caller
    /// always checks the answer.
    pub expects: AnswerFormat,
    /// The time limit for the answer, from the call on.
    pub deadline: Duration,
    /// The cost limit for the answer.
    pub budget: LlmBudget,
}

/// Instructions, and the material to apply them to. The two never mix: a provider with a place for each uses
/// both, any other puts the instructions first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmPrompt {
    template: PromptTemplate,
    material: String,
}

impl LlmPrompt {
    /// Builds a prompt and redacts the material, which comes from sessions and notes (B-02, B-03). No caller
    /// can forget to do it.
    pub fn new(template: PromptTemplate, material: &str) -> Self {
        Self { template, material: text::clean_and_redact(material).text }
    }

    /// The template of the instructions with its version, for logs and for cost per job.
    pub fn template(&self) -> PromptTemplate {
        self.template
    }

    /// The instructions from the template.
    pub fn instructions(&self) -> &str {
        self.template.instructions()
    }

    /// The material to work on. Nothing in it is an instruction.
    pub fn material(&self) -> &str {
        &self.material
    }
}

/// The expected shape of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerFormat {
    /// Text inside these tags: `query` for `<query>…</query>`.
    Tags(&'static [&'static str]),
    /// JSON by this schema. Servers that support a grammar or a schema receive it.
    Schema(serde_json::Value),
}

/// The cost limits of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmBudget {
    /// The maximum number of tokens in the answer.
    pub tokens: u32,
    /// The maximum cost of the request and the answer. A provider that knows its prices refuses requests that
    /// would cost more.
    pub cost: Cost,
}

/// An amount of money in millionths of a dollar, so that one token of a cheap model costs a whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// The amount in millionths of a dollar.
    pub micro_dollars: u64,
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}.{:06}", self.micro_dollars / 1_000_000, self.micro_dollars % 1_000_000)
    }
}

/// A model's answer, not validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlmAnswer {
    /// The text of the answer.
    pub text: String,
    /// True if the model finished by itself. A text cut off by the budget or the connection may still be
    /// useful.
    pub whole: bool,
    /// The tokens read and written, if the provider reports them.
    pub usage: Option<TokenUsage>,
    /// The cost, if known. `None` does not mean free.
    pub cost: Option<Cost>,
}

/// Token counts of a request and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Tokens in the request.
    pub input: u64,
    /// Tokens in the answer.
    pub output: u64,
}

/// The reason for a missing answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// The party that can fix it.
    pub fault: FailureOwner,
    /// The advice on retrying the request.
    pub retry: RetryAdvice,
    /// The failure and, if the user can fix it, what to do. Never contains the prompt, an answer or a key.
    pub message: String,
    /// The usage in spite of the failure: an unusable answer costs like any other (B-04).
    pub spent: Option<(TokenUsage, Option<Cost>)>,
}

/// The party that can fix a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureOwner {
    /// Rekindle: the request was invalid.
    Ours,
    /// The provider: down, slow, overloaded, or unwilling.
    Provider,
    /// The user: no key, no credit, no such model.
    Person,
}

/// Advice on retrying a failed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryAdvice {
    /// Retrying gives the same failure.
    Never,
    /// Retrying may work after this delay; zero for at once.
    After(Duration),
}

impl Error {
    /// Creates an error without usage.
    pub fn new(fault: FailureOwner, retry: RetryAdvice, message: impl Into<String>) -> Self {
        Self { fault, retry, message: message.into(), spent: None }
    }

    /// Adds the usage that the failed request was billed for.
    #[must_use]
    pub fn with_usage(self, usage: Option<TokenUsage>, cost: Option<Cost>) -> Self {
        Self { spent: usage.map(|usage| (usage, cost)), ..self }
    }

    /// The error for a timeout, the most common failure of every provider.
    pub fn timed_out(deadline: Duration) -> Self {
        let message = format!("no answer within {} ms", deadline.as_millis());
        Self::new(FailureOwner::Provider, RetryAdvice::After(Duration::ZERO), message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_04_no_secret_gets_into_a_prompt() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let prompt = LlmPrompt::new(prompts::REWRITE, &format!("push with \u{1b}[1m{token}"));
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
        let late = Error::timed_out(Duration::from_secs(2));
        assert_eq!((late.fault, late.retry), (FailureOwner::Provider, RetryAdvice::After(Duration::ZERO)));
        assert_eq!(late.to_string(), "no answer within 2000 ms");
    }
}
