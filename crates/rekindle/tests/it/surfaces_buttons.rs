//! Proposals as messages with buttons (REV-08), through the real worker and a server that speaks the documented Bot API.

use rekindle_engine::platform::db::Database;
use rekindle_testkit::{Sandbox, ServerReply, TELEGRAM_TOKEN, TelegramServer, TestCommand};
use serde_json::{Value, json};

use crate::distil::{model, pump_session};
use crate::review::{memory, propose, quiet, review, status};
use crate::surfaces::later;
use crate::{project, text};

const CHAT: i64 = 4242;
const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

fn rekindle(sandbox: &Sandbox, args: &[&str]) -> TestCommand {
    sandbox.rekindle(args).env("TELEGRAM_BOT_TOKEN", TELEGRAM_TOKEN)
}

fn connected(server: &TelegramServer) -> Sandbox {
    let sandbox = quiet();
    let connect = ["review", "connect", "telegram", "--url", server.url(), "--chat", "4242", "--yes"];
    let said = rekindle(&sandbox, &connect).run().ok().stdout;
    assert!(said.contains("connected as @rekindle_test_bot"), "{said}");
    sandbox
}

fn work(sandbox: &Sandbox) {
    later(sandbox);
    rekindle(sandbox, &["worker", "--once"]).run().ok();
}

fn doctor(sandbox: &Sandbox) -> String {
    let checks = rekindle(sandbox, &["doctor", "--json"]).run().ok().json();
    let found = checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == "surfaces");
    found.map_or_else(String::new, Value::to_string)
}

/// Returns the message about a proposal.
fn about(server: &TelegramServer, id: &str) -> Value {
    let found = server.messages().into_iter().find(|message| text(message, "text").contains(id));
    found.unwrap_or_else(|| panic!("no message about {id}"))
}

fn calls(server: &TelegramServer, method: &str) -> usize {
    server.received().iter().filter(|asked| asked.line.ends_with(method)).count()
}

#[test]
fn rev_08_buttons_decide_and_go_away() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let words = ["Use tabs.", "Deploy on Mondays.", "<b>Write</b> *tests* [first](http://x.example)."];
    let ids: Vec<String> = words.iter().map(|words| propose(&sandbox, words, 0)).collect();
    work(&sandbox);
    assert_eq!(server.messages().len(), 3);
    let third = about(&server, &ids[2]);
    assert!(text(&third, "text").contains(words[2]), "plain text, as it is: {third}");
    assert!(third.get("parse_mode").is_none() && third.get("entities").is_none());
    assert_eq!(third["link_preview_options"]["is_disabled"], true);
    let first = about(&server, &ids[0]);
    assert_eq!(first["chat_id"], CHAT);
    let (yes, no) = (format!("memory:approve:{}", ids[0]), format!("memory:reject:{}", ids[1]));
    assert_eq!(first["reply_markup"]["inline_keyboard"][0][0]["callback_data"], yes.as_str());
    // A press in another chat decides nothing and gets no answer.
    server.press(999, &first, &yes);
    server.press(CHAT, &first, "menu:1");
    work(&sandbox);
    assert_eq!((status(&sandbox, &ids[0]).as_str(), server.answers().len()), ("triaged", 0));
    let press = server.press(CHAT, &first, &yes);
    server.press(CHAT, &about(&server, &ids[1]), &no);
    work(&sandbox);
    assert_eq!(
        (status(&sandbox, &ids[0]).as_str(), status(&sandbox, &ids[1]).as_str()),
        ("promoted", "rejected")
    );
    assert_eq!(text(&review(&sandbox, &[&ids[0]])["proposals"][0], "decided_by"), "telegram");
    assert!(memory(&sandbox).contains(&format!("Use tabs. <!-- user --> ^{}", ids[0])));
    assert_eq!(
        server.answers(),
        [format!("{} will be remembered", ids[0]), format!("{} is rejected", ids[1])]
    );
    for (id, said) in [(&ids[0], "✅ Remembered"), (&ids[1], "❌ Turned down")] {
        let message = about(&server, id);
        assert!(text(&message, "text").starts_with(said) && message["reply_markup"].is_null(), "{message}");
    }
    // A second press is answered; a repeated update counts once.
    server.press(CHAT, &first, &format!("memory:reject:{}", ids[0]));
    server.replay(&press);
    let mut db = Database::open(&sandbox.state().join("rekindle.db")).unwrap();
    // The confirmation was lost.
    db.change(|t| t.execute("UPDATE surface_state SET next = NULL", [])).unwrap();
    work(&sandbox);
    assert_eq!(status(&sandbox, &ids[0]), "promoted");
    assert_eq!(server.answers()[2], format!("{} was promoted before, in Telegram", ids[0]));
    assert_eq!(server.answers().len(), 3, "{:?}", server.answers());
    assert_eq!(server.messages().len(), 3);
    assert!(sandbox.find_bytes(TELEGRAM_TOKEN).is_empty(), "a key is in no file");
}

#[test]
fn rev_08_in_a_group_only_the_configured_person_decides() {
    const GROUP: i64 = -1_001_234;
    const ADA: i64 = 7;
    const EVE: i64 = 8;
    let server = TelegramServer::default();
    let sandbox = quiet();
    let connect = ["review", "connect", "telegram", "--url", server.url(), "--chat", "-1001234", "--yes"];
    let said = rekindle(&sandbox, &connect).run().ok();
    assert!(said.stderr.contains("rekindle config set review.telegram.user"), "{}", said.stderr);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    let (message, yes) = (about(&server, &id), format!("memory:approve:{id}"));
    let decided_by = |user| {
        server.press_as(user, GROUP, &message, &yes);
        work(&sandbox);
        status(&sandbox, &id)
    };
    assert_eq!(decided_by(ADA), "triaged", "nobody is named yet");
    rekindle(&sandbox, &["config", "set", "review.telegram.user", "7"]).run().ok();
    assert_eq!(decided_by(EVE), "triaged", "somebody else in the group");
    assert_eq!(decided_by(ADA), "promoted");
    let again = rekindle(&sandbox, &connect).run().ok();
    assert!(!again.stderr.contains("review.telegram.user"), "{}", again.stderr);
}

#[test]
fn rev_08_what_is_decided_elsewhere_has_no_buttons_any_more() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    rekindle(&sandbox, &["reject", &id]).run().ok();
    server.refuse("editMessageText", ServerReply::json(429, r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}"#));
    rekindle(&sandbox, &["worker", "--once"]).run().ok();
    assert!(!about(&server, &id)["reply_markup"].is_null());
    work(&sandbox);
    let message = about(&server, &id);
    assert!(
        text(&message, "text").starts_with("❌ Turned down") && message["reply_markup"].is_null(),
        "{message}"
    );
    let edits = calls(&server, "/editMessageText");
    work(&sandbox);
    assert_eq!(calls(&server, "/editMessageText"), edits);
}

#[test]
fn rev_08_a_message_is_sent_at_least_once_and_not_for_ever() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    // A request that certainly failed is not counted as an attempt.
    for _ in 0..4 {
        server
            .refuse("sendMessage", ServerReply::json(429, r#"{"ok":false,"parameters":{"retry_after":1}}"#));
        work(&sandbox);
    }
    assert!(server.messages().is_empty());
    // A message with a lost response is sent again, a few times at most.
    for _ in 0..5 {
        server.lose("sendMessage", ServerReply::json(502, "bad gateway"));
        work(&sandbox);
    }
    assert_eq!(server.messages().len(), 3);
    // Every copy works; the first answer counts.
    let copies = server.messages();
    server.press(CHAT, &copies[1], &format!("memory:approve:{id}"));
    server.press(CHAT, &copies[0], &format!("memory:reject:{id}"));
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "promoted");
    assert!(server.answers()[1].contains("before, in Telegram"), "{:?}", server.answers());
    assert!(about(&server, &id)["reply_markup"].is_null());
}

#[test]
fn rev_08_an_answer_that_does_not_arrive_is_made_up_for() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    server.press(CHAT, &about(&server, &id), &format!("memory:reject:{id}"));
    server.refuse("answerCallbackQuery", ServerReply::json(500, "{}"));
    work(&sandbox);
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "rejected");
    assert!(about(&server, &id)["reply_markup"].is_null(), "the next look takes the buttons away");
    let runs = rekindle(&sandbox, &["runs", "--json"]).run().ok().stdout;
    assert!(!runs.contains("\"FAILED\"") && !runs.contains("\"DEAD\""), "{runs}");
}

#[test]
fn rev_08_presses_by_webhook_need_the_secret() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let id = propose(&sandbox, "Use tabs.", 0);
    work(&sandbox);
    server.set_webhook();
    let payload = server.press(CHAT, &about(&server, &id), &format!("memory:approve:{id}")).to_string();
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "triaged");
    assert!(doctor(&sandbox).contains("rekindle review webhook telegram"), "{}", doctor(&sandbox));
    let hook = |secret: &str| {
        let hook =
            rekindle(&sandbox, &["review", "webhook", "telegram"]).env("TELEGRAM_WEBHOOK_SECRET", "s3cret_-");
        hook.env("REKINDLE_WEBHOOK_SIGNATURE", secret).stdin(payload.as_bytes())
    };
    assert!(hook("s3cret").run().fails(1).stderr.contains("the signature is invalid"));
    work(&sandbox);
    assert_eq!(status(&sandbox, &id), "triaged");
    // Every user of the machine can read arguments (B-03).
    let shown = hook("").arg("--signature").arg("s3cret_-").run().fails(2);
    assert!(shown.stderr.contains("other users can read command-line arguments"), "{}", shown.stderr);
    assert_eq!(status(&sandbox, &id), "triaged");
    hook("s3cret_-").run().ok();
    hook("s3cret_-").run().ok();
    work(&sandbox);
    assert_eq!((status(&sandbox, &id).as_str(), server.answers().len()), ("promoted", 1));
    assert!(about(&server, &id)["reply_markup"].is_null());
    let other = json!({"update_id": 1, "message": {"text": "hi"}}).to_string();
    let nothing = hook("s3cret_-").stdin(other).run().ok().stdout;
    assert!(nothing.contains("contains no decision"), "{nothing}");
}

#[cfg(target_os = "linux")]
#[test]
fn b_03_no_secret_stands_in_the_list_of_processes() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    let keys = [("ANTHROPIC_API_KEY", "sk-ant-seen-by-all"), ("TELEGRAM_WEBHOOK_SECRET", "s3cret_-seen")];
    let [list, variables] = ["processes", "variables"].map(|name| sandbox.user_home().join(name));
    // While the worker asks it, the model looks at every process, and at its own variables.
    let (all, own) = (list.display(), variables.display());
    model(&sandbox, &format!("cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' ' ' >> {all}; env >> {own}"));
    pump_session(project(&sandbox, "pumps"), "s1").ends(&sandbox);
    propose(&sandbox, "Use tabs.", 0);
    later(&sandbox);
    let mut worker = rekindle(&sandbox, &["worker", "--once"]);
    for (name, value) in keys {
        worker = worker.env(name, value);
    }
    worker.run().ok();
    let [seen, given] = [list, variables].map(|path| std::fs::read_to_string(path).unwrap());
    assert!(seen.contains("worker --once"), "the list has the worker: {seen}");
    for secret in keys.map(|(_, value)| value).into_iter().chain([TELEGRAM_TOKEN]) {
        assert!(!seen.contains(secret), "{secret} in {seen}");
    }
    // The program that answers may need the key of its maker, but not those of the review services.
    assert!(
        given.contains(keys[0].1) && !given.contains(keys[1].1) && !given.contains(TELEGRAM_TOKEN),
        "{given}"
    );
}

#[test]
fn b_03_no_secret_leaves_and_no_error_shows_the_token() {
    let server = TelegramServer::default();
    let sandbox = connected(&server);
    propose(&sandbox, &format!("Push with {TOKEN} to the mirror."), 0);
    work(&sandbox);
    assert!(text(&server.messages()[0], "text").contains("[redacted:github-token]"));
    assert!(server.received().iter().all(|asked| !asked.body.contains("ghp_")));
    propose(&sandbox, "Use tabs.", 0);
    server.refuse(
        "sendMessage",
        ServerReply::json(
            403,
            r#"{"ok":false,"error_code":403,"description":"Forbidden: bot was blocked by the user"}"#,
        ),
    );
    work(&sandbox);
    assert!(doctor(&sandbox).contains("bot was blocked by the user"), "{}", doctor(&sandbox));
    drop(server);
    work(&sandbox);
    assert!(doctor(&sandbox).contains("cannot connect to 127.0.0.1"), "{}", doctor(&sandbox));
    assert!(sandbox.find_bytes("AAtest-token").is_empty());
    let which = rekindle(&sandbox, &["review", "connect", "telegram", "--chat", "0", "--yes"]).run().fails(2);
    assert!(which.stderr.contains("which chat?"), "{}", which.stderr);
}
