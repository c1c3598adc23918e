//! Error messages of model failures. They never repeat the question, an answer or a key (SEC-04).

use std::time::Duration;

use rekindle_core::llm::{Error, FailureOwner, LlmRequest, RetryAdvice};
use rekindle_core::text::clean::one_line;
use rekindle_core::text::clean_and_redact;

/// The maximum length of a quoted server message.
const MAX_REPORTED_CHARS: usize = 300;
/// The length of a piece of the question that counts as a quotation of it.
const MIN_ECHO_CHARS: usize = 20;

pub(super) fn user_error(message: impl Into<String>) -> Error {
    Error::new(FailureOwner::Person, RetryAdvice::Never, message)
}

pub(super) fn internal_error(message: impl Into<String>) -> Error {
    Error::new(FailureOwner::Ours, RetryAdvice::Never, message)
}

pub(super) fn provider(after: Duration, message: impl Into<String>) -> Error {
    Error::new(FailureOwner::Provider, RetryAdvice::After(after), message)
}

/// An error for a refusal that no retry changes.
pub(super) fn refusal_error(message: impl Into<String>) -> Error {
    Error::new(FailureOwner::Provider, RetryAdvice::Never, message)
}

/// Formats `: their message`, on one line, without secrets; empty if it repeats the question. `key` is the
/// key that we sent.
pub(super) fn reported_text(text: &str, request: &LlmRequest, key: Option<&str>) -> String {
    let text = match key {
        Some(key) => text.replace(key, "[key]"),
        None => text.to_owned(),
    };
    let text = one_line(&clean_and_redact(&text).text, usize::MAX);
    if text.is_empty() {
        return String::new();
    }
    let asked = one_line(request.prompt.material(), usize::MAX);
    if echoes_request(&text, &asked) {
        return " (its message repeats the question and is not shown)".to_owned();
    }
    // Keep the end: programs put their reason last.
    let skip = text.chars().count().saturating_sub(MAX_REPORTED_CHARS);
    let end: String = text.chars().skip(skip).collect();
    format!(": {}{end}", if skip > 0 { "…" } else { "" })
}

/// True if a piece of `asked` occurs in `text`. It tries a piece at every tenth character, so that any match
/// of thirty characters is found.
fn echoes_request(text: &str, asked: &str) -> bool {
    let asked: Vec<char> = asked.chars().collect();
    if asked.len() < MIN_ECHO_CHARS {
        return asked.len() > 3 && text.contains(&asked.iter().collect::<String>());
    }
    let half = MIN_ECHO_CHARS / 2;
    (0..=asked.len() - MIN_ECHO_CHARS)
        .step_by(half)
        .any(|at| text.contains(&asked[at..at + MIN_ECHO_CHARS].iter().collect::<String>()))
}

#[cfg(test)]
mod tests {
    use rekindle_core::llm::prompts;
    use rekindle_core::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt};

    use super::*;

    fn request(material: &str) -> LlmRequest {
        LlmRequest {
            prompt: LlmPrompt::new(prompts::REWRITE, material),
            expects: AnswerFormat::Tags(&["query"]),
            deadline: Duration::from_secs(1),
            budget: LlmBudget { tokens: 10, cost: Cost::default() },
        }
    }

    #[test]
    fn sec_04_reported_errors_contain_no_key_secret_or_prompt() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let asked = request("the heating pump in the cellar\nmakes a humming noise at night");
        let shown = |text: &str| reported_text(text, &asked, Some("k-123"));
        assert_eq!(shown("bad\nthing"), ": bad thing");
        assert_eq!(shown(""), "");
        assert_eq!(shown("wrong key k-123"), ": wrong key [key]");
        assert!(!shown(&format!("token {token}")).contains("ghp_"));
        for echo in
            ["unexpected `pump in the cellar makes a humming noise`", "x the heating pump in the cellar"]
        {
            assert!(!shown(echo).contains("pump"), "{echo}");
        }
        let long = shown(&format!("{} the end", "x ".repeat(1000)));
        assert!(long.chars().count() < 310 && long.ends_with("the end"));
        assert!(!reported_text("about zebra", &request("zebra"), None).contains("zebra"));
    }
}
