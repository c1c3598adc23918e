//! A real `redis-server` on loopback, with data of its own.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::config::RedisSettings;

use crate::jobs::shared::redis::RedisServer;
use crate::platform::environment;

/// The variable that no test sets, for servers without a password.
const NO_PASSWORD: &str = "REKINDLE_TEST_NO_PASSWORD";

/// A server that ends with the test.
pub(crate) struct RedisProcess {
    folder: tempfile::TempDir,
    port: u16,
    arguments: Vec<String>,
    child: Child,
}

/// Says that a test did not run.
pub(crate) fn skipped() {
    let required = environment::raw_variable("REKINDLE_E2E_REQUIRED").is_some();
    assert!(!required, "redis-server is not on the PATH, and it is required");
    eprintln!("SKIPPED  redis-server is not on the PATH (scripts/engines-e2e.sh brings it)");
}

impl RedisProcess {
    /// Starts a server; `None` if there is no such program.
    pub(crate) fn start(arguments: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        let child = spawn(folder.path(), port, &arguments)?;
        let process = Self { folder, port, arguments, child };
        process.wait();
        Some(process)
    }

    pub(crate) fn settings(&self) -> RedisSettings {
        RedisSettings {
            url: format!("redis://127.0.0.1:{}/0", self.port),
            username: String::new(),
            password_variable: NO_PASSWORD.to_owned(),
        }
    }

    pub(crate) fn server(&self) -> RedisServer {
        RedisServer::open(&self.settings()).unwrap()
    }

    /// Kills the server as `kill -9` does.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again with the data that it left.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(self.folder.path(), self.port, &self.arguments).unwrap();
        self.wait();
    }

    /// Sends a command as an administrator and returns the answer as text.
    pub(crate) fn command(&self, words: &[&str]) -> String {
        let client = redis::Client::open(self.settings().url).unwrap();
        let mut connection = client.get_connection().unwrap();
        let mut command = redis::cmd(words[0]);
        words[1..].iter().for_each(|word| {
            command.arg(*word);
        });
        let answer: redis::Value = command.query(&mut connection).unwrap();
        redis::from_redis_value::<String>(answer.clone()).unwrap_or_else(|_| format!("{answer:?}"))
    }

    /// Everything on the server, as text.
    pub(crate) fn everything(&self) -> String {
        let client = redis::Client::open(self.settings().url).unwrap();
        let mut connection = client.get_connection().unwrap();
        let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
        let mut text = String::new();
        for key in keys {
            let read = match self.command(&["TYPE", &key]).as_str() {
                "list" => self.command(&["LRANGE", &key, "0", "-1"]),
                "hash" => self.command(&["HGETALL", &key]),
                _ => self.command(&["GET", &key]),
            };
            text += &format!("{key}: {read}\n");
        }
        text
    }

    fn wait(&self) {
        let began = Instant::now();
        while self.server().info().is_err() {
            assert!(began.elapsed() < Duration::from_secs(20), "redis-server does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server under test; it ends with the test")]
fn spawn(folder: &std::path::Path, port: u16, arguments: &[String]) -> Option<Child> {
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--save", "", "--dir"]).arg(folder);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().ok()
}

impl Drop for RedisProcess {
    fn drop(&mut self) {
        self.child.kill().ignore_failure("it may have ended by itself");
        self.child.wait().ignore_failure("it is gone either way");
    }
}
