//! Documents of the daily log: one for each observation, one for each other section, and the person's
//! own lines.
//!
//! Observations of a machine are unreviewed, even if they quote a person. Notes that the person dictated
//! outside of any session are reviewed, and so are lines outside of our sections.

use std::ops::Range;

use super::{CollectedDocument, CollectedFile, LocatedText, note};
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::{Date, Timestamp};
use crate::recall::document::{Document, DocumentSource};
use crate::text::clean::one_line;
use crate::vault::daily_log::{
    FactTime, LogMark, LogSection, LoggedFact, LoggedObservation, ObservationBody, PlacedSection,
    SectionSource as From, TimeOfDay, placed_sections,
};
use crate::vault::entry::MAX_TITLE_CHARS;
use crate::vault::lines::{LineKind, item_lines};

/// The date of a daily log, from its path in the vault: `memory/2026-11-15.md`.
pub(super) fn date_of(inside: &str) -> Option<Date> {
    let stem = inside.strip_prefix("memory/")?.strip_suffix(".md")?;
    let is_day = stem.len() == 10 && stem.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    is_day.then(|| stem.parse().ok()).flatten()
}

pub(super) fn documents(file: &CollectedFile<'_>, date: Date) -> Vec<CollectedDocument> {
    let mut all: Vec<CollectedDocument> = Vec::new();
    let mut from = 0;
    for own in placed_sections(&file.lines) {
        all.extend(theirs(file, date, from..own.lines.start).into_iter().map(CollectedDocument::from));
        let ours = OwnSection { file, date, section: &own };
        let mut found = Vec::new();
        match &own.section {
            LogSection::Observation(observation) => ours.observed(observation, &mut found),
            // Rekindle's reports about itself are not memories: reflection summaries, handoffs, file
            // lists, receipts.
            LogSection::Reflected(_)
            | LogSection::Handoff(_)
            | LogSection::Flush(_)
            | LogSection::Receipts(_) => {}
            LogSection::Note(part) => {
                let seen = part.mark.origin.is_none_or(|origin| origin == Origin::User)
                    && part.source.session.is_none();
                found.extend(ours.quoted(&part.text, "note", part.time).map(|document| Document {
                    id: part.mark.id.clone().unwrap_or_default(),
                    origin: part.mark.origin.unwrap_or(Origin::User),
                    reviewed: seen,
                    ..document
                }));
            }
        }
        let key = &own.section.source().dedupe_key;
        all.extend(found.into_iter().map(|document| CollectedDocument { document, key: key.clone() }));
        for lines in ours.left_over() {
            all.extend(theirs(file, date, lines).into_iter().map(CollectedDocument::from));
        }
        from = own.lines.end;
    }
    all.extend(theirs(file, date, from..file.lines.len()).into_iter().map(CollectedDocument::from));
    all
}

/// True if every line belongs to a section of ours that has a key.
pub(super) fn is_ours(file: &CollectedFile<'_>, date: Date) -> bool {
    let mut from = file.lines.iter().take_while(|line| line.is_blank()).count();
    let is_next = |own: &PlacedSection| {
        let follows = own.lines.start == from;
        from = own.lines.end;
        follows
            && own.section.source().dedupe_key.is_some()
            && OwnSection { file, date, section: own }.left_over().is_empty()
    };
    placed_sections(&file.lines).iter().all(is_next) && from == file.lines.len()
}

/// The lines that a person wrote into the log.
fn theirs(file: &CollectedFile<'_>, date: Date, lines: Range<usize>) -> Vec<Document> {
    let pieces = note::section_documents(file, lines, DocumentSource::Daily);
    let dated = |piece: Document| Document {
        created: file.day(date).or(piece.created),
        thread: Some(file.path.to_owned()),
        ..piece
    };
    pieces.into_iter().map(dated).collect()
}

/// A section that Rekindle wrote.
struct OwnSection<'a> {
    file: &'a CollectedFile<'a>,
    date: Date,
    section: &'a PlacedSection,
}

impl OwnSection<'_> {
    fn lines(&self) -> Range<usize> {
        self.section.lines.clone()
    }

    /// A document with the properties that all machine-written sections share.
    fn document(&self, text: &str, lines: Range<usize>, kind: &str, time: TimeOfDay) -> Document {
        let number = |at: usize| u32::try_from(self.file.lines[at].number).unwrap_or(u32::MAX);
        // The document excludes blank lines after a section.
        let last = lines.clone().rev().find(|at| !self.file.lines[*at].is_blank()).unwrap_or(lines.start);
        let text = LocatedText { text: text.to_owned(), lines: (number(lines.start), number(last)) };
        let plain = self.file.document(DocumentSource::Daily, text);
        Document {
            kind: kind.to_owned(),
            created: self.section_time(time, None).or(plain.created),
            origin: Origin::Agent,
            reviewed: false,
            project: self.section.section.source().project.clone().map(ProjectId::new),
            thread: Some(self.thread()),
            ..plain
        }
    }

    fn section_time(&self, time: TimeOfDay, date: Option<Date>) -> Option<Timestamp> {
        time.on_date(date.unwrap_or(self.date), self.file.context.zone)
    }

    /// The session, or the day without one.
    fn thread(&self) -> String {
        let From { session, name, .. } = self.section.section.source();
        session.as_ref().or(name.as_ref()).cloned().unwrap_or_else(|| self.file.path.to_owned())
    }

    fn quoted(&self, text: &str, kind: &str, time: TimeOfDay) -> Option<Document> {
        (!text.is_empty()).then(|| self.document(text, self.lines(), kind, time))
    }

    fn observed(&self, observation: &LoggedObservation, found: &mut Vec<Document>) {
        let LoggedObservation { time, body, .. } = observation;
        let observation = |document| Document { source: DocumentSource::Observation, ..document };
        let date = match body {
            ObservationBody::Flat { date, .. } => *date,
            ObservationBody::Unparsed(text) => {
                found.extend(self.quoted(text, "observation", *time).map(observation));
                None
            }
            ObservationBody::Segments(segments) => {
                let places = self.headed();
                // Facts above the first heading form a segment without a title.
                let titled = &segments[segments.len().saturating_sub(places.len())..];
                for (segment, lines) in
                    titled.iter().zip(places).filter(|(segment, _)| !segment.narrative.is_empty())
                {
                    let document = self.document(&segment.narrative, lines, "segment", *time);
                    let title = one_line(&segment.title, MAX_TITLE_CHARS);
                    found.push(Document { title, ..observation(document) });
                }
                None
            }
        };
        let placed = body.facts().zip(&self.section.facts);
        found.extend(placed.filter_map(|(fact, lines)| self.fact(fact, lines.clone(), *time, date)));
    }

    /// The lines below each heading inside the section, up to the first fact.
    fn headed(&self) -> Vec<Range<usize>> {
        let is_heading = |at: &usize| matches!(self.file.lines[*at].kind, LineKind::Heading { .. });
        let starts: Vec<usize> = self.lines().skip(1).filter(is_heading).collect();
        let is_fact = |at: usize| self.section.facts.binary_search_by_key(&at, |fact| fact.start).is_ok();
        let end =
            |start: usize| (start + 1..self.section.lines.end).find(|at| is_heading(at) || is_fact(*at));
        starts.into_iter().map(|start| start..end(start).unwrap_or(self.section.lines.end)).collect()
    }

    fn fact(
        &self,
        fact: &LoggedFact,
        lines: Range<usize>,
        logged: TimeOfDay,
        date: Option<Date>,
    ) -> Option<Document> {
        let LoggedFact { priority, when, text, mark: LogMark { id, origin, messages, .. } } = fact;
        if messages.iter().any(|message| self.file.context.graves.holds_message(message)) {
            return None;
        }
        let time = match when {
            Some(FactTime::At(clock)) => *clock,
            Some(FactTime::EarlyInSession | FactTime::NearEnd) | None => logged,
        };
        let document = self.document(text, lines, "observation", logged);
        Some(Document {
            id: id.clone().unwrap_or_default(),
            source: DocumentSource::Observation,
            created: self.section_time(time, date).or(document.created),
            // Without its comment, the origin of the words is unknown.
            origin: origin.unwrap_or(Origin::Agent),
            priority: Some(*priority),
            ..document
        })
    }

    /// Lines that somebody inserted into the section or below it.
    fn left_over(&self) -> Vec<Range<usize>> {
        let lines = &self.file.lines;
        let is_listed = !matches!(self.section.section, LogSection::Observation(_));
        let mut taken: Vec<Range<usize>> = self.section.facts.clone();
        if is_listed {
            let items = self.lines().filter(|at| matches!(lines[*at].kind, LineKind::Item { depth: 1, .. }));
            taken.extend(items.map(|at| item_lines(lines, at)));
        }
        let is_taken = |at: usize| {
            let next = taken.partition_point(|item| item.end <= at);
            taken.get(next).is_some_and(|item| item.contains(&at))
        };
        let mut labelled = false;
        let mut is_theirs = Vec::with_capacity(self.section.lines.len());
        for at in self.lines() {
            let line = &lines[at];
            let is_text =
                matches!(line.kind, LineKind::Text { .. } | LineKind::Fence | LineKind::Item { .. });
            let is_label = is_label(line.text) || (labelled && line.text.starts_with("  "));
            labelled = is_label;
            is_theirs.push(is_text && !is_label && !is_quote_or_narrative(line.text) && !is_taken(at));
        }
        note::matching_runs(self.lines(), |at| is_theirs[at - self.section.lines.start])
    }
}

/// Matches labels such as `**Trigger**: …` and `Date: …`.
fn is_label(line: &str) -> bool {
    let label = line.strip_prefix("**").and_then(|rest| rest.split_once("**:"));
    label.is_some_and(|(name, _)| name.len() <= 24) || line.starts_with("Date:")
}

fn is_quote_or_narrative(line: &str) -> bool {
    let line = line.trim_end();
    line.starts_with('>')
        || ['_', '*'].iter().any(|mark| line.len() > 2 && line.starts_with(*mark) && line.ends_with(*mark))
}
