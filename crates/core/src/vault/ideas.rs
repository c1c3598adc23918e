//! `Ideas.md`, at the root of the person's notes. Rekindle adds ideas (IDEA-02) and records their outcome
//! (IDEA-05, IDEA-06); the rest is the person's.

use std::ops::Range;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::as_text;
use super::escape::{self, normalise_line};
use super::lines::{self, BrokenDocument, LineInsertion, LineKind, MarkdownLine};
use super::path::VaultPath;
use super::scope_mark;
use crate::base::scope::{ProjectId, Scope};
use crate::base::time::day;

const RESEARCH_PREFIX: &str = "See deep research:";
const INCUBATOR_PREFIX: &str = "_idea-incubator/";
const PROMOTED_PREFIX: &str = "→ promoted ";
const ARCHIVED_PREFIX: &str = "→ archived ";

/// The number of open ideas above which a reminder is due (IDEA-07).
pub const MAX_UNPROMOTED_IDEAS: usize = 20;

/// An idea to add.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdeaDraft {
    /// The day it came up.
    #[serde(with = "as_text")]
    pub date: Date,
    /// A title of a few words.
    pub title: String,
    /// A summary of two sentences.
    pub summary: String,
    /// The name of its folder in the incubator.
    pub slug: String,
    /// The only project in which it is shown (R-15). `None` means everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

/// An idea in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdeaEntry {
    /// The day it came up.
    #[serde(with = "as_text")]
    pub date: Date,
    /// A title of a few words.
    pub title: String,
    /// The first paragraph below the heading.
    pub summary: String,
    /// The project named at the end of that paragraph; the idea is shown only there (R-15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The name of its folder in the incubator. An idea that the person wrote may have none.
    pub slug: Option<String>,
    /// The day it became a project.
    #[serde(with = "as_text::option")]
    pub promoted: Option<Date>,
    /// The day it was archived.
    #[serde(with = "as_text::option", default)]
    pub archived: Option<Date>,
    /// The line number of the heading.
    pub line: usize,
    /// The byte range of the section.
    pub range: Range<usize>,
}

impl IdeaEntry {
    /// True if the idea was neither promoted nor archived.
    pub fn is_open(&self) -> bool {
        self.promoted.is_none() && self.archived.is_none()
    }
}

/// The reason why the file was not changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The document's structure is ambiguous.
    #[error(transparent)]
    Broken(#[from] BrokenDocument),
    /// The slug or the vault folder cannot be part of a link.
    #[error(
        "a link cannot contain `[`, `]`, `|`, `#`, `^`, `\\` or line breaks, and a slug is one folder name"
    )]
    Link,
    /// No idea links to this folder of the incubator.
    #[error("no idea in the file links to that slug; check the `See deep research` lines")]
    NoSuchIdea,
    /// The new line would alter the meaning of the lines around it.
    #[error("the idea at line {line} cannot be marked without changing the lines below it; mark it by hand")]
    Unfit {
        /// The line of the idea's heading.
        line: usize,
    },
}

/// The ideas in `text`: sections whose heading has a date and a title. Everything else is skipped.
pub fn parse(text: &str) -> Result<Vec<IdeaEntry>, BrokenDocument> {
    let lines = lines::read(text)?;
    Ok(sections(&lines).into_iter().filter_map(|section| entry(&lines, section)).collect())
}

/// Appends the idea to `text`, with a link to its research in the vault folder `vault`. An idea that exists
/// is not added again.
pub fn append(text: &str, vault: &str, idea: &IdeaDraft) -> Result<String, Error> {
    let lines = lines::read(text)?;
    check_link(vault, &idea.slug)?;
    if parse(text)?.iter().any(|entry| entry.slug.as_ref() == Some(&idea.slug)) {
        return Ok(text.to_owned());
    }
    let mut block = format!("## {}: {}\n\n", day(idea.date), escape::heading(&idea.title));
    let mut summary = paragraph(&idea.summary);
    let scope = idea.project.clone().map_or(Scope::Global, Scope::Project);
    if let Some(mark) = scope_mark::required_mark(&summary, &scope) {
        summary = format!("{summary} {mark}").trim_start().to_owned();
    }
    if !summary.is_empty() {
        block.push_str(&format!("{summary}\n\n"));
    }
    block.push_str(&format!(
        "{RESEARCH_PREFIX} [[{vault}/personal-private/{INCUBATOR_PREFIX}{}/_index.md]]\n",
        idea.slug
    ));
    let insertion = LineInsertion { at: lines.len(), block, blank_before: true, blank_behind: false };
    let (position, bytes) = insertion.bytes(text, &lines);
    Ok(lines::splice(text, position..position, &bytes))
}

/// Adds a line to the idea's section that says where it was promoted to. A recorded promotion is not recorded
/// again.
pub fn mark_promoted(text: &str, vault: &str, slug: &str, date: Date) -> Result<String, Error> {
    check_link(vault, slug)?;
    let line = format!("{PROMOTED_PREFIX}{} to {vault}/personal-projects/{slug}/\n", day(date));
    mark(text, slug, line, |entry| entry.promoted.is_some())
}

/// Adds a line to the idea's section that says it was archived to `folder` of the vault (IDEA-06).
pub fn mark_archived(
    text: &str,
    vault: &str,
    slug: &str,
    folder: &VaultPath,
    date: Date,
) -> Result<String, Error> {
    check_link(vault, slug)?;
    let line = format!("{ARCHIVED_PREFIX}{} to {vault}/{folder}/\n", day(date));
    mark(text, slug, line, |entry| entry.archived.is_some())
}

fn mark(
    text: &str,
    slug: &str,
    line: String,
    is_noted: impl Fn(&IdeaEntry) -> bool,
) -> Result<String, Error> {
    let lines = lines::read(text)?;
    let (section, entry) = find(&lines, slug)?;
    if is_noted(&entry) {
        return Ok(text.to_owned());
    }
    let end = section.clone().rev().find(|at| !lines[*at].is_blank()).map_or(section.end, |last| last + 1);
    let insertion = LineInsertion { at: end, block: line, blank_before: true, blank_behind: true };
    insertion.apply(text, &lines).ok_or(Error::Unfit { line: entry.line })
}

/// Removes the idea's section with everything that the person wrote into it (IDEA-06).
pub fn remove(text: &str, slug: &str) -> Result<String, Error> {
    let lines = lines::read(text)?;
    let (_, entry) = find(&lines, slug)?;
    let left = lines::splice(text, entry.range, "");
    // Refuse if removing the section changes how the rest parses.
    let others = |text: &str| parse(text).map(|ideas| ideas.len());
    match others(&left)? + 1 == others(text)? {
        true => Ok(left),
        false => Err(Error::Unfit { line: entry.line }),
    }
}

fn find(lines: &[MarkdownLine<'_>], slug: &str) -> Result<(Range<usize>, IdeaEntry), Error> {
    let found = sections(lines).into_iter().find_map(|section| {
        let entry = entry(lines, section.clone())?;
        (entry.slug.as_deref() == Some(slug)).then_some((section, entry))
    });
    found.ok_or(Error::NoSuchIdea)
}

/// The line indexes of every section with a dated heading, up to the next heading of its level or above.
fn sections(lines: &[MarkdownLine<'_>]) -> Vec<Range<usize>> {
    let level = |at: usize| match lines[at].kind {
        LineKind::Heading { level, .. } => Some(level),
        _ => None,
    };
    let dated =
        |at: &usize| matches!(lines[*at].kind, LineKind::Heading { title, .. } if heading(title).is_some());
    let starts = (0..lines.len()).filter(dated);
    let until = |start: usize| {
        let ends = |at: &usize| level(*at).is_some_and(|other| Some(other) <= level(start)) || dated(at);
        (start + 1..lines.len()).find(ends).unwrap_or(lines.len())
    };
    starts.map(|start| start..until(start)).collect()
}

/// Parses `2026-11-15: Title`; an emoji before it and a dash for the colon are accepted.
fn heading(title: &str) -> Option<(Date, String)> {
    let title = title.trim_start_matches(|c: char| !c.is_alphanumeric());
    let date = title.get(..10)?.parse().ok()?;
    let rest = title[10..].trim_start();
    let rest = [":", "—", "–", "-"].iter().find_map(|dash| rest.strip_prefix(dash)).unwrap_or(rest);
    Some((date, escape::unescape_heading(rest.trim())))
}

fn entry(lines: &[MarkdownLine<'_>], section: Range<usize>) -> Option<IdeaEntry> {
    let LineKind::Heading { title, .. } = lines[section.start].kind else { return None };
    let (date, title) = heading(title)?;
    let own = &lines[section.clone()];
    let is_text = |line: &&MarkdownLine<'_>| line.depth == 0 && matches!(line.kind, LineKind::Text { .. });
    let words = |line: &MarkdownLine<'_>| line.text.trim().to_owned();
    let texts: Vec<String> = own.iter().filter(is_text).map(words).collect();
    let paragraph = own.iter().skip(1).skip_while(|line| !is_text(line)).take_while(is_text);
    let summary: Vec<String> = paragraph.map(words).take_while(|line| !is_own(line)).collect();
    let summary = summary.join(" ");
    let (summary, scope) = match scope_mark::split(&summary) {
        Some((words, scope)) => (words, scope),
        None => (summary.as_str(), Scope::Global),
    };
    let research = texts.iter().filter(|line| line.starts_with(RESEARCH_PREFIX)).find_map(|line| slug(line));
    Some(IdeaEntry {
        date,
        title,
        summary: plain_paragraph(summary),
        project: scope.project().cloned(),
        // A person may have put the link into a sentence of their own.
        slug: research.or_else(|| texts.iter().find_map(|line| slug(line))),
        promoted: texts.iter().find_map(|line| line.strip_prefix(PROMOTED_PREFIX)?.get(..10)?.parse().ok()),
        archived: texts.iter().find_map(|line| line.strip_prefix(ARCHIVED_PREFIX)?.get(..10)?.parse().ok()),
        line: lines[section.start].number,
        range: lines[section.start].start..lines[section.end - 1].end(),
    })
}

fn slug(line: &str) -> Option<String> {
    let (_, link) = line.split_once("[[")?;
    let (_, folder) = link.split_once("]]")?.0.split_once(INCUBATOR_PREFIX)?;
    let name = folder.split(['/', '|', '#']).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// True if a line is in a format of ours.
fn is_own(line: &str) -> bool {
    [RESEARCH_PREFIX, PROMOTED_PREFIX, ARCHIVED_PREFIX].iter().any(|ours| line.starts_with(ours))
}

/// Renders a summary on one line, escaped so that it is neither a block nor a line in a format of ours.
fn paragraph(summary: &str) -> String {
    let line = escape::line(&normalise_line(summary));
    let bare = line.trim_start_matches('\\');
    if is_own(bare) { format!("\\{line}") } else { line }
}

/// The inverse of [`paragraph`].
fn plain_paragraph(line: &str) -> String {
    let bare = line.trim_start_matches('\\');
    escape::unescape_line(if is_own(bare) { line.strip_prefix('\\').unwrap_or(line) } else { line })
}

fn check_link(vault: &str, slug: &str) -> Result<(), Error> {
    let fits = |text: &str| {
        !text.trim().is_empty() && !text.contains(|c: char| c.is_control() || "[]|#^\\".contains(c))
    };
    let one_folder = !slug.contains('/') && slug != "." && slug != ".." && slug.trim() == slug;
    if fits(vault) && fits(slug) && one_folder { Ok(()) } else { Err(Error::Link) }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::super::escape::tests::hostile;
    use super::super::lines::tests::{document, is_insertion};
    use super::*;

    fn idea(title: &str, summary: &str, slug: &str) -> IdeaDraft {
        let date = date(2026, 11, 15);
        IdeaDraft {
            date,
            title: title.to_owned(),
            summary: summary.to_owned(),
            slug: slug.to_owned(),
            project: None,
        }
    }

    fn told(entry: &IdeaEntry) -> (Date, String, String, Option<String>, Option<Date>) {
        (entry.date, entry.title.clone(), entry.summary.clone(), entry.slug.clone(), entry.promoted)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn idea_02_an_idea_reads_back_and_the_rest_stays(text in document(), title in hostile(), summary in hostile()) {
            let Ok(before) = parse(&text) else {
                let refused = append(&text, "MemoryVault", &idea(&title, &summary, "one"));
                prop_assert!(matches!(refused, Err(Error::Broken(_))));
                return Ok(());
            };
            let one = append(&text, "MemoryVault", &idea(&title, &summary, "one")).unwrap();
            prop_assert!(is_insertion(&text, &one));
            let two = append(&one, "MemoryVault", &idea("Two", "Second.", "two")).unwrap();
            let promoted = mark_promoted(&two, "MemoryVault", "one", date(2026, 12, 1)).unwrap();
            prop_assert!(is_insertion(&two, &promoted));
            let after: Vec<_> = parse(&promoted).unwrap().iter().map(told).collect();
            let mut expected: Vec<_> = before.iter().map(told).collect();
            let some = |slug: &str| Some(slug.to_owned());
            let day = date(2026, 11, 15);
            expected.push((day, normalise_line(&title), normalise_line(&summary), some("one"), Some(date(2026, 12, 1))));
            expected.push((day, "Two".to_owned(), "Second.".to_owned(), some("two"), None));
            prop_assert_eq!(&after, &expected);
            // Repeating the change has no effect.
            prop_assert_eq!(&append(&promoted, "MemoryVault", &idea("x", "y", "one")).unwrap(), &promoted);
            prop_assert_eq!(&mark_promoted(&promoted, "MemoryVault", "one", date(2027, 1, 1)).unwrap(), &promoted);
            // Archiving marks this idea only, and removal leaves everything else unchanged.
            let folder = VaultPath::parse("personal-private/_archive/two.20261201").unwrap();
            let away = mark_archived(&two, "MemoryVault", "two", &folder, date(2026, 12, 1)).unwrap();
            prop_assert!(is_insertion(&two, &away));
            let put_away: Vec<_> = parse(&away).unwrap().into_iter().filter_map(|entry| entry.archived).collect();
            prop_assert_eq!(put_away, [date(2026, 12, 1)]);
            prop_assert_eq!(&mark_archived(&away, "MemoryVault", "two", &folder, date(2027, 1, 1)).unwrap(), &away);
            let gone: Vec<_> = parse(&remove(&two, "one").unwrap()).unwrap().iter().map(told).collect();
            expected.remove(expected.len() - 2);
            prop_assert_eq!(gone, expected);
        }
    }

    #[test]
    fn r_15_an_idea_of_a_project_says_so_and_reads_back() {
        let pumps = Some(ProjectId::new("github.com/acme/pumps"));
        let new = |summary: &str, project: &Option<ProjectId>| IdeaDraft {
            project: project.clone(),
            ..idea("One", summary, "one")
        };
        let marked = append("", "Memory", &new("Share a cache.", &pumps)).unwrap();
        assert!(marked.contains("Share a cache. (project: github.com/acme/pumps)\n"), "{marked}");
        for (summary, project) in [
            ("Share a cache.", &pumps),
            ("", &pumps),
            ("Like it is in (everywhere)", &None),
            ("Take it from (project: boats)", &None),
        ] {
            let text = append("", "Memory", &new(summary, project)).unwrap();
            let read = parse(&text).unwrap().remove(0);
            assert_eq!((read.summary.as_str(), &read.project), (summary, project), "{text}");
        }
    }

    #[test]
    fn idea_05_a_promotion_is_noted_in_the_section() {
        let text =
            append("my file", "Memory", &idea("Faster tests", "Share a cache. Measure it.", "faster-tests"))
                .unwrap();
        let text = append(&text, "Memory", &idea("Other", "No.", "other")).unwrap();
        let text = mark_promoted(&text, "Memory", "faster-tests", date(2026, 12, 1)).unwrap();
        insta::assert_snapshot!(text, @r"
        my file

        ## 2026-11-15: Faster tests

        Share a cache. Measure it.

        See deep research: [[Memory/personal-private/_idea-incubator/faster-tests/_index.md]]

        → promoted 2026-12-01 to Memory/personal-projects/faster-tests/

        ## 2026-11-15: Other

        No.

        See deep research: [[Memory/personal-private/_idea-incubator/other/_index.md]]
        ");
        assert_eq!(mark_promoted(&text, "Memory", "none", date(2026, 12, 1)), Err(Error::NoSuchIdea));
    }

    #[test]
    fn a_person_may_write_ideas_down_in_their_own_way() {
        let text = "# Ideas\r\n\r\n### 💡 2026-01-02 - Mine\r\nIt wraps\r\nhere.\r\n\r\nSee [[V/_idea-incubator/mine/_index|notes]].\r\n## Else\r\n";
        let ideas = parse(text).unwrap();
        assert_eq!(ideas.len(), 1);
        assert_eq!((ideas[0].title.as_str(), ideas[0].summary.as_str()), ("Mine", "It wraps here."));
        assert_eq!(ideas[0].slug.as_deref(), Some("mine"));
        let marked = mark_promoted(text, "V", "mine", date(2026, 2, 3)).unwrap();
        let note = "\r\n\r\n→ promoted 2026-02-03 to V/personal-projects/mine/\r\n\r\n## Else\r\n";
        assert_eq!(marked, text.replace("\r\n## Else\r\n", note));
    }

    #[test]
    fn a_link_stays_a_link() {
        for slug in ["", "..", "a/b", "a]]b", "a|b", "a\nb", " a"] {
            assert_eq!(append("", "V", &idea("t", "s", slug)), Err(Error::Link), "{slug:?}");
        }
        assert_eq!(append("", "V]]", &idea("t", "s", "a")), Err(Error::Link));
        assert_eq!(
            append("```\n", "V", &idea("t", "s", "a")),
            Err(Error::Broken(BrokenDocument::Fence { line: 1 }))
        );
    }
}
