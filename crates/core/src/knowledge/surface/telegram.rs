//! Proposals as Telegram messages with two buttons each (REV-08). Messages are plain text, so nothing in them
//! is markup.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{SurfaceAnswer, SurfaceQuestion};
use crate::config;
use crate::event::ButtonPressed;
use crate::knowledge::proposal::ProposalStatus;
use crate::text::clean::one_line;
use crate::vault::review::ProposalId;

/// The maximum length of a text, in UTF-16 units as Telegram counts them; a message may have 4096.
const MAX_TEXT_UNITS: usize = 2500;
/// The maximum length of the answer to a button press, in characters; Telegram accepts 200.
const MAX_TOAST_CHARS: usize = 190;
const SCOPE: &str = "memory";
const APPROVE: &str = "approve";
const REJECT: &str = "reject";

/// The text of the message for an open proposal.
pub fn message(question: SurfaceQuestion<'_>) -> String {
    let mut text = format!(
        "Remember this?\n\n{}\n\n→ {}",
        truncate_units(&question.sendable_text()),
        question.section()
    );
    if let Some(old) = question.instead_of() {
        text.push_str(&format!("\nInstead of: {old}"));
    }
    for quote in question.quotes() {
        text.push_str(&format!("\n“{quote}”"));
    }
    if let Some(step) = question.last_step() {
        text.push_str(&format!("\n\n{step}"));
    }
    text.push_str(&format!("\n\n{}", question.proposal.id));
    text
}

/// The text of the message once the proposal is decided.
pub fn closed_text(question: SurfaceQuestion<'_>, status: ProposalStatus) -> String {
    let became = match status {
        ProposalStatus::Approved | ProposalStatus::Edited if question.proposal.identity().is_some() => {
            "✅ Approved as a patch; apply it with `rekindle review apply`"
        }
        ProposalStatus::Approved | ProposalStatus::Edited | ProposalStatus::Promoted => "✅ Remembered",
        ProposalStatus::Rejected => "❌ Turned down",
        ProposalStatus::Expired => "⌛ Archived, because nobody decided in time",
        ProposalStatus::Pending | ProposalStatus::Triaged => "It is pending again",
    };
    format!(
        "{became}\n\n{}\n\n→ {}\n\n{}",
        truncate_units(&question.sendable_text()),
        question.section(),
        question.proposal.id
    )
}

/// The text of the message once the proposal was forgotten.
pub const FORGOTTEN_TEXT: &str = "This proposal was forgotten.";

/// The two buttons below a question.
pub fn buttons(id: ProposalId) -> Value {
    let button =
        |text: &str, what: &str| json!({"text": text, "callback_data": format!("{SCOPE}:{what}:{id}")});
    json!({"inline_keyboard": [[button("✅ Remember", APPROVE), button("❌ No", REJECT)]]})
}

/// Parses a button's payload into the proposal and the decision.
pub fn parse_button(data: &str) -> Option<(ProposalId, SurfaceAnswer)> {
    let (what, id) = data.strip_prefix(SCOPE)?.strip_prefix(':')?.split_once(':')?;
    let answer = match what {
        APPROVE => SurfaceAnswer::Approve,
        REJECT => SurfaceAnswer::Reject,
        _ => return None,
    };
    Some((id.parse().ok()?, answer))
}

/// Shortens the answer to a button press.
pub fn toast_text(text: &str) -> String {
    one_line(text, MAX_TOAST_CHARS)
}

/// A Telegram update: its number, and the press if it concerns a button of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramUpdate {
    /// The number that confirms the update.
    pub number: i64,
    /// The button press, if any.
    pub pressed: Option<ButtonPressed>,
}

/// Parses one update, from a list or from a webhook.
pub fn update(value: &Value) -> Option<TelegramUpdate> {
    #[derive(Deserialize)]
    struct TelegramChat {
        id: i64,
    }
    #[derive(Deserialize)]
    struct TelegramMessage {
        message_id: i64,
        chat: TelegramChat,
    }
    #[derive(Deserialize)]
    struct TelegramUser {
        id: i64,
    }
    #[derive(Deserialize)]
    struct TelegramCallback {
        id: String,
        from: Option<TelegramUser>,
        #[serde(default)]
        data: String,
        message: TelegramMessage,
    }
    let number = value.get("update_id")?.as_i64()?;
    let callback =
        value.get("callback_query").and_then(|callback| TelegramCallback::deserialize(callback).ok());
    let ours = callback.filter(|callback| parse_button(&callback.data).is_some());
    let pressed = ours.map(|TelegramCallback { id, from, data, message }| ButtonPressed {
        callback_id: id,
        data,
        chat_id: message.chat.id,
        user_id: from.map(|user| user.id),
        message_id: Some(message.message_id),
    });
    Some(TelegramUpdate { number, pressed })
}

/// True if a press decides. In a group only the configured person decides; in a private chat there is nobody
/// else.
pub fn may_decide(pressed: &ButtonPressed, settings: &config::TelegramSettings) -> bool {
    let is_group = settings.chat < 0;
    let is_person = settings.user != 0 && pressed.user_id == Some(settings.user);
    settings.chat != 0 && pressed.chat_id == settings.chat && (is_person || !is_group && settings.user == 0)
}

/// The start of a text that fits the limit, cut between characters.
fn truncate_units(text: &str) -> String {
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        units += c.len_utf16();
        (units > MAX_TEXT_UNITS).then_some(at)
    });
    end.map_or_else(|| text.to_owned(), |end| format!("{}…", text.get(..end).unwrap_or_default().trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::sample_proposal;

    #[test]
    fn rev_08_buttons_say_what_and_which() {
        let proposal = sample_proposal("Use tabs.");
        let buttons = buttons(proposal.id);
        let data: Vec<&str> =
            (0..2).map(|at| buttons["inline_keyboard"][0][at]["callback_data"].as_str().unwrap()).collect();
        assert_eq!(data, ["memory:approve:p-20261115-007", "memory:reject:p-20261115-007"]);
        assert!(data.iter().all(|data| data.len() <= 64), "Telegram takes no more");
        assert_eq!(parse_button(data[0]), Some((proposal.id, SurfaceAnswer::Approve)));
        assert_eq!(parse_button(data[1]), Some((proposal.id, SurfaceAnswer::Reject)));
        for other in [
            "",
            "memory",
            "memory:approve",
            "memory:edit:p-20261115-007",
            "memory:approve:x",
            "x:approve:p-20261115-007",
        ] {
            assert_eq!(parse_button(other), None, "{other}");
        }
    }

    #[test]
    fn b_03_messages_hold_no_secret_and_fit() {
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        let text = format!("push with {token}\n{}", "🦀 ".repeat(5000));
        let mut proposal = sample_proposal(&text);
        proposal.evidence.quotes = vec![token.to_owned(), "q".repeat(500), "r".repeat(500)];
        let question = SurfaceQuestion { proposal: &proposal, text: &text };
        for text in [message(question), closed_text(question, ProposalStatus::Rejected)] {
            assert!(!text.contains("ghp_") && text.encode_utf16().count() < 4096, "{}", text.len());
        }
    }

    #[test]
    fn rev_08_in_a_group_only_the_configured_person_decides() {
        let press = |chat_id, user_id| ButtonPressed {
            callback_id: "77".to_owned(),
            data: "memory:approve:p-20261115-007".to_owned(),
            chat_id,
            user_id,
            message_id: None,
        };
        let settings = |chat, user| config::TelegramSettings {
            enabled: true,
            url: String::new(),
            key_variable: String::new(),
            secret_variable: String::new(),
            chat,
            user,
        };
        for (chat, user, pressed, expected) in [
            (42, 0, press(42, Some(42)), true),
            (42, 0, press(42, None), true),
            (42, 0, press(43, Some(42)), false),
            (-100, 7, press(-100, Some(7)), true),
            (-100, 7, press(-100, Some(8)), false),
            (-100, 7, press(-100, None), false),
            (-100, 0, press(-100, Some(7)), false),
            (0, 0, press(0, None), false),
        ] {
            assert_eq!(may_decide(&pressed, &settings(chat, user)), expected, "{chat} {user} {pressed:?}");
        }
    }

    #[test]
    fn updates_are_read_whatever_they_are() {
        let press = json!({"update_id": 9, "callback_query": {"id": "77", "from": {"id": 5}, "chat_instance": "c",
            "data": "memory:reject:p-20261115-007", "message": {"message_id": 3, "date": 0, "chat": {"id": -100, "type": "group"}}}});
        let read = update(&press).unwrap();
        assert_eq!(read.number, 9);
        let pressed = read.pressed.unwrap();
        assert_eq!(
            (pressed.chat_id, pressed.message_id, pressed.callback_id.as_str()),
            (-100, Some(3), "77")
        );
        let mut foreign = press.clone();
        foreign["callback_query"]["data"] = json!("menu:1");
        assert_eq!(update(&foreign), Some(TelegramUpdate { number: 9, pressed: None }));
        assert_eq!(
            update(&json!({"update_id": 4, "message": {}})),
            Some(TelegramUpdate { number: 4, pressed: None })
        );
        assert_eq!(update(&json!({"callback_query": {}})), None);
    }
}
