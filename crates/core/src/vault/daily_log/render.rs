//! Sections as they are appended.

use super::{
    Body, Clock, Fact, Flush, Handoff, Mark, Note, Observation, Receipts, Reflected, Section, Source, Tail,
    When,
};
use crate::base::time::{Date, Timestamp, day};
use crate::vault::comment;
use crate::vault::escape::{self, Style, tidy, tidy_line};

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
/// In a receipt: it ended with another one.
pub(super) const WITH: &str = "with";
pub(super) const MESSAGE_COUNT: &str = "**Messages**:";

/// How long a title made of a narrative may get, in characters.
const TITLE_CHARS: usize = 60;

/// A fresh log.
pub fn render_new(date: Date) -> String {
    format!("# {}\n", day(date))
}

/// The log with `section` behind everything it has; what it has stays a prefix, byte for byte (LOG-01).
pub fn append(text: &str, section: &Section) -> String {
    format!("{text}{}", Tail::of(text).addition(section))
}

pub(super) fn render(section: &Section) -> String {
    match section {
        Section::Observation(observation) => render_observation(observation),
        Section::Reflected(reflected) => render_reflected(reflected),
        Section::Receipts(receipts) => render_receipts(receipts),
        Section::Handoff(Handoff { source, time, text }) => {
            let head =
                head(&format!("🤝 Handoff {}", session(source, *time)), source, *time, &Mark::default());
            format!("{head}\n{}", escape::quote(text))
        }
        Section::Flush(flush) => render_flush(flush),
        Section::Note(Note { source, time, text, mark }) => {
            format!("{}\n{}", head(&format!("📝 Note ({time})"), source, *time, mark), escape::quote(text))
        }
    }
}

/// The heading and the comment below it.
fn head(title: &str, source: &Source, time: Clock, mark: &Mark) -> String {
    head_ended(title, source, time, None, mark)
}

fn head_ended(title: &str, source: &Source, time: Clock, ended: Option<Timestamp>, mark: &Mark) -> String {
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

fn mark_pairs(mark: &Mark) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    pairs.extend(mark.id.clone().map(|id| (ID, id)));
    pairs.extend(mark.origin.map(|origin| (ORIGIN, origin.word().to_owned())));
    if !mark.messages.is_empty() {
        pairs.push((MESSAGES, comment::list(&mark.messages)));
    }
    pairs.extend(mark.sentiment.map(|sentiment| (SENTIMENT, sentiment.word().to_owned())));
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

/// `(session: {name}, {HH:MM})`; a session without a name goes by its id.
fn session(source: &Source, time: Clock) -> String {
    let name = source.name.as_deref().or(source.session.as_deref()).unwrap_or("unnamed");
    format!("(session: {}, {time})", escape::inline(&tidy_line(name)))
}

fn render_observation(observation: &Observation) -> String {
    let Observation { source, time, trigger, ended, degraded, files, body, current_task, suggested_response } =
        observation;
    let title = format!("🔍 Observations {}", session(source, *time));
    let mut out = head_ended(&title, source, *time, *ended, &Mark::default());
    out.push_str(&label(TRIGGER, trigger));
    if let Some(why) = degraded {
        out.push_str(&label(DEGRADED, why));
    }
    if let Some(files) = files {
        out.push_str(&format!("{FILES} {} modified, {} read\n", files.modified, files.read));
    }
    match body {
        Body::Flat { date, facts } => {
            if let Some(date) = date {
                out.push_str(&format!("\n{DATE} {}\n", day(*date)));
            }
            out.push_str(&render_facts(facts));
        }
        Body::Segments(segments) => {
            for segment in segments {
                let narrative = tidy_line(&segment.narrative);
                out.push_str(&format!("\n#### {}\n", escape::heading(&titled(&segment.title, &narrative))));
                if !narrative.is_empty() {
                    out.push_str(&format!("\n_{}_\n", escape::inline(&narrative)));
                }
                out.push_str(&render_facts(&segment.facts));
            }
        }
        Body::Unparsed(text) => out.push_str(&format!("\n{}", escape::quote(text))),
    }
    for (name, text) in [(CURRENT_TASK, current_task), (SUGGESTED_RESPONSE, suggested_response)] {
        if let Some(text) = text {
            out.push_str(&format!("\n{}", label(name, text)));
        }
    }
    out
}

/// A named line; further lines of it are indented, and blank ones are not kept.
fn label(name: &str, text: &str) -> String {
    let text = tidy(text);
    let mut lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
    let first = escape::inline(lines.next().unwrap_or_default());
    let mut out = format!("{name} {first}").trim_end().to_owned() + "\n";
    for line in lines {
        out.push_str(&format!("  {}\n", escape::line(line)));
    }
    out
}

fn titled(title: &str, narrative: &str) -> String {
    let title = tidy_line(title);
    if title.is_empty() { segment_title(narrative) } else { title }
}

/// A segment's title, made of its narrative: the first sentence, or as many whole words of it as fit (LOG-03).
pub fn segment_title(narrative: &str) -> String {
    let narrative = tidy_line(narrative);
    // `v1.2` is not the end of a sentence; a blank behind the stop, or nothing at all, is.
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

fn render_facts(facts: &[Fact]) -> String {
    let items: String = facts.iter().map(render_fact).collect();
    if items.is_empty() { items } else { format!("\n{items}") }
}

fn render_fact(fact: &Fact) -> String {
    let mut head = format!("* {} ", fact.priority.emoji());
    let mut text = tidy(&fact.text);
    match fact.when {
        Some(when) => head.push_str(&format!("{when} ")),
        // Words in brackets that look like a time are words.
        None if When::prefix(text.trim_start_matches('\\')).is_some() => text.insert(0, '\\'),
        None => {}
    }
    let pairs = mark_pairs(&fact.mark);
    let tail = if pairs.is_empty() { String::new() } else { format!(" {}", render_comment(&pairs)) };
    escape::item(&head, &text, &tail, Style::Words)
}

fn render_reflected(reflected: &Reflected) -> String {
    let Reflected { source, time, summary, proposals } = reflected;
    let mut out = head("🔍 Reflected", source, *time, &Mark::default());
    out.push_str(&format!("\n{}", escape::quote(summary)));
    if !proposals.is_empty() {
        out.push_str(&format!("\n{PROPOSALS} {}\n", comment::list(proposals).replace(',', ", ")));
    }
    out
}

fn render_receipts(receipts: &Receipts) -> String {
    let Receipts { source, time, receipts } = receipts;
    let mut out = head(&format!("📋 Proposals ({time})"), source, *time, &Mark::default()) + "\n";
    for receipt in receipts {
        let mut head = format!("* {} {}", receipt.end.word(), receipt.by.word()).trim_end().to_owned();
        if let Some(with) = &receipt.with {
            head.push_str(&format!(" {WITH} {}", comment::encode(with)));
        }
        head.push_str(&format!(" `{}` ", comment::encode(&receipt.id)));
        out.push_str(&escape::item(&head, &receipt.text, "", Style::Words));
    }
    out
}

fn render_flush(flush: &Flush) -> String {
    let Flush { source, time, messages, modified, read } = flush;
    let mut out = head(&format!("💾 Compaction {}", session(source, *time)), source, *time, &Mark::default());
    out.push_str(&format!("{MESSAGE_COUNT} {messages}\n\n"));
    for (word, paths) in [("modified", modified), ("read", read)] {
        for path in paths.iter().map(|path| tidy_line(path)).filter(|path| !path.is_empty()) {
            out.push_str(&escape::item(&format!("* {word} "), &path, "", Style::Words));
        }
    }
    out
}
