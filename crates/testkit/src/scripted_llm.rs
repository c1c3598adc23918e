//! A language model that returns scripted answers.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rekindle_core::llm::{
    Error, FailureOwner, LanguageModel, LlmAnswer, LlmRequest, RetryAdvice, TokenUsage,
};

/// The model's reaction to one request.
#[derive(Clone, Debug)]
struct ScriptedTurn {
    after: Duration,
    result: Result<LlmAnswer, Error>,
}

/// A model with a queue of answers and failures, one per request. It records the requests.
///
/// It keeps the deadline as a provider must: an answer that would take longer is a failure at the deadline.
/// At the end of the script every request fails.
#[derive(Debug, Default)]
pub struct ScriptedLlm {
    turns: Mutex<VecDeque<ScriptedTurn>>,
    requests: Mutex<Vec<LlmRequest>>,
}

impl ScriptedLlm {
    /// Creates a model with an empty script.
    pub fn new() -> Self {
        Self::default()
    }

    /// Queues an answer. Its usage is one token per four letters.
    #[must_use]
    pub fn says(self, text: &str) -> Self {
        self.says_after(Duration::ZERO, text)
    }

    /// Queues an answer that arrives after a delay.
    #[must_use]
    pub fn says_after(self, delay: Duration, text: &str) -> Self {
        let answer = LlmAnswer { text: text.to_owned(), whole: true, usage: None, cost: None };
        self.turn(delay, Ok(answer))
    }

    /// Queues a complete answer.
    #[must_use]
    pub fn answers(self, answer: LlmAnswer) -> Self {
        self.turn(Duration::ZERO, Ok(answer))
    }

    /// Queues a failure for the next request.
    #[must_use]
    pub fn fails(self, error: Error) -> Self {
        self.turn(Duration::ZERO, Err(error))
    }

    fn turn(self, after: Duration, result: Result<LlmAnswer, Error>) -> Self {
        lock(&self.turns).push_back(ScriptedTurn { after, result });
        self
    }

    /// The requests received so far.
    pub fn requests(&self) -> Vec<LlmRequest> {
        lock(&self.requests).clone()
    }

    /// The number of answers left in the queue.
    pub fn left(&self) -> usize {
        lock(&self.turns).len()
    }
}

impl LanguageModel for ScriptedLlm {
    fn name(&self) -> &str {
        "scripted/model"
    }

    fn answer(&self, request: &LlmRequest) -> Result<LlmAnswer, Error> {
        lock(&self.requests).push(request.clone());
        let over = || Error::new(FailureOwner::Ours, RetryAdvice::Never, "the script is over");
        let turn = lock(&self.turns).pop_front().ok_or_else(over)?;
        thread::sleep(turn.after.min(request.deadline));
        if turn.after > request.deadline {
            return Err(Error::timed_out(request.deadline));
        }
        let mut answer = turn.result?;
        if answer.usage.is_none() {
            let tokens = |text: &str| (text.chars().count() as u64).div_ceil(4);
            let input = tokens(request.prompt.instructions()) + tokens(request.prompt.material());
            answer.usage = Some(TokenUsage { input, output: tokens(&answer.text) });
        }
        Ok(answer)
    }
}

/// Locks a mutex, ignoring poison: a test that failed while holding the lock has reported its failure
/// already.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
