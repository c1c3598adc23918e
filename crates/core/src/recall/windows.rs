//! Splits a long text into windows for embedding. Each window has the length that a model reads well, and
//! neighbours overlap, so that text at a border is complete in one of them (STO-13).

use crate::text::byte_runs::count_leading;
use crate::text::terms::is_unspaced;

/// The number of running words in a window.
pub const WINDOW_WORDS: usize = 170;
/// The number of words between the starts of consecutive windows.
pub const WINDOW_STRIDE_WORDS: usize = 140;
/// The maximum number of windows of a text. Longer texts have longer windows, further apart.
pub const MAX_WINDOWS: usize = 64;

/// The maximum number of words by which a border moves back to the end of a sentence or line.
const BOUNDARY_SLACK_WORDS: usize = 14;
/// The maximum number of letters of a word; a longer run counts as several words, as in a model's tokens.
const MAX_WORD_LETTERS: usize = 10;

/// Word counts are in halves: a character of a script without spaces is half a word.
const HALVES_PER_WORD: usize = 2;

/// A range of bytes in a text, on character boundaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextWindow {
    /// The index of the first byte.
    pub start: usize,
    /// The index after the last byte.
    pub end: usize,
}

/// The cosine of a window with a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowSimilarity {
    /// The window.
    pub window: TextWindow,
    /// Its cosine with the query.
    pub cosine: f32,
}

/// The quality of a cut before a word, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CutBoundary {
    /// A cut inside a long run of letters.
    Inside,
    /// A cut between two words.
    Word,
    /// A cut after a sentence.
    Sentence,
    /// A cut at the start of a line.
    Line,
    /// A cut after an empty line.
    Paragraph,
}

/// The start of a word.
#[derive(Clone, Copy, Debug)]
struct WordStart {
    at: usize,
    /// The number of half words before it.
    before: usize,
    border: CutBoundary,
}

/// The windows of `text`, in order. They cover the whole text, and neighbours overlap. A text without visible
/// characters has none; a short text has one.
pub fn windows(text: &str) -> Vec<TextWindow> {
    windows_by(text, &marks(text))
}

/// The windows and the fine windows of `text`, from one pass.
pub fn split_both(text: &str) -> (Vec<TextWindow>, Vec<TextWindow>) {
    let marks = marks(text);
    (windows_by(text, &marks), fine_by(text, &marks))
}

fn windows_by(text: &str, (marks, total): &(Vec<WordStart>, usize)) -> Vec<TextWindow> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let whole = TextWindow { start: 0, end: text.len() };
    let total = *total;
    let (size, mut stride) = (WINDOW_WORDS * HALVES_PER_WORD, WINDOW_STRIDE_WORDS * HALVES_PER_WORD);
    if total <= size {
        return vec![whole];
    }
    let overlap = size - stride;
    stride = stride.max((total - size).div_ceil(MAX_WINDOWS - 1));
    let size = stride + overlap;
    let count = 1 + (total - size).div_ceil(stride);
    let starts = (0..count).map(|nth| border_near(marks, nth * stride));
    let ends = (0..count).map(|nth| match nth + 1 == count {
        true => text.len(),
        false => border_near(marks, nth * stride + size),
    });
    starts.zip(ends).map(|(start, end)| TextWindow { start, end }).collect()
}

/// The minimum number of words of a fine window.
pub const MIN_FINE_WORDS: usize = 16;
/// The maximum number of fine windows of a text. Longer texts have longer fine windows.
pub const MAX_FINE_WINDOWS: usize = 256;
/// The minimum number of words of the last fine window; a shorter one joins the window before it.
const MIN_LAST_FINE_WORDS: usize = 5;

/// The fine windows of `text`: short sentences joined and long ones cut, so that each holds about one
/// thought. One thought is lost in the embedding of a whole text but found by its own. Fine windows do not
/// overlap. A text of one piece has none, because its window is the same.
pub fn split_fine(text: &str) -> Vec<TextWindow> {
    fine_by(text, &marks(text))
}

fn fine_by(text: &str, (marks, total): &(Vec<WordStart>, usize)) -> Vec<TextWindow> {
    let total = *total;
    let least = (MIN_FINE_WORDS * HALVES_PER_WORD).max(total.div_ceil(MAX_FINE_WINDOWS));
    let before = |place: usize| marks.get(place).map_or(total, |mark| mark.before);
    let at = |place: usize| marks.get(place).map_or(text.len(), |mark| mark.at);
    let mut ends: Vec<usize> = Vec::new();
    let mut from = 0;
    let sentences = (1..marks.len()).filter(|place| marks[*place].border >= CutBoundary::Sentence);
    for end in sentences.chain([marks.len()]) {
        while before(end) - before(from) > 2 * least {
            let cut = marks.partition_point(|mark| mark.before < before(from) + least);
            ends.push(cut);
            from = cut;
        }
        if before(end) - before(from) >= least {
            ends.push(end);
            from = end;
        }
    }
    if from < marks.len() {
        match ends.last_mut() {
            Some(last) if total - before(from) < MIN_LAST_FINE_WORDS * HALVES_PER_WORD => *last = marks.len(),
            _ => ends.push(marks.len()),
        }
    }
    if ends.len() < 2 {
        return Vec::new();
    }
    let starts = std::iter::once(0).chain(ends.iter().map(|end| at(*end)));
    starts.zip(ends.iter().map(|end| at(*end))).map(|(start, end)| TextWindow { start, end }).collect()
}

/// The first and last line of a window in `text`, counted from 1, both inclusive, without blank lines at its
/// ends.
pub fn lines(text: &str, window: TextWindow) -> (u32, u32) {
    let inside = &text[window.start..window.end];
    let leading = inside.len() - inside.trim_start().len();
    let visible = inside.trim();
    let breaks = |text: &str| u32::try_from(text.bytes().filter(|b| *b == b'\n').count()).unwrap_or(u32::MAX);
    let first = breaks(&text[..window.start + leading]).saturating_add(1);
    (first, first.saturating_add(breaks(visible)))
}

/// The best place to cut near the word after `place` half words: the best boundary within the slack before
/// it, the last one among equals.
fn border_near(marks: &[WordStart], place: usize) -> usize {
    if place == 0 {
        return 0;
    }
    let after = marks.partition_point(|mark| mark.before <= place);
    let from = marks.partition_point(|mark| mark.before + BOUNDARY_SLACK_WORDS * HALVES_PER_WORD < place);
    marks[from..after].iter().max_by_key(|mark| mark.border).map_or(0, |mark| mark.at)
}

/// The starts of all words, and the number of half words.
fn marks(text: &str) -> (Vec<WordStart>, usize) {
    let mut marks = WordScanner::begin(text);
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        // Most text is runs of ASCII letters, which are scanned as a whole.
        if byte.is_ascii_alphanumeric() {
            let run = count_leading(&text.as_bytes()[at..], |byte| byte.is_ascii_alphanumeric());
            marks.letters(at, run);
            at += run;
        } else if *byte == b' ' {
            marks.blank();
            at += 1;
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            marks.character(at, c);
            at += c.len_utf8();
        }
    }
    (marks.words, marks.total)
}

/// The state of a scan over the words of a text.
struct WordScanner {
    words: Vec<WordStart>,
    total: usize,
    border: CutBoundary,
    /// The number of letters in the current run; every [`MAX_WORD_LETTERS`] of them start a new word.
    letters: usize,
    blank_line: bool,
    ended: bool,
}

impl WordScanner {
    /// Starts before the first character.
    fn begin(text: &str) -> Self {
        Self {
            words: Vec::with_capacity(text.len() / 5),
            total: 0,
            border: CutBoundary::Paragraph,
            letters: 0,
            blank_line: true,
            ended: false,
        }
    }

    /// Adds `count` letters of one byte each.
    fn letters(&mut self, at: usize, count: usize) {
        // Nearly every run is a single word.
        if self.letters == 0 && count <= MAX_WORD_LETTERS {
            self.words.push(WordStart { at, before: self.total, border: self.border });
            self.total += HALVES_PER_WORD;
            (self.letters, self.border, self.blank_line, self.ended) =
                (count, CutBoundary::Inside, false, false);
            return;
        }
        let first = (MAX_WORD_LETTERS - self.letters % MAX_WORD_LETTERS) % MAX_WORD_LETTERS;
        for nth in (first..count).step_by(MAX_WORD_LETTERS) {
            let border = if self.letters + nth == 0 { self.border } else { CutBoundary::Inside };
            self.words.push(WordStart { at: at + nth, before: self.total, border });
            self.total += HALVES_PER_WORD;
        }
        self.letters += count;
        (self.border, self.blank_line, self.ended) = (CutBoundary::Inside, false, false);
    }

    /// Adds white space other than a line break.
    fn blank(&mut self) {
        self.letters = 0;
        self.border = self.border.max(if self.ended { CutBoundary::Sentence } else { CutBoundary::Word });
    }

    fn character(&mut self, at: usize, c: char) {
        if !c.is_ascii() && is_unspaced(c) {
            self.words.push(WordStart { at, before: self.total, border: self.border });
            self.total += 1;
            (self.border, self.letters, self.blank_line, self.ended) = (CutBoundary::Word, 0, false, false);
        } else if c.is_alphanumeric() {
            self.letters(at, 1);
        } else {
            self.letters = 0;
            match c {
                '\n' if self.blank_line => self.border = CutBoundary::Paragraph,
                '\n' => (self.border, self.blank_line) = (self.border.max(CutBoundary::Line), true),
                '。' | '！' | '？' => self.border = self.border.max(CutBoundary::Sentence),
                '.' | '!' | '?' => self.ended = true,
                _ if c.is_whitespace() => self.blank(),
                // Closing brackets and quotes keep the end of a sentence.
                _ => self.ended &= matches!(c, ')' | '"' | '\'' | '”' | '’' | '»' | ']'),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(count: usize) -> String {
        (0..count).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ")
    }

    fn counted(text: &str) -> usize {
        marks(text).1.div_ceil(HALVES_PER_WORD)
    }

    #[test]
    fn short_texts_are_one_window_and_empty_ones_none() {
        assert_eq!(windows(""), []);
        assert_eq!(windows(" \n\t "), []);
        for text in ["one", "…", &words(WINDOW_WORDS)] {
            assert_eq!(windows(text), [TextWindow { start: 0, end: text.len() }]);
        }
    }

    #[test]
    fn sto_13_long_texts_are_split_with_overlap() {
        let text = words(WINDOW_WORDS + 1);
        let found = windows(&text);
        assert_eq!(found.len(), 2);
        assert!(
            counted(&text[..found[0].end]) <= WINDOW_WORDS
                && counted(&text[..found[0].end]) >= WINDOW_WORDS - BOUNDARY_SLACK_WORDS
        );
        assert!(counted(&text[..found[1].start]) <= WINDOW_STRIDE_WORDS);
        assert_eq!(windows(&words(WINDOW_WORDS + WINDOW_STRIDE_WORDS)).len(), 2);
        assert_eq!(windows(&words(WINDOW_WORDS + WINDOW_STRIDE_WORDS + 1)).len(), 3);
    }

    #[test]
    fn windows_begin_where_lines_and_sentences_do() {
        let sentence = "The staging database listens on another port. ";
        let text = sentence.repeat(60);
        for window in windows(&text) {
            assert!(text[window.start..].starts_with("The staging"));
        }
        let text = text.replacen("The staging", "\n\nThe staging", 20);
        let found = windows(&text);
        assert!(text[..found[1].start].ends_with("\n\n"), "{:?}", &text[found[1].start..][..40]);
    }

    #[test]
    fn scripts_without_spaces_count_by_halves() {
        assert_eq!(windows(&"設".repeat(2 * WINDOW_WORDS)).len(), 1);
        assert_eq!(windows(&"設".repeat(2 * WINDOW_WORDS + 1)).len(), 2);
    }

    #[test]
    fn long_runs_count_as_several_words() {
        assert_eq!(windows(&"x".repeat(WINDOW_WORDS * MAX_WORD_LETTERS)).len(), 1);
        assert_eq!(windows(&"x".repeat(WINDOW_WORDS * MAX_WORD_LETTERS + 1)).len(), 2);
    }

    #[test]
    fn huge_texts_have_few_windows() {
        let text = words(500_000);
        let found = windows(&text);
        assert_eq!(found.len(), MAX_WINDOWS);
        assert_eq!(found.last().map(|window| window.end), Some(text.len()));
    }

    #[test]
    fn windows_keep_their_place() {
        let text = "one\ntwo\n\nthree\n";
        assert_eq!(lines(text, TextWindow { start: 0, end: text.len() }), (1, 4));
        assert_eq!(lines(text, TextWindow { start: 4, end: 8 }), (2, 2));
        assert_eq!(lines(text, TextWindow { start: 7, end: 15 }), (4, 4));
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(|c| String::from(c).repeat(7)),
            "([a-z]{1,12}[ .]{1,2}){1,40}",
            "[a-z]{1,30}\n{0,3}",
            Just("設定を変更。".repeat(9)),
            Just("x".repeat(400)),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    /// Scans character by character, as a reference.
    fn slow_marks(text: &str) -> (Vec<(usize, usize, CutBoundary)>, usize) {
        let mut marks = WordScanner::begin(text);
        text.char_indices().for_each(|(at, c)| marks.character(at, c));
        (marks.words.iter().map(|mark| (mark.at, mark.before, mark.border)).collect(), marks.total)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn runs_of_letters_are_taken_as_their_letters_would_be(text in "([a-z0-9]{0,25}|[é設。. \\n)\"]|\\PC){0,40}") {
            let (found, total) = marks(&text);
            let found = found.iter().map(|mark| (mark.at, mark.before, mark.border)).collect();
            prop_assert_eq!((found, total), slow_marks(&text));
        }

        #[test]
        fn windows_cover_the_text_in_order(text in texts()) {
            let found = windows(&text);
            prop_assert!(found.len() <= MAX_WINDOWS);
            prop_assert_eq!(found.is_empty(), text.trim().is_empty());
            for window in &found {
                prop_assert!(text.is_char_boundary(window.start) && text.is_char_boundary(window.end));
                prop_assert!(window.start < window.end);
                let (first, last) = lines(&text, *window);
                prop_assert!(first <= last && last as usize <= text.split('\n').count());
            }
            if let (Some(first), Some(last)) = (found.first(), found.last()) {
                prop_assert_eq!((first.start, last.end), (0, text.len()));
            }
            for pair in found.windows(2) {
                prop_assert!(pair[0].start < pair[1].start && pair[0].end < pair[1].end);
                prop_assert!(counted(&text[pair[1].start..pair[0].end]) >= WINDOW_WORDS - WINDOW_STRIDE_WORDS - BOUNDARY_SLACK_WORDS);
            }
            if found.len() < MAX_WINDOWS {
                // A cut inside a word counts the word twice.
                prop_assert!(found.iter().all(|w| counted(&text[w.start..w.end]) <= WINDOW_WORDS + BOUNDARY_SLACK_WORDS + 1));
            }
        }
    }
}
