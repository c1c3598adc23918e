//! Shows the memories injected into a session and their outcome, and compares sessions with and without
//! recall.

use rekindle_engine::context::injection_log;
use serde_json::{Value, json};

use super::super::id_match;
use crate::app::inspect::session_report;
use crate::app::{CommandContext, explain};
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

pub(super) fn show_session(context: &CommandContext<'_>, session: &str, json: bool) -> Result<(), CliError> {
    let known = injection_log::sessions(&context.places);
    let Some(session) = id_match::session(session, known.iter().map(String::as_str))? else {
        return Err(CliError::usage(format!("there is no session `{session}`"))
            .hint("find session ids with `rekindle inspect --json`; records are kept for 90 days"));
    };
    let record = injection_log::read(&context.places, &session);
    let report = session_report(context, &session, &record)?;
    if json {
        return context.out.json(&report);
    }
    print(context, &report)
}

fn print(context: &CommandContext<'_>, report: &Value) -> Result<(), CliError> {
    let out = context.out;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let tokens = &report["tokens"];
    let share = tokens["share"].as_f64().map(|share| format!(", {:.1}% of the session", share * 100.0));
    let mut head = vec![
        ("session", format!("{} ({})", text(&report["session"]), text(&report["agent"]))),
        ("turns", text(&report["turns"])),
        (
            "injected",
            format!(
                "{} tokens: briefing {}, prompts {}, tools {}{}",
                tokens["injected"],
                tokens["briefing"],
                tokens["prompts"],
                tokens["tools"],
                share.unwrap_or_default()
            ),
        ),
        ("corrected", format!("{} times", report["corrections"])),
    ];
    if report["heldOut"] == json!(true) {
        head.push(("held out", "recall was off in this session (control group)".to_owned()));
    }
    for (name, meaning) in [
        ("missed", "relevant, but not shown"),
        ("misled", "shown, then corrected by you"),
        ("lessons", "proposed because of a correction"),
    ] {
        let list: Vec<String> = report[name].as_array().into_iter().flatten().map(text).collect();
        if !list.is_empty() {
            head.push((name, format!("{} ({meaning})", list.join(", "))));
        }
    }
    for (name, value) in head {
        out.line(format!("{}  {value}", out.styled(TextStyle::Dim, pad_column(name, 10))))?;
    }
    for block in report["blocks"].as_array().into_iter().flatten() {
        out.line("")?;
        let query: String = block["query"].as_str().unwrap_or_default().chars().take(60).collect();
        let mark = if block["corrected"] == json!(true) { "  (you corrected this turn)" } else { "" };
        let title = format!("{}  {} tokens  {query}{mark}", text(&block["what"]), block["tokens"]);
        out.line(format!(
            "{}  {}",
            out.styled(TextStyle::Dim, text(&block["at"])),
            out.styled(TextStyle::Bold, title)
        ))?;
        for memory in block["memories"].as_array().into_iter().flatten() {
            let by: Vec<String> = memory["by"].as_array().into_iter().flatten().map(text).collect();
            let by = if by.is_empty() { String::new() } else { format!("  ({})", by.join(", ")) };
            let title = memory["title"].as_str().unwrap_or_default();
            let became = pad_column(&text(&memory["became"]), 10);
            out.line(format!("  {became}  {}  {title}{by}", text(&memory["id"])))?;
        }
    }
    legend(context, report)
}

/// Explains the verdicts that were printed.
fn legend(context: &CommandContext<'_>, report: &Value) -> Result<(), CliError> {
    let blocks = report["blocks"].as_array().into_iter().flatten();
    let memories = blocks.flat_map(|block| block["memories"].as_array().into_iter().flatten());
    let shown: Vec<String> =
        memories.filter_map(|memory| memory["became"].as_str().map(str::to_owned)).collect();
    let lines = explain::outcome_meanings(&shown);
    if lines.is_empty() {
        return Ok(());
    }
    context.out.line("")?;
    lines.iter().try_for_each(|line| context.out.line(context.out.styled(TextStyle::Dim, line)))
}

/// Compares sessions with recall and sessions without.
pub(super) fn compare(context: &CommandContext<'_>, json: bool) -> Result<(), CliError> {
    let (mut with, mut without) = (HoldoutGroup::default(), HoldoutGroup::default());
    for record in injection_log::all_records(&context.places) {
        let turns = record.turns().len() as u64;
        if turns == 0 {
            continue;
        }
        let group = if record.is_held_out() { &mut without } else { &mut with };
        group.sessions += 1;
        group.turns += turns;
        group.corrections += record.outcomes.iter().map(|came| u64::from(came.corrections)).sum::<u64>();
    }
    let share = context.settings.config.recall.holdout;
    if json {
        return context
            .out
            .json(&json!({"holdout": share, "days": 90, "with": with.json(), "without": without.json()}));
    }
    let out = context.out;
    let head = "                 sessions   turns  turns each  corrections  corrections each";
    out.line(out.styled(TextStyle::Dim, head))?;
    for (name, group) in [("with recall", with), ("without", without)] {
        out.line(format!(
            "{}  {:>8}  {:>6}  {:>10.2}  {:>11}  {:>16.2}",
            pad_column(name, 15),
            group.sessions,
            group.turns,
            group.per_item(group.turns),
            group.corrections,
            group.per_item(group.corrections)
        ))?;
    }
    if share == 0.0 && without.sessions == 0 {
        out.note(
            "There is no control group. To run every tenth session without recall: `rekindle config set recall.holdout 0.1`.",
        );
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct HoldoutGroup {
    sessions: u64,
    turns: u64,
    corrections: u64,
}

impl HoldoutGroup {
    fn per_item(self, count: u64) -> f64 {
        if self.sessions == 0 { 0.0 } else { count as f64 / self.sessions as f64 }
    }

    fn json(self) -> Value {
        json!({
            "sessions": self.sessions,
            "turns": self.turns,
            "turnsPerSession": self.per_item(self.turns),
            "corrections": self.corrections,
            "correctionsPerSession": self.per_item(self.corrections),
        })
    }
}
