//! What every store of shared state promises. The tests run against the database of this machine and against a real
//! `redis-server`; without one on the path they say so and pass (`scripts/engines-e2e.sh` brings one).

mod faults;
pub(crate) mod redis_process;

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use rekindle_core::base::time::{Date, Timestamp};
use rekindle_core::vault::erase::ErasureTarget;
use rekindle_core::vault::review::{ProposalId, ProposalStage};

use self::redis_process::RedisProcess;
use super::locks::LockStore;
use super::redis::{DecisionClaim, RedisServer};
use crate::platform::db::Database;

const DAY: Date = Date::constant(2026, 11, 10);

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

fn later(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn id(number: u32) -> ProposalId {
    ProposalId { number, ..ProposalId::unnumbered(ProposalStage::Reflection, DAY) }
}

fn database() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let db = Database::open(&folder.path().join("rekindle.db")).unwrap();
    (folder, db)
}

/// Runs with a fresh server, or says that there is none.
fn with_redis(test: impl FnOnce(&mut RedisProcess)) {
    match RedisProcess::start(&[]) {
        Some(mut process) => test(&mut process),
        None => redis_process::skipped(),
    }
}

/// The lock of every store: one holder, idempotent for its token, released by its token only, free after its time.
/// `pass` lets a second pass.
fn keeps_locks<S: LockStore>(store: &mut S, mut pass: impl FnMut() -> Timestamp)
where
    S::Error: std::fmt::Debug,
{
    assert!(store.take("memory:observe:lock:a", "one", 1, now()).unwrap());
    assert!(store.take("memory:observe:lock:a", "one", 1, now()).unwrap(), "a retry of the same run");
    assert!(!store.take("memory:observe:lock:a", "two", 1, now()).unwrap());
    assert!(store.take("memory:observe:lock:b", "two", 1, now()).unwrap(), "another lock");
    assert!(!store.release("memory:observe:lock:a", "two").unwrap(), "not the holder");
    assert!(!store.take("memory:observe:lock:a", "two", 1, now()).unwrap());
    assert!(store.release("memory:observe:lock:a", "one").unwrap());
    assert!(!store.release("memory:observe:lock:a", "one").unwrap(), "nothing is left");
    assert!(store.take("memory:observe:lock:a", "two", 1, now()).unwrap());
    let then = pass();
    assert!(store.take("memory:observe:lock:a", "three", 1, then).unwrap(), "its time is over");
}

#[test]
fn sto_03_gen_03_the_database_keeps_locks() {
    let (_folder, mut db) = database();
    keeps_locks(&mut db, || later(1));
}

#[test]
fn sto_03_gen_03_redis_keeps_locks() {
    with_redis(|process| {
        let mut server = process.server();
        keeps_locks(&mut server, || {
            thread::sleep(Duration::from_millis(1100));
            now()
        });
    });
}

#[test]
fn cap_13_cap_14_a_lock_keeps_others_out_for_its_time_and_never_its_own_run() {
    let (_folder, mut db) = database();
    assert!(db.take("l", "one", 3600, now()).unwrap());
    assert!(db.take("l", "one", 3600, later(60)).unwrap(), "a retry of the same run");
    assert!(!db.take("l", "two", 3600, later(3599)).unwrap());
    assert!(db.take("m", "two", 3600, now()).unwrap());
    assert!(db.take("l", "two", 3600, later(3600)).unwrap());
    assert!(!db.take("l", "one", 3600, later(3601)).unwrap());
    // The lock was set by a clock that was a year ahead.
    assert!(db.take("l", "one", 3600, now()).unwrap());
}

#[test]
fn sto_01_sto_02_an_observation_is_listed_once_in_order_and_expires() {
    with_redis(|process| {
        let server = process.server();
        for (key, entry) in [("k1", "one"), ("k2", "two"), ("k1", "again")] {
            assert_eq!(server.append(DAY, key, entry).unwrap(), entry != "again", "{entry}");
        }
        let keys = server.keys(&[DAY]).unwrap().remove(0);
        assert_eq!(
            keys.iter().map(|(key, place)| (key.as_str(), *place)).collect::<Vec<_>>(),
            [("k1", 0), ("k2", 1)]
        );
        assert_eq!(server.read(DAY, &[0, 1, 7]).unwrap(), ["one", "two"]);
        assert!(server.keys(&[DAY.tomorrow().unwrap()]).unwrap()[0].is_empty());
        let month = 30 * 24 * 3600;
        for key in ["memory:observations:2026-11-10", "memory:observations:2026-11-10:keys"] {
            let left: i64 = process.command(&["TTL", key]).parse().unwrap();
            assert!((month - 60..=month).contains(&left), "{key}: {left}");
        }
    });
}

#[test]
fn sto_05_rev_14_the_first_of_fifty_deciders_wins() {
    with_redis(|process| {
        let server = process.server();
        assert!(server.propose(id(1), &[("proposal", "{}".to_owned())]).unwrap());
        assert!(!server.propose(id(1), &[("proposal", "other".to_owned())]).unwrap());
        assert_eq!(server.pending().unwrap(), BTreeSet::from([id(1).to_string()]));
        let settings = process.settings();
        let deciders: Vec<_> = (0..50)
            .map(|number| {
                let settings = settings.clone();
                thread::spawn(move || {
                    let server = RedisServer::open(&settings).unwrap();
                    let own = format!("machine {number}");
                    (server.decide(id(1), "approved", &own).unwrap(), own)
                })
            })
            .collect();
        let answers: Vec<(DecisionClaim, String)> =
            deciders.into_iter().map(|one| one.join().unwrap()).collect();
        let won: Vec<&String> =
            answers.iter().filter(|(claim, _)| *claim == DecisionClaim::Won).map(|(_, own)| own).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        for (claim, own) in answers.iter().filter(|(_, own)| own != won[0]) {
            assert_eq!(*claim, DecisionClaim::Lost(won[0].clone()), "{own} learns who was first");
        }
        assert!(server.pending().unwrap().is_empty());
        assert_eq!(server.decisions(&[id(1).to_string()]).unwrap(), [Some(won[0].clone())]);
        assert!(!server.propose(id(1), &[("proposal", "{}".to_owned())]).unwrap(), "decided for good");
        assert!(server.pending().unwrap().is_empty());
        let ttl: i64 =
            process.command(&["TTL", &format!("memory:review:proposal:{}", id(1))]).parse().unwrap();
        assert!(ttl > 60 * 24 * 3600, "a machine that was offline for two months still learns of it: {ttl}");
    });
}

#[test]
fn b_08_forgotten_text_leaves_the_server_and_the_rest_stays() {
    with_redis(|process| {
        let server = process.server();
        let entry = |text: &str| serde_json::json!({"observations": [{"narrative": text}]}).to_string();
        server.append(DAY, "k1", &entry("The staging host is hermes in rack nine.")).unwrap();
        server.append(DAY, "k2", &entry("Builds use make.")).unwrap();
        for (number, text) in [(1, "The staging host is hermes in rack nine."), (2, "Builds use make.")] {
            let json = serde_json::json!({"text": text}).to_string();
            server.propose(id(number), &[("proposal", json), ("text", text.to_owned())]).unwrap();
        }
        let target = ErasureTarget::new(&["The staging host is hermes in rack nine."]);
        assert!(server.holds(&target).unwrap());
        assert_eq!(server.erase(&target).unwrap(), 2);
        assert!(!server.holds(&target).unwrap());
        let everything = process.everything();
        assert!(!everything.contains("hermes"), "{everything}");
        assert_eq!(server.keys(&[DAY]).unwrap().remove(0)["k2"], 1, "the places of others are the same");
        assert_eq!(server.read(DAY, &[1]).unwrap(), [entry("Builds use make.")]);
        assert_eq!(server.pending().unwrap(), BTreeSet::from([id(2).to_string()]));
        // Nothing brings it back under its key.
        assert!(!server.append(DAY, "k1", "again").unwrap());
    });
}
