//! What telemetry costs a hook: a program that appends one line to the hook log, and nothing else.
//!
//! `bench/hook.py` runs it beside an empty program (O11-12).

use std::path::PathBuf;

use rekindle_engine::agents::hook_log;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    let line = serde_json::json!({
        "ts": "2026-11-19T10:00:00Z", "hook": "memory-recall-prompt-submit", "agent": "claude", "session": "bench",
        "duration_ms": 12, "result": "success", "entries_injected": 3, "vec_hits": 5, "grep_hits": 4, "deduped_count": 1,
    });
    hook_log::append(&folder, &line)
}
