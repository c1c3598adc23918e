//! Finds the corrections in a message, including those inside other statements.

use super::person_sentences;
use super::sentence_verdict;
use super::session_view::SessionView;
use super::user_findings;
use crate::base::time::TimeZone;
use crate::session::{Message, MessageRole};
use crate::text::phrases::{MAX_FINDING_CHARS, line};

/// A correction by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCorrection {
    /// The sentence word for word, on one line, without secrets.
    pub text: String,
    /// The right statement in lower case, without the words that only say that something was wrong.
    pub right: String,
    /// The id of the message.
    pub message: String,
}

/// The corrections in the user's last message. Pasted, quoted or interrogative sentences are none, and
/// neither is a message without anything of the agent's before it.
pub fn corrections(messages: &[Message]) -> Vec<UserCorrection> {
    let Some(last) = messages.iter().rposition(|message| message.role == MessageRole::User) else {
        return Vec::new();
    };
    let messages = &messages[..=last];
    let zone = TimeZone::UTC;
    let view = SessionView::new(messages, &zone, None);
    let Some(message) = view.person_messages.iter().find(|message| message.at == last) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for sentence in person_sentences::person_sentences(&view, message) {
        let Some((verdict, right)) = sentence_verdict::correction_verdict(&sentence) else { continue };
        let text = line(&user_findings::full_sentence(&sentence, verdict), MAX_FINDING_CHARS);
        if !text.is_empty() {
            found.push(UserCorrection {
                text,
                right: line(&right, MAX_FINDING_CHARS),
                message: messages[last].id.clone(),
            });
        }
    }
    found
}
