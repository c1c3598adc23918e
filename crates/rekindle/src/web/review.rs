//! Review: the queue as cards, decided one by one or many at once, as at the terminal and in REVIEW.md.

use std::fmt::Write as _;

use maud::{Markup, html};
use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::Timestamp;
use rekindle_core::text::clean::{clean, one_line};
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::promote;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::page::asked_today;
use rekindle_engine::review::proposals::{self, ProposalRecord, ProposalVerdict};

use super::layout::{PageSection, form_key};
use super::parts::{counted, diff, origin_words, project_name, scope_chip, when};
use super::request::{PageAnswer, PageContent, PageNotice, PageRequest, encode};
use super::{inbox, patches};
use crate::app::CommandContext;
use crate::app::review::describe::{
    describe_outcome, effect_words, expires, outcome_with_author, replaces_line, section, would_hold_in,
};
use crate::app::review::patches::pending;
use crate::app::review::{ScopeArgs, read_page, settle};
use crate::error::CliError;

/// The most quotations of a card.
const MAX_QUOTES: usize = 3;
/// The most decisions that can be taken back here.
const MAX_DECIDED: usize = 8;
/// The most characters of an edited proposal.
const MAX_TEXT_CHARS: usize = 20_000;

pub(super) fn show(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    // A decision in REVIEW.md was made first.
    let doubt = if request.server.read_only { None } else { read_page(context)? };
    let db = Database::open(&context.places.database())?;
    let queue = asked_today(&db, context.settings.config.review.per_day, &context.now)?;
    let all = request.fields.get("all").is_some();
    let (mut cards, mut later) = (queue.today, queue.later);
    if all {
        cards.append(&mut later);
    }
    let waiting = context.vault()?.inbox()?;
    let patches = pending(context)?;
    let body = html! {
        h1 { "Review" }
        @if let Some(doubt) = doubt {
            p.notice.problem role="alert" { "No decisions were read from REVIEW.md: " (doubt) }
        }
        @if cards.is_empty() {
            p.lead { "Nothing waits for you" @if later.is_empty() { "." } @else { " today." } }
        } @else {
            p.lead { (counted(cards.len() as u64, "proposal", "proposals")) ", the most valuable first. You can ignore them; undecided ones expire." }
            @if !request.server.read_only { (bulk_bar(request)) }
        }
        @for (record, same) in &cards { (card(request, record, same)) }
        @if !later.is_empty() {
            p { a.button href="review?all=1" { (later.len()) " more wait behind them" } }
        }
        (patches::list(request, &patches))
        (inbox::list(request, &waiting))
        (decided(request, &db)?)
        @if !request.server.read_only {
            p.soft.keys.no-print { "Keys: " kbd { "j" } " " kbd { "k" } " next and previous, " kbd { "a" } " approve, " kbd { "w" } " everywhere, " kbd { "r" } " reject, " kbd { "x" } " select" }
        }
    };
    Ok(PageContent::new("Review", PageSection::Review, body).live().into())
}

fn bulk_bar(request: &PageRequest<'_>) -> Markup {
    html! {
        form #bulk method="post" action="decide" data-picked="0" {
            (form_key(request.server))
            label.check { input #pick-all type="checkbox"; " All" }
            output { "Select some to decide on them together" }
            button type="submit" name="verdict" value="approve" { "Approve" }
            button type="submit" name="verdict" value="everywhere" { "Approve everywhere" }
            button.danger type="submit" name="verdict" value="reject" { "Reject" }
        }
    }
}

fn card(request: &PageRequest<'_>, record: &ProposalRecord, same: &[ProposalId]) -> Markup {
    let context = request.context;
    let proposal = &record.proposal;
    let place = section(record);
    let holds_in = would_hold_in(context, record);
    html! {
        article.card.proposal id=(proposal.id) data-card tabindex="0" aria-labelledby={ "t-" (proposal.id) } {
            header {
                @if !request.server.read_only {
                    input type="checkbox" name="id" value=(proposal.id) form="bulk" aria-label={ "Select " (proposal.id) };
                }
                span.kind { "For " (place) }
                @if proposal.section().is_some() { (scope_chip(holds_in.as_ref())) }
                (age(context, record))
                span.soft.id { (proposal.id) }
            }
            p.statement id={ "t-" (proposal.id) } { (clean(record.text())) }
            (effect(context, record, &place))
            (evidence(request, record, same))
            @if let Some(note) = &record.note { p.notice.problem { "Pending again: " (note) } }
            @if !request.server.read_only { (buttons(request, record, holds_in.as_ref())) }
        }
    }
}

fn age(context: &CommandContext<'_>, record: &ProposalRecord) -> Markup {
    html! {
        span.soft { (when(context, record.pending_since())) }
        @match expires(context, record) {
            Some(0) => span.chip.warn { "expires tonight" },
            Some(1) => span.chip.warn { "expires in 1 day" },
            Some(days) => span.chip.warn { "expires in " (days) " days" },
            None => {},
        }
    }
}

/// The exact change that an approval makes.
fn effect(context: &CommandContext<'_>, record: &ProposalRecord, place: &str) -> Markup {
    html! {
        @match promote::preview_approval(&context.stage_context(), record, true) {
            Ok(preview) => {
                details.change id={ "c-" (record.proposal.id) } open[replaces_line(record, &preview)] {
                    summary { (effect_words(record, &preview, place).trim_end_matches(':')) }
                    (diff(&preview.diff))
                }
            },
            Err(why) => p.notice.problem { "It cannot be approved as it is: " (why) },
        }
    }
}

fn evidence(request: &PageRequest<'_>, record: &ProposalRecord, same: &[ProposalId]) -> Markup {
    let (proposal, evidence) = (&record.proposal, &record.proposal.evidence);
    html! {
        div.evidence {
            @for quote in evidence.quotes.iter().take(MAX_QUOTES) {
                blockquote.quote { (one_line(quote, 400)) }
            }
            p.soft {
                "From " (proposal.source.as_str()) ", " (origin_words(proposal.origin)) ", "
                (format!("{:.0}", proposal.confidence.clamp(0.0, 1.0) * 100.0)) " % sure"
                @if let Some(said) = evidence.said { ", said " (when(request.context, said)) }
                @match evidence.sessions.as_slice() {
                    [] => {},
                    [only] => { ", in " a href={ "session?id=" (encode(only)) } { "a session" } },
                    [first, ..] => { ", in " (evidence.sessions.len()) " sessions (" a href={ "session?id=" (encode(first)) } { "the first" } ")" },
                }
                "."
                @if let Some(grade) = &proposal.grade { " " (clean(&grade.describe_grade())) "." }
                @if !same.is_empty() { " " (counted(same.len() as u64, "near-duplicate is", "near-duplicates are")) " decided with it." }
            }
        }
    }
}

fn buttons(request: &PageRequest<'_>, record: &ProposalRecord, holds_in: Option<&ProjectId>) -> Markup {
    let proposal = &record.proposal;
    let can_choose = proposal.section().is_some() && proposal.project.is_some();
    html! {
        form.decide method="post" action="decide" {
            (form_key(request.server))
            input type="hidden" name="id" value=(proposal.id);
            div.actions {
                @match holds_in {
                    Some(project) => button.main type="submit" name="verdict" value="approve" data-key="a" { "Approve for " (project_name(project)) },
                    None => button.main type="submit" name="verdict" value="approve" data-key="a" { "Approve" },
                }
                @if can_choose && holds_in.is_some() {
                    button type="submit" name="verdict" value="everywhere" data-key="w" { "Approve everywhere" }
                } @else if can_choose {
                    button type="submit" name="verdict" value="here" data-key="w" { "Only in " @if let Some(project) = &proposal.project { (project_name(project)) } }
                }
                @if proposal.supersedes.is_some() {
                    button type="submit" name="verdict" value="both" data-key="b" { "Keep both lines" }
                }
                button.danger type="submit" name="verdict" value="reject" data-key="r" { "Reject" }
            }
            details id={ "e-" (proposal.id) } {
                summary { "In your own words, or with a reason" }
                label for={ "w-" (proposal.id) } { "Approve this text instead" }
                textarea.short id={ "w-" (proposal.id) } name="text" rows="3" { "\n" (record.text()) }
                div.actions { button type="submit" name="verdict" value="edit" { "Approve in these words" } }
                label for={ "y-" (proposal.id) } { "Why not" }
                input id={ "y-" (proposal.id) } type="text" name="reason" maxlength="300";
                div.actions { button type="submit" name="verdict" value="reject" { "Reject for this reason" } }
            }
        }
    }
}

/// The latest decisions of anybody, each with a button that takes it back.
fn decided(request: &PageRequest<'_>, db: &Database) -> Result<Markup, CliError> {
    let mut decided: Vec<(Timestamp, ProposalRecord)> = proposals::list_proposals(db, false)?
        .into_iter()
        .filter(|record| !record.proposal.status.is_open())
        .filter_map(|record| Some((record.decided?, record)))
        .collect();
    decided.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    Ok(html! {
        @if !decided.is_empty() {
            section aria-labelledby="decided" {
                h2 #decided { "Decided lately" }
                ul.rows {
                    @for (_, record) in decided.iter().take(MAX_DECIDED) {
                        li.row.decided {
                            p { (one_line(record.text(), 160)) }
                            div.about {
                                (outcome_with_author(request.context, record))
                                @if !request.server.read_only {
                                    form method="post" action="undo" {
                                        (form_key(request.server))
                                        input type="hidden" name="id" value=(record.proposal.id);
                                        button.quiet type="submit" { "Ask me again" span.unseen { " about " (record.proposal.id) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    })
}

/// Decides on one proposal or on many.
pub(super) fn decide(request: &PageRequest<'_>) -> Result<PageAnswer, CliError> {
    let context = request.context;
    context.require_person("decide on proposals")?;
    let unknown = |_| CliError::usage("this is no id of a proposal, so nothing was decided");
    let ids: Vec<ProposalId> = request
        .fields
        .all("id")
        .map(|id| id.parse::<ProposalId>().map_err(unknown))
        .collect::<Result<_, _>>()?;
    if ids.is_empty() {
        return Ok(
            request.see("review", PageNotice::problem("Nothing was selected, so nothing was decided."))
        );
    }
    let (verdict, reach) = verdict(request)?;
    let report = settle(context, &ids, &verdict, reach, DecidedBy::Web)?;
    let db = Database::open(&context.places.database())?;
    let (mut words, mut failed) = (String::new(), report.wrong);
    let mut settled = 0;
    for id in report.decided {
        let Some(record) = proposals::find_proposal(&db, id)? else { continue };
        match record.note.as_ref().filter(|_| record.proposal.status.is_open()) {
            Some(note) => {
                failed.push((id, format!("{id} could not be written and is pending again: {note}")));
            }
            None => {
                settled += 1;
                words = describe_outcome(context, &record);
            }
        }
    }
    if settled != 1 {
        words = format!("{} decided", counted(settled, "proposal", "proposals"));
    }
    words.push('.');
    if report.busy {
        words.push_str(" A running worker will write it.");
    }
    for (_, why) in &failed {
        write!(words, " {why}.").map_err(CliError::new)?;
    }
    let undo = if settled == 1 { ids.first() } else { None };
    let notice = if failed.is_empty() { PageNotice::done(words) } else { PageNotice::problem(words) };
    Ok(request.see("review", notice.with_undo(undo.filter(|_| ids.len() == 1))))
}

fn verdict(request: &PageRequest<'_>) -> Result<(ProposalVerdict, ScopeArgs), CliError> {
    let reach = |everywhere, this_project| ScopeArgs { everywhere, this_project };
    Ok(match request.fields.require("verdict")? {
        "approve" => (ProposalVerdict::Approve, reach(false, false)),
        "everywhere" => (ProposalVerdict::Approve, reach(true, false)),
        "here" => (ProposalVerdict::Approve, reach(false, true)),
        "both" => (ProposalVerdict::KeepBoth(None), reach(false, false)),
        "edit" => {
            let text = request.fields.require("text")?.replace("\r\n", "\n");
            if text.chars().count() > MAX_TEXT_CHARS {
                return Err(CliError::usage("the text is too long, so nothing was decided")
                    .hint(format!("a line of MEMORY.md has at most {MAX_TEXT_CHARS} characters here")));
            }
            (ProposalVerdict::Edit(text), reach(false, false))
        }
        "reject" => match request.fields.get("reason") {
            Some(reason) => (ProposalVerdict::RejectFor(one_line(reason, 300)), reach(false, false)),
            None => (ProposalVerdict::Reject, reach(false, false)),
        },
        _ => return Err(CliError::usage("there is no such decision, so nothing was decided")),
    })
}
