//! Proposals as tasks (REV-05, REV-06), over Todoist's API v1.
//!
//! A task is created once. It is recorded before the request and after it. Every attempt carries the same id
//! (`X-Request-ProposalId`, of which the first counts). If we don't know whether a request succeeded, we look up the
//! task by proposal id before retrying.

use std::collections::HashMap;

use jiff::SignedDuration;
use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::Timestamp;
use rekindle_core::config;
use rekindle_core::event::{Event, TaskChanged, names};
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::knowledge::surface::ReviewSurface;
use rekindle_core::knowledge::surface::todoist::{self, LABEL, TodoistTask};
use rekindle_core::vault::review::ProposalId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::api::{ApiClient, ApiError, ApiResponse};
use super::task_store::{self, QuestionRow, QuestionState};
use super::{MAX_NEW_QUESTIONS, SyncFailure, SyncPass, polled_event, question};
use crate::platform::http::HttpMethod;
use crate::review::proposals::{self, ProposalRecord};

const TASKS_PATH: &str = "/api/v1/tasks";
const COMPLETED_PATH: &str = "/api/v1/tasks/completed/by_completion_date";
const USER_PATH: &str = "/api/v1/user";
/// The number of tasks per page and the most pages to read.
const PAGE_SIZE: usize = 200;
const MAX_PAGES: usize = 10;
/// The most tasks missing from the list that are fetched one by one.
const MAX_LOOKUPS: usize = 50;
/// Fewer tasks than this may vanish at once by a person's decision.
const MIN_SUSPICIOUS_DELETIONS: usize = 3;

pub(super) struct TodoistClient {
    api: ApiClient,
}

/// The state of a task on the surface.
enum TaskLookup {
    Open(TodoistTask),
    Completed(TodoistTask),
    Deleted(TodoistTask),
    Gone,
}

impl TodoistClient {
    pub(super) fn new(settings: &config::TodoistSettings) -> Result<Self, ApiError> {
        Ok(Self { api: ApiClient::new("review.todoist", &settings.url, &settings.key_variable)? })
    }

    /// The name of the account that the key belongs to.
    pub(super) fn name(&self) -> Result<String, ApiError> {
        let user = self.get(USER_PATH)?;
        let name = user["full_name"].as_str().or(user["email"].as_str()).unwrap_or("an account");
        Ok(rekindle_core::text::clean::one_line(name, 80))
    }

    pub(super) fn sync(&self, look: &mut SyncPass<'_>) -> Result<(), SyncFailure> {
        let mut rows = task_store::rows(look.db, ReviewSurface::Todoist)?;
        if rows.iter().any(|row| row.state != QuestionState::Over) {
            let there = self.list(&format!("{TASKS_PATH}?label={LABEL}&limit={PAGE_SIZE}"), "results")?;
            let there: HashMap<String, TodoistTask> =
                there.into_iter().map(|task| (task.id.clone(), task)).collect();
            self.recover(look, &mut rows, &there)?;
            self.answers(look, &mut rows, &there)?;
        }
        self.ask(look, &rows)
    }

    /// Looks up tasks that may have been created by a request with an unknown result.
    fn recover(
        &self,
        look: &mut SyncPass<'_>,
        rows: &mut [QuestionRow],
        there: &HashMap<String, TodoistTask>,
    ) -> Result<(), SyncFailure> {
        let mut done: Option<Vec<TodoistTask>> = None;
        for row in rows.iter_mut().filter(|row| row.state == QuestionState::Asking) {
            let is = |task: &&TodoistTask| todoist::proposal(&task.description) == Some(row.proposal);
            let mut made = there.values().find(is).cloned();
            if made.is_none() {
                let done = match &mut done {
                    Some(done) => done,
                    none => none.insert(self.completed(row.at, look.now)?),
                };
                // A task of an earlier round is older than this request.
                let new = |task: &&TodoistTask| {
                    let at = task.added_at.as_ref().and_then(|at| at.parse::<Timestamp>().ok());
                    at.is_none_or(|at| at >= row.at - SignedDuration::from_mins(10))
                };
                made = done.iter().filter(is).find(new).cloned();
            }
            if let Some(task) = made {
                let place = Some(task.user_id).filter(|user| !user.is_empty());
                *row = QuestionRow { state: QuestionState::Asked, task: Some(task.id), place, ..row.clone() };
                task_store::save_question(look.db, ReviewSurface::Todoist, row)?;
            } else if !proposals::find_proposal(look.db, row.proposal)?
                .is_some_and(|one| one.proposal.status.is_open())
            {
                row.state = QuestionState::Over;
                task_store::save_question(look.db, ReviewSurface::Todoist, row)?;
            }
        }
        Ok(())
    }

    /// Reads answers and removes finished tasks.
    fn answers(
        &self,
        look: &mut SyncPass<'_>,
        rows: &mut [QuestionRow],
        there: &HashMap<String, TodoistTask>,
    ) -> Result<(), SyncFailure> {
        let (mut open, mut looks, mut gone) = (0, 0, Vec::new());
        for row in rows.iter_mut().filter(|row| row.state == QuestionState::Asked) {
            let Some(id) = row.task.clone() else { continue };
            let record = proposals::find_proposal(look.db, row.proposal)?;
            let waits = |record: &ProposalRecord| {
                record.proposal.status.is_open() && task_store::pending_since(record) <= row.since
            };
            if !record.as_ref().is_some_and(waits) {
                self.close(&id, record.map(|record| record.proposal.status), there.get(&id))?;
                row.state = QuestionState::Over;
                task_store::save_question(look.db, ReviewSurface::Todoist, row)?;
                look.synced.closed += 1;
                continue;
            }
            open += 1;
            let found = match there.get(&id) {
                Some(task) => TaskLookup::Open(task.clone()),
                None if looks == MAX_LOOKUPS => continue,
                None => {
                    looks += 1;
                    self.look_up_task(&id, row.at, look.now)?
                }
            };
            match found {
                TaskLookup::Open(task) if todoist::is_rejected(&task.labels) => {
                    look.events.push(event(names::TASK_UPDATED, &task.to_event(), look.now));
                }
                TaskLookup::Open(_) => {}
                TaskLookup::Completed(task) => {
                    look.events.push(event(names::TASK_COMPLETED, &task.to_event(), look.now));
                }
                TaskLookup::Deleted(task) => {
                    look.events.push(event(names::TASK_DELETED, &task.to_event(), look.now));
                }
                TaskLookup::Gone => gone.push((id, row.proposal, row.place.clone())),
            }
        }
        self.deleted_tasks(look, &gone, open)
    }

    /// Reports vanished tasks as deleted, unless the key belongs to another account or too many vanished at
    /// once to be a decision.
    fn deleted_tasks(
        &self,
        look: &mut SyncPass<'_>,
        gone: &[(String, ProposalId, Option<String>)],
        open: usize,
    ) -> Result<(), SyncFailure> {
        if gone.is_empty() {
            return Ok(());
        }
        let user = self.get(USER_PATH)?;
        let user =
            user["id"].as_str().map(str::to_owned).or_else(|| user["id"].as_i64().map(|id| id.to_string()));
        if gone.iter().any(|(.., place)| place.is_some() && *place != user) {
            return Err(
                ApiError::new("the tasks belong to another Todoist account; no decisions were made").into()
            );
        }
        if gone.len() >= MIN_SUSPICIOUS_DELETIONS && gone.len() * 2 > open {
            look.synced.problem = Some(format!(
                "{} of {open} tasks disappeared at once, so no decisions were made; to reject proposals, use `rekindle reject`",
                gone.len()
            ));
            return Ok(());
        }
        for (task, proposal, _) in gone {
            let changed = TaskChanged {
                task_id: task.clone(),
                labels: vec![LABEL.to_owned()],
                content: None,
                description: todoist::minimal_description(*proposal),
                changed_at: None,
            };
            look.events.push(event(names::TASK_DELETED, &changed, look.now));
        }
        Ok(())
    }

    /// Creates a task for every question without one.
    fn ask(&self, look: &mut SyncPass<'_>, rows: &[QuestionRow]) -> Result<(), SyncFailure> {
        for record in std::mem::take(&mut look.proposals) {
            if look.synced.asked == MAX_NEW_QUESTIONS {
                break;
            }
            let (id, since) = (record.proposal.id, task_store::pending_since(&record));
            let row = rows.iter().find(|row| row.proposal == id);
            if row.is_some_and(|row| row.state != QuestionState::Asking && row.since >= since) {
                continue;
            }
            // An earlier attempt is known to have failed by now, so it is repeated with the same request id.
            let asked_at =
                row.filter(|row| row.state == QuestionState::Asking).map_or(look.now, |row| row.at);
            let mut row = QuestionRow {
                proposal: id,
                since,
                state: QuestionState::Asking,
                task: None,
                place: None,
                tries: row.map_or(0, |row| row.tries) + 1,
                at: asked_at,
            };
            task_store::save_question(look.db, ReviewSurface::Todoist, &row)?;
            let new = json!(todoist::new_task(question(&record)));
            let request = [("x-request-id", request_id(id, since, asked_at))];
            let answered = self.send(HttpMethod::Post, TASKS_PATH, &request, Some(&new))?;
            if matches!(answered.status, 400 | 413 | 422) {
                // Todoist will never accept this task; the person can still decide elsewhere.
                look.synced.problem =
                    Some(format!("{id} has no task: {}", self.api.unexpected_refusal(&answered).message));
                row.state = QuestionState::Over;
            } else if !answered.is_ok() {
                return Err(self.api.unexpected_refusal(&answered).into());
            } else {
                let task = TodoistTask::deserialize(&answered.body).unwrap_or_default();
                if task.id.is_empty() {
                    return Err(ApiError::new("Todoist created a task without an id").into());
                }
                row.state = QuestionState::Asked;
                row.place = Some(task.user_id).filter(|user| !user.is_empty());
                row.task = Some(task.id);
                look.synced.asked += 1;
            }
            task_store::save_question(look.db, ReviewSurface::Todoist, &row)?;
        }
        Ok(())
    }

    /// Removes the task of a finished proposal: completes it, or deletes it if nobody touched it (REV-10) or
    /// its proposal was forgotten. A deleted task needs nothing.
    fn close(
        &self,
        id: &str,
        status: Option<ProposalStatus>,
        task: Option<&TodoistTask>,
    ) -> Result<(), ApiError> {
        let unseen =
            status == Some(ProposalStatus::Expired) && task.is_some_and(|task| !task.may_be_handled());
        let path = format!("{TASKS_PATH}/{}", segment(id));
        let answered = match status {
            Some(_) if !unseen => self.send(HttpMethod::Post, &format!("{path}/close"), &[], None)?,
            _ => self.send(HttpMethod::Delete, &path, &[], None)?,
        };
        match answered.status {
            200..=299 | 400 | 404 | 410 => Ok(()),
            _ => Err(self.api.unexpected_refusal(&answered)),
        }
    }

    /// Looks up a task that is missing from the list.
    fn look_up_task(&self, id: &str, since: Timestamp, now: Timestamp) -> Result<TaskLookup, ApiError> {
        let answered = self.send(HttpMethod::Get, &format!("{TASKS_PATH}/{}", segment(id)), &[], None)?;
        match answered.status {
            200..=299 => {
                let task = TodoistTask::deserialize(&answered.body)
                    .map_err(|_| ApiError::new("Todoist returned a task in an unknown format"))?;
                Ok(match (task.is_deleted, task.checked) {
                    (true, _) => TaskLookup::Deleted(task),
                    (_, true) => TaskLookup::Completed(task),
                    _ => TaskLookup::Open(task),
                })
            }
            404 | 410 => {
                // Completed tasks may be only in a list of their own.
                let done = self.completed(since, now)?;
                Ok(done
                    .into_iter()
                    .find(|task| task.id == id)
                    .map_or(TaskLookup::Gone, TaskLookup::Completed))
            }
            _ => Err(self.api.unexpected_refusal(&answered)),
        }
    }

    /// Lists the tasks completed since a time.
    fn completed(&self, since: Timestamp, now: Timestamp) -> Result<Vec<TodoistTask>, ApiError> {
        let day = SignedDuration::from_hours(24);
        let (since, until) = (stamp(since - day), stamp(now + day));
        self.list(&format!("{COMPLETED_PATH}?since={since}&until={until}&limit={PAGE_SIZE}"), "items")
    }

    /// Reads all pages of a list.
    fn list(&self, path: &str, field: &str) -> Result<Vec<TodoistTask>, ApiError> {
        let (mut tasks, mut cursor) = (Vec::new(), String::new());
        for _ in 0..MAX_PAGES {
            let page = self.get(&format!("{path}{cursor}"))?;
            let Some(items) = page[field].as_array() else {
                return Err(ApiError::new("Todoist returned a list in an unknown format"));
            };
            tasks.extend(items.iter().filter_map(|item| TodoistTask::deserialize(item).ok()));
            match page["next_cursor"].as_str() {
                Some(next) if !next.is_empty() => cursor = format!("&cursor={}", segment(next)),
                _ => return Ok(tasks),
            }
        }
        // A task missing from a truncated list may still exist.
        Err(ApiError::new(format!("there are more than {} tasks", PAGE_SIZE * MAX_PAGES)))
    }

    fn get(&self, path: &str) -> Result<Value, ApiError> {
        let answered = self.send(HttpMethod::Get, path, &[], None)?;
        match answered.is_ok() {
            true => Ok(answered.body),
            false => Err(self.api.unexpected_refusal(&answered)),
        }
    }

    fn send(
        &self,
        method: HttpMethod,
        path: &str,
        headers: &[(&str, String)],
        body: Option<&Value>,
    ) -> Result<ApiResponse, ApiError> {
        let key = [("authorization", format!("Bearer {}", self.api.key))];
        self.api.ask(method, path, &[&key, headers].concat(), body)
    }
}

/// Builds the event of a change; a repeated change has the same id.
fn event(name: &str, task: &TaskChanged, now: Timestamp) -> Event {
    let what = name.rsplit('.').next().unwrap_or(name);
    polled_event(format!("todoist-{what}-{}", task.task_id), name, task, now)
}

/// The id of a request, at most 36 characters.
fn request_id(id: ProposalId, since: i64, asked_at: Timestamp) -> String {
    let what = format!("{id} {since} {}", asked_at.as_millisecond());
    ContentHash::of_bytes(what.as_bytes()).short_hex(32)
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Percent-encodes a path segment.
fn segment(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
