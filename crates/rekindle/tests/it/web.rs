//! `rekindle web` as browsers and attackers see it: who gets in, and how it ends.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use rekindle_testkit::{Sandbox, TestCommand};

use crate::provenance::in_shell;
use crate::review::propose;
use crate::{sandbox, save};

/// The time limit of an answer on a busy machine.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A running page with the cookie of its browser.
pub(crate) struct WebPage {
    child: Child,
    pub(crate) address: String,
    host: String,
    path: String,
    cookie: Option<String>,
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct WebAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl WebAnswer {
    #[track_caller]
    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }

    #[track_caller]
    pub(crate) fn has(self, text: &str) -> Self {
        assert!(self.body.contains(text), "no `{text}` in:\n{}", self.body);
        self
    }

    #[track_caller]
    pub(crate) fn lacks(self, text: &str) -> Self {
        assert!(!self.body.contains(text), "there is `{text}` in:\n{}", self.body);
        self
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The value of a hidden field.
    #[track_caller]
    pub(crate) fn field(&self, name: &str) -> String {
        let start = format!("name=\"{name}\" value=\"");
        let rest =
            self.body.split(&start).nth(1).unwrap_or_else(|| panic!("no field `{name}` in {}", self.body));
        rest.split('"').next().unwrap().to_owned()
    }
}

impl WebPage {
    /// Starts a page and opens it with its token.
    pub(crate) fn open(sandbox: &Sandbox) -> Self {
        Self::open_with(sandbox, &[])
    }

    pub(crate) fn open_with(sandbox: &Sandbox, more: &[&str]) -> Self {
        Self::enter(&sandbox.rekindle(&[&["web", "--no-open"], more].concat()))
    }

    /// Starts a page with this command and opens it with its token.
    pub(crate) fn enter(command: &TestCommand) -> Self {
        let mut page = Self::start(command);
        let query = page.address.split_once('?').unwrap().1.to_owned();
        let answer = page.get(&format!("?{query}")).is(200);
        let cookie = answer.header("set-cookie").unwrap().to_owned();
        assert!(cookie.ends_with(&format!("; Path=/{}/; HttpOnly; SameSite=Strict", page.path)), "{cookie}");
        page.cookie = cookie.split(';').next().map(str::to_owned);
        page
    }

    /// Starts a page without opening it.
    pub(crate) fn start(command: &TestCommand) -> Self {
        let mut child = command.spawn();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        let rest = address.strip_prefix("http://").unwrap_or_else(|| panic!("no address: {address:?}"));
        let mut parts = rest.split('/');
        let (host, path) = (parts.next().unwrap().to_owned(), parts.next().unwrap().to_owned());
        assert!(host.starts_with("127.0.0.1:"), "{host}");
        Self { child, address, host, path, cookie: None }
    }

    /// Sends a request as it is. `lines` are headers besides `Host`.
    pub(crate) fn send(&self, method: &str, target: &str, lines: &[&str], body: &str) -> WebAnswer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(ANSWER_TIMEOUT)).unwrap();
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {target} HTTP/1.1\r\n{lines}Connection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body may close before all of it is sent.
        let sent = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        assert!(sent.is_ok() || !answer.is_empty(), "{sent:?} {read:?}");
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        WebAnswer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn target(&self, page: &str) -> String {
        format!("/{}/{page}", self.path)
    }

    /// The headers of this browser.
    fn own_lines(&self) -> Vec<String> {
        let cookie = self.cookie.iter().map(|cookie| format!("Cookie: other=1; {cookie}"));
        cookie.chain([format!("Host: {}", self.host)]).collect()
    }

    pub(crate) fn get(&self, page: &str) -> WebAnswer {
        let lines = self.own_lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.send("GET", &self.target(page), &lines, "")
    }

    /// Sends a form of the page, with its key.
    pub(crate) fn post(&self, page: &str, fields: &[(&str, &str)]) -> WebAnswer {
        // A field that names a memory leads to a page with a form.
        let named = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, id)| *id);
        let id = named("from").or_else(|| named("id")).unwrap_or_default();
        let pages =
            ["review".to_owned(), format!("edit?id={}", encode(id)), "setting?name=recall.k".to_owned()];
        let key = pages.iter().find_map(|page| self.get(page).form_key()).unwrap();
        self.post_with(page, &[&[("key", key.as_str())], fields].concat(), &[&self.origin()])
    }

    /// The header that browsers send with forms of this page.
    pub(crate) fn origin(&self) -> String {
        format!("Origin: http://{}", self.host)
    }

    pub(crate) fn post_with(&self, page: &str, fields: &[(&str, &str)], more: &[&str]) -> WebAnswer {
        let mut lines = self.own_lines();
        lines.push("Content-Type: application/x-www-form-urlencoded".to_owned());
        let lines: Vec<&str> = lines.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let body: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
        self.send("POST", &self.target(page), &lines, &body.join("&"))
    }

    /// Sends a form and follows to the page behind it.
    #[track_caller]
    pub(crate) fn submit(&self, page: &str, fields: &[(&str, &str)]) -> WebAnswer {
        self.follow(&self.post(page, fields).is(303))
    }

    /// Gets the page that an answer leads to.
    #[track_caller]
    pub(crate) fn follow(&self, answer: &WebAnswer) -> WebAnswer {
        let next = answer.header("location").unwrap();
        self.get(next.split('#').next().unwrap())
    }

    fn ended(&mut self, within: Duration) -> bool {
        let deadline = Instant::now() + within;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            std::process::Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success()
        );
    }
}

impl WebAnswer {
    /// The key of the forms on this page.
    fn form_key(&self) -> Option<String> {
        self.body.contains("name=\"key\"").then(|| self.field("key"))
    }
}

impl Drop for WebPage {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

pub(crate) fn encode(value: &str) -> String {
    value
        .bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            },
        )
        .collect()
}

#[test]
fn b_11_the_page_opens_with_its_token_and_nothing_else() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    let page = WebPage::start(&sandbox.rekindle(&["web", "--no-open"]));
    for inside in [
        "today",
        "search",
        "memory?id=staging",
        "review",
        "page.js",
        "alive",
        "?token=",
        "?token=0",
        "?ticket=1.2.3",
    ] {
        page.get(inside).is(401).lacks("5433").lacks("staging");
    }
    for outside in [
        "/",
        "/today",
        "/favicon.ico",
        "/../today",
        &format!("/{}", page.path),
        &format!("/{}x/today", page.path),
    ] {
        let status = page.send("GET", outside, &[&format!("Host: {}", page.host)], "").status;
        assert!([401, 404].contains(&status), "{outside}: {status}");
    }
    drop(page);

    let page = WebPage::open(&sandbox);
    page.get("search").is(200).has("Staging listens on 5433");
    let today = page.get("today").is(200).lacks("?token=");
    let policy = today.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(
        !today.body.contains("<script>")
            && !today.body.contains(" style=")
            && !today.body.contains(" onclick")
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cache-control", "no-store"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(today.header(name), Some(value), "{name}");
    }
}

#[test]
fn b_11_other_hosts_and_sites_get_nothing_and_change_nothing() {
    let sandbox = sandbox();
    let id = propose(&sandbox, "Use tabs.", 0);
    let page = WebPage::open(&sandbox);
    let cookie = format!("Cookie: {}", page.cookie.as_ref().unwrap());
    // DNS rebinding: the browser believes to talk to another host.
    for host in ["evil.example", "localhost", &page.host.replace("127.0.0.1", "localhost"), "127.0.0.1", ""] {
        let answer = page.send("GET", &page.target("today"), &[&format!("Host: {host}"), &cookie], "");
        assert!([400, 421].contains(&answer.status), "{host}: {answer:?}");
        assert!(!answer.body.contains("Use tabs"), "{answer:?}");
    }
    let key = page.get("review").is(200).field("key");
    let before = sandbox.everything();
    let form = [("key", key.as_str()), ("id", id.as_str()), ("verdict", "approve")];
    // A post of another site, of another local server, and of no page at all, with everything else right.
    for origin in
        ["Origin: http://evil.example", "Origin: http://127.0.0.1:1", "Origin: null", "X-Nothing: 1"]
    {
        page.post_with("decide", &form, &[origin]).is(403);
    }
    let own = format!("Origin: http://{}", page.host);
    page.post_with("decide", &form, &[&own, "Sec-Fetch-Site: cross-site"]).is(403);
    page.post_with("decide", &form, &[&own, "Sec-Fetch-Site: same-site"]).is(403);
    // A form without our key, or with another one.
    page.post_with("decide", &form[1..], &[&own]).is(403);
    page.post_with("decide", &[("key", "0"), form[1], form[2]], &[&own]).is(403);
    // An address never changes anything.
    page.get(&format!("decide?key={key}&id={id}&verdict=approve")).is(405);
    page.get(&format!("undo?key={key}&id={id}")).is(405);
    assert_eq!(sandbox.everything(), before);
    page.post_with("decide", &form, &[&own]).is(303);
}

#[test]
fn b_11_a_read_only_page_shows_everything_and_changes_nothing() {
    let sandbox = sandbox();
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    let id = propose(&sandbox, "Use tabs.", 0);
    sandbox.rekindle(&["review", "--list"]).run().ok();
    let page = WebPage::open_with(&sandbox, &["--read-only"]);
    page.get("review").is(200).has("Use tabs.").lacks("<form");
    page.get("memory?id=staging").is(200).has("Staging listens on 5433").lacks("method=\"post\"");
    let before = sandbox.files();
    let own = format!("Origin: http://{}", page.host);
    let key = page.get("edit?id=staging").field("key");
    page.post_with("decide", &[("key", &key), ("id", &id), ("verdict", "approve")], &[&own])
        .is(403)
        .has("read-only");
    assert_eq!(sandbox.files(), before);
}

#[test]
fn b_11_a_huge_or_broken_request_is_refused_and_the_page_lives_on() {
    let sandbox = sandbox();
    let page = WebPage::open(&sandbox);
    let own = format!("Origin: http://{}", page.host);
    let huge = "x".repeat(5 * 1024 * 1024);
    page.post_with("edit", &[("text", &huge)], &[&own]).is(413);
    page.get(&format!("search?q={}", "a".repeat(20_000))).is(200);
    page.get("search?q=%ff%fe&since=%00&kind=%22%3E").is(200);
    page.get("search?since=whenever").is(200).has("use a date such as");
    page.get("insight?days=-1").is(200);
    page.send("GET", "nonsense", &[&format!("Host: {}", page.host)], "");
    page.send("BREW", &page.target("today"), &[&format!("Host: {}", page.host)], "");
    page.get("today").is(200);
}

#[test]
fn r_19_an_agents_shell_gets_neither_a_page_nor_its_token() {
    let sandbox = sandbox();
    let refused = |said: &str| assert!(said.contains("an agent cannot open the page"), "{said}");
    refused(&in_shell(&sandbox, &["web", "--no-open"]).run().fails(1).stderr);
    let page = WebPage::open(&sandbox);
    let said = in_shell(&sandbox, &["web", "--no-open"]).run().fails(1);
    refused(&said.stderr);
    assert!(said.stdout.is_empty() && !said.stderr.contains("token"), "{said:?}");
    drop(page);
    // A program without a terminal may decide, as with the commands, but its words are not the person's.
    save(&sandbox, "fix", "staging", "Staging listens on 5433.");
    let mut page = WebPage::start(&sandbox.rekindle(&["web", "--no-open"]).without_terminal());
    let query = page.address.split_once('?').unwrap().1.to_owned();
    let cookie =
        page.get(&format!("?{query}")).header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    page.cookie = Some(cookie);
    let form = page.get("edit?id=staging").is(200);
    let (key, hash) = (form.field("key"), form.field("hash"));
    let own = format!("Origin: http://{}", page.host);
    let fields = [("key", key.as_str()), ("id", "staging"), ("hash", &hash), ("text", "Obey.")];
    page.post_with("edit", &fields, &[&own])
        .is(200)
        .has("without a terminal cannot edit a memory")
        .has("Obey.");
    assert!(sandbox.rekindle(&["show", "staging"]).run().ok().stdout.contains("5433"));
}

#[test]
fn b_11_a_second_start_finds_the_first_and_a_browser_gets_a_ticket_that_works_once() {
    let sandbox = sandbox();
    let tools = tempfile_folder(&sandbox);
    let opened = tools.join("opened");
    let script = format!("#!/bin/sh\nprintf '%s' \"$1\" > '{}'\n", opened.display());
    std::fs::write(tools.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(tools.join("xdg-open"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let page = WebPage::start(&sandbox.rekindle(&["web"]).env("PATH", &path));
    for attempt in 0..2 {
        let address = wait_for(&opened);
        std::fs::remove_file(&opened).unwrap();
        assert!(address.contains("?ticket=") && !address.contains("token"), "{address}");
        let ticket = address.split_once('?').unwrap().1.to_owned();
        page.get(&format!("?{ticket}")).is(200);
        page.get(&format!("?{ticket}")).is(401);
        if attempt == 0 {
            let second = sandbox.rekindle(&["web"]).env("PATH", &path).run().ok();
            assert_eq!(second.stdout.trim_end(), page.address);
            assert!(second.stderr.contains("already open"), "{}", second.stderr);
        }
    }
    let record = sandbox.state().join("locks/web.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&record).unwrap().permissions());
    assert_eq!(mode & 0o077, 0, "the token is for the owner only");
}

fn tempfile_folder(sandbox: &Sandbox) -> std::path::PathBuf {
    let folder = sandbox.work().join("tools");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Waits for the content of a file that another program writes.
fn wait_for(file: &std::path::Path) -> String {
    let deadline = Instant::now() + ANSWER_TIMEOUT;
    while Instant::now() < deadline {
        match std::fs::read_to_string(file) {
            Ok(text) if !text.is_empty() => return text,
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("{} was not written", file.display());
}

#[test]
fn b_11_the_page_ends_when_idle_with_ctrl_c_and_when_killed_and_leaves_nothing() {
    let sandbox = sandbox();
    let record = sandbox.state().join("locks/web.json");
    let mut page = WebPage::open_with(&sandbox, &["--idle-minutes", "0.05"]);
    assert!(record.exists());
    // An open page keeps it running: 3 seconds would be over by now.
    for _ in 0..20 {
        page.get("alive").is(200);
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(page.child.try_wait().unwrap().is_none());
    // A request without a key does not count as an open page.
    page.cookie = None;
    page.get("today").is(401);
    assert!(page.ended(Duration::from_secs(30)), "it went on without a page");
    assert!(page.child.wait().unwrap().success() && !record.exists());
    assert!(TcpStream::connect(&page.host).is_err(), "nothing listens any more");

    for signal in ["INT", "TERM", "HUP"] {
        let mut page = WebPage::open(&sandbox);
        page.signal(signal);
        assert!(page.ended(Duration::from_secs(30)), "{signal}");
        assert!(!record.exists(), "{signal}");
    }
    // A killed server leaves its record; the next start does not fall for it.
    let mut page = WebPage::open(&sandbox);
    page.signal("KILL");
    assert!(page.ended(Duration::from_secs(30)) && record.exists());
    let next = WebPage::open(&sandbox);
    assert_ne!(next.address, page.address);
}
