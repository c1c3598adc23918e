//! The card of a proposal: its line in the list, and its details.

use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::promote::ApprovalPreview;
use rekindle_engine::review::proposals::ProposalRecord;

use super::text::sanitise;
use crate::app::review::describe::{effect_words, replaces_line};

/// The most sessions, messages and near-duplicates that are listed; the rest is counted.
const MAX_NAMED: usize = 3;

/// The outcome of a proposal during this review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardStatus {
    /// The proposal waits.
    Open,
    /// The proposal waits, and the person skipped it.
    Skipped,
    Approved,
    Superseding,
    Edited,
    Rejected,
    /// The proposal was decided elsewhere.
    Elsewhere,
}

impl CardStatus {
    /// The letter in the list. It equals the key, so that colour is never the only sign.
    pub(crate) fn letter(self) -> char {
        match self {
            Self::Open => ' ',
            Self::Skipped => 's',
            Self::Approved => 'a',
            Self::Superseding => 'S',
            Self::Edited => 'e',
            Self::Rejected => 'r',
            Self::Elsewhere => 'x',
        }
    }

    /// True if the proposal waits for a decision.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Skipped)
    }
}

/// A proposal in the list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProposalCard {
    pub(crate) id: ProposalId,
    pub(crate) title: String,
    pub(crate) section: String,
    /// The number of near-duplicates.
    pub(crate) duplicates: usize,
    /// The number of days until the proposal expires, once that is near.
    pub(crate) expires: Option<i64>,
    /// True if the proposal replaces a line of MEMORY.md.
    pub(crate) names_line: bool,
    /// The project in which the proposal would hold, if the person can choose; `None` is everywhere.
    pub(crate) holds_in: Option<ProjectId>,
    pub(crate) fate: CardStatus,
}

/// The tone of a row; each has a sign or words besides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowTone {
    Plain,
    Head,
    Dim,
    Added,
    Removed,
    Warn,
}

/// One row of details, not yet wrapped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CardRow {
    pub(crate) tone: RowTone,
    pub(crate) text: String,
}

/// The facts about a proposal.
pub(crate) struct CardFacts<'a> {
    pub(crate) record: &'a ProposalRecord,
    pub(crate) section: &'a str,
    /// Its scope, in a sentence.
    pub(crate) reach: Option<String>,
    pub(crate) duplicates: &'a [ProposalId],
    /// The effect of an approval (with the replacement of a line, if one is named), or the reason why it
    /// cannot be approved.
    pub(crate) preview: Result<ApprovalPreview, String>,
    pub(crate) now: Timestamp,
    pub(crate) expire_days: i64,
}

/// Renders the rows about a proposal for a screen.
pub(crate) fn rows(facts: &CardFacts<'_>) -> Vec<CardRow> {
    let CardFacts { record: standing, section, duplicates: same, .. } = facts;
    let proposal = &standing.proposal;
    let mut rows = CardRows::default();
    rows.add(
        RowTone::Head,
        match proposal.section() {
            Some(_) => format!("{} for MEMORY.md, section {section}", proposal.id),
            None => format!("{} for {section}", proposal.id),
        },
    );
    for line in standing.text().lines() {
        rows.add(RowTone::Plain, format!("  {line}"));
    }
    if standing.worded.is_some() {
        rows.add(RowTone::Dim, "  (in your own words)");
    }
    if let Some(reach) = &facts.reach {
        rows.add(RowTone::Head, reach);
    }
    rows.add_blank_row();
    change(&mut rows, facts);
    rows.add_blank_row();
    add_evidence(&mut rows, proposal);
    rows.add_blank_row();
    rows.add(RowTone::Dim, proposal_origin(proposal));
    if let Some(grade) = &proposal.grade {
        rows.add(RowTone::Dim, grade.describe_grade());
    }
    age(&mut rows, facts);
    if !same.is_empty() {
        let ids: Vec<String> = same.iter().map(ToString::to_string).collect();
        rows.add(RowTone::Dim, format!("{} near-duplicates: {}", same.len(), name_list(&ids)));
    }
    if let Some(note) = standing.note.as_ref().filter(|_| proposal.status.is_open()) {
        rows.add(RowTone::Warn, format!("Pending again: {note}"));
    }
    rows.0
}

#[derive(Default)]
struct CardRows(Vec<CardRow>);

impl CardRows {
    /// Adds rows without control characters, which external text may contain.
    fn add(&mut self, tone: RowTone, text: impl AsRef<str>) {
        for line in sanitise(text.as_ref()).lines() {
            self.0.push(CardRow { tone, text: line.to_owned() });
        }
    }

    fn add_blank_row(&mut self) {
        if self.0.last().is_some_and(|row| !row.text.is_empty()) {
            self.0.push(CardRow { tone: RowTone::Plain, text: String::new() });
        }
    }
}

fn change(rows: &mut CardRows, facts: &CardFacts<'_>) {
    let (supersedes, section) = (&facts.record.proposal.supersedes, facts.section);
    let preview = match &facts.preview {
        Ok(preview) => preview,
        Err(why) => {
            rows.add(RowTone::Warn, format!("It cannot be approved as is: {why}"));
            return;
        }
    };
    let replaces = replaces_line(facts.record, preview);
    let does = effect_words(facts.record, preview, section);
    rows.add(RowTone::Head, does);
    // The first two lines repeat the file name.
    for (number, line) in preview.diff.lines().skip(2).enumerate() {
        match line.split_at_checked(1) {
            Some(("@", _)) if number == 0 => {}
            Some(("@", _)) => rows.add(RowTone::Dim, "  …"),
            Some(("+", rest)) => rows.add(RowTone::Added, format!("+ {rest}")),
            Some(("-", rest)) => rows.add(RowTone::Removed, format!("- {rest}")),
            _ => rows.add(RowTone::Dim, format!(" {line}")),
        }
    }
    match supersedes {
        Some(_) if replaces => {
            rows.add(RowTone::Warn, "S does this. a adds the line and keeps the old one.");
        }
        Some(old) => rows.add(RowTone::Warn, format!("The line it replaces no longer exists: {old}")),
        None => {}
    }
}

fn add_evidence(rows: &mut CardRows, proposal: &Proposal) {
    let evidence = &proposal.evidence;
    let counted = |items: &[String], one: &str| match items {
        [] => String::new(),
        [only] => format!("1 {one} ({only})"),
        many => format!("{} {one}s ({})", many.len(), name_list(many)),
    };
    let both = [counted(&evidence.sessions, "session"), counted(&evidence.messages, "message")];
    let both: Vec<String> = both.into_iter().filter(|part| !part.is_empty()).collect();
    if !both.is_empty() {
        rows.add(RowTone::Head, format!("Evidence: {}", both.join(", ")));
    }
    for quote in &evidence.quotes {
        rows.add(RowTone::Plain, format!("  > {}", quote.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
}

fn name_list(items: &[String]) -> String {
    let mut named = items.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
    if items.len() > MAX_NAMED {
        named.push_str(&format!(" and {} more", items.len() - MAX_NAMED));
    }
    named
}

fn proposal_origin(proposal: &Proposal) -> String {
    let whose = match proposal.origin {
        Origin::User => "your own words".to_owned(),
        other => format!("words of: {other}"),
    };
    let percent = (proposal.confidence.clamp(0.0, 1.0) * 100.0).round();
    let project = proposal.project.as_ref().map_or_else(String::new, |project| format!(", about {project}"));
    format!("From {} ({whose}), {percent} % sure{project}", proposal.source.as_str())
}

fn age(rows: &mut CardRows, facts: &CardFacts<'_>) {
    let days = facts.record.days(facts.now);
    let age = match days {
        0 => "Pending since today".to_owned(),
        1 => "Pending since yesterday".to_owned(),
        days => format!("Pending for {days} days"),
    };
    let left = (facts.expire_days - days).max(0);
    let (tone, ends) = match left {
        0 => (RowTone::Warn, "expires tonight".to_owned()),
        1 => (RowTone::Warn, "expires in 1 day".to_owned()),
        left if left <= 2 => (RowTone::Warn, format!("expires in {left} days")),
        left => (RowTone::Dim, format!("expires in {left} days")),
    };
    let since = format_utc(facts.record.pending_since());
    let day = since.split('T').next().unwrap_or_default();
    rows.add(tone, format!("{age} ({day}), {ends}"));
}
