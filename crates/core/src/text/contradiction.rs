//! Detects statements that contradict each other: the same subject with another number or the opposite
//! (shared with the trust pass of recall), or the same sentence with one value replaced.

use crate::text::terms;
use crate::text::word_sets::WordSet;

/// Words that make a statement a rule, in the languages of the offline rules.
pub(crate) const RULE_WORDS: [&str; 12] = [
    "always",
    "never",
    "immer",
    "nie",
    "niemals",
    "siempre",
    "nunca",
    "toujours",
    "jamais",
    "sempre",
    "всегда",
    "никогда",
];

/// The maximum number of differing terms on either side of a replaced value.
const MAX_DIFFERENT_TERMS: usize = 2;
/// Verbs whose object is the value, not the subject.
const CHOICE_VERBS: [&str; 3] = ["use", "prefer", "choos"];

/// More words that make a statement a rule. Rules about different objects do not contradict each other,
/// because two things can both be required always.
const FREQUENCY_WORDS: [&str; 2] = ["every", "each"];

/// A statement prepared for comparison with others.
#[derive(Clone, Debug)]
pub(crate) struct ComparableStatement {
    words: WordSet,
    sequence: Vec<String>,
}

impl ComparableStatement {
    pub(crate) fn from_text(text: &str) -> Self {
        Self { words: WordSet::from_text(text), sequence: sequence(text) }
    }

    /// True if two statements contradict each other.
    pub(crate) fn contradicts(&self, other: &Self) -> bool {
        self.words.contradicts(&other.words) || is_other_value(&self.sequence, &other.sequence)
    }

    /// True if the statements differ only in one or two words at the same place, be it the subject or a
    /// value.
    pub(crate) fn differs_by_substitution(&self, other: &Self) -> bool {
        let (one, other) = (&self.sequence, &other.sequence);
        let (before, behind) = common(one, other);
        let differs = |all: usize| (1..=MAX_DIFFERENT_TERMS).contains(&(all - before - behind));
        before + behind > 0 && differs(one.len()) && differs(other.len())
    }
}

/// The lengths of the common prefix and of the common suffix of the rest.
fn common(one: &[String], other: &[String]) -> (usize, usize) {
    let shorter = one.len().min(other.len());
    let before = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let rest = one.iter().rev().zip(other.iter().rev()).take(shorter - before);
    (before, rest.take_while(|(a, b)| a == b).count())
}

/// True if the statements differ in one or two words outside of the subject:
/// `deploys go to the blue cluster`, `… the green cluster`.
fn is_other_value(one: &[String], other: &[String]) -> bool {
    let shorter = one.len().min(other.len());
    let (before, behind) = common(one, other);
    if before == shorter {
        // One statement contains the other.
        return false;
    }
    let differs = |all: usize| (1..=MAX_DIFFERENT_TERMS).contains(&(all - before - behind));
    let is_one_of =
        |term: Option<&String>, list: &[&str]| term.is_some_and(|term| list.contains(&term.as_str()));
    let obliges = one[..before]
        .iter()
        .any(|term| is_one_of(Some(term), &RULE_WORDS) || is_one_of(Some(term), &FREQUENCY_WORDS));
    if obliges && !is_one_of(one[..before].last(), &CHOICE_VERBS) {
        return false;
    }
    let chosen =
        one.first().is_some_and(|first| CHOICE_VERBS.contains(&first.as_str())) && before == 1 && behind >= 1;
    differs(one.len()) && differs(other.len()) && (chosen || (before >= 2 && before + behind >= 3))
}

/// The terms of a text in order, with an identifier as a whole and not in its parts.
fn sequence(text: &str) -> Vec<String> {
    let mut all: Vec<(u32, String)> = Vec::new();
    terms::each_term(text, |term| {
        // The whole identifier follows its parts. It replaces them, at the position of the first.
        if term.identifier {
            all.retain(|(word, _)| *word < term.word);
        }
        all.push((term.word, term.text.to_owned()));
    });
    all.into_iter().map(|(_, term)| term).collect()
}

/// Negations, in the languages of the offline rules.
const NEGATION_WORDS: [&str; 38] = [
    "not",
    "never",
    "no",
    "none",
    "don't",
    "dont",
    "doesn't",
    "isn't",
    "can't",
    "cannot",
    "won't",
    "mustn't",
    "shouldn't",
    "without",
    "avoid",
    "stop",
    "disabled",
    "nicht",
    "nie",
    "niemals",
    "kein",
    "keine",
    "keinen",
    "ohne",
    "nunca",
    "jamás",
    "sin",
    "jamais",
    "pas",
    "sans",
    "não",
    "sem",
    "не",
    "никогда",
    "нельзя",
    "нет",
    "без",
    "nada",
];
const DENSE_NEGATION_WORDS: [&str; 9] =
    ["ない", "ません", "禁止", "不要", "不能", "不得", "别", "勿", "禁用"];

/// Words that compare two things, so that the order of the two matters.
const COMPARISON_WORDS: [&str; 21] = [
    "instead",
    "rather",
    "than",
    "over",
    "from",
    "replaced",
    "replaces",
    "statt",
    "anstatt",
    "sondern",
    "als",
    "von",
    "lugar",
    "vez",
    "desde",
    "lieu",
    "plutôt",
    "depuis",
    "вместо",
    "из",
    "на",
];
const DENSE_COMPARISON_WORDS: [&str; 4] = ["ではなく", "代わり", "而不是", "代替"];

/// True if a statement contains a negation.
pub(crate) fn turns(text: &str) -> bool {
    before_negation(text).is_some()
}

/// The text in front of the first negation. `None` if there is no negation.
pub(crate) fn before_negation(text: &str) -> Option<&str> {
    let mut from = 0;
    for word in text.split_whitespace() {
        let at = from + text[from..].find(word)?;
        from = at + word.len();
        let bare = word.to_lowercase().replace('’', "'");
        if NEGATION_WORDS.contains(&bare.trim_matches(|c: char| !c.is_alphanumeric())) {
            return Some(&text[..at]);
        }
    }
    // Scripts without spaces put the negation last.
    DENSE_NEGATION_WORDS.iter().any(|sign| text.contains(sign)).then_some("")
}

/// True if a statement contains a comparison or a negation.
pub(crate) fn is_comparison(text: &str) -> bool {
    let has = |word: &str| {
        let bare = word.to_lowercase();
        COMPARISON_WORDS.contains(&bare.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    turns(text)
        || text.split_whitespace().any(has)
        || DENSE_COMPARISON_WORDS.iter().any(|sign| text.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts_contradict(one: &str, other: &str) -> bool {
        ComparableStatement::from_text(one).contradicts(&ComparableStatement::from_text(other))
    }

    #[test]
    fn another_number_the_opposite_and_another_value_contradict() {
        for (one, other) in [
            ("Staging Postgres listens on port 5432.", "Staging Postgres listens on port 5433."),
            (
                "The deploy script uses the blue cluster first.",
                "The deploy script never uses the blue cluster first.",
            ),
            ("Deploys go through the blue cluster", "Deploys go through the green cluster"),
            ("Use npm for scripts", "Use pnpm for scripts"),
            ("The parser tests live in tests/parser.rs", "The parser tests live in tests/grammar.rs"),
            ("Ada prefers tabs in Go", "Ada prefers spaces in Go"),
            ("Always use npm for the scripts", "Always use pnpm for the scripts"),
            ("Always squash the commits of a branch", "Never squash the commits of a branch"),
        ] {
            assert!(texts_contradict(one, other) && texts_contradict(other, one), "{one} / {other}");
        }
    }

    #[test]
    fn different_subjects_and_additions_do_not() {
        for (one, other) in [
            ("Module parser owns the config grammar", "Module lexer owns the config grammar"),
            ("Ada prefers tabs", "Ada prefers short answers"),
            ("Run tests with cargo", "Run benches with cargo"),
            ("Use npm for scripts", "Use npm for scripts in the web folder"),
            ("Staging Postgres listens on port 5432.", "Redis needs version 7 or later."),
            ("Tests for the parser are slow", "Tests for the lexer are slow"),
            (
                "From now on always check gauge_30 before a release.",
                "From now on always check gauge_35 before a release.",
            ),
            ("Always run cargo fmt before a commit", "Always run cargo clippy before a commit"),
            ("Never delete lock files of a living process", "Never delete log files of a living process"),
            ("", "x"),
        ] {
            assert!(!texts_contradict(one, other) && !texts_contradict(other, one), "{one} / {other}");
        }
    }

    #[test]
    fn negations_in_several_languages() {
        for text in [
            "never push",
            "Don’t amend",
            "nicht ändern",
            "no usar npm, nunca",
            "ne pas toucher",
            "не трогать",
            "触らないで",
            "不要改",
        ] {
            assert!(turns(text), "{text}");
        }
        assert!(!turns("Notes go to the nested folder"));
        assert_eq!(before_negation("Use pnpm, never npm"), Some("Use pnpm, "));
        assert!(
            is_comparison("pnpm instead of npm")
                && is_comparison("Moved from Redis to SQLite")
                && !is_comparison("Use pnpm")
        );
    }
}
