//! What the person put right in one message, whatever else its sentences are.

use super::judge;
use super::person;
use super::said;
use super::view::View;
use crate::base::time::TimeZone;
use crate::session::{Message, Role};
use crate::text::phrases::{MOST, line};

/// Something that the person put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// Word for word, as one line without secrets.
    pub text: String,
    /// What is right, without the words that only say that something was wrong; in lower case.
    pub right: String,
    /// The message that says it.
    pub message: String,
}

/// What the last message of the person puts right. What they pasted, quoted or asked puts nothing right, and neither does
/// what nothing of the agent's goes before.
pub fn corrections(messages: &[Message]) -> Vec<Correction> {
    let Some(last) = messages.iter().rposition(|message| message.role == Role::User) else {
        return Vec::new();
    };
    let messages = &messages[..=last];
    let zone = TimeZone::UTC;
    let view = View::new(messages, &zone, None);
    let Some(said) = view.said.iter().find(|said| said.at == last) else { return Vec::new() };
    let mut found = Vec::new();
    for sentence in person::sentences(&view, said) {
        let Some((verdict, right)) = judge::corrects(&sentence) else { continue };
        let text = line(&said::worded(&sentence, verdict), MOST);
        if !text.is_empty() {
            found.push(Correction { text, right: line(&right, MOST), message: messages[last].id.clone() });
        }
    }
    found
}
