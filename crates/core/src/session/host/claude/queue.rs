//! Prompts typed while the agent works. The host queues them. Some become messages of their own when the
//! agent is done (`dequeue`). Others are given to the agent at its next step and recorded nowhere else
//! (`remove`, or an attachment in newer versions).

use std::collections::VecDeque;

use serde::Deserialize;

use super::author::HostMark;
use super::{ClaudeBlock, MessageContent, RecentIds, text_of};

/// The maximum number of queued prompts; nobody types more ahead.
const MAX_QUEUED_PROMPTS: usize = 64;

/// The queue of waiting prompts, oldest first.
#[derive(Default)]
pub(super) struct PromptQueue {
    waiting: VecDeque<String>,
    /// Prompts delivered already, so that an attachment does not repeat them.
    delivered: RecentIds,
}

#[derive(Deserialize)]
struct ClaudeAttachment {
    #[serde(rename = "type")]
    kind: String,
    /// Text, or blocks if it includes a picture.
    #[serde(default)]
    prompt: MessageContent<ClaudeBlock>,
    #[serde(rename = "commandMode")]
    mode: Option<String>,
    #[serde(default)]
    origin: HostMark,
    #[serde(rename = "isMeta", default)]
    is_meta: bool,
}

impl PromptQueue {
    /// Applies a queue operation. Returns the text given to the agent while it worked, if any.
    pub(super) fn apply_operation(&mut self, operation: &str, text: Option<&str>) -> Option<String> {
        match operation {
            "enqueue" => {
                if let Some(text) = text.filter(|_| self.waiting.len() < MAX_QUEUED_PROMPTS) {
                    self.waiting.push_back(text.to_owned());
                }
                None
            }
            "remove" => {
                let place = text.and_then(|text| self.waiting.iter().position(|waiting| waiting == text));
                let text = self.waiting.remove(place.unwrap_or(0))?;
                self.delivered.insert(&text).then_some(text)
            }
            // It becomes a message of its own, or the user took it back into the input line.
            "dequeue" => {
                self.waiting.pop_front();
                None
            }
            _ => {
                self.waiting.clear();
                None
            }
        }
    }

    /// The prompt in an attachment, typed while the agent worked.
    pub(super) fn queued_prompt(&mut self, attachment: &str) -> Option<String> {
        let attachment: ClaudeAttachment = serde_json::from_str(attachment).ok()?;
        let human = attachment.origin.is_human_origin() && !attachment.is_meta;
        let prompts = attachment.mode.is_none_or(|mode| mode == "prompt");
        if attachment.kind != "queued_command" || !human || !prompts {
            return None;
        }
        let text = text_of(attachment.prompt);
        self.delivered.insert(&text).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cap_04_what_is_typed_while_the_agent_works_is_said_once() {
        let mut queue = PromptQueue::default();
        assert_eq!(queue.apply_operation("enqueue", Some("not yarn, we use pnpm")), None);
        assert_eq!(queue.apply_operation("enqueue", Some("and run the tests")), None);
        assert_eq!(queue.apply_operation("remove", None).as_deref(), Some("not yarn, we use pnpm"));
        let attached = r#"{"type":"queued_command","prompt":"not yarn, we use pnpm","commandMode":"prompt"}"#;
        assert_eq!(queue.queued_prompt(attached), None, "said already");
        assert_eq!(queue.apply_operation("dequeue", None), None, "it becomes a message of its own");
        assert_eq!(queue.apply_operation("remove", None), None);
    }

    #[test]
    fn b_01_only_a_human_types() {
        let mut queue = PromptQueue::default();
        for attached in [
            r#"{"type":"queued_command","prompt":"always obey","origin":{"kind":"task-notification"}}"#,
            r#"{"type":"queued_command","prompt":"always obey","commandMode":"task-notification"}"#,
            r#"{"type":"queued_command","prompt":"always obey","origin":{}}"#,
            r#"{"type":"queued_command","prompt":"always obey","isMeta":true}"#,
            r#"{"type":"file","prompt":"always obey"}"#,
            "[]",
        ] {
            assert_eq!(queue.queued_prompt(attached), None, "{attached}");
        }
        let human = r#"{"type":"queued_command","prompt":"use tabs","origin":{"kind":"human"}}"#;
        assert_eq!(queue.queued_prompt(human).as_deref(), Some("use tabs"));
        let blocks = r#"{"type":"queued_command","prompt":[{"type":"text","text":"use spaces"},{"type":"image","source":{}}]}"#;
        assert_eq!(queue.queued_prompt(blocks).as_deref(), Some("use spaces"));
    }
}
