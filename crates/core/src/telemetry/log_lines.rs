//! Events from the lines of the hook log and the recall log. Hooks and `rekindle recall` must be fast, so they
//! append one line to a file and nothing else; the worker turns the lines into events later.

use serde_json::Value;

use super::ErrorKind;
use super::event::{EventLevel, EventPhase, TelemetryEvent, safe_id};
use crate::base::hash::ContentHash;
use crate::base::time::Timestamp;
use crate::recall::select::DropReason;

/// The stage of an event from the hook log.
pub const HOOK_STAGE: &str = "hook";
/// The stage of an event from the recall log.
pub const RECALL_STAGE: &str = "recall";
/// The hook that reports what became of a finished session (O11-12).
pub const REFLECT_HOOK: &str = "memory-reflect-stop";
/// The numbers of a hook line (O11-12).
pub const HOOK_COUNTS: [&str; 9] = [
    "entries_injected",
    "tokens_injected",
    "vec_hits",
    "grep_hits",
    "deduped_count",
    "candidates_mined",
    "auto_saved",
    "interactive_reviewed",
    "inboxed",
];

/// The arms that found the memories of an answer, and how many found ones were left out as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HitCounts {
    /// Shown memories whose meaning matched.
    pub vec_hits: usize,
    /// Shown memories whose words matched.
    pub grep_hits: usize,
    /// Found memories that repeat another one, or that the session already has.
    pub deduped_count: usize,
}

impl HitCounts {
    /// Counts the hits of an answer: the scores for meaning and words of each shown one, and the rule that
    /// dropped each other one.
    pub fn count(
        shown: impl IntoIterator<Item = (f32, f32)>,
        dropped: impl IntoIterator<Item = DropReason>,
    ) -> Self {
        let mut counts = Self::default();
        for (meaning, words) in shown {
            counts.vec_hits += usize::from(meaning > 0.0);
            counts.grep_hits += usize::from(words > 0.0);
        }
        let is_known = |rule: &DropReason| matches!(rule, DropReason::Duplicate | DropReason::Held);
        counts.deduped_count = dropped.into_iter().filter(is_known).count();
        counts
    }
}

/// The event of a line of the hook log; `None` if it is not such a line.
pub fn hook_event(line: &Value) -> Option<TelemetryEvent> {
    let at: Timestamp = line["ts"].as_str()?.parse().ok()?;
    let hook = line["hook"].as_str()?;
    let (phase, level) = match line["result"].as_str()? {
        "success" => (EventPhase::Completed, EventLevel::Info),
        "ignored" => (EventPhase::Completed, EventLevel::Debug),
        "partial" => (EventPhase::Completed, EventLevel::Warn),
        _ => (EventPhase::Failed, EventLevel::Error),
    };
    let session = line["session"].as_str();
    let id = line_id(&[&line["ts"], &line["hook"], &line["duration_ms"], &line["session"]]);
    let mut event = TelemetryEvent::new(id, at, HOOK_STAGE, phase, level);
    event.duration_ms = line["duration_ms"].as_f64();
    event.session_id = session.map(safe_id);
    // The agent and its event, such as `claude:SessionStart`.
    event.step = Some(safe_id(&hook.replacen(' ', ":", 1)));
    if level >= EventLevel::Warn {
        event.error = Some(line["detail"].as_str().map_or(ErrorKind::Other, ErrorKind::of_message));
    }
    event.counts.extend(HOOK_COUNTS.iter().filter_map(|key| Some(((*key).to_owned(), line[*key].as_f64()?))));
    Some(event)
}

/// The event of a line of the recall log: its diagnostics as numbers (REC-07). The query stays in the log.
pub fn recall_event(line: &Value) -> Option<TelemetryEvent> {
    let at: Timestamp = line["at"].as_str()?.parse().ok()?;
    let query = line["query"].as_str()?;
    let id = line_id(&[&line["at"], &line["by"], &line["session"], &line["tookMs"]]);
    let mut event = TelemetryEvent::new(id, at, RECALL_STAGE, EventPhase::Completed, EventLevel::Info);
    event.duration_ms = line["tookMs"].as_f64();
    event.session_id = line["session"].as_str().map(safe_id);
    event.step = line["by"].as_str().map(safe_id);
    let length = |key: &str| line[key].as_array().map_or(0, Vec::len) as f64;
    let flag = |is_set: bool| f64::from(u8::from(is_set));
    let counts = [
        ("queryChars", query.chars().count() as f64),
        ("rewritten", flag(line["rewrittenQuery"].is_string())),
        ("rewriteFailed", flag(line["rewriteFailed"].is_string())),
        ("filtersApplied", length("filtersApplied")),
        ("droppedByTrustPass", line["droppedByTrustPass"].as_f64().unwrap_or(0.0)),
        ("results", length("results")),
        ("dropped", length("dropped")),
        ("abstained", flag(line["abstained"] == true)),
        ("degraded", length("degraded")),
        ("documents", line["documents"].as_f64().unwrap_or(0.0)),
    ];
    event.counts.extend(counts.map(|(name, count)| (name.to_owned(), count)));
    Some(event)
}

/// An id from the parts of a line that `forget` never changes, so that a line is not counted twice.
fn line_id(parts: &[&Value]) -> String {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let parts: Vec<&[u8]> = parts.iter().map(String::as_bytes).collect();
    format!("line-{}", ContentHash::of_parts(&parts).short_hex(20))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hook_line() -> Value {
        json!({
            "ts": "2026-11-18T10:00:00Z", "hook": "claude UserPromptSubmit", "duration_ms": 8.25, "result": "success",
            "entries_injected": 2, "tokens_injected": 90, "vec_hits": 2, "grep_hits": 1, "deduped_count": 3,
            "session": "s1",
        })
    }

    /// O11-12: the fields of a hook line are the counts of its event.
    #[test]
    fn o11_12_a_hook_line_is_an_event() {
        let event = hook_event(&hook_line()).unwrap();
        assert_eq!((event.name().as_str(), event.level), ("hook.completed", EventLevel::Info));
        assert_eq!(event.step.as_deref(), Some("claude:UserPromptSubmit"));
        assert_eq!((event.duration_ms, event.session_id.as_deref()), (Some(8.25), Some("s1")));
        assert_eq!((event.counts["vec_hits"], event.counts["deduped_count"]), (2.0, 3.0));
        let mut failed = hook_line();
        failed["result"] = json!("error");
        failed["detail"] = json!("/s/spool: No space left on device; the prompt was about tea");
        let event = hook_event(&failed).unwrap();
        assert_eq!((event.name().as_str(), event.error), ("hook.failed", Some(ErrorKind::DiskFull)));
        assert!(!serde_json::to_string(&event).unwrap().contains("tea"));
        for broken in [json!(null), json!({"ts": "later"}), json!({"ts": "2026-11-18T10:00:00Z", "hook": 7})]
        {
            assert_eq!(hook_event(&broken), None);
        }
    }

    /// REC-07: the diagnostics of recall are an event, without the query.
    #[test]
    fn rec_07_the_diagnostics_of_recall_are_an_event() {
        let line = json!({
            "at": "2026-11-18T10:00:00Z", "by": "hook", "session": "s1", "query": "which tea does Ada like",
            "rewrittenQuery": "tea preference of Ada", "filtersApplied": ["kind=rule"], "droppedByTrustPass": 1,
            "results": [{"text": "green tea"}], "dropped": [], "abstained": false, "tookMs": 4.5, "documents": 80,
        });
        let event = recall_event(&line).unwrap();
        assert_eq!((event.name().as_str(), event.step.as_deref()), ("recall.completed", Some("hook")));
        let count = |name: &str| event.counts[name];
        assert_eq!((count("queryChars"), count("rewritten"), count("filtersApplied")), (23.0, 1.0, 1.0));
        assert_eq!((count("droppedByTrustPass"), count("results"), count("abstained")), (1.0, 1.0, 0.0));
        assert!(!serde_json::to_string(&event).unwrap().contains("tea"));
        // `forget` changes the words of a line; it stays the same event.
        let mut forgotten = line;
        forgotten["query"] = json!("[forgotten]");
        assert_eq!(recall_event(&forgotten).unwrap().id, event.id);
    }

    #[test]
    fn hits_are_counted_by_what_found_them() {
        let counts = HitCounts::count(
            [(0.4, 0.0), (0.2, 0.1), (0.0, 0.3)],
            [DropReason::Held, DropReason::Duplicate, DropReason::Trust],
        );
        assert_eq!(counts, HitCounts { vec_hits: 2, grep_hits: 2, deduped_count: 2 });
    }
}
