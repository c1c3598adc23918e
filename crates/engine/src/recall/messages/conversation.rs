//! The conversation of a session, as it was kept.

use super::archive::{self, ArchivedMessage};
use super::{Error, MessageSession, MessageStore};

/// The kept messages of a session, and those around the ones that somebody asked for.
#[derive(Clone, Debug, Default)]
pub struct Conversation {
    /// The messages in order. Forgotten ones are left out.
    pub messages: Vec<ArchivedMessage>,
}

impl Conversation {
    /// The parts of the conversation around these messages: each with `around` messages before and after. Without a
    /// match it is empty.
    pub fn excerpts(&self, ids: &[String], around: usize) -> Vec<&[ArchivedMessage]> {
        let wanted = self.messages.iter().enumerate().filter(|(_, kept)| ids.contains(&kept.id));
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for (at, _) in wanted {
            let span = (at.saturating_sub(around), (at + around + 1).min(self.messages.len()));
            match spans.last_mut() {
                Some(last) if last.1 >= span.0 => last.1 = span.1,
                _ => spans.push(span),
            }
        }
        spans.into_iter().map(|(from, to)| &self.messages[from..to]).collect()
    }
}

impl MessageStore {
    /// The kept messages of a session; empty if none were kept.
    pub fn conversation(&self, session: &str) -> Result<Conversation, Error> {
        let named = |file: &archive::ArchiveFile| {
            let of_agent =
                MessageSession { agent: file.agent, id: session.to_owned(), cwd: None, project: None };
            of_agent.file().file_stem().and_then(|name| name.to_str()) == Some(&file.session)
        };
        let mut found = Conversation::default();
        for file in archive::find_sessions(&self.folder, named) {
            archive::each_line(&file.path, 0, &mut |_, line| {
                let kept = serde_json::from_slice::<ArchivedMessage>(line).ok();
                found.messages.extend(kept.filter(|kept| !kept.text.is_empty()));
            })
            .map_err(self.failed())?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use rekindle_core::session::MessageRole;

    use super::*;

    fn said(ids: &[&str]) -> Conversation {
        let message = |id: &&str| ArchivedMessage {
            id: (*id).to_owned(),
            at: None,
            role: MessageRole::User,
            text: "x".to_owned(),
            project: None,
            cwd: None,
        };
        Conversation { messages: ids.iter().map(message).collect() }
    }

    #[test]
    fn b_11_excerpts_join_where_they_touch() {
        let talk = said(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        let ids = |wanted: &[&str]| -> Vec<String> {
            let wanted: Vec<String> = wanted.iter().map(|id| (*id).to_owned()).collect();
            let parts = talk.excerpts(&wanted, 1);
            parts.iter().map(|part| part.iter().map(|one| one.id.as_str()).collect()).collect()
        };
        assert_eq!(ids(&["a"]), ["ab"]);
        assert_eq!(ids(&["b", "d"]), ["abcde"]);
        assert_eq!(ids(&["b", "g"]), ["abc", "fgh"]);
        assert!(ids(&["z"]).is_empty());
    }
}
