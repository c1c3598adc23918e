//! The frame around every page.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use super::request::{PageContent, PageNotice};
use super::server::PageServer;
use crate::error::CliError;

/// The part of the page that the navigation marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageSection {
    Today,
    Search,
    Review,
    Sessions,
    Insight,
    Settings,
    /// A page outside of the navigation.
    None,
}

/// The navigation: section, address, words, and the key that opens it.
const NAVIGATION: [(PageSection, &str, &str, &str); 6] = [
    (PageSection::Today, "today", "Today", "t"),
    (PageSection::Search, "search", "Search", "/"),
    (PageSection::Review, "review", "Review", "r"),
    (PageSection::Sessions, "sessions", "Sessions", "s"),
    (PageSection::Insight, "insight", "Insight", "i"),
    (PageSection::Settings, "settings", "Settings", ","),
];

/// What the frame shows on every page.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameFacts {
    /// The number of proposals that wait.
    pub(super) waiting: u64,
    /// The reason why memory is off.
    pub(super) off: Option<String>,
    /// The fingerprint of what the page shows.
    pub(super) stamp: String,
}

/// The whole page.
pub(super) fn frame(
    server: &PageServer,
    facts: &FrameFacts,
    page: &PageContent,
    notice: Option<&PageNotice>,
) -> Html<String> {
    document(
        &format!("{} · Rekindle", page.title),
        &html! {
            a.skip href="#main" { "Skip to the content" }
            header.side {
                a.brand href="today" {
                    (flame())
                    span { "Rekindle" }
                }
                nav aria-label="Pages" {
                    @for (section, address, words, key) in NAVIGATION {
                        a href=(address) data-key=(key) title={ "Key: " (key) }
                            aria-current=[(section == page.section).then_some("page")] {
                            (words)
                            @if section == PageSection::Review && facts.waiting > 0 {
                                span.count { (facts.waiting) span.unseen { " waiting" } }
                            }
                        }
                    }
                }
                p.side-note {
                    @if server.read_only { "Read-only" } @else { "On this machine only" }
                }
            }
            main #main tabindex="-1" data-live=[page.live.then_some("yes")] data-stamp=(facts.stamp) {
                @if let Some(why) = &facts.off {
                    p.notice.problem role="status" { "Memory is off: " (why) }
                }
                @if let Some(notice) = notice {
                    (notice_box(server, notice))
                }
                (page.body)
            }
            p #gone role="alert" hidden {
                "Rekindle has ended this page. Run " code { "rekindle web" } " to open it again."
            }
        },
        true,
    )
}

/// A message about the last change, with a button that takes it back.
fn notice_box(server: &PageServer, notice: &PageNotice) -> Markup {
    html! {
        div.notice.problem[notice.is_problem] role="status" {
            p { (notice.text) }
            @if let Some(undo) = notice.undo.as_ref().filter(|_| !server.read_only) {
                form method="post" action="undo" {
                    (form_key(server))
                    input type="hidden" name="id" value=(undo);
                    button.quiet type="submit" { "Undo" }
                }
            }
        }
    }
}

/// The hidden field that every form needs.
pub(super) fn form_key(server: &PageServer) -> Markup {
    html! { input type="hidden" name="key" value=(server.keys().form); }
}

/// A failure: what went wrong, and what to do.
pub(super) fn failure(failure: &CliError) -> Markup {
    html! {
        h1 { "That did not work" }
        @for line in failure.message.lines() { p.lead { (line) } }
        @if let Some(hint) = &failure.hint {
            p { (hint) }
        }
        p { a href="today" { "Back to today" } }
    }
}

/// The page for a visitor without a key. It says nothing about memory.
pub(super) fn locked() -> Html<String> {
    document(
        "Rekindle",
        &html! {
            main.alone {
                (flame())
                h1 { "This page is locked" }
                p.lead { "Open it with the address that " code { "rekindle web" } " printed, or run it again." }
            }
        },
        false,
    )
}

/// The page that continues inside, with the cookie.
pub(super) fn entrance() -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=today";
                title { "Rekindle" }
                link rel="stylesheet" href="style.css";
                link rel="icon" href="icon.svg";
            }
            body { main.alone { (flame()) p { a href="today" { "Open your memories" } } } }
        }
    };
    Html(page.into_string())
}

/// A part of a page.
pub(super) fn fragment(part: Markup) -> Html<String> {
    Html(part.into_string())
}

fn document(title: &str, body: &Markup, scripted: bool) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="stylesheet" href="style.css";
                link rel="icon" href="icon.svg" type="image/svg+xml";
                @if scripted { script src="page.js" defer {} }
            }
            body { (body) }
        }
    };
    Html(page.into_string())
}

fn flame() -> Markup {
    html! {
        svg.flame viewBox="0 0 24 24" aria-hidden="true" {
            path d="M12 2c1 4.2 5.6 6.6 5.6 12.1A5.6 5.6 0 0 1 12 19.8a5.6 5.6 0 0 1-5.6-5.7c0-2.7 1.5-4.3 2.6-5.9.4 1.6 1 2.5 2 3.2C11.400 8.500 10.800 5 12 2z" {}
            path.ember d="M8 22h8" {}
        }
    }
}
