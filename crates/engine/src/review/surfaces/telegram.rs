//! Proposals as messages with buttons (REV-08), over Telegram's Bot API.
//!
//! Telegram does not deduplicate requests, so a message is sent at least once. It is recorded before and
//! after; if the result is unknown it is sent again, at most twice. A duplicate is harmless, because the
//! first answer counts and every other one is told so. A lost message would be a question that nobody sees.

use rekindle_core::config;
use rekindle_core::event::{ButtonPressed, names};
use rekindle_core::surface::Surface;
use rekindle_core::surface::telegram;
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::review::Id;
use serde_json::{Value, json};

use super::api::{Answered, Api, Trouble};
use super::book::{self, Row, State};
use super::{Broken, Look, MOST_NEW, found, question};
use crate::platform::db::{self, Db};
use crate::platform::http::Method;
use crate::review::proposals::{self, Standing};

/// The most updates in one request.
const UPDATES: usize = 100;
/// The most attempts to send a message whose result is unknown.
const MOST_TRIES: u32 = 3;

pub(super) struct Telegram {
    api: Api,
    chat: i64,
}

/// A pressed button and its result.
pub struct Press<'a> {
    /// The event of the press.
    pub pressed: &'a ButtonPressed,
    /// The id of the proposal.
    pub id: Id,
    /// The reply to the press.
    pub said: String,
    /// The status of the proposal.
    pub standing: Option<&'a Standing>,
}

impl Telegram {
    pub(super) fn new(settings: &config::Telegram) -> Result<Self, Trouble> {
        if settings.chat == 0 {
            return Err(Trouble::new("no chat is named: `rekindle review connect telegram --chat NUMBER`"));
        }
        let api = Api::new("review.telegram", &settings.url, &settings.key_variable)?;
        Ok(Self { api, chat: settings.chat })
    }

    /// The name of the bot that the key belongs to.
    pub(super) fn name(&self) -> Result<String, Trouble> {
        let bot = self.must("getMe", &json!({}))?;
        Ok(format!("@{}", one_line(bot["username"].as_str().unwrap_or("bot"), 80)))
    }

    pub(super) fn sync(&self, look: &mut Look<'_>, next: Option<i64>) -> Result<(), Broken> {
        let mut rows = book::rows(look.db, Surface::Telegram)?;
        if !rows.is_empty() {
            self.listen(look, next)?;
        }
        for row in rows.iter_mut().filter(|row| row.state != State::Over) {
            let standing = proposals::standing(look.db, row.proposal)?;
            let waits = |standing: &Standing| {
                standing.proposal.status.is_open() && book::since(standing) <= row.since
            };
            if standing.as_ref().is_some_and(waits) {
                continue;
            }
            if let (Some(message), Some(chat)) = (number(row.task.as_deref()), number(row.place.as_deref())) {
                self.settle(chat, message, standing.as_ref())?;
                look.synced.closed += 1;
            }
            row.state = State::Over;
            book::put(look.db, Surface::Telegram, row)?;
        }
        self.ask(look, &rows)
    }

    /// Fetches button presses, one batch at a time: Telegram drops the updates before the requested offset.
    fn listen(&self, look: &mut Look<'_>, next: Option<i64>) -> Result<(), Broken> {
        let mut asked = json!({"limit": UPDATES, "timeout": 0, "allowed_updates": ["callback_query"]});
        if let Some(next) = next {
            asked["offset"] = json!(next);
        }
        let answered = self.call("getUpdates", &asked)?;
        if answered.status == 409 {
            // A webhook or another program receives the presses; questions can still be sent.
            look.synced.problem = Some(format!(
                "presses cannot be fetched: {}; a webhook's payloads go to `rekindle review webhook telegram`",
                answered.said()
            ));
            return Ok(());
        }
        let updates = self.result(&answered)?;
        for update in updates.as_array().into_iter().flatten().filter_map(telegram::update) {
            look.synced.next = Some(look.synced.next.unwrap_or(0).max(update.number + 1));
            if let Some(pressed) = update.pressed.filter(|pressed| pressed.chat_id == self.chat) {
                let id = format!("telegram-{}", update.number);
                look.events.push(found(id, names::BUTTON_PRESSED, &pressed, look.now));
            }
        }
        Ok(())
    }

    /// Sends every question that was not sent.
    fn ask(&self, look: &mut Look<'_>, rows: &[Row]) -> Result<(), Broken> {
        for standing in std::mem::take(&mut look.asked) {
            if look.synced.asked == MOST_NEW {
                break;
            }
            let (id, since) = (standing.proposal.id, book::since(&standing));
            let row = rows.iter().find(|row| row.proposal == id && row.since >= since);
            if row.is_some_and(|row| row.state != State::Asking || row.tries >= MOST_TRIES) {
                continue;
            }
            let mut row = Row {
                proposal: id,
                since,
                state: State::Asking,
                task: None,
                place: Some(self.chat.to_string()),
                tries: row.map_or(0, |row| row.tries) + 1,
                at: look.now,
            };
            book::put(look.db, Surface::Telegram, &row)?;
            let message = json!({
                "chat_id": self.chat,
                "text": telegram::message(question(&standing)),
                // No server fetches an address that occurs in a proposal.
                "link_preview_options": {"is_disabled": true},
                "reply_markup": telegram::buttons(id),
            });
            let sent = self.call("sendMessage", &message).and_then(|answered| self.result(&answered));
            match sent {
                Ok(sent) => {
                    row.task = sent["message_id"].as_i64().map(|message| message.to_string());
                    row.state = State::Asked;
                    look.synced.asked += 1;
                    book::put(look.db, Surface::Telegram, &row)?;
                }
                Err(trouble) => {
                    if !trouble.maybe_done {
                        // A request that was certainly not sent is not an attempt.
                        row.tries -= 1;
                        book::put(look.db, Surface::Telegram, &row)?;
                    }
                    return Err(trouble.into());
                }
            }
        }
        Ok(())
    }

    /// Replies to the press and removes the buttons.
    pub(super) fn tell(&self, db: &mut Db, press: &Press<'_>) -> Result<Option<Trouble>, db::Error> {
        let pressed = press.pressed;
        let toast = json!({"callback_query_id": pressed.callback_id, "text": telegram::toast(&press.said)});
        // Telegram refuses a reply to an old press; the message shows the result as well.
        if let Err(trouble) = self.call("answerCallbackQuery", &toast) {
            return Ok(Some(trouble));
        }
        let Some(message) = pressed.message_id else { return Ok(None) };
        if let Err(trouble) = self.settle(pressed.chat_id, message, press.standing) {
            return Ok(Some(trouble));
        }
        book::over(db, Surface::Telegram, press.id, &message.to_string())?;
        Ok(None)
    }

    /// Edits a message to show the result of its proposal, without buttons. A deleted message needs no edit.
    fn settle(&self, chat: i64, message: i64, standing: Option<&Standing>) -> Result<(), Trouble> {
        let text = match standing {
            Some(standing) => telegram::over(question(standing), standing.proposal.status),
            None => telegram::FORGOTTEN.to_owned(),
        };
        let edit = json!({"chat_id": chat, "message_id": message, "text": text,
            "link_preview_options": {"is_disabled": true}});
        let answered = self.call("editMessageText", &edit)?;
        match answered.status {
            200..=299 | 400 => Ok(()),
            _ => Err(self.api.refused(&answered)),
        }
    }

    fn must(&self, method: &str, body: &Value) -> Result<Value, Trouble> {
        self.result(&self.call(method, body)?)
    }

    fn result(&self, answered: &Answered) -> Result<Value, Trouble> {
        match answered.is_ok() && answered.body["ok"] == true {
            true => Ok(answered.body["result"].clone()),
            false => Err(self.api.refused(answered)),
        }
    }

    fn call(&self, method: &str, body: &Value) -> Result<Answered, Trouble> {
        // The key is part of the address, so no error shows the address.
        self.api.ask(Method::Post, &format!("/bot{}/{method}", self.api.key), &[], Some(body))
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    text?.parse().ok()
}
