//! Small parts that several pages share.

use maud::{Markup, html};
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::text::clean::{clean, one_line};
use rekindle_engine::vault::ScannedEntry;

use super::request::encode;
use crate::app::CommandContext;

/// The most characters of a title in a list.
pub(super) const MAX_TITLE_CHARS: usize = 140;

/// A moment as people say it, with the exact time on hover.
pub(super) fn when(context: &CommandContext<'_>, at: Timestamp) -> Markup {
    let local = at.to_zoned(context.now.time_zone().clone());
    let days = (context.now.date() - local.date()).get_days();
    let clock = local.strftime("%H:%M");
    let words = match days {
        0 => format!("today {clock}"),
        1 => format!("yesterday {clock}"),
        2..=6 => local.strftime("%A %H:%M").to_string(),
        7..=300 => local.strftime("%-d %B").to_string(),
        _ => local.strftime("%-d %B %Y").to_string(),
    };
    html! { time datetime=(format_utc(at)) title=(local.strftime("%Y-%m-%d %H:%M:%S %Z")) { (words) } }
}

/// The local date of a moment, as a heading.
pub(super) fn day_words(context: &CommandContext<'_>, at: Timestamp) -> String {
    let local = at.to_zoned(context.now.time_zone().clone());
    match (context.now.date() - local.date()).get_days() {
        0 => "Today".to_owned(),
        1 => "Yesterday".to_owned(),
        2..=6 => local.strftime("%A").to_string(),
        _ => local.strftime("%-d %B %Y").to_string(),
    }
}

/// Where a memory holds.
pub(super) fn scope_chip(project: Option<&ProjectId>) -> Markup {
    html! {
        @match project {
            Some(project) => span.chip title=(project) { (project_name(project)) },
            None => span.chip.wide title="Holds in every project" { "everywhere" },
        }
    }
}

/// The last part of a project's id, which people call it by.
pub(super) fn project_name(project: &ProjectId) -> String {
    let id = project.as_str();
    let name =
        id.trim_end_matches('/').rsplit(['/', ':']).next().filter(|name| !name.is_empty()).unwrap_or(id);
    one_line(name, 60)
}

/// Whose words something is.
pub(super) fn origin_words(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "your words",
        Origin::Agent => "an agent's conclusion",
        Origin::Import => "imported",
        Origin::Tool => "printed by a tool",
    }
}

/// The address of a memory's page.
pub(super) fn memory_address(reference: &str) -> String {
    format!("memory?id={}", encode(reference))
}

/// The name by which a listed memory is found again.
pub(super) fn reference(found: &ScannedEntry) -> String {
    found.entry.id.as_ref().map_or_else(|| found.path.to_string(), ToString::to_string)
}

/// A memory in a list: its title, kind and scope.
pub(super) fn memory_row(
    context: &CommandContext<'_>,
    found: &ScannedEntry,
    at: Option<Timestamp>,
) -> Markup {
    html! {
        li.row {
            a.title href=(memory_address(&reference(found))) { (one_line(&found.title, MAX_TITLE_CHARS)) }
            p.about {
                span.kind { (one_line(&found.entry.kind, 40)) }
                (scope_chip(found.entry.scope.project()))
                @if let Some(at) = at { (when(context, at)) }
            }
        }
    }
}

/// The lines of a unified diff, without the two lines that repeat the file name.
pub(super) fn diff(text: &str) -> Markup {
    let is_head = |line: &str| line.starts_with("--- ") || line.starts_with("+++ ");
    html! {
        pre.diff {
            @for (number, line) in text.lines().skip_while(|line| is_head(line)).enumerate() {
                @match line.split_at_checked(1) {
                    Some(("@", _)) => @if number > 0 { span.gap { "⋯\n" } },
                    Some(("+", rest)) => ins { span.sign { "+ " } (clean(rest)) "\n" },
                    Some(("-", rest)) => del { span.sign { "− " } (clean(rest)) "\n" },
                    Some((_, rest)) => span { "  " (clean(rest)) "\n" },
                    None => "\n",
                }
            }
        }
    }
}

/// A count with its noun.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// A number with its words below.
pub(super) fn figure(number: impl std::fmt::Display, words: &str) -> Markup {
    html! { div.figure { strong { (number) } span { (words) } } }
}

/// Groups the digits of a number in threes.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_in_threes() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(grouped),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
    }

    #[test]
    fn b_11_a_diff_is_text_whatever_it_says() {
        let page =
            diff("--- a\n+++ b\n@@ -1 +1 @@\n-old <b>\n+new <script>\n same\n@@ -9 +9 @@\n").into_string();
        assert!(page.contains("<ins><span class=\"sign\">+ </span>new &lt;script&gt;"), "{page}");
        assert!(page.contains("old &lt;b&gt;") && page.contains("⋯") && !page.contains("--- a"), "{page}");
    }

    #[test]
    fn a_project_is_called_by_the_end_of_its_id() {
        let name = |id: &str| project_name(&ProjectId::new(id));
        assert_eq!([name("github.com/ada/pumps"), name("pumps"), name("/")], ["pumps", "pumps", "/"]);
    }
}
