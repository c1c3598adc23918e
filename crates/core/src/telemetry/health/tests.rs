//! Each check fails for its own fault and for no other (O11-08).

use jiff::ToSpan as _;

use super::alert::{alert_line, alerts};
use super::facts::*;
use super::report::CheckOutcome;
use super::thresholds::*;
use super::*;
use crate::base::agent::Agent;
use crate::base::time::Timestamp;
use crate::config::LogLevel;
use crate::telemetry::EventLevel;
use crate::telemetry::gate::{FailedStep, GateFailure, GatePart, GateRecord};

fn now() -> Timestamp {
    "2026-11-18T12:00:00Z".parse().unwrap()
}

fn hours_ago(hours: i64) -> Timestamp {
    now() - hours.hours()
}

/// A gate that failed at these hooks of Codex.
fn gate(at: Timestamp, hooks: &[&str]) -> GateRecord {
    let failed = hooks.iter().map(|hook| FailedStep {
        part: GatePart::E2e,
        agent: Some(Agent::Codex),
        step: "captured".to_owned(),
        failure: GateFailure {
            what: format!("the hook for {hook}: the program it calls does not exist"),
            hook: Some((*hook).to_owned()),
            next: "`rekindle install codex`".to_owned(),
        },
    });
    GateRecord {
        at,
        version: "1.0.0".to_owned(),
        ok: hooks.is_empty(),
        seconds: 6.2,
        failed: failed.collect(),
    }
}

/// A home in daily use in which nothing is wrong and every check can be measured.
fn healthy() -> HealthFacts {
    let agent = |name: &str, word: &str| AgentFacts {
        name: name.to_owned(),
        word: word.to_owned(),
        obstacle: None,
        last_call: Some(hours_ago(2)),
        last_used: Some(hours_ago(1)),
        connected_since: Some(hours_ago(1000)),
    };
    HealthFacts {
        now: now(),
        window_hours: WINDOW_HOURS,
        stall_minutes: STALL_MINUTES,
        log_level: LogLevel::Info,
        telemetry: TelemetryFacts {
            events: 900,
            ends: 100,
            failures: 3,
            last_success: Some(hours_ago(1)),
            hook_calls: 300,
            hook_failures: 1,
            recalls: 400,
            recalls_without_hits: 300,
            ..TelemetryFacts::default()
        },
        work: WorkFacts {
            waiting: 2,
            waiting_since: Some(now() - 2.minutes()),
            failed_runs: 1,
            ..WorkFacts::default()
        },
        sessions: SessionFacts { days: 30, learnt: 12, skipped: vec![("small talk".to_owned(), 8)] },
        memories: MemoryFacts {
            memories: 200,
            inbox: 10,
            stale: Some(20),
            ideas: 4,
            proposals: 3,
            oldest_proposal: Some(hours_ago(30)),
            unreflected_since: Some(hours_ago(10)),
        },
        index: IndexFacts { broken: None, documents: 200, behind_since: Some(now() - 5.minutes()) },
        agents: vec![agent("Claude Code", "claude"), agent("Codex", "codex")],
        last_gate: Some(gate(hours_ago(50), &[])),
        resources: ResourceFacts {
            model_disk: 30_000_000,
            model_memory: 25_000_000,
            limits: vec![SpentLimit { setting: "llm.daily_dollars".to_owned(), used: 0.2, limit: 1.0 }],
        },
    }
}

fn failed(facts: &HealthFacts) -> Vec<&'static str> {
    HealthReport::of(facts).failures().map(|check| check.check).collect()
}

/// Changes a healthy home, and expects that this check fails and no other.
#[track_caller]
fn fails(check: &str, fault: impl FnOnce(&mut HealthFacts)) -> HealthCheck {
    let mut facts = healthy();
    fault(&mut facts);
    assert_eq!(failed(&facts), [check]);
    let report = HealthReport::of(&facts);
    let failure = report.failures().next().unwrap().clone();
    assert!(!failure.evidence.is_empty() && !failure.threshold.is_empty(), "{failure:?}");
    let next = failure.next.as_deref().unwrap_or_default();
    assert!(next.contains('`') || check == "clock", "{check} names no command: {next}");
    failure
}

/// Changes a healthy home within the thresholds, and expects that nothing fails.
#[track_caller]
fn passes(change: impl FnOnce(&mut HealthFacts)) {
    let mut facts = healthy();
    change(&mut facts);
    assert_eq!(failed(&facts), [] as [&str; 0]);
}

/// O11-07: a healthy home passes every check, and the answer says on what it rests.
#[test]
fn o11_07_a_healthy_home_passes_every_check() {
    let report = HealthReport::of(&healthy());
    assert!(report.checks.iter().all(|check| check.outcome == CheckOutcome::Pass), "{report:?}");
    let json = report.to_json();
    assert_eq!((json["ok"].as_bool(), json["staleMetricSupported"].as_bool()), (Some(true), Some(true)));
    assert_eq!(
        (json["otelEvidence"]["windowHours"].as_u64(), json["otelEvidence"]["ends"].as_u64()),
        (Some(24), Some(100))
    );
    for name in ["memoryStageStall", "otelErrorRate", "staleRatio", "failedMemoryRuns", "memoryBacklog"] {
        assert!(json["checks"].as_array().unwrap().iter().any(|check| check["check"] == name), "{name}");
    }
    assert_eq!(alerts(&report), []);
    assert_eq!(alert_line(&[]), None);
}

/// O11-07: a fresh home has too little to measure, and is healthy.
#[test]
fn o11_07_a_fresh_home_is_healthy() {
    let fresh = HealthFacts {
        telemetry: TelemetryFacts::default(),
        work: WorkFacts::default(),
        sessions: SessionFacts { days: 30, ..SessionFacts::default() },
        memories: MemoryFacts::default(),
        index: IndexFacts::default(),
        agents: Vec::new(),
        resources: ResourceFacts::default(),
        ..healthy()
    };
    assert_eq!(failed(&fresh), [] as [&str; 0]);
    let json = HealthReport::of(&fresh).to_json();
    assert_eq!(json["staleMetricSupported"], false);
}

/// O11-06: work that waits while nothing succeeds is a stall; an idle machine is none.
#[test]
fn o11_06_waiting_work_without_a_success_is_a_stall() {
    let stall = fails("memoryStageStall", |facts| facts.work.waiting_since = Some(hours_ago(3)));
    assert_eq!(stall.evidence, "work waits for 3 hours, the last stage succeeded 60 minutes ago");
    fails("memoryStageStall", |facts| {
        facts.work.waiting_since = Some(hours_ago(1));
        facts.telemetry.last_success = None;
    });
    passes(|facts| facts.telemetry.last_success = Some(hours_ago(200)));
    passes(|facts| {
        facts.work.waiting_since = None;
        facts.telemetry.last_success = None;
    });
    // A worker is at it.
    passes(|facts| {
        facts.work.waiting_since = Some(hours_ago(3));
        facts.telemetry.last_success = Some(now() - 1.minutes());
    });
    passes(|facts| {
        facts.work.waiting_since = Some(hours_ago(3));
        facts.stall_minutes = 300;
    });
    // The clock was set back.
    passes(|facts| facts.work.waiting_since = Some(now() + 30.hours()));
}

/// O11-08: the checks of background work fail for their fault.
#[test]
fn o11_08_the_checks_of_the_work_fail_for_their_fault() {
    fails("otelErrorRate", |facts| facts.telemetry.failures = 21);
    passes(|facts| facts.telemetry.failures = 20);
    passes(|facts| (facts.telemetry.ends, facts.telemetry.failures) = (MIN_ENDS - 1, MIN_ENDS - 1));
    fails("hookErrors", |facts| facts.telemetry.hook_failures = 20);
    passes(|facts| (facts.telemetry.hook_calls, facts.telemetry.hook_failures) = (5, 5));
    fails("failedMemoryRuns", |facts| facts.work.failed_runs = MAX_FAILED_RUNS + 1);
    fails("deadRuns", |facts| facts.work.dead_runs = 1);
    fails("memoryBacklog", |facts| facts.work.waiting = MAX_BACKLOG + 1);
    fails("unreadableReports", |facts| facts.work.unreadable_files = 1);
    let fatal = fails("database", |facts| facts.work.database_error = Some("malformed".to_owned()));
    assert_eq!(fatal.level, EventLevel::Fatal);
    fails("otelStore", |facts| facts.telemetry.table_error = Some("no such table".to_owned()));
    fails("otelStore", |facts| facts.telemetry.damaged = 2);
    fails("clock", |facts| facts.telemetry.future_events = 1);
    let export = |error: Option<&str>| Some(ExportFacts { waiting: 3, error: error.map(str::to_owned) });
    let away = fails("otelExport", |facts| facts.telemetry.export = export(Some("no collector")));
    assert_eq!(away.evidence, "no collector; 3 events to export");
    passes(|facts| facts.telemetry.export = export(None));
}

/// O11-08: the checks of agents and sessions fail for their fault.
#[test]
fn o11_08_the_checks_of_agents_and_sessions_fail_for_their_fault() {
    let unheard = fails("hooksFire", |facts| facts.agents[1].last_call = None);
    assert!(unheard.evidence.starts_with("Codex was used"), "{unheard:?}");
    fails("hooksFire", |facts| facts.agents[0].obstacle = Some("its hooks are switched off".to_owned()));
    // Connected and not used since, used before, or in a session that was open then.
    passes(|facts| (facts.agents[1].last_call, facts.agents[1].connected_since) = (None, Some(hours_ago(5))));
    passes(|facts| (facts.agents[1].last_call, facts.agents[1].last_used) = (None, None));
    passes(|facts| (facts.agents[1].last_call, facts.agents[1].last_used) = (None, Some(hours_ago(2000))));
    fails("agentsSilent", |facts| facts.agents[0].last_call = Some(hours_ago(72)));
    passes(|facts| {
        (facts.agents[0].last_call, facts.agents[0].last_used) = (Some(hours_ago(72)), Some(hours_ago(71)));
    });
    // Ten of ten sessions of a newcomer were skipped.
    let minimum = "too few messages of yours: 5 are needed (capture.min_user_messages)".to_owned();
    let unlearnt = fails("sessionsUnlearnt", |facts| {
        (facts.sessions.learnt, facts.sessions.skipped) = (0, vec![(minimum, 10)]);
    });
    assert!(unlearnt.evidence.starts_with("0 of 10 sessions"), "{unlearnt:?}");
    assert!(unlearnt.evidence.contains("10: too few messages"), "{unlearnt:?}");
    assert!(unlearnt.next.unwrap().contains("config set capture.min_user_messages 1"));
    passes(|facts| facts.sessions.learnt = 1);
    passes(|facts| (facts.sessions.learnt, facts.sessions.skipped) = (0, vec![("small talk".to_owned(), 4)]));
}

/// O11-08, B-10: a gate that failed, that is too old, or that never ran is seen.
#[test]
fn o11_08_b_10_a_red_or_old_gate_is_seen() {
    let red = fails("gate", |facts| facts.last_gate = Some(gate(hours_ago(3), &["SessionEnd"])));
    let what =
        "the gate failed 3 hours ago: Codex: the hook for SessionEnd: the program it calls does not exist";
    assert_eq!(red.evidence, what);
    assert_eq!(red.next.as_deref(), Some("`rekindle install codex`; then `rekindle gate`"));
    let old = fails("gate", |facts| facts.last_gate = Some(gate(hours_ago(24 * MAX_GATE_DAYS + 1), &[])));
    assert_eq!(old.evidence, "the last gate was green 10 days ago, in 6 seconds");
    passes(|facts| facts.last_gate = Some(gate(hours_ago(24 * MAX_GATE_DAYS), &[])));
    fails("gate", |facts| facts.last_gate = None);
    passes(|facts| {
        facts.last_gate = None;
        facts.agents.iter_mut().for_each(|agent| agent.connected_since = Some(hours_ago(24)));
    });
    // Nothing can be tried without an agent.
    passes(|facts| {
        facts.agents.clear();
        facts.last_gate = Some(gate(hours_ago(3), &["Stop"]));
    });
}

/// O11-08, O11-14: the checks of memories fail for their fault.
#[test]
fn o11_08_o11_14_the_checks_of_memories_fail_for_their_fault() {
    fails("zeroHitRate", |facts| facts.telemetry.recalls_without_hits = 400);
    passes(|facts| (facts.telemetry.recalls, facts.telemetry.recalls_without_hits) = (49, 49));
    fails("indexAge", |facts| facts.index.behind_since = Some(hours_ago(2)));
    fails("indexAge", |facts| facts.index.broken = Some("the index is damaged".to_owned()));
    fails("staleRatio", |facts| facts.memories.stale = Some(61));
    passes(|facts| facts.memories.stale = None);
    fails("unreviewedRatio", |facts| {
        (facts.memories.memories, facts.memories.inbox, facts.memories.stale) = (40, 30, Some(4));
    });
    fails("inbox", |facts| facts.memories.inbox = MAX_INBOX + 1);
    passes(|facts| facts.memories.inbox = MAX_INBOX);
    fails("ideas", |facts| facts.memories.ideas = MAX_IDEAS + 1);
    fails("queueAge", |facts| facts.memories.oldest_proposal = Some(hours_ago(24 * 6)));
    fails("reflectionAge", |facts| facts.memories.unreflected_since = Some(hours_ago(24 * 8)));
}

/// O11-08, X-13: the checks of models fail for their fault.
#[test]
fn o11_08_x_13_the_checks_of_models_fail_for_their_fault() {
    fails("modelSize", |facts| facts.resources.model_disk = MAX_MODEL_DISK_BYTES + 1);
    fails("modelSize", |facts| facts.resources.model_memory = MAX_MODEL_MEMORY_BYTES + 1);
    fails("spend", |facts| facts.resources.limits[0].used = 0.95);
    passes(|facts| facts.resources.limits.clear());
}

/// Without successes in the table nothing is said about stalls and rates.
#[test]
fn what_is_not_stored_is_not_judged() {
    passes(|facts| {
        facts.log_level = LogLevel::Warn;
        facts.work.waiting_since = Some(hours_ago(5));
        (facts.telemetry.ends, facts.telemetry.failures) = (9, 9);
    });
}

/// O11-06: the most severe failure comes first, in one line with its command.
#[test]
fn o11_06_an_alert_is_one_line_with_a_command() {
    let mut facts = healthy();
    facts.memories.inbox = 60;
    facts.work.dead_runs = 2;
    let all = alerts(&HealthReport::of(&facts));
    assert_eq!(all[0].check, "deadRuns");
    let line = alert_line(&all).unwrap();
    assert!(line.starts_with("Rekindle: 2 runs failed for good: `rekindle runs --dead`"), "{line}");
    assert!(line.ends_with("; 1 more (`rekindle health`)") && !line.contains('\n'), "{line}");
}
