//! Renders the review page.

use super::{CheckboxState, ListedProposal, ProposalPlace, ReviewPage};
use crate::base::scope::Scope;
use crate::base::time::{day, format_utc};
use crate::vault::comment;
use crate::vault::escape::{self, EscapeStyle};
use crate::vault::scope_mark;

pub(super) const TITLE: &str = "Pending Memory Proposals";
pub(super) const REVIEWER: &str = "Reviewer:";
pub(super) const SECTION: &str = "Proposed for:";
pub(super) const FRICTION: &str = "Friction Fixes";
pub(super) const FOOTER: &str = "Last updated:";
const PENDING: &str = " proposals pending_";
pub(super) const INSTRUCTION: &str = "_`[x]` keeps a line, `[-]` or deleting it turns it down, untouched it waits. \
     Reword a line before ticking it and your words are kept. A line that ends in `(project: …)` will hold in that project; \
     write `(everywhere)` instead to keep it for all._";
/// The instruction on pages from before lines had a scope.
pub(super) const OLD_INSTRUCTION: &str = "_`[x]` keeps a line, `[-]` or deleting it turns it down, untouched it waits. \
     Reword a line before ticking it and your words are kept._";

/// Renders the whole page (REV-02).
pub fn render(queue: &ReviewPage) -> String {
    let shown = queue.shown_page();
    let mut page = format!("# {TITLE}\n\n{}\n\n{INSTRUCTION}\n", render_reviewer(queue));
    let mut place = None;
    for proposal in &shown.proposals {
        if place != Some(&proposal.place) {
            page.push_str(&format!("\n{}\n\n", heading(&proposal.place)));
            place = Some(&proposal.place);
        }
        page.push_str(&item(proposal, CheckboxState::Pending));
    }
    page.push_str(&format!("\n{}\n{}\n", render_footer(queue), version(&shown.version)));
    page
}

pub(super) fn render_reviewer(queue: &ReviewPage) -> String {
    format!("_{REVIEWER} {} | {}_", escape::heading(&queue.reviewer), day(queue.date))
}

pub(super) fn heading(place: &ProposalPlace) -> String {
    match place {
        ProposalPlace::Section(name) => {
            format!("## {SECTION} {}", escape::heading(name)).trim_end().to_owned()
        }
        ProposalPlace::Friction(date) => format!("## {FRICTION} (auto-detected {})", day(*date)),
    }
}

/// Renders one proposal, ending in `\n`.
pub(super) fn item(proposal: &ListedProposal, state: CheckboxState) -> String {
    let mut head = format!("- [{}] `{}`", state.mark(), proposal.id);
    if !proposal.title.is_empty() {
        head.push_str(&format!(" **{}**", title(&proposal.title)));
    }
    if !proposal.text.is_empty() {
        head.push_str(" — ");
    }
    match mark(proposal) {
        // At the end of all words, where a person looks for it.
        Some(mark) if !proposal.text.is_empty() => {
            escape::item(&head, &format!("{} {mark}", proposal.text), "", EscapeStyle::Words)
        }
        mark => {
            let tail = mark.map(|mark| format!(" {mark}")).unwrap_or_default();
            escape::item(&head, &proposal.text, &tail, EscapeStyle::Words)
        }
    }
}

/// The scope mark of a proposal. `None` for a global one, unless its words end like a mark.
pub(super) fn mark(proposal: &ListedProposal) -> Option<String> {
    let scope = proposal.project.clone().map_or(Scope::Global, Scope::Project);
    let words = if proposal.text.is_empty() { &proposal.title } else { &proposal.text };
    scope_mark::required_mark(words, &scope)
}

pub(super) fn render_footer(queue: &ReviewPage) -> String {
    format!("_{FOOTER} {} | {}{PENDING}", format_utc(queue.updated), queue.pending_count())
}

/// The number of pending proposals in the footer of a page. `None` if there is no footer of ours.
pub(super) fn parse_pending_count(text: &str) -> Option<usize> {
    let ours = |line: &str| {
        line.strip_prefix('_')?.strip_prefix(FOOTER)?.strip_suffix(PENDING)?.rsplit(' ').next()?.parse().ok()
    };
    text.lines().rev().find_map(|line| ours(line.trim()))
}

pub(super) fn version(version: &str) -> String {
    comment::render(&[("version", version)])
}

/// Escapes stars in a title, so that none ends its emphasis.
fn title(words: &str) -> String {
    words.replace('\\', "\\\\").replace('*', "\\*").replace("<!--", "\\<!--")
}
