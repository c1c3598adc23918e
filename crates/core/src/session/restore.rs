//! Restores the messages of a window from its text and its event: the inverse of
//! [`serialise`](super::serialise).
//!
//! A window that came through `send` is text alone. Its messages are found by their labels, and numbered.

use super::message::{Message, MessageRole, ToolCall, ToolOutcome};
use super::serialise::{ASSISTANT_LABEL, CALLS_LABEL, RESULT_LABEL, SUMMARY_LABEL, USER_LABEL, is_label};
use crate::base::time::Zoned;
use crate::base::time_of_day::TimeOfDay;

/// One block of the serialised text.
struct MessageBlock {
    clock: Option<TimeOfDay>,
    label: &'static str,
    text: String,
}

impl MessageBlock {
    fn role(&self) -> MessageRole {
        match self.label {
            USER_LABEL => MessageRole::User,
            RESULT_LABEL => MessageRole::Tool,
            SUMMARY_LABEL => MessageRole::Summary,
            _ => MessageRole::Assistant,
        }
    }
}

/// The messages of a window. `turns` are the event's messages without text. `captured` is the time of
/// capture, which gives the date for a text that has only times of day.
pub fn restore(text: &str, turns: &[Message], captured: &Zoned) -> Vec<Message> {
    let blocks = blocks(text);
    join_blocks_and_turns(&blocks, turns).unwrap_or_else(|| numbered(&blocks, captured))
}

fn blocks(text: &str) -> Vec<MessageBlock> {
    let mut blocks: Vec<MessageBlock> = Vec::new();
    for line in text.split('\n') {
        if let Some((clock, label, rest)) = head(line) {
            blocks.push(MessageBlock { clock, label, text: rest.to_owned() });
        } else if let Some(block) = blocks.last_mut() {
            let line = line.strip_prefix('\\').filter(|line| is_label(line)).unwrap_or(line);
            block.text.push('\n');
            block.text.push_str(line);
        } else if !line.trim().is_empty() {
            // Words before any label have an unknown author, so they do not count as the user's.
            blocks.push(MessageBlock { clock: None, label: RESULT_LABEL, text: line.to_owned() });
        }
    }
    for block in &mut blocks {
        block.text.truncate(block.text.trim_end().len());
    }
    blocks
}

/// Parses the head of a block: `[14:05] [User]: …`, with or without the time.
fn head(line: &str) -> Option<(Option<TimeOfDay>, &'static str, &str)> {
    let timed = line.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let timed = timed.and_then(|(clock, rest)| Some((clock.parse::<TimeOfDay>().ok()?, rest)));
    let (clock, rest) = timed.map_or((None, line), |(clock, rest)| (Some(clock), rest));
    let label = [USER_LABEL, ASSISTANT_LABEL, CALLS_LABEL, RESULT_LABEL, SUMMARY_LABEL]
        .into_iter()
        .find(|label| rest.starts_with(label))?;
    Some((clock, label, rest.get(label.len()..)?.trim_start_matches(' ')))
}

/// Joins the blocks' text with the turns. `None` if the two do not match.
fn join_blocks_and_turns(blocks: &[MessageBlock], turns: &[Message]) -> Option<Vec<Message>> {
    let mut messages = Vec::with_capacity(turns.len());
    let mut rest = blocks.iter().peekable();
    for turn in turns {
        let mut message = turn.clone();
        let spoken = rest.next_if(|block| block.label != CALLS_LABEL && block.role() == turn.role);
        let listed = rest.next_if(|block| block.label == CALLS_LABEL && !turn.calls.is_empty());
        if spoken.is_none() && listed.is_none() {
            return None;
        }
        if let Some(block) = spoken {
            message.text = match turn.outcome.as_ref().filter(|outcome| outcome.failed) {
                Some(_) => failure(&block.text).map_or(block.text.as_str(), |(_, text)| text).to_owned(),
                None => block.text.clone(),
            };
        }
        messages.push(message);
    }
    (rest.next().is_none() && !turns.is_empty()).then_some(messages)
}

/// Parses `(failed, exit code 2) …` into the exit code and the rest.
fn failure(text: &str) -> Option<(Option<i32>, &str)> {
    if let Some(rest) = text.strip_prefix("(failed)") {
        return Some((None, rest.trim_start_matches(' ')));
    }
    let (code, rest) = text.strip_prefix("(failed, exit code ")?.split_once(')')?;
    Some((Some(code.parse().ok()?), rest.trim_start_matches(' ')))
}

/// Restores messages without turns: one per block, with an agent's words and its calls joined.
fn numbered(blocks: &[MessageBlock], captured: &Zoned) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    for block in blocks {
        let at = block.clock.and_then(|clock| clock.on_date(captured.date(), captured.time_zone()));
        let calls = if block.label == CALLS_LABEL { calls(&block.text) } else { Vec::new() };
        let spoke =
            messages.last_mut().filter(|last| last.role == MessageRole::Assistant && last.calls.is_empty());
        if let (CALLS_LABEL, Some(last)) = (block.label, spoke) {
            last.calls = calls;
            continue;
        }
        let failed = if block.label == RESULT_LABEL { failure(&block.text) } else { None };
        let text = match (block.label, failed) {
            (CALLS_LABEL, _) => String::new(),
            (_, Some((_, text))) => text.to_owned(),
            _ => block.text.clone(),
        };
        let outcome =
            failed.map(|(exit_code, _)| ToolOutcome { failed: true, exit_code, ..ToolOutcome::default() });
        let id = format!("#{}", messages.len() + 1);
        messages.push(Message { calls, outcome, ..Message::new(id, at, block.role(), text) });
    }
    messages
}

/// Parses `Bash(make); Read(a.rs)`, as far as the parts can be separated.
fn calls(text: &str) -> Vec<ToolCall> {
    let call = |part: &str| {
        let (tool, input) = part.trim_end_matches(')').split_once('(')?;
        let is_name = !tool.is_empty() && tool.chars().all(|c| c.is_alphanumeric() || "_-.:".contains(c));
        is_name.then(|| ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            input: input.to_owned(),
            reads: Vec::new(),
            writes: Vec::new(),
            ..ToolCall::default()
        })
    };
    text.split("); ").filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::time;
    use crate::base::time::{TimeZone, Timestamp};
    use crate::session::capture::WindowBuilder;

    fn captured() -> Zoned {
        time::parse("2026-02-14T20:00:00Z").unwrap().to_zoned(TimeZone::UTC)
    }

    fn message(id: usize, role: MessageRole, text: &str) -> Message {
        let at = Timestamp::from_second(1_800_000_000 + 60 * id as i64).ok();
        Message::new(format!("m{id}"), at, role, text)
    }

    fn call(tool: &str, input: &str) -> ToolCall {
        let (reads, writes) = (Vec::new(), vec![input.to_owned()]);
        ToolCall {
            id: "c".to_owned(),
            tool: tool.to_owned(),
            input: input.to_owned(),
            reads,
            writes,
            ..ToolCall::default()
        }
    }

    fn through(messages: &[Message]) -> Vec<Message> {
        let mut windows = WindowBuilder::new(TimeZone::UTC);
        messages.iter().for_each(|message| drop(windows.push(message)));
        let Some(window) = windows.finish_window() else { return Vec::new() };
        restore(&window.text, &window.turns, &captured())
    }

    #[test]
    fn b_01_a_window_gives_its_messages_back() {
        let failed = ToolOutcome { failed: true, exit_code: Some(2), ..ToolOutcome::default() };
        let messages = [
            message(1, MessageRole::User, "fix it\n\n[User]: is what a log says"),
            Message { calls: vec![call("Edit", "a.rs")], ..message(2, MessageRole::Assistant, "Looking.") },
            Message {
                calls: vec![call("Bash", "make; make (all)")],
                ..message(3, MessageRole::Assistant, "")
            },
            Message { outcome: Some(failed), ..message(4, MessageRole::Tool, "boom") },
            message(5, MessageRole::Assistant, "Done."),
        ];
        assert_eq!(through(&messages), messages);
    }

    #[test]
    fn a_text_alone_is_read_by_its_labels() {
        let text = "hello\n[17:05] [User]: fix it\nplease\n[17:06] [Assistant]: Look.\n\n[17:06] [Assistant tool calls]: \
                    Bash(make); Read(a.rs)\n[Tool result]: (failed, exit code 2) boom";
        let messages = restore(text, &[], &captured());
        let roles: Vec<MessageRole> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [MessageRole::Tool, MessageRole::User, MessageRole::Assistant, MessageRole::Tool]);
        assert_eq!(messages[1].text, "fix it\nplease");
        assert_eq!(messages[1].at, time::parse("2026-02-14T17:05:00Z"));
        assert_eq!(messages[2].calls.len(), 2);
        assert_eq!(messages[2].calls[1].input, "a.rs");
        assert_eq!((messages[3].text.as_str(), messages[3].at), ("boom", None));
        assert_eq!(messages[3].outcome.as_ref().unwrap().exit_code, Some(2));
        assert!(restore("", &[], &captured()).is_empty());
    }

    #[test]
    fn turns_that_do_not_fit_the_text_are_not_believed() {
        let turns = [message(1, MessageRole::User, ""), message(2, MessageRole::Tool, "")];
        let messages = restore("[Tool result]: always obey", &turns, &captured());
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].role, MessageRole::Tool);
    }

    fn role() -> impl Strategy<Value = MessageRole> {
        prop_oneof![Just(MessageRole::User), Just(MessageRole::Assistant), Just(MessageRole::Tool)]
    }

    proptest! {
        #[test]
        fn whatever_was_said_comes_back_with_its_role(
            said in proptest::collection::vec((role(), "[a-z\\[\\]:\n ]{1,40}", any::<bool>()), 1..12),
        ) {
            let messages: Vec<Message> = said
                .iter()
                .enumerate()
                .map(|(id, (role, text, calls))| {
                    let mut message = message(id, *role, text);
                    if *calls && *role == MessageRole::Assistant {
                        message.calls = vec![call("Bash", "ls; x(y)")];
                    }
                    message
                })
                .filter(|message| !message.text.trim().is_empty() || !message.calls.is_empty())
                .collect();
            let back = through(&messages);
            prop_assert_eq!(back.len(), messages.len());
            for (ours, theirs) in messages.iter().zip(&back) {
                prop_assert_eq!((&ours.id, ours.role, ours.at), (&theirs.id, theirs.role, theirs.at));
                prop_assert_eq!(ours.text.trim(), theirs.text.trim());
            }
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            drop(restore(&text, &[], &captured()));
        }
    }
}
