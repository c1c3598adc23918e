//! Markdown block rules for a single line, each as a separate function.

/// Parses a `#` heading into its level and title.
pub(crate) fn parse_atx_heading(text: &str) -> Option<(u8, &str)> {
    let level = text.len() - text.trim_start_matches('#').len();
    let rest = text.get(level..)?;
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let unclosed = title.trim_end_matches('#');
    let title =
        if unclosed.is_empty() || unclosed.ends_with([' ', '\t']) { unclosed.trim_end() } else { title };
    Some((u8::try_from(level).ok()?, title))
}

/// The character and length of a fence that `text` opens.
pub(crate) fn parse_fence(text: &str) -> Option<(char, usize)> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// True if `text` closes a fence of `length` times `mark`.
pub(crate) fn closes_fence(text: &str, mark: char, length: usize) -> bool {
    let rest = text.trim_start_matches(mark);
    text.len() - rest.len() >= length && rest.trim().is_empty()
}

/// True if `text` is a thematic break.
pub(crate) fn is_rule(text: &str) -> bool {
    let Some(mark) = text.chars().next().filter(|c| matches!(c, '*' | '-' | '_')) else { return false };
    text.chars().all(|c| c == mark || c == ' ' || c == '\t')
        && text.chars().filter(|c| *c == mark).count() >= 3
}

/// True if `text` is the start of a merge conflict.
pub(crate) fn is_conflict(text: &str) -> bool {
    text.strip_prefix("<<<<<<<").is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The width of a list marker at the start of `text`, with its number if it has one.
pub(crate) fn marker(text: &str) -> Option<(usize, Option<u32>)> {
    let ends =
        |width: usize| text.get(width..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    if text.starts_with(['-', '+', '*']) {
        return ends(1).then_some((1, None));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let delimited = matches!(text.as_bytes().get(digits), Some(b'.' | b')'));
    if !(1..=9).contains(&digits) || !delimited || !ends(digits + 1) {
        return None;
    }
    Some((digits + 1, Some(text.get(..digits)?.parse().ok()?)))
}

/// Skips blanks from `column` on. A tab extends to the next multiple of four.
pub(super) fn skip_indent(text: &str, mut column: usize) -> (usize, &str) {
    let rest = text.trim_start_matches([' ', '\t']);
    for c in text[..text.len() - rest.len()].chars() {
        column += if c == '\t' { 4 - column % 4 } else { 1 };
    }
    (column, rest)
}

/// The heading level (1 or 2) if `text` could underline a heading.
pub(super) fn parse_underline(text: &str) -> Option<u8> {
    let text = text.trim_end_matches([' ', '\t']);
    let all = |mark: char| !text.is_empty() && text.chars().all(|c| c == mark);
    if all('=') { Some(1) } else { all('-').then_some(2) }
}

/// The number of cells if `text` were a table row.
pub(super) fn table_cells(text: &str) -> usize {
    let text = text.trim();
    let text = text.strip_prefix('|').unwrap_or(text);
    let mut escaped = false;
    let mut cells = 1;
    let mut ended = false;
    for byte in text.bytes() {
        ended = byte == b'|' && !escaped;
        cells += usize::from(ended);
        escaped = byte == b'\\' && !escaped;
    }
    cells - usize::from(ended)
}

/// The number of cells if `text` is the row that separates a table's header from its body.
pub(super) fn delimited_cells(text: &str) -> Option<usize> {
    let is_delimiter = |cell: &str| {
        let cell = cell.trim();
        let dashes = cell.strip_prefix(':').unwrap_or(cell);
        let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    let text = text.trim();
    let inner = text.strip_prefix('|').unwrap_or(text);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    (text.contains('|') && inner.split('|').all(is_delimiter)).then(|| table_cells(text))
}

/// True if `text` is a complete link definition, which no reader shows.
pub(super) fn is_link_definition(text: &str) -> bool {
    let split = || text.strip_prefix('[')?.split_once("]:");
    let Some((label, rest)) =
        split().filter(|(label, _)| !label.trim().is_empty() && !label.contains(['[', ']']))
    else {
        return false;
    };
    let rest = rest.trim();
    let (link, title) = match rest.strip_prefix('<') {
        Some(rest) => rest.split_once('>').unwrap_or_default(),
        None => rest.split_once([' ', '\t']).unwrap_or((rest, "")),
    };
    let title = title.trim();
    let quoted = |open: char, close: char| {
        title
            .strip_prefix(open)
            .and_then(|title| title.strip_suffix(close))
            .is_some_and(|title| !title.contains([open, close]))
    };
    !link.is_empty()
        && !label.ends_with('\\')
        && (title.is_empty() || quoted('"', '"') || quoted('\'', '\'') || quoted('(', ')'))
}
