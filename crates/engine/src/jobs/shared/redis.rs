//! A Redis server as the place where machines meet. `docs/engines.md` lists the keys.
//!
//! Every change that reads before it writes is one Lua script, so two machines never interleave. Every key of ours has
//! an expiry, except the list of pending ids and the counter of exchanges.

mod erase;
mod scripts;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc;
use std::time::Duration;

use redis::{Client, Connection, ErrorKind, IntoConnectionInfo, RedisError, ServerErrorKind};
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{Date, Timestamp, day};
use rekindle_core::config::RedisSettings;
use rekindle_core::vault::review::ProposalId;

use super::SharedError;
use super::locks::LockStore;
use crate::platform::environment;
use crate::platform::http;

/// The longest time to find and reach the server.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(1500);
/// The longest wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(3);
/// The time for which observations and proposals stay (STO-01, STO-05).
const KEPT_SECONDS: i64 = 30 * 24 * 3600;
/// The time for which a decision stays: far longer than a machine is offline, because it must still win then.
const DECIDED_SECONDS: i64 = 365 * 24 * 3600;

const PENDING: &str = "memory:review:pending";
const EXCHANGES: &str = "memory:exchanges";

fn observations_key(date: Date) -> String {
    format!("memory:observations:{}", day(date))
}

fn proposal_key(id: &str) -> String {
    format!("memory:review:proposal:{id}")
}

/// The answer to a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionClaim {
    /// It is the first.
    Won,
    /// Another one was first: this one.
    Lost(String),
}

/// The state of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedisInfo {
    /// Its version.
    pub version: String,
    /// The memory that it uses, in bytes.
    pub used_bytes: u64,
    /// True if it appends to a file, so that a kill loses a second at most.
    pub appends: bool,
    /// What it does when its memory is full.
    pub full_policy: String,
}

/// A Redis server. It connects on first use and again after a failure.
pub struct RedisServer {
    settings: RedisSettings,
    client: Client,
    connection: RefCell<Option<Connection>>,
}

impl RedisInfo {
    /// What the person should change on the server.
    pub fn advice(&self) -> Vec<&'static str> {
        let mut advice = Vec::new();
        if !self.appends {
            advice.push("a restart loses decisions: set appendonly yes");
        }
        if !matches!(self.full_policy.as_str(), "" | "noeviction") {
            advice.push("when it is full it drops decisions: set maxmemory-policy noeviction");
        }
        advice
    }
}

impl RedisServer {
    /// Reads the password from the environment; makes no request.
    pub fn open(settings: &RedisSettings) -> Result<Self, SharedError> {
        let invalid = |error: RedisError| SharedError {
            what: format!("engines.redis.url cannot be used: {error}"),
            hint: "an address such as redis://127.0.0.1:6379/0; rediss:// uses TLS",
        };
        let host = http::host(&settings.url);
        if !settings.url.starts_with("rediss://") && !http::is_local(&host) {
            return Err(SharedError {
                what: format!(
                    "engines.redis.url would send observations and proposals to {host} without encryption"
                ),
                hint: "use rediss://, or a server on this machine or in a private network",
            });
        }
        let info = settings.url.as_str().into_connection_info().map_err(invalid)?;
        let mut account = info.redis_settings().clone();
        if !settings.username.is_empty() {
            account = account.set_username(&settings.username);
        }
        let password = environment::variable(&settings.password_variable);
        if let Some(password) = password.filter(|password| !password.is_empty()) {
            account = account.set_password(password);
        }
        let client = Client::open(info.set_redis_settings(account)).map_err(invalid)?;
        Ok(Self { settings: settings.clone(), client, connection: RefCell::new(None) })
    }

    /// The address of the server.
    pub fn url(&self) -> &str {
        &self.settings.url
    }

    /// Connects within the deadline. The system may take longer to look up a name, so that happens on another thread.
    fn connect(&self) -> Result<Connection, SharedError> {
        let (sender, receiver) = mpsc::channel();
        let client = self.client.clone();
        std::thread::spawn(move || {
            let answer = client.get_connection_with_timeout(CONNECT_TIMEOUT);
            sender.send(answer).ignore_failure("nobody waits for an answer that is late");
        });
        let connection = match receiver.recv_timeout(CONNECT_TIMEOUT * 2) {
            Ok(connected) => connected.map_err(|error| self.failed(&error))?,
            Err(_) => return Err(self.away("it does not answer")),
        };
        let timeouts = connection
            .set_read_timeout(Some(ANSWER_TIMEOUT))
            .and_then(|()| connection.set_write_timeout(Some(ANSWER_TIMEOUT)));
        timeouts.map_err(|error| self.failed(&error))?;
        Ok(connection)
    }

    /// Asks the server. After a failed transfer the next question connects again.
    fn ask<T>(
        &self,
        question: impl FnOnce(&mut Connection) -> Result<T, RedisError>,
    ) -> Result<T, SharedError> {
        let mut held = self.connection.borrow_mut();
        let mut connection = match held.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let answer = question(&mut connection);
        match &answer {
            Err(error) if error.is_io_error() || error.is_unrecoverable_error() => {}
            _ => *held = Some(connection),
        }
        answer.map_err(|error| self.failed(&error))
    }

    fn away(&self, why: &str) -> SharedError {
        SharedError {
            what: format!("{} cannot be reached: {why}", self.settings.url),
            hint: "start the server or check engines.redis.url; until then this machine works alone, and nothing is lost",
        }
    }

    /// The sentence for an error. It never contains the password.
    fn failed(&self, error: &RedisError) -> SharedError {
        let url = &self.settings.url;
        let refused = |what: &str, hint| SharedError { what: format!("{url} {what}"), hint };
        let code = error.code().unwrap_or_default();
        match (error.kind(), code) {
            (ErrorKind::AuthenticationFailed, _) | (_, "NOAUTH" | "WRONGPASS") => refused(
                &format!("refused the password in {}", self.settings.password_variable),
                "set the variable where your agents are started, and check engines.redis.username",
            ),
            (_, "NOPERM") => refused(
                "does not allow this account what Rekindle needs",
                "allow it the keys memory:* and the commands in docs/engines.md",
            ),
            (_, "OOM") => refused(
                "is full",
                "raise its maxmemory or free some; nothing is lost, this machine keeps its own copy",
            ),
            (_, "MISCONF") => refused("cannot write to its disk", "free some space on the server"),
            (ErrorKind::Server(ServerErrorKind::ReadOnly), _) => {
                refused("is a read-only replica", "name the primary in engines.redis.url")
            }
            (ErrorKind::Server(ServerErrorKind::BusyLoading), _) => {
                refused("is still loading its data", "wait a moment; this machine works alone meanwhile")
            }
            (ErrorKind::Io, _) => self.away(&error.to_string()),
            _ => refused(
                &format!("answered: {error}"),
                "check that it is Redis 6.2 or newer; `rekindle engines --check` tries again",
            ),
        }
    }

    /// Reads version, size and settings of the server.
    pub fn info(&self) -> Result<RedisInfo, SharedError> {
        let text: String = self.ask(|connection| redis::cmd("INFO").query(connection))?;
        let fields: BTreeMap<&str, &str> =
            text.lines().filter_map(|line| line.trim().split_once(':')).collect();
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        Ok(RedisInfo {
            version: field("redis_version").to_owned(),
            used_bytes: field("used_memory").parse().unwrap_or(0),
            appends: field("aof_enabled") == "1",
            full_policy: field("maxmemory_policy").to_owned(),
        })
    }

    /// Counts an exchange. A number that is not higher than the last one of this machine shows that the server lost data.
    pub(crate) fn count_exchange(&self) -> Result<i64, SharedError> {
        self.ask(|connection| redis::cmd("INCR").arg(EXCHANGES).query(connection))
    }

    /// Appends an observation to the list of its day, once per key. Returns true if it is new there.
    pub(crate) fn append(&self, date: Date, key: &str, entry: &str) -> Result<bool, SharedError> {
        let list = observations_key(date);
        self.ask(|connection| {
            scripts::append()
                .key(&list)
                .key(format!("{list}:keys"))
                .arg(key)
                .arg(entry)
                .arg(KEPT_SECONDS)
                .invoke(connection)
        })
    }

    /// The keys of the observations of each day, each with its place in the list.
    pub(crate) fn keys(&self, days: &[Date]) -> Result<Vec<BTreeMap<String, i64>>, SharedError> {
        let (mut keys, mut lengths) = (redis::pipe(), redis::pipe());
        for date in days {
            let list = observations_key(*date);
            keys.cmd("HGETALL").arg(format!("{list}:keys"));
            lengths.cmd("LLEN").arg(list);
        }
        let mut keys: Vec<BTreeMap<String, i64>> = self.ask(|connection| keys.query(connection))?;
        let lengths: Vec<i64> = self.ask(|connection| lengths.query(connection))?;
        // A server that evicts may have dropped the list and kept the places in it.
        for (keys, length) in keys.iter_mut().zip(lengths) {
            keys.retain(|_, place| *place < length);
        }
        Ok(keys)
    }

    /// Reads the entries at these places of a day.
    pub(crate) fn read(&self, date: Date, places: &[i64]) -> Result<Vec<String>, SharedError> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let key = observations_key(date);
        let mut question = redis::pipe();
        for place in places {
            question.cmd("LINDEX").arg(&key).arg(*place);
        }
        let found: Vec<Option<String>> = self.ask(|connection| question.query(connection))?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Replaces an observation, if it is there.
    pub(crate) fn overwrite(&self, date: Date, key: &str, entry: &str) -> Result<(), SharedError> {
        let list = observations_key(date);
        self.ask(|connection| {
            let place: Option<i64> =
                redis::cmd("HGET").arg(format!("{list}:keys")).arg(key).query(connection)?;
            match place {
                Some(place) => redis::cmd("LSET").arg(&list).arg(place).arg(entry).query(connection),
                None => Ok(()),
            }
        })
    }

    /// Removes a proposal with everything that is known of it.
    pub(crate) fn remove(&self, id: &str) -> Result<(), SharedError> {
        self.ask(|connection| {
            let mut question = redis::pipe();
            question.cmd("DEL").arg(proposal_key(id)).ignore();
            question.cmd("LREM").arg(PENDING).arg(0).arg(id).ignore();
            question.query(connection)
        })
    }

    /// The ids of all pending proposals.
    pub(crate) fn pending(&self) -> Result<BTreeSet<String>, SharedError> {
        self.ask(|connection| redis::cmd("LRANGE").arg(PENDING).arg(0).arg(-1).query(connection))
    }

    /// Publishes a proposal, unless it is there or was decided. Returns true if it is new there.
    pub(crate) fn propose(&self, id: ProposalId, fields: &[(&str, String)]) -> Result<bool, SharedError> {
        let id = id.to_string();
        self.ask(|connection| {
            let script = scripts::propose();
            let mut call = script.key(proposal_key(&id));
            call.key(PENDING).arg(&id).arg(KEPT_SECONDS);
            for (name, value) in fields {
                call.arg(*name).arg(value);
            }
            call.invoke(connection)
        })
    }

    /// Reads the proposals of these ids; `None` for one that expired.
    pub(crate) fn proposals(&self, ids: &[String]) -> Result<Vec<Option<String>>, SharedError> {
        self.fields(ids, "proposal")
    }

    /// Reads the decisions on these proposals.
    pub(crate) fn decisions(&self, ids: &[String]) -> Result<Vec<Option<String>>, SharedError> {
        self.fields(ids, "decision")
    }

    fn fields(&self, ids: &[String], field: &str) -> Result<Vec<Option<String>>, SharedError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut question = redis::pipe();
        for id in ids {
            question.cmd("HGET").arg(proposal_key(id)).arg(field);
        }
        self.ask(|connection| question.query(connection))
    }

    /// Removes an id from the list of pending ones: its proposal expired.
    pub(crate) fn unlist(&self, id: &str) -> Result<(), SharedError> {
        self.ask(|connection| redis::cmd("LREM").arg(PENDING).arg(0).arg(id).query(connection))
    }

    /// Decides on a proposal, if nobody did before (REV-14).
    pub(crate) fn decide(
        &self,
        id: ProposalId,
        status: &str,
        decision: &str,
    ) -> Result<DecisionClaim, SharedError> {
        let id = id.to_string();
        let (won, first): (bool, String) = self.ask(|connection| {
            scripts::decide()
                .key(proposal_key(&id))
                .key(PENDING)
                .arg(&id)
                .arg(decision)
                .arg(status)
                .arg(DECIDED_SECONDS)
                .invoke(connection)
        })?;
        Ok(if won { DecisionClaim::Won } else { DecisionClaim::Lost(first) })
    }
}

impl LockStore for RedisServer {
    type Error = SharedError;

    /// The server's clock counts, so clocks of machines may differ.
    fn take(&mut self, name: &str, token: &str, seconds: i64, _now: Timestamp) -> Result<bool, SharedError> {
        self.ask(|connection| scripts::lock().key(name).arg(token).arg(seconds * 1000).invoke(connection))
    }

    fn release(&mut self, name: &str, token: &str) -> Result<bool, SharedError> {
        self.ask(|connection| scripts::release().key(name).arg(token).invoke(connection))
    }
}
