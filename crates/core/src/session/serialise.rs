//! stand-in until the readers' branch is merged
use super::{Message, Role};
use crate::text::admit;
use crate::time::TimeZone;

/// A message as a block of the transcript.
pub fn block(message: &Message, zone: &TimeZone) -> Option<String> {
    let who = match message.role {
        Role::User => "User",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool result",
        Role::Summary => return None,
    };
    let time =
        message.at.map_or_else(|| "--:--".to_owned(), |at| crate::time::clock(&at.to_zoned(zone.clone())));
    Some(format!("[{time}] [{who}]: {}", admit(&message.text).text))
}
