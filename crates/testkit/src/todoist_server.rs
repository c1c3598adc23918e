//! A fake Todoist server on loopback: the part of API v1 that tasks need.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::scripted_server::lock;
use crate::{ReceivedRequest, ScriptedServer, ServerReply};

/// The key that it accepts.
pub const TODOIST_KEY: &str = "todoist-test-key";

#[derive(Debug)]
struct TodoistAccount {
    user: String,
    tasks: Vec<Value>,
    requests: HashMap<String, String>,
    faults: VecDeque<TodoistFault>,
    page: usize,
    hides_completed: bool,
}

#[derive(Debug)]
struct TodoistFault {
    /// True if the request is performed in spite of the fault.
    done: bool,
    /// The start of the request lines that it applies to.
    line: String,
    reply: ServerReply,
}

/// A Todoist server that behaves as documented.
#[derive(Debug)]
pub struct TodoistServer {
    server: ScriptedServer,
    account: Arc<Mutex<TodoistAccount>>,
}

impl Default for TodoistServer {
    fn default() -> Self {
        let account = TodoistAccount {
            user: "2671355".to_owned(),
            tasks: Vec::new(),
            requests: HashMap::new(),
            faults: VecDeque::new(),
            page: 50,
            hides_completed: false,
        };
        let account = Arc::new(Mutex::new(account));
        let shared = Arc::clone(&account);
        let server = ScriptedServer::answering(move |question| lock(&shared).answer(question));
        Self { server, account }
    }
}

impl TodoistServer {
    /// The address of the server.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// The requests received so far.
    pub fn received(&self) -> Vec<ReceivedRequest> {
        self.server.received()
    }

    /// Every task that ever existed.
    pub fn tasks(&self) -> Vec<Value> {
        lock(&self.account).tasks.clone()
    }

    /// The tasks that are neither completed nor deleted.
    pub fn open(&self) -> Vec<Value> {
        self.tasks().into_iter().filter(is_open).collect()
    }

    /// Simulates a person's change of every task whose description contains `about`.
    pub fn change(&self, about: &str, change: impl Fn(&mut Value)) {
        for task in &mut lock(&self.account).tasks {
            if task["description"].as_str().is_some_and(|text| text.contains(about)) {
                change(task);
                task["updated_at"] = json!("2026-11-15T12:00:00.000000Z");
            }
        }
    }

    /// Simulates that a person completes such a task.
    pub fn complete(&self, about: &str) {
        self.change(about, |task| {
            task["checked"] = json!(true);
            task["completed_at"] = json!("2026-11-15T12:00:00.000000Z");
        });
    }

    /// Simulates that a person deletes such a task.
    pub fn delete(&self, about: &str) {
        self.change(about, |task| task["is_deleted"] = json!(true));
    }

    /// Simulates that somebody creates a task by hand.
    pub fn add(&self, task: &Value) {
        lock(&self.account).make(task);
    }

    /// Answers the next request whose line begins with `line` with this reply, without performing it.
    pub fn refuse(&self, line: &str, reply: ServerReply) {
        lock(&self.account).faults.push_back(TodoistFault { done: false, line: line.to_owned(), reply });
    }

    /// Answers the next request whose line begins with `line` with this reply, but performs it.
    pub fn lose(&self, line: &str, reply: ServerReply) {
        lock(&self.account).faults.push_back(TodoistFault { done: true, line: line.to_owned(), reply });
    }

    /// Sets the page size of task lists.
    pub fn pages_of(&self, page: usize) {
        lock(&self.account).page = page;
    }

    /// Lists completed tasks only in the list of completed ones.
    pub fn hide_completed(&self) {
        lock(&self.account).hides_completed = true;
    }

    /// Switches to another, empty account.
    pub fn another_account(&self) {
        let mut account = lock(&self.account);
        account.user = "999".to_owned();
        account.tasks.clear();
    }
}

fn is_open(task: &Value) -> bool {
    task["checked"] == false && task["is_deleted"] == false
}

fn json_reply(value: &Value) -> ServerReply {
    ServerReply::json(200, value.to_string())
}

impl TodoistAccount {
    fn answer(&mut self, question: &ReceivedRequest) -> ServerReply {
        if question.header("authorization") != Some(&format!("Bearer {TODOIST_KEY}")) {
            return ServerReply::json(401, r#"{"error":"Forbidden","error_code":477,"http_code":401}"#);
        }
        if self.faults.front().is_some_and(|fault| question.line.starts_with(&fault.line))
            && let Some(fault) = self.faults.pop_front()
        {
            if fault.done {
                self.act(question);
            }
            return fault.reply;
        }
        self.act(question)
    }

    fn act(&mut self, question: &ReceivedRequest) -> ServerReply {
        let (method, target) = question.line.split_once(' ').unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query: HashMap<&str, &str> = query.split('&').filter_map(|pair| pair.split_once('=')).collect();
        let missing =
            || ServerReply::json(404, r#"{"error":"Task not found","error_code":478,"http_code":404}"#);
        match (method, path) {
            ("GET", "/api/v1/user") => {
                json_reply(&json!({"id": self.user, "full_name": "Ada", "email": "ada@example.org"}))
            }
            ("GET", "/api/v1/tasks") => {
                let labelled = |task: &&Value| {
                    let labels = task["labels"].as_array().into_iter().flatten();
                    is_open(task)
                        && labels.filter_map(Value::as_str).any(|label| Some(&label) == query.get("label"))
                };
                let tasks: Vec<&Value> = self.tasks.iter().filter(labelled).collect();
                let from: usize = query.get("cursor").and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
                let to = (from + self.page).min(tasks.len());
                let next = (to < tasks.len()).then(|| to.to_string());
                json_reply(&json!({"results": tasks.get(from..to).unwrap_or_default(), "next_cursor": next}))
            }
            ("POST", "/api/v1/tasks") => {
                let id = question.header("x-request-id").unwrap_or_default().to_owned();
                if let Some(made) = self.requests.get(&id) {
                    let made = self.tasks.iter().find(|task| task["id"] == made.as_str());
                    return made.map_or_else(missing, json_reply);
                }
                let new = question.json();
                if new["content"]
                    .as_str()
                    .is_none_or(|content| content.is_empty() || content.chars().count() > 500)
                {
                    return ServerReply::json(
                        400,
                        r#"{"error":"Required argument is missing or too long","http_code":400}"#,
                    );
                }
                let task = self.make(&new);
                self.requests.insert(id, task["id"].as_str().unwrap_or_default().to_owned());
                json_reply(&task)
            }
            ("GET", "/api/v1/tasks/completed/by_completion_date")
                if query.contains_key("since") && query.contains_key("until") =>
            {
                let done: Vec<&Value> = self.tasks.iter().filter(|task| task["checked"] == true).collect();
                json_reply(&json!({"items": done, "next_cursor": null}))
            }
            (method, path) => {
                let rest = path.strip_prefix("/api/v1/tasks/").unwrap_or_default();
                let id = rest.trim_end_matches("/close");
                let hidden = self.hides_completed;
                let there = |task: &&mut Value| {
                    task["id"] == id && task["is_deleted"] == false && !(hidden && task["checked"] == true)
                };
                let Some(task) = self.tasks.iter_mut().find(there) else { return missing() };
                match (method, rest.ends_with("/close")) {
                    ("GET", false) => return json_reply(task),
                    ("POST", true) => {
                        task["checked"] = json!(true);
                        task["completed_at"] = json!("2026-11-15T12:00:00.000000Z");
                    }
                    ("DELETE", false) => task["is_deleted"] = json!(true),
                    _ => return ServerReply::json(405, "{}"),
                }
                ServerReply::json(204, "")
            }
        }
    }

    fn make(&mut self, new: &Value) -> Value {
        let mut task = json!({
            "id": format!("6X{:04}", self.tasks.len()), "user_id": self.user, "project_id": "6Jf8VQXxpwv56VQ7",
            "section_id": null, "parent_id": null, "checked": false, "is_deleted": false, "priority": 1, "due": null,
            "added_at": "2026-11-15T10:00:00.000000Z", "updated_at": "2026-11-15T10:00:00.000000Z",
            "completed_at": null, "content": "", "description": "", "labels": [],
        });
        for (key, value) in new.as_object().into_iter().flatten() {
            task[key] = value.clone();
        }
        self.tasks.push(task.clone());
        task
    }
}
