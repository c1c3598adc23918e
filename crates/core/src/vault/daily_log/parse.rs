//! Parses the daily log, tolerating anything that a person wrote into it.

use std::ops::Range;

use super::render::{
    CURRENT_TASK, DATE, DEDUPE, DEGRADED, DOUBTS, ENDED, FILES, ID, MESSAGE_COUNT, MESSAGES, NO_DOUBT,
    ORIGIN, PROJECT, PROPOSALS, SENTIMENT, SESSION, SUGGESTED_RESPONSE, TIME, TRAITS, TRIGGER, WITH,
};
use super::{
    DailyLog, FactTime, FileCounts, LogMark, LogSection, LoggedFact, LoggedFlush, LoggedHandoff, LoggedNote,
    LoggedObservation, LoggedReceipts, LoggedReflection, LoggedSegment, ObservationBody, PlacedSection,
    Priority, ProposalEnd, ProposalReceipt, ReceiptDecider, SectionSource, TimeOfDay,
};
use crate::base::sentiment::Sentiment;
use crate::vault::comment;
use crate::vault::escape::{
    self, EscapeStyle, unescape_heading, unescape_inline, unescape_item, unescape_line, unquote_line,
};
use crate::vault::lines::{LineKind, MarkdownLine, heading_words, item_lines, parse_lines};

/// Our sections in `text`. Unrecognised text is the person's and is skipped, so this never fails.
pub fn parse(text: &str) -> DailyLog {
    let lines = parse_lines(text).lines;
    DailyLog { sections: section_ranges(&lines).filter_map(|part| section(&lines[part])).collect() }
}

/// Our sections with their positions. `lines` are all lines of the log.
pub fn placed_sections(lines: &[MarkdownLine<'_>]) -> Vec<PlacedSection> {
    let place = |part: Range<usize>| {
        let own = &lines[part.clone()];
        let section = section(own)?;
        let is_fact = |at: &usize| item(own, *at).is_some_and(|item| fact(&item).is_some());
        let facts = (1..own.len()).filter(is_fact).map(|at| {
            let inside = item_lines(own, at);
            part.start + inside.start..part.start + inside.end
        });
        let facts = if matches!(section, LogSection::Observation(_)) { facts.collect() } else { Vec::new() };
        Some(PlacedSection { section, lines: part, facts })
    };
    section_ranges(lines).filter_map(place).collect()
}

/// The line indexes of each section, including its heading.
fn section_ranges(lines: &[MarkdownLine<'_>]) -> impl Iterator<Item = Range<usize>> {
    let is_start = |line: &MarkdownLine<'_>| matches!(line.kind, LineKind::Heading { level: 1..=3, .. });
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(&lines[*at])).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([lines.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end)
}

type MarkPairs = Vec<(String, String)>;

fn section(lines: &[MarkdownLine<'_>]) -> Option<LogSection> {
    let LineKind::Heading { title, .. } = lines.first()?.kind else { return None };
    let pairs =
        lines.iter().filter(|line| line.kind == LineKind::Comment).find_map(|line| comment::parse(line.text));
    let named = SectionHeading::new(title);
    let ours = pairs.is_some();
    let pairs = pairs.unwrap_or_default();
    let text = |key: &str| comment::value(&pairs, key).map(str::to_owned);
    let source = SectionSource {
        session: text(SESSION),
        name: named
            .name
            .clone()
            .filter(|name| text(SESSION).is_none_or(|session| escape::normalise_line(&session) != *name)),
        dedupe_key: text(DEDUPE),
        project: text(PROJECT),
    };
    let time = named.time.or_else(|| comment::value(&pairs, TIME)?.parse().ok())?;
    let body = &lines[1..];
    match named.word.as_str() {
        // Also recognised by its shape: a fact is worth more than a comment that somebody deleted.
        "observations" if ours || labelled(body, TRIGGER).is_some() => {
            Some(LogSection::Observation(LoggedObservation {
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
        "reflected" if ours => Some(LogSection::Reflected(LoggedReflection {
            source: SectionSource { name: None, ..source },
            time,
            summary: quoted(body),
            proposals: labelled(body, PROPOSALS)
                .map(|list| comment::parse_list(&list.replace(' ', "")))
                .unwrap_or_default(),
        })),
        "proposals" if ours => {
            let receipts = items(body).into_iter().filter_map(|item| receipt(&item)).collect();
            Some(LogSection::Receipts(LoggedReceipts {
                source: SectionSource { name: None, ..source },
                time,
                receipts,
            }))
        }
        "handoff" if ours => Some(LogSection::Handoff(LoggedHandoff { source, time, text: quoted(body) })),
        "compaction" if ours => Some(LogSection::Flush(LoggedFlush {
            source,
            time,
            messages: labelled(body, MESSAGE_COUNT).and_then(|text| text.parse().ok()).unwrap_or_default(),
            modified: paths(body, "modified "),
            read: paths(body, "read "),
        })),
        "note" if ours => Some(LogSection::Note(LoggedNote {
            source: SectionSource { name: None, ..source },
            time,
            text: quoted(body),
            mark: mark(&pairs),
        })),
        _ => None,
    }
}

/// A parsed heading: `🔍 Observations (session: {name}, {HH:MM})`.
struct SectionHeading {
    word: String,
    name: Option<String>,
    time: Option<TimeOfDay>,
}

impl SectionHeading {
    fn new(title: &str) -> Self {
        let word = heading_words(title);
        let inside = title.split_once('(').and_then(|(_, inside)| inside.strip_suffix(')'));
        let (name, time) = match inside.and_then(|inside| inside.rsplit_once(',')) {
            Some((session, time)) => (session.trim().strip_prefix("session:"), Some(time)),
            None => (None, inside),
        };
        let name = name.map(|name| unescape_inline(name.trim())).filter(|name| name != "unnamed");
        Self { word, name, time: time.and_then(|time| time.trim().parse().ok()) }
    }
}

fn mark(pairs: &MarkPairs) -> LogMark {
    LogMark {
        id: comment::value(pairs, ID).map(str::to_owned),
        origin: comment::value(pairs, ORIGIN).and_then(|word| word.parse().ok()),
        messages: comment::value(pairs, MESSAGES).map(comment::parse_list).unwrap_or_default(),
        sentiment: comment::value(pairs, SENTIMENT).and_then(Sentiment::from_word),
        traits: comment::value(pairs, TRAITS).map(comment::parse_list).unwrap_or_default(),
        doubts: comment::value(pairs, DOUBTS).map(|doubts| match doubts {
            NO_DOUBT => Vec::new(),
            doubts => comment::parse_list(doubts),
        }),
    }
}

/// The text behind the label `name` and on the indented lines below it.
fn labelled(lines: &[MarkdownLine<'_>], name: &str) -> Option<String> {
    let is_text =
        |line: &MarkdownLine<'_>| matches!(line.kind, LineKind::Text { lazy: false }) && line.depth == 0;
    let at = lines.iter().position(|line| is_text(line) && line.text.starts_with(name))?;
    let mut text = vec![unescape_inline(lines[at].text[name.len()..].trim())];
    let below = lines[at + 1..].iter().take_while(|line| is_text(line) && line.text.starts_with("  "));
    text.extend(below.map(|line| unescape_line(line.text.trim())));
    Some(text.join("\n"))
}

fn files(text: &str) -> Option<FileCounts> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    Some(FileCounts { modified: numbers.next()?.parse().ok()?, read: numbers.next()?.parse().ok()? })
}

/// The text of the first block quote.
fn quoted(lines: &[MarkdownLine<'_>]) -> String {
    let is_quote = |line: &&MarkdownLine<'_>| line.depth == 0 && line.text.starts_with('>');
    let quote = lines.iter().skip_while(|line| !is_quote(line)).take_while(is_quote);
    escape::normalise_text(&quote.filter_map(|line| unquote_line(line.text)).collect::<Vec<_>>().join("\n"))
}

/// A list item: its words before any comment, the lines below, and the comment.
struct LogItem<'a> {
    words: &'a str,
    below: Vec<&'a str>,
    offset: usize,
    pairs: Option<MarkPairs>,
}

impl LogItem<'_> {
    /// The full text, given the rest of the first line.
    fn text(&self, first: &str) -> String {
        unescape_item(first, &self.below, self.offset, EscapeStyle::Words)
    }
}

fn items<'a>(lines: &[MarkdownLine<'a>]) -> Vec<LogItem<'a>> {
    (0..lines.len()).filter_map(|at| item(lines, at)).collect()
}

fn item<'a>(lines: &[MarkdownLine<'a>], at: usize) -> Option<LogItem<'a>> {
    let LineKind::Item { depth: 1, content, offset } = lines[at].kind else { return None };
    let text = &lines[at].text[content..];
    let start = comment::find_trailing(text).filter(|start| comment::parse(&text[*start..]).is_some());
    Some(LogItem {
        words: &text[..start.unwrap_or(text.len())],
        below: lines[item_lines(lines, at)].iter().skip(1).map(|line| line.text).collect(),
        offset,
        pairs: start.and_then(|start| comment::parse(&text[start..])),
    })
}

fn facts(lines: &[MarkdownLine<'_>]) -> Vec<LoggedFact> {
    items(lines).iter().filter_map(fact).collect()
}

fn fact(item: &LogItem<'_>) -> Option<LoggedFact> {
    let (priority, rest) = match (Priority::strip_emoji(item.words), &item.pairs) {
        (Some(found), _) => found,
        // The comment marks it as ours. Without a priority sign it gets the lowest.
        (None, Some(_)) => (Priority::Low, item.words),
        (None, None) => return None,
    };
    let rest = rest.trim_start();
    let (when, rest) = match FactTime::strip_time(rest) {
        Some((when, rest)) => (Some(when), rest),
        None if FactTime::strip_time(rest.trim_start_matches('\\')).is_some() => {
            (None, rest.strip_prefix('\\').unwrap_or(rest))
        }
        None => (None, rest),
    };
    let mark = item.pairs.as_ref().map(mark).unwrap_or_default();
    Some(LoggedFact { priority, when, text: item.text(rest), mark })
}

fn observed(lines: &[MarkdownLine<'_>]) -> ObservationBody {
    let titles: Vec<usize> =
        (0..lines.len()).filter(|at| matches!(lines[*at].kind, LineKind::Heading { .. })).collect();
    let (before, titled) = lines.split_at(titles.first().copied().unwrap_or(lines.len()));
    let loose = facts(before);
    if titled.is_empty() {
        let unparsed = quoted(before);
        if loose.is_empty() && !unparsed.is_empty() {
            return ObservationBody::Unparsed(unparsed);
        }
        return ObservationBody::Flat {
            date: labelled(before, DATE).and_then(|date| date.parse().ok()),
            facts: loose,
        };
    }
    let ends = titles.iter().skip(1).copied().chain([lines.len()]);
    let mut segments: Vec<LoggedSegment> =
        titles.iter().copied().zip(ends).map(|(start, end)| segment(&lines[start..end])).collect();
    if !loose.is_empty() {
        // A fact that somebody moved above the first title still counts.
        segments.insert(0, LoggedSegment { title: String::new(), narrative: String::new(), facts: loose });
    }
    ObservationBody::Segments(segments)
}

fn segment(lines: &[MarkdownLine<'_>]) -> LoggedSegment {
    let title = match lines.first().map(|line| &line.kind) {
        Some(LineKind::Heading { title, .. }) => unescape_heading(title),
        _ => String::new(),
    };
    let emphasis = |line: &MarkdownLine<'_>| {
        let text = line.text.trim_end();
        let marked = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
        let words = marked('_').or_else(|| marked('*').filter(|words| !words.starts_with('*')))?;
        (line.depth == 0 && matches!(line.kind, LineKind::Text { .. } | LineKind::Rule))
            .then(|| unescape_inline(words))
    };
    LoggedSegment {
        title,
        narrative: lines.iter().skip(1).find_map(emphasis).unwrap_or_default(),
        facts: facts(lines),
    }
}

fn receipt(item: &LogItem<'_>) -> Option<ProposalReceipt> {
    let (head, rest) = item.words.split_once('`')?;
    let (id, rest) = rest.split_once('`')?;
    let head = head.trim();
    let (word, how) = head.split_once(' ').unwrap_or((head, ""));
    let end = ProposalEnd::ALL.into_iter().find(|end| end.as_str() == word)?;
    let decider = |by: &&ReceiptDecider| how.starts_with(by.as_str()) && !by.as_str().is_empty();
    let by = ReceiptDecider::ALL.iter().find(decider).copied().unwrap_or_default();
    let how = how[by.as_str().len()..].trim_start();
    let with = match how.strip_prefix(WITH) {
        Some(with) => Some(comment::decode(with.trim())),
        None if how.is_empty() => None,
        None => return None,
    };
    Some(ProposalReceipt { id: comment::decode(id), end, by, with, text: item.text(rest) })
}

fn paths(lines: &[MarkdownLine<'_>], word: &str) -> Vec<String> {
    items(lines).iter().filter_map(|item| Some(item.text(item.words.strip_prefix(word)?))).collect()
}
