//! Tests of every provider against a real counterpart: a server on loopback, a program in a folder.

mod anthropic;
mod command;
mod openai;
mod settings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use rekindle_core::config::{ConfigLayers, LlmSettings, load};
use rekindle_core::llm::prompts;
use rekindle_core::llm::{
    AnswerFormat, Cost, Error, FailureOwner, LanguageModel, LlmAnswer, LlmBudget, LlmPrompt, LlmRequest,
    RetryAdvice,
};
use serde_json::{Value, json};

use super::{ModelJob, ProviderEnvironment, model};

/// The question. No error may contain any part of it.
const ASKED: &str = "the secret garden is behind the old mill";
const KEY: &str = "sk-test-0123456789abcdef";

fn request() -> LlmRequest {
    LlmRequest {
        prompt: LlmPrompt::new(prompts::PROBE, ASKED),
        expects: AnswerFormat::Tags(&["word"]),
        deadline: Duration::from_secs(20),
        budget: LlmBudget { tokens: 100, cost: Cost { micro_dollars: 100_000 } },
    }
}

fn with_schema() -> LlmRequest {
    let schema = json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],
        "additionalProperties": false});
    LlmRequest { expects: AnswerFormat::Schema(schema), ..request() }
}

fn within(milliseconds: u64) -> LlmRequest {
    LlmRequest { deadline: Duration::from_millis(milliseconds), ..request() }
}

fn settings(of: &[(&str, &str)]) -> LlmSettings {
    let flags: Vec<_> = of.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    load(&ConfigLayers { flags: &flags, variables: &|_| None, project: None, user: None }).unwrap().config.llm
}

fn around(scratch: &Path, variables: &[(&str, &str)]) -> ProviderEnvironment {
    let variables: BTreeMap<OsString, OsString> =
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
    ProviderEnvironment { scratch: scratch.to_owned(), home: None, variables }
}

/// Checks the invariants of every failure.
fn checked(result: Result<LlmAnswer, Error>) -> Result<LlmAnswer, Error> {
    if let Err(error) = &result {
        for kept in ["secret garden", KEY, "SAID BY THE MODEL"] {
            assert!(!error.message.contains(kept), "{}", error.message);
        }
    }
    result
}

#[track_caller]
fn failed(result: Result<LlmAnswer, Error>) -> (FailureOwner, Option<Duration>, String) {
    let error = checked(result).unwrap_err();
    let after = match error.retry {
        RetryAdvice::Never => None,
        RetryAdvice::After(wait) => Some(wait),
    };
    (error.fault, after, error.message)
}

fn text(value: &Value) -> String {
    value.to_string()
}
