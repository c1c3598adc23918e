//! `rekindle inspect --gate`: the verdicts of the write gate (FBK-08).

use rekindle_core::base::time::{Date, day};
use rekindle_core::knowledge::observe::Finding;
use rekindle_core::knowledge::observe::finding::GateVerdict;
use rekindle_engine::pipeline::observations;
use rekindle_engine::platform::db::Database;
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

pub(super) fn show_gate(context: &CommandContext<'_>, days: u16, as_json: bool) -> Result<(), CliError> {
    let out = context.out;
    let today = context.now.date();
    let from = today.checked_sub(jiff::Span::new().days(i64::from(days) - 1)).map_err(CliError::usage)?;
    let Some(db) = Database::open_existing(&context.places.database())? else {
        return show_empty(context, as_json);
    };
    let judged = observations::gate_verdicts(&db, from, today)?;
    let doubted: Vec<(Date, Finding, GateVerdict)> = observations::in_date_range(&db, from, today)?
        .into_iter()
        .flat_map(|entry| entry.observed.parts.into_iter().map(move |part| (entry.day, part)))
        .flat_map(|(day, part)| part.findings.into_iter().map(move |finding| (day, finding)))
        .filter_map(|(day, finding)| Some((day, finding.clone(), finding.gate?)))
        .filter(|(_, _, verdict)| !verdict.is_passing())
        .collect();
    if as_json {
        let days: Vec<Value> = judged
            .iter()
            .map(|(date, counts)| {
                let mut object = json!(counts);
                object["day"] = json!(day(*date));
                object
            })
            .collect();
        let doubted: Vec<Value> = doubted
            .iter()
            .map(|(date, finding, verdict)| {
                json!({"day": day(*date), "text": finding.text, "origin": finding.origin, "doubts": verdict.doubts,
                    "against": verdict.against})
            })
            .collect();
        return out.json(&json!({"days": days, "doubted": doubted}));
    }
    if judged.is_empty() {
        return show_empty(context, false);
    }
    for (date, counts) in &judged {
        out.line(format!(
            "{}  {:>4} judged  {:>4} pass  {:>4} unverifiable  {:>4} not useful  {:>4} conflicting",
            day(*date),
            counts.judged,
            counts.passed,
            counts.unverifiable,
            counts.useless,
            counts.conflicting
        ))?;
    }
    for (date, finding, verdict) in &doubted {
        let words = verdict.doubts.iter().filter_map(|doubt| Some(json!(doubt).as_str()?.to_owned()));
        let against = verdict.against.as_ref().map(|id| format!("against {id}"));
        let why: Vec<String> = words.chain(against).collect();
        let head = out.styled(TextStyle::Dim, format!("{}  {}", day(*date), pad_column(&why.join(", "), 24)));
        out.line(format!("{head}  {}", finding.text))?;
    }
    out.note("The gate blocks nothing: every observation is in the log of its day.");
    Ok(())
}

fn show_empty(context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
    match as_json {
        true => context.out.json(&json!({"days": [], "doubted": []})),
        false => {
            context.out.note("The gate has checked no observations in this period.");
            Ok(())
        }
    }
}
