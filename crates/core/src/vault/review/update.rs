//! Updates a page that a person has edited: only our own lines change.

use std::ops::Range;

use thiserror::Error as ThisError;

use super::diff::{has_note_below, is_unchanged};
use super::parse::{BlockContent, PageBlock, PageEntry, parse, scan};
use super::render::{heading, item, mark, render, render_footer, render_reviewer, version};
use super::{ListedProposal, ProposalPlace, ReviewPage, ShownPage};
use crate::vault::lines::{self, BrokenDocument, LineInsertion, LineKind, MarkdownLine, newline_of};

/// The reason why a page was not updated.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Error {
    /// The document's structure is ambiguous.
    #[error(transparent)]
    Broken(#[from] BrokenDocument),
    /// The update would lose the person's text around our lines.
    #[error(
        "the review page cannot be updated without changing what you wrote on it; move your notes below it"
    )]
    Unfit,
}

/// Applies `queue` to the page `text`, whose recorded state is `shown`.
///
/// Lines that match the queue stay as they are, with their ticks and their order. Lines of proposals that are
/// no longer pending are removed, new ones join their group, and everything else on the page stays byte for
/// byte.
pub fn update(text: &str, shown: &ShownPage, queue: &ReviewPage) -> Result<String, Error> {
    let lines = lines::read(text)?;
    if lines.iter().all(MarkdownLine::is_blank) {
        return Ok(render(queue));
    }
    let page = PageUpdate {
        text,
        lines: &lines,
        blocks: scan(&lines),
        shown_page: shown,
        pending: queue.shown_page(),
    };
    let mut edits = page.entries();
    edits.extend(page.empty_groups());
    edits.extend(page.new_entries());
    edits.extend(page.frame(queue));
    edits.sort_by_key(|edit| (edit.0.start, edit.0.end));
    let changed = apply(text, &edits);
    if page.survives(&changed) { Ok(changed) } else { Err(Error::Unfit) }
}

type PageEdit = (Range<usize>, String);

fn apply(text: &str, edits: &[PageEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, with) in edits {
        out.push_str(text.get(from..range.start).unwrap_or_default());
        out.push_str(with);
        from = range.end.max(from);
    }
    out.push_str(&text[from..]);
    out
}

struct PageUpdate<'a> {
    text: &'a str,
    lines: &'a [MarkdownLine<'a>],
    blocks: Vec<PageBlock>,
    shown_page: &'a ShownPage,
    pending: ShownPage,
}

impl PageUpdate<'_> {
    /// Rewrites entries whose words changed, and removes those no longer pending.
    fn entries(&self) -> Vec<PageEdit> {
        let edits = self.blocks.iter().filter_map(|block| {
            let BlockContent::Entry(entry) = &block.content else { return None };
            let range = self.own_range(block, entry);
            let newline = newline_of(self.text);
            match find(&self.pending, entry) {
                Some(proposal) if is_unchanged(proposal, entry) => self.scope_added(proposal, entry, &range),
                Some(proposal) => {
                    let mut new = item(proposal, entry.state).replace('\n', newline);
                    if !self.text[range.clone()].ends_with(['\n', '\r']) {
                        new.truncate(new.len() - newline.len());
                    }
                    Some((range, new))
                }
                // A note attached to the removed line must not attach to the line above.
                None if self.is_leaving(entry) => {
                    let keeps_note = range.end < self.block_range(block).end;
                    Some((range, if keeps_note { newline.to_owned() } else { String::new() }))
                }
                None => None,
            }
        });
        edits.collect()
    }

    /// Adds the scope to our lines without one, on pages from before lines had a scope.
    fn scope_added(
        &self,
        proposal: &ListedProposal,
        entry: &PageEntry,
        range: &Range<usize>,
    ) -> Option<PageEdit> {
        let mark = mark(proposal).filter(|_| proposal.project.is_some() && entry.scope.is_none())?;
        // Behind an attached note the mark would belong to the note.
        let own = (!has_note_below(proposal, entry)).then_some(range)?;
        let end = own.start + self.text[own.clone()].trim_end().len();
        Some((end..end, format!(" {mark}")))
    }

    fn is_leaving(&self, entry: &PageEntry) -> bool {
        find(&self.pending, entry).is_none() && find(self.shown_page, entry).is_some()
    }

    fn block_range(&self, block: &PageBlock) -> Range<usize> {
        self.lines[block.lines.start].start..self.lines[block.lines.end - 1].end()
    }

    /// The entry's bytes without an attached note.
    fn own_range(&self, block: &PageBlock, entry: &PageEntry) -> Range<usize> {
        let whole = self.block_range(block);
        if !find(self.shown_page, entry).is_some_and(|proposal| has_note_below(proposal, entry)) {
            return whole;
        }
        let lazy = block.lines.clone().find(|at| self.lines[*at].kind == LineKind::Text { lazy: true });
        lazy.map_or(whole.clone(), |at| whole.start..self.lines[at].start)
    }

    /// Removes the headings of empty groups.
    fn empty_groups(&self) -> Vec<PageEdit> {
        let mut edits = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let BlockContent::Group(place) = &block.content else { continue };
            let members = self.members(at);
            let leaves = |member: &PageBlock| match &member.content {
                BlockContent::Blank => true,
                BlockContent::Entry(entry) => {
                    self.is_leaving(entry) && self.own_range(member, entry) == self.block_range(member)
                }
                _ => false,
            };
            let joins = self.missing().iter().any(|proposal| proposal.place == *place);
            let joined = joins && self.group(place) == Some(at);
            if joined || !self.blocks[members.clone()].iter().all(leaves) {
                continue;
            }
            edits.push((self.block_range(block), String::new()));
            let blanks =
                self.blocks[members].iter().filter(|member| matches!(member.content, BlockContent::Blank));
            edits.extend(blanks.map(|blank| (self.block_range(blank), String::new())));
        }
        edits
    }

    /// The first heading for `place`.
    fn group(&self, place: &ProposalPlace) -> Option<usize> {
        self.blocks
            .iter()
            .position(|block| matches!(&block.content, BlockContent::Group(own) if own == place))
    }

    /// The blocks below the group heading `at`, up to the next structure.
    fn members(&self, at: usize) -> Range<usize> {
        let ends = |block: &PageBlock| {
            let headed = matches!(self.lines[block.lines.start].kind, LineKind::Heading { .. });
            headed || matches!(block.content, BlockContent::Footer(_) | BlockContent::Version(_))
        };
        let end =
            self.blocks.iter().skip(at + 1).position(ends).map_or(self.blocks.len(), |found| at + 1 + found);
        at + 1..end
    }

    /// The proposals that are not on the page yet.
    fn missing(&self) -> Vec<&ListedProposal> {
        let on_page = |proposal: &&ListedProposal| {
            self.blocks
                .iter()
                .any(|block| matches!(&block.content, BlockContent::Entry(entry) if entry.id == proposal.id))
        };
        self.pending.proposals.iter().filter(|proposal| !on_page(proposal)).collect()
    }

    /// Inserts new proposals behind the last one of their group, or in a new group before the footer.
    fn new_entries(&self) -> Vec<PageEdit> {
        let mut groups: Vec<(&ProposalPlace, String)> = Vec::new();
        for proposal in self.missing() {
            match groups.last_mut().filter(|(place, _)| **place == proposal.place) {
                Some((_, items)) => items.push_str(&item(proposal, super::CheckboxState::Pending)),
                None => groups.push((&proposal.place, item(proposal, super::CheckboxState::Pending))),
            }
        }
        let insertions = groups.into_iter().map(|(place, items)| {
            let Some(group) = self.group(place) else {
                let block = format!("{}\n\n{items}\n", heading(place));
                return LineInsertion {
                    at: self.footer_line(),
                    block,
                    blank_before: true,
                    blank_behind: false,
                };
            };
            let last = self
                .members(group)
                .rev()
                .find(|at| matches!(self.blocks[*at].content, BlockContent::Entry(_)));
            let at = self.blocks[last.unwrap_or(group)].lines.end;
            LineInsertion { at, block: items, blank_before: last.is_none(), blank_behind: true }
        });
        // At the same position, additions to the group above come before a new group.
        let (new, joining): (Vec<_>, Vec<_>) =
            insertions.partition(|insertion| insertion.block.starts_with('#'));
        joining.iter().chain(&new).map(|insertion| self.inserted(insertion)).collect()
    }

    fn inserted(&self, insertion: &LineInsertion) -> PageEdit {
        let (at, bytes) = insertion.bytes(self.text, self.lines);
        (at..at, bytes)
    }

    /// The last footer; earlier ones were pasted in.
    fn footer(&self) -> Option<&PageBlock> {
        self.blocks.iter().rev().find(|block| matches!(block.content, BlockContent::Footer(_)))
    }

    fn footer_line(&self) -> usize {
        self.footer().map_or(self.lines.len(), |block| block.lines.start)
    }

    /// Updates reviewer line, footer and version.
    fn frame(&self, queue: &ReviewPage) -> Vec<PageEdit> {
        let words = |block: &PageBlock| {
            let line = &self.lines[block.lines.start];
            line.text_start..line.text_end()
        };
        let last = |is: fn(&BlockContent) -> bool| self.blocks.iter().rev().find(|block| is(&block.content));
        let mut edits = Vec::new();
        edits.extend(
            last(|what| matches!(what, BlockContent::Reviewer(..)))
                .map(|block| (words(block), render_reviewer(queue))),
        );
        let mut block = String::new();
        match self.footer() {
            Some(own) => edits.push((words(own), render_footer(queue))),
            None => block.push_str(&format!("{}\n", render_footer(queue))),
        }
        let own_version = version(&self.pending.version);
        match last(|what| matches!(what, BlockContent::Version(_))) {
            Some(own) => edits.push((words(own), own_version)),
            None => block.push_str(&format!("{own_version}\n")),
        }
        if !block.is_empty() {
            let at = self.footer().map_or(self.lines.len(), |own| own.lines.end);
            let blank_before = self.footer().is_none();
            edits.push(self.inserted(&LineInsertion { at, block, blank_before, blank_behind: false }));
        }
        edits
    }

    /// True if the changed page matches the queue and still has every note of the old one, in order.
    fn survives(&self, changed: &str) -> bool {
        let (Ok(old), Ok(new)) = (parse(self.text), parse(changed)) else { return false };
        let says = |proposal: &ListedProposal| {
            let mut same = new.entries.iter().filter(|entry| entry.id == proposal.id);
            same.any(|entry| is_unchanged(proposal, entry))
        };
        let mut rest = changed;
        let mut keeps = |note: &Range<usize>| {
            let words = self.text[note.clone()].trim_end_matches(['\n', '\r']);
            rest.find(words).map(|at| rest = &rest[at + words.len()..]).is_some()
        };
        let version = new.footer.and_then(|footer| footer.version);
        version.as_ref() == Some(&self.pending.version)
            && self.pending.proposals.iter().all(says)
            && old.notes.iter().all(&mut keeps)
    }
}

fn find<'a>(shown: &'a ShownPage, entry: &PageEntry) -> Option<&'a ListedProposal> {
    shown.proposals.iter().find(|proposal| proposal.id == entry.id)
}
