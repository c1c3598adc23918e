//! Proposals as messages with buttons (REV-08), over Telegram's Bot API.
//!
//! Telegram does not deduplicate requests, so a message is sent at least once. It is recorded before and
//! after; if the result is unknown it is sent again, at most twice. A duplicate is harmless, because the
//! first answer counts and every other one is told so. A lost message would be a question that nobody sees.

use rekindle_core::config;
use rekindle_core::event::{ButtonPressed, names};
use rekindle_core::knowledge::surface::ReviewSurface;
use rekindle_core::knowledge::surface::telegram;
use rekindle_core::text::clean::one_line;
use rekindle_core::vault::review::ProposalId;
use serde_json::{Value, json};

use super::api::{ApiClient, ApiError, ApiResponse};
use super::task_store::{self, QuestionRow, QuestionState};
use super::{MAX_NEW_QUESTIONS, SyncFailure, SyncPass, polled_event, question};
use crate::platform::db::{self, Database};
use crate::platform::http::HttpMethod;
use crate::review::proposals::{self, ProposalRecord};

/// The most updates in one request.
const MAX_UPDATES: usize = 100;
/// The most attempts to send a message whose result is unknown.
const MAX_SEND_ATTEMPTS: u32 = 3;
/// The maximum length of an alert, in characters.
const MAX_ALERT_CHARS: usize = 200;

pub(super) struct TelegramClient {
    api: ApiClient,
    chat: i64,
}

/// A pressed button and its result.
pub struct ButtonPress<'a> {
    /// The event of the press.
    pub pressed: &'a ButtonPressed,
    /// The id of the proposal.
    pub id: ProposalId,
    /// The reply to the press.
    pub reply: String,
    /// The status of the proposal.
    pub record: Option<&'a ProposalRecord>,
}

impl TelegramClient {
    pub(super) fn new(settings: &config::TelegramSettings) -> Result<Self, ApiError> {
        if settings.chat == 0 {
            return Err(ApiError::new(
                "no chat is set: run `rekindle review connect telegram --chat NUMBER`",
            ));
        }
        let api = ApiClient::new("review.telegram", &settings.url, &settings.key_variable)?;
        Ok(Self { api, chat: settings.chat })
    }

    /// The name of the bot that the key belongs to.
    pub(super) fn name(&self) -> Result<String, ApiError> {
        let bot = self.call_or_fail("getMe", &json!({}))?;
        Ok(format!("@{}", one_line(bot["username"].as_str().unwrap_or("bot"), 80)))
    }

    /// Sends a line to the person. It is no question and gets no answer.
    pub(super) fn tell(&self, text: &str) -> Result<(), ApiError> {
        let message = json!({
            "chat_id": self.chat,
            "text": one_line(text, MAX_ALERT_CHARS),
            "link_preview_options": {"is_disabled": true},
        });
        self.call_or_fail("sendMessage", &message).map(drop)
    }

    pub(super) fn sync(&self, look: &mut SyncPass<'_>, next: Option<i64>) -> Result<(), SyncFailure> {
        let mut rows = task_store::rows(look.db, ReviewSurface::Telegram)?;
        if !rows.is_empty() {
            self.listen(look, next)?;
        }
        for row in rows.iter_mut().filter(|row| row.state != QuestionState::Over) {
            let record = proposals::find_proposal(look.db, row.proposal)?;
            let waits = |record: &ProposalRecord| {
                record.proposal.status.is_open() && task_store::pending_since(record) <= row.since
            };
            if record.as_ref().is_some_and(waits) {
                continue;
            }
            if let (Some(message), Some(chat)) = (number(row.task.as_deref()), number(row.place.as_deref())) {
                self.close_message(chat, message, record.as_ref())?;
                look.synced.closed += 1;
            }
            row.state = QuestionState::Over;
            task_store::save_question(look.db, ReviewSurface::Telegram, row)?;
        }
        self.ask(look, &rows)
    }

    /// Fetches button presses, one batch at a time: Telegram drops the updates before the requested offset.
    fn listen(&self, look: &mut SyncPass<'_>, next: Option<i64>) -> Result<(), SyncFailure> {
        let mut asked = json!({"limit": MAX_UPDATES, "timeout": 0, "allowed_updates": ["callback_query"]});
        if let Some(next) = next {
            asked["offset"] = json!(next);
        }
        let answered = self.call("getUpdates", &asked)?;
        if answered.status == 409 {
            // A webhook or another program receives the presses; questions can still be sent.
            look.synced.problem = Some(format!(
                "cannot fetch button presses: {}; pass a webhook's payloads to `rekindle review webhook telegram`",
                answered.refusal_text()
            ));
            return Ok(());
        }
        let updates = self.result(&answered)?;
        for update in updates.as_array().into_iter().flatten().filter_map(telegram::update) {
            look.synced.next = Some(look.synced.next.unwrap_or(0).max(update.number + 1));
            if let Some(pressed) = update.pressed.filter(|pressed| pressed.chat_id == self.chat) {
                let id = format!("telegram-{}", update.number);
                look.events.push(polled_event(id, names::BUTTON_PRESSED, &pressed, look.now));
            }
        }
        Ok(())
    }

    /// Sends every question that was not sent.
    fn ask(&self, look: &mut SyncPass<'_>, rows: &[QuestionRow]) -> Result<(), SyncFailure> {
        for record in std::mem::take(&mut look.proposals) {
            if look.synced.asked == MAX_NEW_QUESTIONS {
                break;
            }
            let (id, since) = (record.proposal.id, task_store::pending_since(&record));
            let row = rows.iter().find(|row| row.proposal == id && row.since >= since);
            if row.is_some_and(|row| row.state != QuestionState::Asking || row.tries >= MAX_SEND_ATTEMPTS) {
                continue;
            }
            let mut row = QuestionRow {
                proposal: id,
                since,
                state: QuestionState::Asking,
                task: None,
                place: Some(self.chat.to_string()),
                tries: row.map_or(0, |row| row.tries) + 1,
                at: look.now,
            };
            task_store::save_question(look.db, ReviewSurface::Telegram, &row)?;
            let message = json!({
                "chat_id": self.chat,
                "text": telegram::message(question(&record)),
                // No server fetches an address that occurs in a proposal.
                "link_preview_options": {"is_disabled": true},
                "reply_markup": telegram::buttons(id),
            });
            let sent = self.call("sendMessage", &message).and_then(|answered| self.result(&answered));
            match sent {
                Ok(sent) => {
                    row.task = sent["message_id"].as_i64().map(|message| message.to_string());
                    row.state = QuestionState::Asked;
                    look.synced.asked += 1;
                    task_store::save_question(look.db, ReviewSurface::Telegram, &row)?;
                }
                Err(trouble) => {
                    if !trouble.maybe_done {
                        // A request that was certainly not sent is not an attempt.
                        row.tries -= 1;
                        task_store::save_question(look.db, ReviewSurface::Telegram, &row)?;
                    }
                    return Err(trouble.into());
                }
            }
        }
        Ok(())
    }

    /// Replies to the press and removes the buttons.
    pub(super) fn answer_button(
        &self,
        db: &mut Database,
        press: &ButtonPress<'_>,
    ) -> Result<Option<ApiError>, db::Error> {
        let pressed = press.pressed;
        let toast =
            json!({"callback_query_id": pressed.callback_id, "text": telegram::toast_text(&press.reply)});
        // Telegram refuses a reply to an old press; the message shows the result as well.
        if let Err(trouble) = self.call("answerCallbackQuery", &toast) {
            return Ok(Some(trouble));
        }
        let Some(message) = pressed.message_id else { return Ok(None) };
        if let Err(trouble) = self.close_message(pressed.chat_id, message, press.record) {
            return Ok(Some(trouble));
        }
        task_store::close_question(db, ReviewSurface::Telegram, press.id, &message.to_string())?;
        Ok(None)
    }

    /// Edits a message to show the result of its proposal, without buttons. A deleted message needs no edit.
    fn close_message(
        &self,
        chat: i64,
        message: i64,
        record: Option<&ProposalRecord>,
    ) -> Result<(), ApiError> {
        let text = match record {
            Some(record) => telegram::closed_text(question(record), record.proposal.status),
            None => telegram::FORGOTTEN_TEXT.to_owned(),
        };
        let edit = json!({"chat_id": chat, "message_id": message, "text": text,
            "link_preview_options": {"is_disabled": true}});
        let answered = self.call("editMessageText", &edit)?;
        match answered.status {
            200..=299 | 400 => Ok(()),
            _ => Err(self.api.unexpected_refusal(&answered)),
        }
    }

    fn call_or_fail(&self, method: &str, body: &Value) -> Result<Value, ApiError> {
        self.result(&self.call(method, body)?)
    }

    fn result(&self, answered: &ApiResponse) -> Result<Value, ApiError> {
        match answered.is_ok() && answered.body["ok"] == true {
            true => Ok(answered.body["result"].clone()),
            false => Err(self.api.unexpected_refusal(answered)),
        }
    }

    fn call(&self, method: &str, body: &Value) -> Result<ApiResponse, ApiError> {
        // The key is part of the address, so no error shows the address.
        self.api.ask(HttpMethod::Post, &format!("/bot{}/{method}", self.api.key), &[], Some(body))
    }
}

fn number(text: Option<&str>) -> Option<i64> {
    text?.parse().ok()
}
