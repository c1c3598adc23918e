//! The log read back, around whatever a person wrote into it.

use std::ops::Range;

use super::render::{
    CURRENT_TASK, DATE, DEDUPE, DEGRADED, DOUBTS, ENDED, FILES, ID, MESSAGE_COUNT, MESSAGES, NO_DOUBT,
    ORIGIN, PROJECT, PROPOSALS, SENTIMENT, SESSION, SUGGESTED_RESPONSE, TIME, TRAITS, TRIGGER, WITH,
};
use super::{
    Body, Clock, Decider, End, Fact, Files, Flush, Handoff, Log, Mark, Note, Observation, Placed, Priority,
    Receipt, Receipts, Reflected, Section, Segment, Source, When,
};
use crate::base::sentiment::Sentiment;
use crate::vault::comment;
use crate::vault::escape::{self, Style, plain, plain_heading, plain_item, plain_line, plain_quote};
use crate::vault::lines::{Kind, Line, heading_words, item_lines, walk};

/// The sections of ours in `text`. What is not recognised is the person's and passed over, so this never fails.
pub fn parse(text: &str) -> Log {
    let lines = walk(text).lines;
    Log { sections: parts(&lines).filter_map(|part| section(&lines[part])).collect() }
}

/// The same with the lines on which everything stands. `lines` are those of the whole log.
pub fn placed(lines: &[Line<'_>]) -> Vec<Placed> {
    let place = |part: Range<usize>| {
        let own = &lines[part.clone()];
        let section = section(own)?;
        let is_fact = |at: &usize| item(own, *at).is_some_and(|item| fact(&item).is_some());
        let facts = (1..own.len()).filter(is_fact).map(|at| {
            let inside = item_lines(own, at);
            part.start + inside.start..part.start + inside.end
        });
        let facts = if matches!(section, Section::Observation(_)) { facts.collect() } else { Vec::new() };
        Some(Placed { section, lines: part, facts })
    };
    parts(lines).filter_map(place).collect()
}

/// The line indexes of each section, its heading first.
fn parts(lines: &[Line<'_>]) -> impl Iterator<Item = Range<usize>> {
    let is_start = |line: &Line<'_>| matches!(line.kind, Kind::Heading { level: 1..=3, .. });
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(&lines[*at])).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([lines.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end)
}

type Pairs = Vec<(String, String)>;

fn section(lines: &[Line<'_>]) -> Option<Section> {
    let Kind::Heading { title, .. } = lines.first()?.kind else { return None };
    let pairs =
        lines.iter().filter(|line| line.kind == Kind::Comment).find_map(|line| comment::parse(line.text));
    let named = Named::new(title);
    let ours = pairs.is_some();
    let pairs = pairs.unwrap_or_default();
    let text = |key: &str| comment::value(&pairs, key).map(str::to_owned);
    let source = Source {
        session: text(SESSION),
        name: named
            .name
            .clone()
            .filter(|name| text(SESSION).is_none_or(|session| escape::tidy_line(&session) != *name)),
        dedupe_key: text(DEDUPE),
        project: text(PROJECT),
    };
    let time = named.time.or_else(|| comment::value(&pairs, TIME)?.parse().ok())?;
    let body = &lines[1..];
    match named.word.as_str() {
        // Known by its shape too, since a fact is worth more than the comment somebody tidied away.
        "observations" if ours || labelled(body, TRIGGER).is_some() => {
            Some(Section::Observation(Observation {
                source,
                time,
                trigger: labelled(body, TRIGGER).unwrap_or_default(),
                ended: comment::value(&pairs, ENDED).and_then(|at| at.parse().ok()),
                degraded: labelled(body, DEGRADED),
                files: labelled(body, FILES).and_then(|text| files(&text)),
                body: observed(body),
                current_task: labelled(body, CURRENT_TASK),
                suggested_response: labelled(body, SUGGESTED_RESPONSE),
            }))
        }
        "reflected" if ours => Some(Section::Reflected(Reflected {
            source: Source { name: None, ..source },
            time,
            summary: quoted(body),
            proposals: labelled(body, PROPOSALS)
                .map(|list| comment::unlist(&list.replace(' ', "")))
                .unwrap_or_default(),
        })),
        "proposals" if ours => {
            let receipts = items(body).into_iter().filter_map(|item| receipt(&item)).collect();
            Some(Section::Receipts(Receipts { source: Source { name: None, ..source }, time, receipts }))
        }
        "handoff" if ours => Some(Section::Handoff(Handoff { source, time, text: quoted(body) })),
        "compaction" if ours => Some(Section::Flush(Flush {
            source,
            time,
            messages: labelled(body, MESSAGE_COUNT).and_then(|text| text.parse().ok()).unwrap_or_default(),
            modified: paths(body, "modified "),
            read: paths(body, "read "),
        })),
        "note" if ours => Some(Section::Note(Note {
            source: Source { name: None, ..source },
            time,
            text: quoted(body),
            mark: mark(&pairs),
        })),
        _ => None,
    }
}

/// A heading taken apart: `🔍 Observations (session: {name}, {HH:MM})`.
struct Named {
    word: String,
    name: Option<String>,
    time: Option<Clock>,
}

impl Named {
    fn new(title: &str) -> Self {
        let word = heading_words(title);
        let inside = title.split_once('(').and_then(|(_, inside)| inside.strip_suffix(')'));
        let (name, time) = match inside.and_then(|inside| inside.rsplit_once(',')) {
            Some((session, time)) => (session.trim().strip_prefix("session:"), Some(time)),
            None => (None, inside),
        };
        let name = name.map(|name| plain(name.trim())).filter(|name| name != "unnamed");
        Self { word, name, time: time.and_then(|time| time.trim().parse().ok()) }
    }
}

fn mark(pairs: &Pairs) -> Mark {
    Mark {
        id: comment::value(pairs, ID).map(str::to_owned),
        origin: comment::value(pairs, ORIGIN).and_then(|word| word.parse().ok()),
        messages: comment::value(pairs, MESSAGES).map(comment::unlist).unwrap_or_default(),
        sentiment: comment::value(pairs, SENTIMENT).and_then(Sentiment::of),
        traits: comment::value(pairs, TRAITS).map(comment::unlist).unwrap_or_default(),
        doubts: comment::value(pairs, DOUBTS).map(|doubts| match doubts {
            NO_DOUBT => Vec::new(),
            doubts => comment::unlist(doubts),
        }),
    }
}

/// The text behind `name` and on the indented lines below it.
fn labelled(lines: &[Line<'_>], name: &str) -> Option<String> {
    let is_text = |line: &Line<'_>| matches!(line.kind, Kind::Text { lazy: false }) && line.depth == 0;
    let at = lines.iter().position(|line| is_text(line) && line.text.starts_with(name))?;
    let mut text = vec![plain(lines[at].text[name.len()..].trim())];
    let below = lines[at + 1..].iter().take_while(|line| is_text(line) && line.text.starts_with("  "));
    text.extend(below.map(|line| plain_line(line.text.trim())));
    Some(text.join("\n"))
}

fn files(text: &str) -> Option<Files> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    Some(Files { modified: numbers.next()?.parse().ok()?, read: numbers.next()?.parse().ok()? })
}

/// The first block quote.
fn quoted(lines: &[Line<'_>]) -> String {
    let is_quote = |line: &&Line<'_>| line.depth == 0 && line.text.starts_with('>');
    let quote = lines.iter().skip_while(|line| !is_quote(line)).take_while(is_quote);
    escape::tidy(&quote.filter_map(|line| plain_quote(line.text)).collect::<Vec<_>>().join("\n"))
}

/// A list item's words before any comment, the lines below, and the comment.
struct Item<'a> {
    words: &'a str,
    below: Vec<&'a str>,
    offset: usize,
    pairs: Option<Pairs>,
}

impl Item<'_> {
    /// The text, given what is left of the first line.
    fn text(&self, first: &str) -> String {
        plain_item(first, &self.below, self.offset, Style::Words)
    }
}

fn items<'a>(lines: &[Line<'a>]) -> Vec<Item<'a>> {
    (0..lines.len()).filter_map(|at| item(lines, at)).collect()
}

fn item<'a>(lines: &[Line<'a>], at: usize) -> Option<Item<'a>> {
    let Kind::Item { depth: 1, content, offset } = lines[at].kind else { return None };
    let text = &lines[at].text[content..];
    let start = comment::trailing(text).filter(|start| comment::parse(&text[*start..]).is_some());
    Some(Item {
        words: &text[..start.unwrap_or(text.len())],
        below: lines[item_lines(lines, at)].iter().skip(1).map(|line| line.text).collect(),
        offset,
        pairs: start.and_then(|start| comment::parse(&text[start..])),
    })
}

fn facts(lines: &[Line<'_>]) -> Vec<Fact> {
    items(lines).iter().filter_map(fact).collect()
}

fn fact(item: &Item<'_>) -> Option<Fact> {
    let (priority, rest) = match (Priority::prefix(item.words), &item.pairs) {
        (Some(found), _) => found,
        // Ours by its comment; without its sign it is worth the least.
        (None, Some(_)) => (Priority::Low, item.words),
        (None, None) => return None,
    };
    let rest = rest.trim_start();
    let (when, rest) = match When::prefix(rest) {
        Some((when, rest)) => (Some(when), rest),
        None if When::prefix(rest.trim_start_matches('\\')).is_some() => {
            (None, rest.strip_prefix('\\').unwrap_or(rest))
        }
        None => (None, rest),
    };
    let mark = item.pairs.as_ref().map(mark).unwrap_or_default();
    Some(Fact { priority, when, text: item.text(rest), mark })
}

fn observed(lines: &[Line<'_>]) -> Body {
    let titles: Vec<usize> =
        (0..lines.len()).filter(|at| matches!(lines[*at].kind, Kind::Heading { .. })).collect();
    let (before, titled) = lines.split_at(titles.first().copied().unwrap_or(lines.len()));
    let loose = facts(before);
    if titled.is_empty() {
        let unparsed = quoted(before);
        if loose.is_empty() && !unparsed.is_empty() {
            return Body::Unparsed(unparsed);
        }
        return Body::Flat { date: labelled(before, DATE).and_then(|date| date.parse().ok()), facts: loose };
    }
    let ends = titles.iter().skip(1).copied().chain([lines.len()]);
    let mut segments: Vec<Segment> =
        titles.iter().copied().zip(ends).map(|(start, end)| segment(&lines[start..end])).collect();
    if !loose.is_empty() {
        // A fact that somebody moved above the first title is still a fact.
        segments.insert(0, Segment { title: String::new(), narrative: String::new(), facts: loose });
    }
    Body::Segments(segments)
}

fn segment(lines: &[Line<'_>]) -> Segment {
    let title = match lines.first().map(|line| &line.kind) {
        Some(Kind::Heading { title, .. }) => plain_heading(title),
        _ => String::new(),
    };
    let emphasis = |line: &Line<'_>| {
        let text = line.text.trim_end();
        let marked = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
        let words = marked('_').or_else(|| marked('*').filter(|words| !words.starts_with('*')))?;
        (line.depth == 0 && matches!(line.kind, Kind::Text { .. } | Kind::Rule)).then(|| plain(words))
    };
    Segment {
        title,
        narrative: lines.iter().skip(1).find_map(emphasis).unwrap_or_default(),
        facts: facts(lines),
    }
}

fn receipt(item: &Item<'_>) -> Option<Receipt> {
    let (head, rest) = item.words.split_once('`')?;
    let (id, rest) = rest.split_once('`')?;
    let head = head.trim();
    let (word, how) = head.split_once(' ').unwrap_or((head, ""));
    let end = End::ALL.into_iter().find(|end| end.word() == word)?;
    let decider = |by: &&Decider| how.starts_with(by.word()) && !by.word().is_empty();
    let by = Decider::ALL.iter().find(decider).copied().unwrap_or_default();
    let how = how[by.word().len()..].trim_start();
    let with = match how.strip_prefix(WITH) {
        Some(with) => Some(comment::decode(with.trim())),
        None if how.is_empty() => None,
        None => return None,
    };
    Some(Receipt { id: comment::decode(id), end, by, with, text: item.text(rest) })
}

fn paths(lines: &[Line<'_>], word: &str) -> Vec<String> {
    items(lines).iter().filter_map(|item| Some(item.text(item.words.strip_prefix(word)?))).collect()
}
