//! Injected tokens by session, from the hook log. They are our share of the cost of a prompt; the rest is the
//! agent's.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use jiff::ToSpan;
use rekindle_core::base::time::{Date, Timestamp, Zoned};
use serde_json::Value;

use crate::agents::hook_log;

/// The injections of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInjectionStats {
    /// The day of its first injection, in the person's zone.
    pub day: Date,
    /// The agent of the session.
    pub agent: String,
    /// The estimated number of injected tokens.
    pub tokens: u64,
    /// The number of injected blocks.
    pub blocks: u64,
}

/// Lists every session of the last `days` days in which a hook ran, the newest day first. A session without
/// injections counts.
pub fn sessions(logs: &Path, days: u32, now: &Zoned) -> io::Result<Vec<SessionInjectionStats>> {
    let first = now.date().checked_sub((i64::from(days) - 1).days()).unwrap_or(Date::MIN);
    let mut found: BTreeMap<(String, String), SessionInjectionStats> = BTreeMap::new();
    for line in hook_log::read_all(logs)? {
        let Some((day, agent, session, tokens)) = parse_log_line(&line, now) else { continue };
        if day < first {
            continue;
        }
        let fresh = SessionInjectionStats { day, agent: agent.clone(), tokens: 0, blocks: 0 };
        let given = found.entry((agent, session)).or_insert(fresh);
        given.day = given.day.min(day);
        given.tokens += tokens;
        given.blocks += u64::from(tokens > 0);
    }
    let mut all: Vec<SessionInjectionStats> = found.into_values().collect();
    all.sort_by_key(|given| std::cmp::Reverse(given.day));
    Ok(all)
}

fn parse_log_line(line: &Value, now: &Zoned) -> Option<(Date, String, String, u64)> {
    let at: Timestamp = line["ts"].as_str()?.parse().ok()?;
    let agent = line["hook"].as_str()?.split(' ').next()?.to_owned();
    let tokens = line["tokens_injected"].as_u64().unwrap_or(0);
    let day = at.to_zoned(now.time_zone().clone()).date();
    Some((day, agent, line["session"].as_str()?.to_owned(), tokens))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sessions_are_counted_once_across_rotated_logs() {
        let logs = tempfile::tempdir().unwrap();
        let mut now: Zoned = "2026-11-01T12:00[UTC]".parse().unwrap();
        let line = |now: &Zoned, session: &str, tokens: u64| {
            let ts = now.timestamp().to_string();
            json!({"ts": ts, "hook": "claude UserPromptSubmit", "session": session, "tokens_injected": tokens})
        };
        for day in 0..14 {
            hook_log::append(logs.path(), &line(&now, &format!("s{day}"), 100)).unwrap();
            hook_log::append(logs.path(), &line(&now, &format!("s{day}"), 20)).unwrap();
            hook_log::append(logs.path(), &line(&now, "long", 1)).unwrap();
            hook_log::rotate_log(logs.path(), &now).unwrap();
            now = now.tomorrow().unwrap();
        }
        hook_log::append(logs.path(), &line(&now, "silent", 0)).unwrap();
        hook_log::append(logs.path(), &json!({"ts": "?", "rubbish": true})).unwrap();
        let all = sessions(logs.path(), 30, &now).unwrap();
        assert_eq!(all.len(), 16, "{all:?}");
        assert_eq!(all.iter().map(|given| given.tokens).sum::<u64>(), 14 * 121);
        assert_eq!((all[0].tokens, all[0].blocks), (0, 0), "silence counts");
        let long = all.iter().find(|given| given.blocks == 14).unwrap();
        assert_eq!((long.tokens, long.day.to_string().as_str()), (14, "2026-11-01"));
        assert_eq!(sessions(logs.path(), 1, &now).unwrap().len(), 1);
    }
}
