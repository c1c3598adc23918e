//! Pull requests and issues that the session created: their titles and the first whole sentences of their
//! texts. They already summarise the work or the problem (B-01: it is the agent's word).

use super::command::CommandPart;
use super::draft::{FindingDraft, MAX_COMMIT_CHARS};
use super::output::CallState;
use super::session_view::{SessionView, ToolStep};
use crate::knowledge::observe::FindingKind;
use crate::session::notes::here_document;
use crate::text::phrases::{content, line, truncate_head};
use crate::text::sentences::{self, strip_markdown};
use crate::vault::priority::Priority;

/// Commands that publish something, and its type.
const PUBLISHING_COMMANDS: &[(&[&str], PublishedKind)] = &[
    (&["gh", "pr", "create"], PublishedKind::Change),
    (&["gh", "issue", "create"], PublishedKind::Issue),
    (&["glab", "mr", "create"], PublishedKind::Change),
    (&["glab", "issue", "create"], PublishedKind::Issue),
];
/// Name suffixes of tools that publish something.
const PUBLISHING_TOOLS: &[(&str, PublishedKind)] = &[
    ("create_pull_request", PublishedKind::Change),
    ("create_merge_request", PublishedKind::Change),
    ("create_issue", PublishedKind::Issue),
];
/// The flags of those commands.
const TITLE_FLAGS: &[&str] = &["--title", "-t"];
const BODY_FLAGS: &[&str] = &["--body", "-b", "--description", "-d"];
const BODY_FROM_INPUT: &[&str] = &["--body-file - <<", "--body-file=- <<", "-F - <<"];
/// The maximum number per session.
const MAX_PUBLISHED: usize = 12;
/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 160;
/// The maximum number of sentences of a text.
const MAX_SENTENCES: usize = 5;
/// The minimum number of significant words; fewer are a heading.
const MIN_WORDS: usize = 3;
/// The number of bytes read of a text.
const MAX_TEXT_BYTES: usize = 8 * 1024;
/// The number of bytes of an output that are searched for the number.
const MAX_OUTPUT_BYTES: usize = 4 * 1024;

/// The type of a published item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PublishedKind {
    /// A pull request, or a merge request.
    Change,
    Issue,
}

/// The pull requests and issues that were created.
pub(super) fn published_drafts(view: &SessionView<'_>) -> Vec<FindingDraft> {
    view.steps.iter().filter_map(|step| draft(view, step)).take(MAX_PUBLISHED).collect()
}

/// True if a call publishes something with a known title.
pub(super) fn has_title(step: &ToolStep<'_>) -> bool {
    published(step).is_some()
}

fn draft(view: &SessionView<'_>, step: &ToolStep<'_>) -> Option<FindingDraft> {
    let result = step.result.filter(|_| step.state == CallState::Passed)?;
    let (what, title, body) = published(step)?;
    let number = number(truncate_head(&view.messages[result].text, MAX_OUTPUT_BYTES));
    let number = number.map(|number| format!(" #{number}")).unwrap_or_default();
    let made = match what {
        PublishedKind::Change => "Opened pull request",
        PublishedKind::Issue => "Filed issue",
    };
    let mut text = format!("{made}{number} “{}”", line(&title, MAX_TITLE_CHARS));
    let room = MAX_COMMIT_CHARS.saturating_sub(text.chars().count() + 2);
    let body = whole_sentences(&body, room, MAX_SENTENCES);
    let has_body = !body.is_empty();
    if has_body {
        text.push_str(&format!(": {body}"));
    }
    let mut draft = FindingDraft::of_agent(FindingKind::Commit, result, text);
    // A title alone names the work; the text gives the reasons.
    draft.priority = if has_body { Priority::Medium } else { Priority::Low };
    draft.messages.push(step.at);
    Some(draft)
}

/// The type, title and text of an item that a call publishes.
fn published(step: &ToolStep<'_>) -> Option<(PublishedKind, String, String)> {
    if let Some((_, what)) = PUBLISHING_TOOLS.iter().find(|(name, _)| step.call.tool.ends_with(name)) {
        let (title, body) = step.call.notes.split_once('\n').unwrap_or((&step.call.notes, ""));
        return (!title.trim().is_empty()).then(|| (*what, title.trim().to_owned(), body.to_owned()));
    }
    let parts: &[CommandPart] =
        step.command.as_ref().map(|command| command.parts.as_slice()).unwrap_or_default();
    let (words, what) =
        PUBLISHING_COMMANDS.iter().find(|(words, _)| parts.iter().any(|part| part.begins_with(words)))?;
    let input = &step.call.input[step.call.input.find(&words.join(" "))?..];
    let title = value(input, TITLE_FLAGS)?;
    // A title inserted by a variable or a command is unknown.
    if title.trim().is_empty() || title.contains("$(") || title.starts_with('$') {
        return None;
    }
    let piped = BODY_FROM_INPUT.iter().find_map(|flag| Some(&input[input.find(flag)? + flag.len()..]));
    let body = match piped {
        Some(here) => here_document(here).map(str::to_owned),
        None => value(input, BODY_FLAGS),
    };
    Some((*what, title.trim().to_owned(), body.unwrap_or_default()))
}

/// The value of a flag: quoted, as a here-document, or one word. Quoted text contains no flags.
fn value(input: &str, flags: &[&str]) -> Option<String> {
    let mut quote: Option<char> = None;
    let mut before = ' ';
    for (at, sign) in input.char_indices() {
        match quote {
            Some(open) if sign == open && before != '\\' => quote = None,
            Some(_) => {}
            None if matches!(sign, '"' | '\'') && before != '\\' => quote = Some(sign),
            None if sign == '-' && before.is_whitespace() => {
                let rest = &input[at..];
                let found = flags.iter().find_map(|flag| rest.strip_prefix(flag));
                if let Some(rest) = found.filter(|rest| rest.starts_with(['=', ' ', '\n', '\t'])) {
                    return argument(rest[1..].trim_start());
                }
            }
            None => {}
        }
        before = sign;
    }
    None
}

/// The first argument of `rest`.
fn argument(rest: &str) -> Option<String> {
    let open = rest.chars().next()?;
    if !matches!(open, '"' | '\'') {
        return rest.split_whitespace().next().map(str::to_owned);
    }
    let inner = &rest[1..];
    if let Some(here) = inner.strip_prefix("$(cat <<") {
        return here_document(here).map(str::to_owned);
    }
    let mut text = String::new();
    let mut signs = inner.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' if open == '"' => text.extend(signs.next()),
            sign if sign == open => return Some(text),
            sign => text.push(sign),
        }
    }
    // The closing quote was cut off: return the text so far.
    Some(text)
}

/// The number of the item, from the address that the command printed.
fn number(output: &str) -> Option<u64> {
    ["/pull/", "/issues/", "/merge_requests/"].iter().find_map(|part| {
        let digits = &output[output.rfind(part)? + part.len()..];
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        digits[..end].parse().ok()
    })
}

/// The first whole sentences of a text with content: no headings, code, check lists or trailers.
pub(super) fn whole_sentences(text: &str, most: usize, count: usize) -> String {
    let mut kept = String::new();
    let lines = sentences::lines(truncate_head(text, MAX_TEXT_BYTES)).into_iter();
    for sentence in
        lines.filter(|line| !is_furniture(line)).flat_map(sentences::split_sentences).take(count * 4)
    {
        let bare = line(&strip_markdown(sentence), MAX_TEXT_BYTES);
        if content(&bare).len() < MIN_WORDS || bare.ends_with([':', '：']) {
            continue;
        }
        if kept.chars().count() + bare.chars().count() + 2 > most {
            break;
        }
        if !kept.is_empty() {
            kept.push_str(if kept.ends_with(['.', '!', '?', '。', '！', '？']) { " " } else { ". " });
        }
        kept.push_str(&bare);
        if sentences::split_sentences(&kept).len() >= count {
            break;
        }
    }
    kept
}

/// True for a line of a template without content.
fn is_furniture(line: &str) -> bool {
    let bare = line.trim_start_matches(['-', '*', ' ']);
    line.starts_with("- [") || bare.starts_with('🤖') || bare.contains("Generated with") || is_trailer(bare)
}

/// True for a trailer: `Co-Authored-By: A <a@example.com>`.
fn is_trailer(line: &str) -> bool {
    let name = line.split_once(": ").map(|(name, _)| name).unwrap_or_default();
    name.contains('-') && !name.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_as_a_shell_would() {
        let input = "gh pr create --title \"Say \\\"hi\\\" -b no\" --body 'Parsing took 40 ms.'";
        assert_eq!(value(input, TITLE_FLAGS).as_deref(), Some("Say \"hi\" -b no"));
        assert_eq!(value(input, BODY_FLAGS).as_deref(), Some("Parsing took 40 ms."));
        let input =
            "gh issue create -t='It leaks' --body \"$(cat <<'EOF'\nThe pool leaks.\nEOF\n)\" --label bug";
        assert_eq!(value(input, TITLE_FLAGS).as_deref(), Some("It leaks"));
        assert_eq!(value(input, BODY_FLAGS).as_deref(), Some("The pool leaks.\n"));
        assert_eq!(value("gh pr create --fill", TITLE_FLAGS), None);
        assert_eq!(value("gh pr create --title", TITLE_FLAGS), None);
    }

    #[test]
    fn sentences_are_never_cut() {
        let body = "## Summary\n- The parser caches its tables now.\n- It saves 40 ms a start, measured on CI.\n\n## Test plan\n\
                    - [x] cargo test\n🤖 Generated with an agent\nCo-Authored-By: A <a@b>";
        assert_eq!(
            whole_sentences(body, 600, 5),
            "The parser caches its tables now. It saves 40 ms a start, measured on CI."
        );
        assert_eq!(whole_sentences(body, 40, 5), "The parser caches its tables now.");
        assert_eq!(whole_sentences(body, 600, 1), "The parser caches its tables now.");
        assert_eq!(whole_sentences(body, 20, 5), "");
    }

    #[test]
    fn the_number_is_read_from_the_address() {
        assert_eq!(number("Creating…\nhttps://example.com/o/r/pull/12\n"), Some(12));
        assert_eq!(number("done"), None);
    }
}
