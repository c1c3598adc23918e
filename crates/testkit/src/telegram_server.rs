//! A fake Telegram server on loopback: the part of the Bot API that messages with buttons need.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::scripted_server::lock;
use crate::{ReceivedRequest, ScriptedServer, ServerReply};

/// The token that it accepts.
pub const TELEGRAM_TOKEN: &str = "123456:AAtest-token";

#[derive(Debug, Default)]
struct TelegramState {
    messages: Vec<Value>,
    updates: Vec<Value>,
    answers: Vec<Value>,
    faults: VecDeque<(bool, String, ServerReply)>,
    numbers: i64,
    webhook: bool,
}

/// A Telegram server that behaves as documented.
#[derive(Debug)]
pub struct TelegramServer {
    server: ScriptedServer,
    chats: Arc<Mutex<TelegramState>>,
}

impl Default for TelegramServer {
    fn default() -> Self {
        let chats = Arc::new(Mutex::new(TelegramState { numbers: 900_000, ..TelegramState::default() }));
        let shared = Arc::clone(&chats);
        let server = ScriptedServer::answering(move |question| lock(&shared).answer(question));
        Self { server, chats }
    }
}

impl TelegramServer {
    /// The address of the server.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.server.received()
    }

    /// Every message that was sent, in its current state.
    pub fn messages(&self) -> Vec<Value> {
        lock(&self.chats).messages.clone()
    }

    /// The answers to button presses.
    pub fn answers(&self) -> Vec<String> {
        let answers = lock(&self.chats).answers.clone();
        answers.iter().filter_map(|answer| Some(answer["text"].as_str()?.to_owned())).collect()
    }

    /// Simulates a button press below a message in a chat.
    pub fn press(&self, chat: i64, message: &Value, data: &str) -> Value {
        self.press_as(5, chat, message, data)
    }

    /// Simulates a button press by a given user. Groups have negative ids.
    pub fn press_as(&self, user: i64, chat: i64, message: &Value, data: &str) -> Value {
        let kind = if chat < 0 { "supergroup" } else { "private" };
        let mut chats = lock(&self.chats);
        chats.numbers += 1;
        let update = json!({"update_id": chats.numbers, "callback_query": {
            "id": format!("cb{}", chats.numbers), "from": {"id": user, "is_bot": false, "first_name": "Ada"},
            "chat_instance": "-1", "data": data,
            "message": {"message_id": message["message_id"], "date": 1, "chat": {"id": chat, "type": kind}},
        }});
        chats.updates.push(update.clone());
        update
    }

    /// Delivers an update again, as after a lost confirmation.
    pub fn replay(&self, update: &Value) {
        lock(&self.chats).updates.push(update.clone());
    }

    /// Sets a webhook for the bot from now on.
    pub fn set_webhook(&self) {
        lock(&self.chats).webhook = true;
    }

    /// Answers the next call of this method with this reply, without performing it.
    pub fn refuse(&self, method: &str, reply: ServerReply) {
        lock(&self.chats).faults.push_back((false, method.to_owned(), reply));
    }

    /// Answers the next call of this method with this reply, but performs it.
    pub fn lose(&self, method: &str, reply: ServerReply) {
        lock(&self.chats).faults.push_back((true, method.to_owned(), reply));
    }
}

fn ok(result: &Value) -> ServerReply {
    ServerReply::json(200, json!({"ok": true, "result": result}).to_string())
}

fn wrong(code: u16, description: &str) -> ServerReply {
    ServerReply::json(code, json!({"ok": false, "error_code": code, "description": description}).to_string())
}

impl TelegramState {
    fn answer(&mut self, question: &ReceivedRequest) -> ServerReply {
        let Some(method) = question.line.strip_prefix(&format!("POST /bot{TELEGRAM_TOKEN}/")) else {
            return wrong(401, "Unauthorized");
        };
        if self.faults.front().is_some_and(|(_, wanted, _)| wanted == method)
            && let Some((done, _, reply)) = self.faults.pop_front()
        {
            if done {
                self.act(method, &question.json());
            }
            return reply;
        }
        self.act(method, &question.json())
    }

    fn act(&mut self, method: &str, asked: &Value) -> ServerReply {
        match method {
            "getMe" => ok(
                &json!({"id": 123_456, "is_bot": true, "first_name": "R", "username": "rekindle_test_bot"}),
            ),
            "getUpdates" if self.webhook => wrong(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first",
            ),
            "getUpdates" => {
                if let Some(offset) = asked["offset"].as_i64() {
                    self.updates.retain(|update| update["update_id"].as_i64().unwrap_or(0) >= offset);
                }
                ok(&json!(self.updates))
            }
            "sendMessage" => {
                let text = asked["text"].as_str().unwrap_or_default();
                if text.is_empty() || text.encode_utf16().count() > 4096 {
                    return wrong(400, "Bad Request: message is too long");
                }
                let mut message = asked.clone();
                message["message_id"] = json!(self.messages.len() + 1);
                self.messages.push(message.clone());
                ok(
                    &json!({"message_id": message["message_id"], "date": 1, "chat": {"id": asked["chat_id"]}, "text": text}),
                )
            }
            "editMessageText" => {
                let is = |message: &&mut Value| {
                    message["message_id"] == asked["message_id"] && message["chat_id"] == asked["chat_id"]
                };
                let Some(message) = self.messages.iter_mut().find(is) else {
                    return wrong(400, "Bad Request: message to edit not found");
                };
                if message["text"] == asked["text"] && message["reply_markup"] == asked["reply_markup"] {
                    return wrong(400, "Bad Request: message is not modified");
                }
                message["text"] = asked["text"].clone();
                message["reply_markup"] = asked["reply_markup"].clone();
                ok(&json!(true))
            }
            "answerCallbackQuery" => {
                self.answers.push(asked.clone());
                ok(&json!(true))
            }
            _ => wrong(404, "Not Found"),
        }
    }
}
