//! Research on an idea by a program (IDEA-04, X-22): the request, and the part of the answer that is kept.
//! The answer is untrusted text and stays a quotation.

use std::time::Duration;

use crate::config::ResearchSettings;
use crate::llm::prompts::RESEARCH;
use crate::llm::{AnswerFormat, Cost, LlmBudget, LlmPrompt, LlmRequest};
use crate::text::clean_and_redact;

/// The maximum cost of researching one idea.
pub const MAX_COST: Cost = Cost { micro_dollars: 250_000 };
/// The approximate number of characters per token.
const CHARS_PER_TOKEN: usize = 4;
/// The maximum length of an idea in the request, in characters.
const MAX_IDEA_CHARS: usize = 2_000;
const RESEARCH_TAG: &str = "research";

/// The request about an idea.
pub fn request(title: &str, summary: &str, limits: &ResearchSettings) -> LlmRequest {
    let idea: String = format!("{title}\n\n{summary}").chars().take(MAX_IDEA_CHARS).collect();
    let material = format!(
        "Fetch at most {} pages, and answer in at most {} tokens.\n\nThe idea:\n\n{idea}",
        limits.fetches, limits.tokens
    );
    LlmRequest {
        prompt: LlmPrompt::new(RESEARCH, &material),
        expects: AnswerFormat::Tags(&[RESEARCH_TAG]),
        deadline: Duration::from_secs(60 * u64::from(limits.minutes)),
        budget: LlmBudget { tokens: limits.tokens, cost: MAX_COST },
    }
}

/// The answer as a quotation of at most `tokens` tokens; `None` if it is empty. If a program does not use the
/// tags, its whole answer counts.
pub fn quotation(answer: &str, tokens: u32) -> Option<String> {
    let (open, close) = (format!("<{RESEARCH_TAG}>"), format!("</{RESEARCH_TAG}>"));
    let inside = answer.split_once(&open).map_or(answer, |(_, rest)| rest);
    let inside = inside.split_once(&close).map_or(inside, |(inside, _)| inside);
    let admitted = clean_and_redact(inside.trim()).text;
    let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(CHARS_PER_TOKEN);
    let mut text: String = admitted.chars().take(most).collect();
    if text.len() < admitted.len() {
        text.push_str(" […]");
    }
    let quoted: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    (!text.trim().is_empty()).then(|| quoted.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idea_04_research_results_are_quoted_and_capped() {
        assert_eq!(
            quotation("Sure!\n<research>\nOne.\n\n# Two\n</research> bye", 100).unwrap(),
            "> One.\n>\n> # Two"
        );
        assert_eq!(quotation("no tags", 100).unwrap(), "> no tags");
        assert_eq!(quotation("<research> \n</research>", 100), None);
        let long = quotation(&"word ".repeat(1000), 100).unwrap();
        assert!(long.len() < 420 && long.ends_with("[…]"), "{}", long.len());
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        assert!(!quotation(&format!("the key is {token}"), 100).unwrap().contains(token));
    }
}
