//! Renders sections for appending to the log.

use super::{
    FactTime, LogMark, LogSection, LogTail, LoggedFact, LoggedFlush, LoggedHandoff, LoggedNote,
    LoggedObservation, LoggedReceipts, LoggedReflection, ObservationBody, SectionSource, TimeOfDay,
};
use crate::base::time::{Date, Timestamp, day};
use crate::vault::comment;
use crate::vault::escape::{self, EscapeStyle, normalise_line, normalise_text};

pub(super) const SESSION: &str = "session";
pub(super) const DEDUPE: &str = "dedupe";
pub(super) const PROJECT: &str = "project";
pub(super) const TIME: &str = "time";
pub(super) const ID: &str = "id";
pub(super) const ORIGIN: &str = "origin";
pub(super) const MESSAGES: &str = "messages";
pub(super) const SENTIMENT: &str = "sentiment";
pub(super) const TRAITS: &str = "is";
pub(super) const DOUBTS: &str = "gate";
/// The gate was asked and doubts nothing.
pub(super) const NO_DOUBT: &str = "ok";
pub(super) const ENDED: &str = "ended";

pub(super) const TRIGGER: &str = "**Trigger**:";
pub(super) const DEGRADED: &str = "**Degraded**:";
pub(super) const FILES: &str = "**Files**:";
pub(super) const DATE: &str = "Date:";
pub(super) const CURRENT_TASK: &str = "**Current task**:";
pub(super) const SUGGESTED_RESPONSE: &str = "**Suggested response**:";
pub(super) const PROPOSALS: &str = "**Proposals**:";
/// The key in a receipt for the proposal that decided it.
pub(super) const WITH: &str = "with";
pub(super) const MESSAGE_COUNT: &str = "**Messages**:";

/// The maximum length of a title derived from a narrative, in characters.
const TITLE_CHARS: usize = 60;

/// Renders an empty log.
pub fn render_new(date: Date) -> String {
    format!("# {}\n", day(date))
}

/// Appends `section` to a log. The old text stays as a prefix, byte for byte (LOG-01).
pub fn append(text: &str, section: &LogSection) -> String {
    format!("{text}{}", LogTail::from_log(text).render_addition(section))
}

pub(super) fn render(section: &LogSection) -> String {
    match section {
        LogSection::Observation(observation) => render_observation(observation),
        LogSection::Reflected(reflected) => render_reflected(reflected),
        LogSection::Receipts(receipts) => render_receipts(receipts),
        LogSection::Handoff(LoggedHandoff { source, time, text }) => {
            let head =
                head(&format!("🤝 Handoff {}", session(source, *time)), source, *time, &LogMark::default());
            format!("{head}\n{}", escape::block_quote(text))
        }
        LogSection::Flush(flush) => render_flush(flush),
        LogSection::Note(LoggedNote { source, time, text, mark }) => {
            format!(
                "{}\n{}",
                head(&format!("📝 Note ({time})"), source, *time, mark),
                escape::block_quote(text)
            )
        }
    }
}

/// Renders a heading and the comment below it.
fn head(title: &str, source: &SectionSource, time: TimeOfDay, mark: &LogMark) -> String {
    head_ended(title, source, time, None, mark)
}

fn head_ended(
    title: &str,
    source: &SectionSource,
    time: TimeOfDay,
    ended: Option<Timestamp>,
    mark: &LogMark,
) -> String {
    let time = time.to_string();
    let mut pairs: Vec<(&str, String)> = Vec::new();
    pairs.extend(source.session.clone().map(|session| (SESSION, session)));
    pairs.extend(source.dedupe_key.clone().map(|key| (DEDUPE, key)));
    pairs.extend(source.project.clone().map(|project| (PROJECT, project)));
    pairs.push((TIME, time));
    pairs.extend(ended.map(|ended| (ENDED, ended.to_string())));
    pairs.extend(mark_pairs(mark));
    format!("### {title}\n{}\n", render_comment(&pairs))
}

fn render_comment(pairs: &[(&str, String)]) -> String {
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (*key, value.as_str())).collect();
    comment::render(&pairs)
}

fn mark_pairs(mark: &LogMark) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    pairs.extend(mark.id.clone().map(|id| (ID, id)));
    pairs.extend(mark.origin.map(|origin| (ORIGIN, origin.as_str().to_owned())));
    if !mark.messages.is_empty() {
        pairs.push((MESSAGES, comment::list(&mark.messages)));
    }
    pairs.extend(mark.sentiment.map(|sentiment| (SENTIMENT, sentiment.as_str().to_owned())));
    if !mark.traits.is_empty() {
        pairs.push((TRAITS, comment::list(&mark.traits)));
    }
    pairs.extend(
        mark.doubts.as_ref().map(|doubts| {
            (DOUBTS, if doubts.is_empty() { NO_DOUBT.to_owned() } else { comment::list(doubts) })
        }),
    );
    pairs
}

/// Renders `(session: {name}, {HH:MM})`; an unnamed session is shown by its id.
fn session(source: &SectionSource, time: TimeOfDay) -> String {
    let name = source.name.as_deref().or(source.session.as_deref()).unwrap_or("unnamed");
    format!("(session: {}, {time})", escape::escape_inline(&normalise_line(name)))
}

fn render_observation(observation: &LoggedObservation) -> String {
    let LoggedObservation {
        source,
        time,
        trigger,
        ended,
        degraded,
        files,
        body,
        current_task,
        suggested_response,
    } = observation;
    let title = format!("🔍 Observations {}", session(source, *time));
    let mut out = head_ended(&title, source, *time, *ended, &LogMark::default());
    out.push_str(&label(TRIGGER, trigger));
    if let Some(why) = degraded {
        out.push_str(&label(DEGRADED, why));
    }
    if let Some(files) = files {
        out.push_str(&format!("{FILES} {} modified, {} read\n", files.modified, files.read));
    }
    match body {
        ObservationBody::Flat { date, facts } => {
            if let Some(date) = date {
                out.push_str(&format!("\n{DATE} {}\n", day(*date)));
            }
            out.push_str(&render_facts(facts));
        }
        ObservationBody::Segments(segments) => {
            for segment in segments {
                let narrative = normalise_line(&segment.narrative);
                out.push_str(&format!("\n#### {}\n", escape::heading(&titled(&segment.title, &narrative))));
                if !narrative.is_empty() {
                    out.push_str(&format!("\n_{}_\n", escape::escape_inline(&narrative)));
                }
                out.push_str(&render_facts(&segment.facts));
            }
        }
        ObservationBody::Unparsed(text) => out.push_str(&format!("\n{}", escape::block_quote(text))),
    }
    for (name, text) in [(CURRENT_TASK, current_task), (SUGGESTED_RESPONSE, suggested_response)] {
        if let Some(text) = text {
            out.push_str(&format!("\n{}", label(name, text)));
        }
    }
    out
}

/// Renders a labelled text. Further lines are indented, and blank ones are dropped.
fn label(name: &str, text: &str) -> String {
    let text = normalise_text(text);
    let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    let first = escape::escape_inline(lines.next().unwrap_or_default());
    let mut out = format!("{name} {first}").trim_end().to_owned() + "\n";
    for line in lines {
        out.push_str(&format!("  {}\n", escape::line(line)));
    }
    out
}

fn titled(title: &str, narrative: &str) -> String {
    let title = normalise_line(title);
    if title.is_empty() { segment_title(narrative) } else { title }
}

/// A title derived from a segment's narrative: the first sentence, or as many whole words as fit (LOG-03).
pub fn segment_title(narrative: &str) -> String {
    let narrative = normalise_line(narrative);
    // A sentence ends at a stop before a blank or the end of the text, so not in `v1.2`.
    let ends = |end: &usize| narrative[*end..].is_empty() || narrative[*end..].starts_with(' ');
    let stops = narrative.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
    let end = stops.into_iter().find(ends).unwrap_or(narrative.len());
    let sentence = narrative[..end].trim_end_matches(['.', '!', '?']);
    let mut title = String::new();
    for word in sentence.split(' ') {
        if !title.is_empty() && title.chars().count() + 1 + word.chars().count() > TITLE_CHARS {
            return title + "…";
        }
        title.push_str(if title.is_empty() { "" } else { " " });
        title.extend(word.chars().take(TITLE_CHARS));
    }
    if title.is_empty() { "Segment".to_owned() } else { title }
}

fn render_facts(facts: &[LoggedFact]) -> String {
    let items: String = facts.iter().map(render_fact).collect();
    if items.is_empty() { items } else { format!("\n{items}") }
}

fn render_fact(fact: &LoggedFact) -> String {
    let mut head = format!("* {} ", fact.priority.emoji());
    let mut text = normalise_text(&fact.text);
    match fact.when {
        Some(when) => head.push_str(&format!("{when} ")),
        // Escape words in brackets that look like a time.
        None if FactTime::strip_time(text.trim_start_matches('\\')).is_some() => text.insert(0, '\\'),
        None => {}
    }
    let pairs = mark_pairs(&fact.mark);
    let tail = if pairs.is_empty() { String::new() } else { format!(" {}", render_comment(&pairs)) };
    escape::item(&head, &text, &tail, EscapeStyle::Words)
}

fn render_reflected(reflected: &LoggedReflection) -> String {
    let LoggedReflection { source, time, summary, proposals } = reflected;
    let mut out = head("🔍 Reflected", source, *time, &LogMark::default());
    out.push_str(&format!("\n{}", escape::block_quote(summary)));
    if !proposals.is_empty() {
        out.push_str(&format!("\n{PROPOSALS} {}\n", comment::list(proposals).replace(',', ", ")));
    }
    out
}

fn render_receipts(receipts: &LoggedReceipts) -> String {
    let LoggedReceipts { source, time, receipts } = receipts;
    let mut out = head(&format!("📋 Proposals ({time})"), source, *time, &LogMark::default()) + "\n";
    for receipt in receipts {
        let mut head = format!("* {} {}", receipt.end.as_str(), receipt.by.as_str()).trim_end().to_owned();
        if let Some(with) = &receipt.with {
            head.push_str(&format!(" {WITH} {}", comment::encode(with)));
        }
        head.push_str(&format!(" `{}` ", comment::encode(&receipt.id)));
        out.push_str(&escape::item(&head, &receipt.text, "", EscapeStyle::Words));
    }
    out
}

fn render_flush(flush: &LoggedFlush) -> String {
    let LoggedFlush { source, time, messages, modified, read } = flush;
    let mut out =
        head(&format!("💾 Compaction {}", session(source, *time)), source, *time, &LogMark::default());
    out.push_str(&format!("{MESSAGE_COUNT} {messages}\n\n"));
    for (word, paths) in [("modified", modified), ("read", read)] {
        for path in paths.iter().map(|path| normalise_line(path)).filter(|path| !path.is_empty()) {
            out.push_str(&escape::item(&format!("* {word} "), &path, "", EscapeStyle::Words));
        }
    }
    out
}
