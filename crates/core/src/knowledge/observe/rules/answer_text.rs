//! Splits an agent's answer into sentences that can be read alone.
//!
//! Agents answer in Markdown, and the fact is often not in running text: a row of a table, the command below a
//! colon, a list of names. Each becomes one sentence together with the words that introduce it. Longer code is
//! left out.

use crate::text::sentences::{split_sentences, strip_markdown};

/// The maximum number of lines of a code block that completes the sentence before it.
const MAX_CODE_LINES: usize = 2;
/// The maximum length of that code, in characters.
const MAX_CODE_CHARS: usize = 140;
/// A list item with fewer words cannot be read alone.
const MIN_ITEM_WORDS: usize = 5;
/// The maximum number of such items that complete the sentence before them.
const MAX_SHORT_ITEMS: usize = 8;
/// The maximum length of a joined sentence, in characters.
const MAX_JOINED_CHARS: usize = 320;
/// The minimum number of words of a sentence that states something although code follows.
const MIN_LEAD_WORDS: usize = 5;

/// A part of an answer before it is joined.
enum AnswerPart {
    /// A sentence, and whether it is the item of a list.
    Sentence(String, bool),
    /// The lines of a code block.
    Code(Vec<String>),
    /// A heading, a frame or a quotation: whatever follows does not continue the sentence before.
    Break,
}

/// The sentences of an answer, in order, without Markdown.
pub(super) fn answer_sentences(text: &str) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    // The number of short items that were joined to the last sentence; `None` if nothing can be joined.
    let mut joined: Option<usize> = None;
    for part in parts(text) {
        let lead = sentences.last_mut().filter(|last| joined.is_some() && last.ends_with([':', '：', ';']));
        match (part, lead) {
            (AnswerPart::Code(lines), Some(lead)) => {
                *lead = with_code(lead, &lines);
                joined = None;
            }
            (AnswerPart::Code(_) | AnswerPart::Break, _) => joined = None,
            (AnswerPart::Sentence(item, true), Some(lead))
                if is_short(&item) && joined < Some(MAX_SHORT_ITEMS) =>
            {
                let longer = format!("{lead} {};", item.trim_end_matches(['.', ';', ',']));
                if longer.chars().count() > MAX_JOINED_CHARS {
                    joined = None;
                    sentences.push(item);
                } else {
                    *lead = longer;
                    joined = joined.map(|count| count + 1);
                }
            }
            (AnswerPart::Sentence(sentence, _), _) => {
                joined = Some(0);
                sentences.push(sentence);
            }
        }
    }
    for sentence in &mut sentences {
        if let Some(list) = sentence.strip_suffix(';') {
            *sentence = format!("{list}.");
        }
    }
    sentences
}

/// A lead with the code that it introduces. Longer code is left out, and the lead may state enough by itself.
fn with_code(lead: &str, code: &[String]) -> String {
    let bare = lead.trim_end_matches([':', '：', ';']);
    let shown = code.join("; ");
    if (1..=MAX_CODE_LINES).contains(&code.len()) && shown.chars().count() <= MAX_CODE_CHARS {
        return format!("{bare}: `{}`.", shown.replace('`', "'"));
    }
    match bare.split_whitespace().count() >= MIN_LEAD_WORDS {
        true => format!("{bare}."),
        false => lead.to_owned(),
    }
}

fn is_short(item: &str) -> bool {
    item.split_whitespace().count() < MIN_ITEM_WORDS && !item.ends_with([':', '：', '?', '？'])
}

fn parts(text: &str) -> Vec<AnswerPart> {
    let mut parts = Vec::new();
    let mut fence: Option<(&str, Vec<String>)> = None;
    for line in text.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        fence = match (fence, mark) {
            (None, Some(mark)) => Some((mark, Vec::new())),
            (Some((open, code)), Some(mark)) if open == mark => {
                parts.push(AnswerPart::Code(code));
                None
            }
            (Some((open, mut code)), _) => {
                if !trimmed.is_empty() && code.len() <= MAX_CODE_LINES {
                    code.push(trimmed.to_owned());
                }
                Some((open, code))
            }
            (None, None) => {
                parts.extend(line_parts(trimmed, line));
                None
            }
        };
    }
    parts
}

fn line_parts(trimmed: &str, line: &str) -> Vec<AnswerPart> {
    if trimmed.is_empty() {
        return Vec::new();
    }
    if trimmed.starts_with('|') {
        return table_row(trimmed).map(|row| AnswerPart::Sentence(row, false)).into_iter().collect();
    }
    let is_item = is_list_item(trimmed);
    // Indented text is code, but for the items of a nested list.
    let is_code = !is_item && (line.starts_with("    ") || line.starts_with('\t'));
    let is_other = trimmed.starts_with(['>', '<', '{', '}', '#', '$', '+']) || trimmed.contains(is_drawing);
    if is_code || is_other {
        return vec![AnswerPart::Break];
    }
    let sentences = split_sentences(trimmed).into_iter().map(strip_markdown).filter(|text| !text.is_empty());
    sentences.map(|text| AnswerPart::Sentence(text, is_item)).collect()
}

/// True for a character of a drawn tree or frame.
fn is_drawing(c: char) -> bool {
    matches!(c, '\u{2500}'..='\u{259f}')
}

fn is_list_item(trimmed: &str) -> bool {
    let digits = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    ["- ", "* ", "• "].iter().any(|mark| trimmed.starts_with(mark))
        || digits.len() < trimmed.len() && (digits.starts_with(". ") || digits.starts_with(") "))
}

/// A row of a table as a sentence: `name: value; value`. `None` for the line below the head.
fn table_row(line: &str) -> Option<String> {
    let cells: Vec<String> = line.trim_matches('|').split('|').map(strip_markdown).collect();
    let is_rule = cells.iter().all(|cell| cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
    let mut told = cells.into_iter().filter(|cell| !cell.is_empty());
    let name = told.next().filter(|_| !is_rule)?;
    let values = told.collect::<Vec<_>>().join("; ");
    Some(if values.is_empty() { name } else { format!("{name}: {values}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_14_the_command_below_a_colon_belongs_to_its_sentence() {
        let answer = "Remove the quarantine mark first:\n\n```bash\nxattr -cr Mill.app\n```\nThen open it.";
        assert_eq!(
            answer_sentences(answer),
            ["Remove the quarantine mark first: `xattr -cr Mill.app`.", "Then open it."]
        );
        let long =
            "The only call of the client stands in the importer:\n```\na\nb\nc\n```\nOk:\n```\na\nb\nc\n```";
        assert_eq!(answer_sentences(long), ["The only call of the client stands in the importer.", "Ok:"]);
        let apart = "It works.\n```\nmake run\n```";
        assert_eq!(answer_sentences(apart), ["It works."]);
    }

    #[test]
    fn obs_14_tables_and_lists_of_names_are_read() {
        let table = "| Service | Port |\n|---|:---:|\n| **Mill** | 7012 |\n| Kettle | |";
        assert_eq!(answer_sentences(table), ["Service: Port", "Mill: 7012", "Kettle"]);
        let list = "One client id serves all of them:\n- local\n- CI\n- staging\n\nIt is public.";
        assert_eq!(
            answer_sentences(list),
            ["One client id serves all of them: local; CI; staging.", "It is public."]
        );
        let own = "What was done:\n- The pool is closed before the workers end.\n    - It leaked handles until then.";
        assert_eq!(
            answer_sentences(own),
            ["What was done:", "The pool is closed before the workers end.", "It leaked handles until then."]
        );
        assert_eq!(answer_sentences("├── src # Sources\n# Summary\n> said"), Vec::<String>::new());
        assert_eq!(answer_sentences("    let x = 1;\n"), Vec::<String>::new());
    }
}
