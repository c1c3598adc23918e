//! Friction: recurring problems, found through the real binary (SPEC section 10).

use rekindle_core::base::time::{TimeZone, Timestamp};
use rekindle_core::knowledge::observe::FindingKind;

use crate::reflect::observed_on;
use crate::review::{page, quiet, review, status};
use crate::text;

const WORDS: &str = "Use pnpm instead of npm in the workspace.";

/// Requirements: REV-16, VER-10.
#[test]
fn exe_06_fri_08_friction_asks_for_what_was_said_three_times_and_says_why_not() {
    let sandbox = quiet();
    let none = sandbox.rekindle(&["friction"]).run().ok();
    assert!(none.stderr.contains("friction.min_observations"), "{}", none.stderr);
    for key in ["friction.min_observations", "friction.min_days"] {
        sandbox.rekindle(&["config", "set", key, "0"]).run().ok();
    }
    #[expect(clippy::disallowed_methods, reason = "the binary under test goes by the same clock")]
    let now = Timestamp::now();
    // A day within the last seven in any time zone.
    let day = now.to_zoned(TimeZone::UTC).date().yesterday().unwrap();
    for session in ["a", "b"] {
        observed_on(&sandbox, session, FindingKind::Correction, WORDS, day, now);
    }
    let report = sandbox.rekindle(&["friction", "--json"]).run().ok().json();
    assert!(text(&report["report"], "why").contains("too few sessions"), "{report}");
    observed_on(&sandbox, "c", FindingKind::Correction, WORDS, day, now);
    let found = sandbox.rekindle(&["friction", "--json"]).run().ok().json();
    let proposal = &found["proposals"][0];
    let id = text(proposal, "id").to_owned();
    assert!(id.starts_with("f-") && text(proposal, "text") == WORDS, "{found}");
    assert_eq!(found["report"]["fixes"][0]["severity"], 9, "{found}");
    let page = page(&sandbox);
    assert!(
        page.contains("## Friction Fixes (auto-detected 20")
            && page.contains("AGENTS.md: said in 3 sessions")
    );
    let shown = review(&sandbox, &[&id]);
    assert_eq!(text(&shown["proposals"][0], "file"), "AGENTS.md");
    let before = sandbox.home().join("agents/AGENTS.md");
    let before = std::fs::read_to_string(before).unwrap();
    sandbox.rekindle(&["approve", &id]).run().ok();
    sandbox.rekindle(&["review", "apply", &id, "--yes"]).run().ok();
    let after = std::fs::read_to_string(sandbox.home().join("agents/AGENTS.md")).unwrap();
    assert!(after.starts_with(&before) && after.ends_with(&format!("## Learned\n\n- {WORDS}\n")), "{after}");
    assert_eq!(status(&sandbox, &id), "promoted");
    let again = sandbox.rekindle(&["friction"]).run().ok();
    assert!(again.stderr.contains("are already in their file"), "{}", again.stderr);
}
