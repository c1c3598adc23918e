//! A server that is killed, full, evicting, misconfigured or away.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use rekindle_core::config::RedisSettings;

use super::redis_process::{RedisProcess, skipped};
use super::*;

#[test]
fn sto_05_decisions_survive_kill_9_of_a_server_that_appends() {
    let Some(mut process) = RedisProcess::start(&["--appendonly", "yes", "--appendfsync", "always"]) else {
        return skipped();
    };
    let server = process.server();
    for number in 1..=20 {
        server.propose(id(number), &[("proposal", "{}".to_owned())]).unwrap();
        server.append(DAY, &format!("k{number}"), "entry").unwrap();
        assert_eq!(server.decide(id(number), "approved", "one").unwrap(), DecisionClaim::Won);
        if number % 5 == 0 {
            process.kill();
            assert!(
                server.decide(id(number), "rejected", "two").unwrap_err().what.contains("cannot be reached")
            );
            process.restart();
        }
    }
    assert!(server.info().unwrap().appends);
    for number in 1..=20 {
        assert_eq!(
            server.decide(id(number), "rejected", "two").unwrap(),
            DecisionClaim::Lost("one".to_owned())
        );
    }
    assert_eq!(server.keys(&[DAY]).unwrap().remove(0).len(), 20);
}

#[test]
fn b_16_a_server_that_lost_its_data_is_noticed() {
    with_redis(|process| {
        let server = process.server();
        assert_eq!((server.count_exchange().unwrap(), server.count_exchange().unwrap()), (1, 2));
        process.kill();
        process.restart();
        assert_eq!(process.server().count_exchange().unwrap(), 1, "not above the last number");
    });
}

#[test]
fn sto_01_a_list_that_was_evicted_without_its_keys_is_filled_again() {
    with_redis(|process| {
        let server = process.server();
        server.append(DAY, "k1", "one").unwrap();
        server.append(DAY, "k2", "two").unwrap();
        process.command(&["DEL", "memory:observations:2026-11-10"]);
        assert!(server.keys(&[DAY]).unwrap()[0].is_empty(), "a place in a list that is gone");
        assert!(server.append(DAY, "k2", "two").unwrap(), "the place that was left counts no more");
        assert_eq!(
            server.keys(&[DAY]).unwrap().remove(0).into_iter().collect::<Vec<_>>(),
            [("k2".to_owned(), 0)]
        );
        process.command(&["DEL", "memory:observations:2026-11-10:keys"]);
        assert!(server.append(DAY, "k1", "one").unwrap());
        assert_eq!(server.read(DAY, &[1]).unwrap(), ["one"]);
    });
}

#[test]
fn sto_01_a_server_that_evicts_loses_entries_and_takes_them_again() {
    let Some(process) = RedisProcess::start(&["--maxmemory", "3mb", "--maxmemory-policy", "allkeys-lru"])
    else {
        return skipped();
    };
    let server = process.server();
    assert!(server.info().unwrap().advice().iter().any(|advice| advice.contains("noeviction")));
    let days: Vec<Date> = (0..28).map(|back| DAY - jiff::Span::new().days(back)).collect();
    let entry = "x".repeat(128 * 1024);
    for date in &days {
        assert!(server.append(*date, "k1", &entry).unwrap());
    }
    let there = server.keys(&days).unwrap();
    let lost: Vec<usize> = (0..days.len()).filter(|at| there[*at].is_empty()).collect();
    assert!(!lost.is_empty(), "nothing was evicted");
    // Whatever was evicted, list or places, the entry can be sent again and is read under its place.
    let at = lost[0];
    server.append(days[at], "k1", &entry).unwrap();
    let place = server.keys(&days[at..=at]).unwrap()[0]["k1"];
    assert_eq!(server.read(days[at], &[place]).unwrap(), std::slice::from_ref(&entry));
}

#[test]
fn sto_05_a_full_server_says_so_and_keeps_what_it_has() {
    let Some(process) = RedisProcess::start(&["--maxmemory", "3mb", "--maxmemory-policy", "noeviction"])
    else {
        return skipped();
    };
    let server = process.server();
    assert_eq!(server.info().unwrap().full_policy, "noeviction");
    let entry = "x".repeat(64 * 1024);
    let refused =
        (0..200).find_map(|number| server.append(DAY, &format!("k{number}"), &entry).err()).unwrap();
    assert!(refused.what.ends_with("is full"), "{refused}");
    assert!(refused.hint.contains("maxmemory"));
    assert!(!server.read(DAY, &[0]).unwrap().is_empty(), "what is there can be read");
}

#[test]
fn sec_04_a_wrong_password_is_a_sentence_without_the_password() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    process.command(&["CONFIG", "SET", "requirepass", "right-horse"]);
    let error = process.server().info().unwrap_err();
    assert!(error.what.contains("refused the password in REKINDLE_TEST_NO_PASSWORD"), "{error}");
    // PATH is a variable that is set and holds no password.
    let wrong = RedisSettings { password_variable: "PATH".to_owned(), ..process.settings() };
    let error = RedisServer::open(&wrong).unwrap().info().unwrap_err();
    assert!(error.what.contains("refused the password in PATH"), "{error}");
    assert!(!error.what.contains('/') || !error.what.contains("/bin"), "{error}");
}

/// The commands that docs/engines.md asks for.
const COMMANDS: &str = "get set del exists incr expire scan type info eval evalsha script|load rpush lrange lindex lset \
    lrem llen hset hget hgetall hvals hexists bgrewriteaof";

#[test]
fn sec_04_an_account_with_the_documented_rights_is_enough_and_one_without_is_a_sentence() {
    let Some(process) = RedisProcess::start(&[]) else { return skipped() };
    let allowed: Vec<String> = COMMANDS.split_whitespace().map(|command| format!("+{command}")).collect();
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    process
        .command(&[&["ACL", "SETUSER", "ada", "on", "nopass", "~memory:*", "-@all"], &allowed[..]].concat());
    process.command(&[
        "ACL", "SETUSER", "eve", "on", "nopass", "~other:*", "-@all", "+get", "+evalsha", "+eval",
    ]);
    // Any password is right for these accounts.
    let account = |name: &str| RedisSettings {
        username: name.to_owned(),
        password_variable: "PATH".to_owned(),
        ..process.settings()
    };
    let mut server = RedisServer::open(&account("ada")).unwrap();
    server.info().unwrap();
    server.count_exchange().unwrap();
    assert!(server.append(DAY, "k1", "one").unwrap());
    server.overwrite(DAY, "k1", "two").unwrap();
    assert_eq!(server.keys(&[DAY]).unwrap()[0]["k1"], 0);
    assert_eq!(server.read(DAY, &[0]).unwrap(), ["two"]);
    assert!(server.propose(id(1), &[("proposal", "{}".to_owned())]).unwrap());
    server.proposals(&[id(1).to_string()]).unwrap();
    assert_eq!(server.decide(id(1), "approved", "one").unwrap(), DecisionClaim::Won);
    assert!(server.take("memory:observe:lock:a", "one", 60, now()).unwrap());
    assert!(server.release("memory:observe:lock:a", "one").unwrap());
    assert_eq!(server.erase(&ErasureTarget::new(&["nothing that is there"])).unwrap(), 0);
    server.unlist("p-20261110-001").unwrap();
    assert!(server.clear().unwrap() > 0);
    let error = RedisServer::open(&account("eve")).unwrap().append(DAY, "k1", "one").unwrap_err();
    assert!(error.what.contains("does not allow this account"), "{error}");
}

#[test]
fn gen_03_a_server_that_is_away_costs_its_deadline_at_most() {
    // This one accepts connections and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("redis://{}/0", silent.local_addr().unwrap());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for url in [silent, format!("redis://{closed}/0")] {
        let settings = RedisSettings {
            url,
            username: String::new(),
            password_variable: "REKINDLE_TEST_NO_PASSWORD".to_owned(),
        };
        let server = RedisServer::open(&settings).unwrap();
        let began = Instant::now();
        let error = server.info().unwrap_err();
        assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
        assert!(error.what.contains("cannot be reached"), "{error}");
        assert!(error.hint.contains("works alone"));
    }
}

#[test]
fn sec_02_text_leaves_a_private_network_only_encrypted() {
    let settings = |url: &str| RedisSettings {
        url: url.to_owned(),
        username: String::new(),
        password_variable: "REKINDLE_TEST_NO_PASSWORD".to_owned(),
    };
    let error = RedisServer::open(&settings("redis://redis.example:6379/0")).err().unwrap();
    assert!(error.what.contains("without encryption"), "{error}");
    for url in ["rediss://redis.example:6379/0", "redis://10.0.0.7/1"] {
        assert!(RedisServer::open(&settings(url)).is_ok(), "{url}");
    }
}
