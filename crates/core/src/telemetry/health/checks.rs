//! The decision of each check. A check reads the facts of its own subject only, so that one fault fails one check.

use jiff::SignedDuration;

use super::facts::{AgentFacts, HealthFacts, SpentLimit};
use super::report::Finding;
use super::thresholds::*;
use crate::base::time::Timestamp;
use crate::config::LogLevel;
use crate::telemetry::EventLevel;

/// The number of reasons that the evidence names.
const NAMED_REASONS: usize = 3;
/// The setting that skips short sessions, as its reason names it.
const MIN_MESSAGES_SETTING: &str = "capture.min_user_messages";

/// A check: its name, its severity, its threshold in words, and its decision.
pub(super) struct HealthRule {
    pub(super) name: &'static str,
    pub(super) level: EventLevel,
    pub(super) threshold: fn(&HealthFacts) -> String,
    pub(super) decide: fn(&HealthFacts) -> Finding,
}

const fn rule(
    name: &'static str,
    level: EventLevel,
    threshold: fn(&HealthFacts) -> String,
    decide: fn(&HealthFacts) -> Finding,
) -> HealthRule {
    HealthRule { name, level, threshold, decide }
}

/// All checks, in the order they are shown.
pub(super) const CHECKS: &[HealthRule] = &[
    rule("database", EventLevel::Fatal, |_| "it can be read".to_owned(), database),
    rule("otelStore", EventLevel::Warn, |_| "every event can be read".to_owned(), otel_store),
    rule("otelExport", EventLevel::Warn, |_| "the last export reached the collector".to_owned(), otel_export),
    rule("clock", EventLevel::Warn, |_| format!("at most {MAX_CLOCK_DRIFT_MINUTES} minutes ahead"), clock),
    rule(
        "memoryStageStall",
        EventLevel::Error,
        |facts| format!("work waits for at most {} minutes without a success", facts.stall_minutes),
        stage_stall,
    ),
    rule(
        "otelErrorRate",
        EventLevel::Error,
        |_| format!("at most {} of {MIN_ENDS} or more stage ends", percent(MAX_ERROR_RATE)),
        error_rate,
    ),
    rule(
        "hookErrors",
        EventLevel::Error,
        |_| format!("at most {} of {MIN_HOOK_CALLS} or more hook calls", percent(MAX_HOOK_ERROR_RATE)),
        hook_errors,
    ),
    rule("failedMemoryRuns", EventLevel::Warn, |_| format!("at most {MAX_FAILED_RUNS}"), failed_runs),
    rule("deadRuns", EventLevel::Error, |_| "none".to_owned(), dead_runs),
    rule("memoryBacklog", EventLevel::Warn, |_| format!("at most {MAX_BACKLOG}"), backlog),
    rule("unreadableReports", EventLevel::Warn, |_| "none".to_owned(), unreadable_files),
    rule(
        "hooksFire",
        EventLevel::Error,
        |_| format!("each agent that is used {MAX_SILENT_HOURS} hours after it was connected calls them"),
        hooks_fire,
    ),
    rule(
        "agentsSilent",
        EventLevel::Error,
        |_| format!("an agent is used for at most {MAX_SILENT_HOURS} hours after its last call"),
        agents_silent,
    ),
    rule(
        "gate",
        EventLevel::Error,
        |_| format!("the last gate was green, at most {MAX_GATE_DAYS} days ago"),
        gate,
    ),
    rule(
        "sessionsUnlearnt",
        EventLevel::Error,
        |_| {
            format!(
                "at least {} of {MIN_SESSIONS} or more sessions are learnt from",
                percent(MIN_LEARNT_SHARE)
            )
        },
        sessions_unlearnt,
    ),
    rule(
        "zeroHitRate",
        EventLevel::Warn,
        |_| format!("at most {} of {MIN_RECALLS} or more recalls in 7 days", percent(MAX_ZERO_HIT_RATE)),
        zero_hit_rate,
    ),
    rule("indexAge", EventLevel::Warn, |_| format!("at most {MAX_INDEX_HOURS} hour behind"), index_age),
    rule(
        "staleRatio",
        EventLevel::Warn,
        |_| format!("at most {} of {MIN_MEMORIES} or more memories", percent(MAX_STALE_RATIO)),
        stale_ratio,
    ),
    rule(
        "unreviewedRatio",
        EventLevel::Warn,
        |_| format!("at most {} of {MIN_MEMORIES} or more memories", percent(MAX_UNREVIEWED_RATIO)),
        unreviewed_ratio,
    ),
    rule("inbox", EventLevel::Warn, |_| format!("at most {MAX_INBOX}"), inbox),
    rule("ideas", EventLevel::Warn, |_| format!("at most {MAX_IDEAS}"), ideas),
    rule("queueAge", EventLevel::Warn, |_| format!("at most {MAX_PROPOSAL_DAYS} days"), queue_age),
    rule(
        "reflectionAge",
        EventLevel::Warn,
        |_| format!("at most {MAX_REFLECTION_DAYS} days"),
        reflection_age,
    ),
    rule(
        "modelSize",
        EventLevel::Warn,
        |_| {
            format!(
                "at most {} on disk, {} in memory",
                size(MAX_MODEL_DISK_BYTES),
                size(MAX_MODEL_MEMORY_BYTES)
            )
        },
        model_size,
    ),
    rule(
        "spend",
        EventLevel::Warn,
        |_| format!("less than {} of a daily limit", percent(MAX_SPENT_SHARE)),
        spend,
    ),
];

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn size(bytes: u64) -> String {
    format!("{:.1} GB", bytes as f64 / 1e9)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn age(facts: &HealthFacts, since: Timestamp) -> SignedDuration {
    facts.now.duration_since(since).max(SignedDuration::ZERO)
}

/// A count with its unit, such as `1 run` or `2 runs`.
fn count(number: u64, unit: &str) -> String {
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// A duration as a person says it: minutes, hours or days.
fn in_words(age: SignedDuration) -> String {
    match (age.as_mins().unsigned_abs(), age.as_hours().unsigned_abs()) {
        (minutes @ ..120, _) => count(minutes, "minute"),
        (_, hours @ ..48) => count(hours, "hour"),
        (_, hours) => count(hours / 24, "day"),
    }
}

fn database(facts: &HealthFacts) -> Finding {
    match &facts.work.database_error {
        Some(error) => Finding::judge(
            false,
            format!("the database cannot be read: {error}"),
            "`rekindle doctor --fix` rebuilds it from your notes and logs",
        ),
        None => Finding::judge(true, "the database can be read", ""),
    }
}

fn otel_store(facts: &HealthFacts) -> Finding {
    let telemetry = &facts.telemetry;
    if facts.work.database_error.is_some() {
        return Finding::unmeasured("the database cannot be read");
    }
    if let Some(error) = &telemetry.table_error {
        let next = "`rekindle doctor` checks the database; hooks and memory go on";
        return Finding::judge(false, format!("the events cannot be read: {error}"), next);
    }
    let evidence = format!("{}, {} damaged", count(telemetry.events, "event"), telemetry.damaged);
    Finding::judge(
        telemetry.damaged == 0,
        evidence,
        "`rekindle otel list` shows the rest; damaged ones age out",
    )
}

fn otel_export(facts: &HealthFacts) -> Finding {
    let Some(export) = &facts.telemetry.export else {
        return Finding::judge(true, "events stay on this machine", "");
    };
    let waiting = format!("{} to export", count(export.waiting, "event"));
    match &export.error {
        Some(error) => Finding::judge(
            false,
            format!("{error}; {waiting}"),
            "`rekindle otel export` tries it now and says what to do",
        ),
        None => Finding::judge(true, waiting, ""),
    }
}

fn clock(facts: &HealthFacts) -> Finding {
    let ahead = facts.telemetry.future_events;
    Finding::judge(
        ahead == 0,
        format!("{} stamped in the future", count(ahead, "event")),
        "check the computer's clock; `rekindle otel list` shows the events",
    )
}

fn stage_stall(facts: &HealthFacts) -> Finding {
    if facts.log_level < LogLevel::Info {
        return Finding::unmeasured("memory.log_level stores no successes");
    }
    let Some(since) = facts.work.waiting_since else { return Finding::judge(true, "no work waits", "") };
    let limit = SignedDuration::from_mins(i64::from(facts.stall_minutes));
    let waits = age(facts, since);
    let success = facts.telemetry.last_success;
    let evidence = format!(
        "work waits for {}, the last stage succeeded {}",
        in_words(waits),
        success.map_or_else(|| "days ago".to_owned(), |at| format!("{} ago", in_words(age(facts, at))))
    );
    let kept = waits <= limit || success.is_some_and(|at| age(facts, at) <= limit);
    Finding::judge(kept, evidence, "`rekindle worker` does the work and says what stops it")
}

fn error_rate(facts: &HealthFacts) -> Finding {
    if facts.log_level < LogLevel::Info {
        return Finding::unmeasured("memory.log_level stores no successes");
    }
    let (ends, failures) = (facts.telemetry.ends, facts.telemetry.failures);
    let evidence = format!("{failures} of {ends} stage ends in {} hours failed", facts.window_hours);
    match ends < MIN_ENDS {
        true => Finding::unmeasured(evidence),
        false => Finding::judge(
            share(failures, ends) <= MAX_ERROR_RATE,
            evidence,
            "`rekindle otel list --level warn` shows the failures",
        ),
    }
}

fn hook_errors(facts: &HealthFacts) -> Finding {
    let (calls, failures) = (facts.telemetry.hook_calls, facts.telemetry.hook_failures);
    let evidence = format!("{failures} of {calls} hook calls in {} hours failed", facts.window_hours);
    match calls < MIN_HOOK_CALLS {
        true => Finding::unmeasured(evidence),
        false => Finding::judge(
            share(failures, calls) <= MAX_HOOK_ERROR_RATE,
            evidence,
            "`rekindle otel list --stage hook --level warn` shows the failures",
        ),
    }
}

fn failed_runs(facts: &HealthFacts) -> Finding {
    let failed = facts.work.failed_runs;
    let next = "`rekindle runs --status FAILED` says why; they are retried";
    Finding::judge(failed <= MAX_FAILED_RUNS, format!("waiting for a retry: {}", count(failed, "run")), next)
}

fn dead_runs(facts: &HealthFacts) -> Finding {
    let dead = facts.work.dead_runs;
    let next = "`rekindle runs --dead` says why, `rekindle retry` retries them";
    Finding::judge(dead == 0, format!("{} failed for good", count(dead, "run")), next)
}

fn backlog(facts: &HealthFacts) -> Finding {
    let waiting = facts.work.waiting;
    let next = "`rekindle worker` does them now";
    Finding::judge(waiting <= MAX_BACKLOG, format!("waiting: {}", count(waiting, "job")), next)
}

fn unreadable_files(facts: &HealthFacts) -> Finding {
    let unreadable = facts.work.unreadable_files;
    let next =
        "`rekindle doctor` names them; the sessions are in the agents' transcripts (`rekindle backfill`)";
    Finding::judge(unreadable == 0, format!("{} could not be read", count(unreadable, "hook report")), next)
}

/// The agents that were used long after they were connected, and when. A session that was open then goes on
/// without hooks.
fn used(facts: &HealthFacts) -> impl Iterator<Item = (&AgentFacts, Timestamp)> {
    facts.agents.iter().filter_map(|agent| {
        let (used, since) = agent.last_used.zip(agent.connected_since)?;
        (used.duration_since(since).as_hours() >= MAX_SILENT_HOURS).then_some((agent, used))
    })
}

fn hooks_fire(facts: &HealthFacts) -> Finding {
    if let Some((agent, why)) = facts.agents.iter().find_map(|agent| Some((agent, agent.obstacle.as_ref()?)))
    {
        let next = format!("`rekindle doctor` says how to switch them on for {}", agent.word);
        return Finding::judge(false, format!("{}: {why}", agent.name), next);
    }
    let never: Vec<&AgentFacts> =
        used(facts).map(|(agent, _)| agent).filter(|agent| agent.last_call.is_none()).collect();
    let Some(first) = never.first() else {
        let connected = facts.agents.len();
        return Finding::judge(true, format!("{connected} connected agents, none of them unheard"), "");
    };
    let names: Vec<&str> = never.iter().map(|agent| agent.name.as_str()).collect();
    let evidence =
        format!("{} was used since it was connected, and no hook of it was ever called", names.join(", "));
    Finding::judge(false, evidence, format!("`rekindle install {}`, then start a new session", first.word))
}

fn agents_silent(facts: &HealthFacts) -> Finding {
    let silent = used(facts).filter_map(|(agent, used)| {
        let gap = used.duration_since(agent.last_call?);
        (gap.as_hours() >= MAX_SILENT_HOURS).then_some((agent, gap))
    });
    let silent: Vec<(&AgentFacts, SignedDuration)> = silent.collect();
    let Some((first, gap)) = silent.first() else {
        return Finding::judge(true, "every connected agent that is used calls its hooks", "");
    };
    let evidence = format!("{} was used for {} after its last hook call", first.name, in_words(*gap));
    Finding::judge(false, evidence, format!("`rekindle doctor`, or `rekindle install {}`", first.word))
}

fn gate(facts: &HealthFacts) -> Finding {
    if facts.agents.is_empty() {
        return Finding::unmeasured("no agent is connected");
    }
    let is_old = |since: Timestamp| age(facts, since).as_hours() > MAX_GATE_DAYS * 24;
    let Some(last) = &facts.last_gate else {
        let since = facts.agents.iter().filter_map(|agent| agent.connected_since).min();
        return match since.filter(|since| is_old(*since)) {
            Some(since) => {
                let evidence =
                    format!("no gate has run, and an agent is connected for {}", in_words(age(facts, since)));
                Finding::judge(false, evidence, "`rekindle gate` runs it now")
            }
            None => Finding::unmeasured("no gate has run yet"),
        };
    };
    let when = in_words(age(facts, last.at));
    if let Some(first) = last.failed.first().filter(|_| !last.ok) {
        let agent = first.agent.map_or_else(String::new, |agent| format!("{}: ", agent.name()));
        let evidence = format!("the gate failed {when} ago: {agent}{}", first.failure.what);
        return Finding::judge(false, evidence, format!("{}; then `rekindle gate`", first.failure.next));
    }
    Finding::judge(
        !is_old(last.at),
        format!("the last gate was green {when} ago, in {:.0} seconds", last.seconds),
        "`rekindle gate` runs it now",
    )
}

fn sessions_unlearnt(facts: &HealthFacts) -> Finding {
    let sessions = &facts.sessions;
    let skipped: u64 = sessions.skipped.iter().map(|(_, count)| count).sum();
    let finished = sessions.learnt + skipped;
    let reasons = sessions.skipped.iter().take(NAMED_REASONS);
    let reasons: Vec<String> = reasons.map(|(reason, count)| format!("{count}: {reason}")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
    let evidence = format!(
        "{} of {finished} sessions in {} days were learnt from, {skipped} were not{reasons}",
        sessions.learnt, sessions.days
    );
    if finished < MIN_SESSIONS {
        return Finding::unmeasured(evidence);
    }
    let by_minimum =
        sessions.skipped.first().is_some_and(|(reason, _)| reason.contains(MIN_MESSAGES_SETTING));
    let next = match by_minimum {
        true => format!("`rekindle config set {MIN_MESSAGES_SETTING} 1` lets short sessions count"),
        false => "`rekindle runs --status SKIPPED` shows each with its reason".to_owned(),
    };
    Finding::judge(share(sessions.learnt, finished) >= MIN_LEARNT_SHARE, evidence, next)
}

fn zero_hit_rate(facts: &HealthFacts) -> Finding {
    let (recalls, without) = (facts.telemetry.recalls, facts.telemetry.recalls_without_hits);
    let evidence = format!("{without} of {recalls} recalls in 7 days found nothing");
    if recalls < MIN_RECALLS || facts.memories.memories < MIN_MEMORIES {
        return Finding::unmeasured(evidence);
    }
    let next = "`rekindle inspect` shows what was dropped and why, `rekindle eval` measures recall";
    Finding::judge(share(without, recalls) <= MAX_ZERO_HIT_RATE, evidence, next)
}

fn index_age(facts: &HealthFacts) -> Finding {
    let index = &facts.index;
    if let Some(why) = &index.broken {
        return Finding::judge(false, why.clone(), "`rekindle reindex --all` makes it again from your notes");
    }
    let Some(since) = index.behind_since else {
        return Finding::judge(true, format!("{} documents, nothing newer", index.documents), "");
    };
    let behind = age(facts, since);
    let evidence = format!("notes of {} ago are not in the index", in_words(behind));
    Finding::judge(behind.as_hours() < MAX_INDEX_HOURS, evidence, "`rekindle reindex` brings them in")
}

fn stale_ratio(facts: &HealthFacts) -> Finding {
    let Some(stale) = facts.memories.stale else {
        return Finding::unmeasured("usage has not been counted for long enough");
    };
    let all = facts.memories.memories;
    let evidence = format!("{stale} of {all} memories were not needed for 90 days");
    match all < MIN_MEMORIES {
        true => Finding::unmeasured(evidence),
        false => Finding::judge(
            share(stale, all) <= MAX_STALE_RATIO,
            evidence,
            "`rekindle recall --stale=true` with a topic finds them; `rekindle forget` or `rekindle edit` each",
        ),
    }
}

fn unreviewed_ratio(facts: &HealthFacts) -> Finding {
    let (inbox, all) = (facts.memories.inbox, facts.memories.memories);
    let evidence = format!("{inbox} of {all} memories are unreviewed");
    match all < MIN_MEMORIES {
        true => Finding::unmeasured(evidence),
        false => Finding::judge(
            share(inbox, all) <= MAX_UNREVIEWED_RATIO,
            evidence,
            "`rekindle inbox` lets you keep or drop them",
        ),
    }
}

fn inbox(facts: &HealthFacts) -> Finding {
    let inbox = facts.memories.inbox;
    let next = "`rekindle inbox` lets you keep or drop them";
    Finding::judge(inbox <= MAX_INBOX, format!("memories in the inbox: {inbox}"), next)
}

fn ideas(facts: &HealthFacts) -> Finding {
    let ideas = facts.memories.ideas;
    let next = "`rekindle ideas gc` lists those that are worth a decision";
    Finding::judge(
        ideas <= MAX_IDEAS,
        format!("{} neither promoted nor put away", count(ideas, "idea")),
        next,
    )
}

fn queue_age(facts: &HealthFacts) -> Finding {
    let proposals = facts.memories.proposals;
    let Some(oldest) = facts.memories.oldest_proposal else {
        return Finding::judge(true, "no proposal waits", "");
    };
    let waits = age(facts, oldest);
    let evidence = format!("{} to review, the oldest for {}", count(proposals, "proposal"), in_words(waits));
    let kept = waits.as_hours() <= MAX_PROPOSAL_DAYS * 24;
    Finding::judge(kept, evidence, "`rekindle review` shows them, the most valuable first")
}

fn reflection_age(facts: &HealthFacts) -> Finding {
    let Some(since) = facts.memories.unreflected_since else {
        return Finding::judge(true, "every observation was reflected on", "");
    };
    let waits = age(facts, since);
    let evidence = format!("observations of {} ago were not reflected on", in_words(waits));
    let kept = waits.as_hours() < MAX_REFLECTION_DAYS * 24;
    Finding::judge(kept, evidence, "`rekindle worker` catches up on reflection")
}

fn model_size(facts: &HealthFacts) -> Finding {
    let (disk, memory) = (facts.resources.model_disk, facts.resources.model_memory);
    let evidence = format!("models take {} on disk, the one in use {} in memory", size(disk), size(memory));
    let kept = disk <= MAX_MODEL_DISK_BYTES && memory <= MAX_MODEL_MEMORY_BYTES;
    Finding::judge(kept, evidence, "`rekindle model list` shows them, `rekindle model remove` removes one")
}

fn spend(facts: &HealthFacts) -> Finding {
    let used = |limit: &SpentLimit| limit.used / limit.limit;
    let highest = facts.resources.limits.iter().max_by(|a, b| used(a).total_cmp(&used(b)));
    let Some(highest) = highest else {
        return Finding::judge(true, "no daily limit is set, or no model is used", "");
    };
    let evidence = format!("{} of {} is used today", percent(used(highest)), highest.setting);
    let next = "`rekindle cost` shows what for; the rules do the work when it is used up";
    Finding::judge(used(highest) < MAX_SPENT_SHARE, evidence, next)
}
