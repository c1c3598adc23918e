//! An English stemmer after Porter's second, without the endings that conflate unrelated words (`important`
//! and `import`, `authority` and `author`, `position` and `positive`).
//!
//! Of its last steps only the endings remain that are common in developers' notes: deploy, deployment,
//! deploying; configure, configuration; depend, dependency. `known` lists the exceptions.

/// Stems a word of lower-case ASCII letters in place. Any other word stays as it is.
pub(super) fn stem(word: &mut String) {
    if word.len() < 3 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return;
    }
    let last = |word: &str| word.as_bytes().last().copied().unwrap_or_default();
    // Each step first tests the last letter, because most words are unaffected by most steps.
    if !matches!(last(word), b's' | b'd' | b'g' | b'y' | b'l' | b'n' | b'r' | b't' | b'e') {
        return;
    }
    let (first, second) = regions(word.as_bytes());
    if matches!(last(word), b's' | b'd') {
        plural(word);
    }
    if matches!(last(word), b'd' | b'g' | b'y') {
        past_and_progressive(word, first);
    }
    last_y(word);
    if matches!(last(word), b'i' | b'l' | b'n' | b'r' | b's') {
        derived(word, first);
    }
    if matches!(last(word), b'e' | b'n' | b'r' | b't') {
        residue(word, second);
    }
    last_letter(word, first, second);
}

/// True for a vowel; `y` is a consonant at the start and after a vowel.
fn is_vowel(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'y' => at > 0 && !is_vowel(word, at - 1),
        // One bit for each of a, e, i, o, u.
        letter => 0x10_4111 >> (letter & 31).wrapping_sub(1) & 1 == 1,
    }
}

fn has_vowel(word: &[u8]) -> bool {
    (0..word.len()).any(|at| is_vowel(word, at))
}

/// The regions R1 and R2: the text after the first consonant behind a vowel, and the same again inside of it.
/// Endings are removed only there, so that short words keep theirs.
fn regions(word: &[u8]) -> (usize, usize) {
    let after = |from: usize| {
        (from + 1..word.len())
            .find(|at| is_vowel(word, at - 1) && !is_vowel(word, *at))
            .map_or(word.len(), |at| at + 1)
    };
    let first = after(0);
    (first, if first < word.len() { after(first) } else { first })
}

/// Removes the last `count` letters.
fn truncate_end(word: &mut String, count: usize) {
    word.truncate(word.len().saturating_sub(count));
}

fn plural(word: &mut String) {
    let length = word.len();
    match word.as_bytes() {
        [.., b's', b's', b'e', b's'] | [.., b'x' | b'z', b'e', b's'] => truncate_end(word, 2),
        [.., b'c' | b's', b'h', b'e', b's'] if length > 5 => truncate_end(word, 2),
        [.., b'i', b'e', b's' | b'd'] => truncate_end(word, if length > 4 { 2 } else { 1 }),
        [.., b's', b's'] => {}
        // `status` and `redis` are not plurals, `gpus` and `apis` are.
        [.., b'u' | b'i', b's'] if length != 4 => {}
        [before @ .., _, b's'] if has_vowel(before) || matches!(word.as_bytes(), [_, b'p', b'u', b's']) => {
            truncate_end(word, 1);
        }
        _ => {}
    }
}

fn past_and_progressive(word: &mut String, first: usize) {
    for ending in ["eedly", "eed"] {
        if word.ends_with(ending) {
            if word.len() - ending.len() >= first {
                truncate_end(word, ending.len() - 2);
            }
            return;
        }
    }
    let endings = ["ingly", "edly", "ing", "ed"];
    let Some(ending) = endings.into_iter().find(|ending| word.ends_with(ending)) else { return };
    let kept = word.len() - ending.len();
    if !has_vowel(&word.as_bytes()[..kept]) {
        return;
    }
    word.truncate(kept);
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if kept > 3 && ends_doubled(word) {
        truncate_end(word, 1);
    } else if first >= kept && ends_short(word.as_bytes()) {
        word.push('e');
    }
}

fn ends_doubled(word: &str) -> bool {
    ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"].iter().any(|end| word.ends_with(end))
}

/// True if a word ends with a vowel between two consonants (`hop`), or is a two-letter word such as `us`.
fn ends_short(word: &[u8]) -> bool {
    let at = word.len();
    match at {
        0 | 1 => false,
        2 => is_vowel(word, 0) && !is_vowel(word, 1),
        _ => {
            !is_vowel(word, at - 1)
                && !matches!(word[at - 1], b'w' | b'x' | b'y')
                && is_vowel(word, at - 2)
                && !is_vowel(word, at - 3)
        }
    }
}

/// Replaces a final `y` as in `retry`, to match `retries`.
fn last_y(word: &mut String) {
    if let [.., _, before, b'y'] = word.as_bytes()
        && !matches!(before, b'a' | b'e' | b'i' | b'o' | b'u')
    {
        truncate_end(word, 1);
        word.push('i');
    }
}

/// Derivational endings, longest first, with their replacements.
const DERIVATIONAL_SUFFIXES: [(&str, &str); 23] = [
    ("ization", "ize"),
    ("ational", "ate"),
    ("iveness", "ive"),
    ("icalli", "ic"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("logi", "log"),
    ("ness", ""),
    ("bli", "ble"),
    ("li", ""),
];

fn derived(word: &mut String, first: usize) {
    // The last two letters rule out all endings for most words.
    let may_end = matches!(
        word.as_bytes(),
        [.., b'l' | b't' | b'c' | b'g', b'i']
            | [.., b'o', b'n']
            | [.., b'a', b'l']
            | [.., b's', b's']
            | [.., b'e' | b'o', b'r']
    );
    if !may_end {
        return;
    }
    let found = DERIVATIONAL_SUFFIXES.iter().find(|(ending, _)| word.ends_with(ending));
    let Some((ending, leaves)) = found else { return };
    let kept = word.len() - ending.len();
    let before = word.as_bytes()[..kept].last();
    let is_adverb = before
        .is_some_and(|b| matches!(b, b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't'));
    if kept < first || (*ending == "li" && !is_adverb) {
        return;
    }
    word.truncate(kept);
    word.push_str(leaves);
    if *leaves == "al" && kept >= first && word.ends_with("tional") {
        truncate_end(word, 2);
    }
}

/// Endings that are removed from long words.
const RESIDUAL_SUFFIXES: [&str; 8] = ["ement", "ance", "ence", "able", "ment", "ate", "ion", "er"];

fn residue(word: &mut String, second: usize) {
    if !matches!(
        word.as_bytes(),
        [.., b'n', b't'] | [.., b'c' | b'l' | b't', b'e'] | [.., b'o', b'n'] | [.., b'e', b'r']
    ) {
        return;
    }
    let Some(ending) = RESIDUAL_SUFFIXES.into_iter().find(|ending| word.ends_with(ending)) else { return };
    let kept = word.len() - ending.len();
    let before = word.as_bytes()[..kept].last().copied();
    if kept < second || (ending == "ion" && !matches!(before, Some(b's' | b't'))) {
        return;
    }
    word.truncate(kept);
    if ending == "er" && ends_doubled(word) {
        truncate_end(word, 1);
    }
}

fn last_letter(word: &mut String, first: usize, second: usize) {
    let last = word.len().saturating_sub(1);
    match word.as_bytes() {
        [before @ .., b'e'] if last >= second || (last >= first && !ends_short(before)) => {
            truncate_end(word, 1);
        }
        [.., b'l', b'l'] if last >= second => truncate_end(word, 1),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::terms::stemmed;

    #[test]
    fn no_ending_is_passed_over() {
        for (ending, leaves) in DERIVATIONAL_SUFFIXES {
            let mut word = format!("bacad{ending}");
            derived(&mut word, 3);
            // After a `d` every adverb is regular, and `al` behind `tion` is removed as well.
            assert!(word.starts_with(&format!("bacad{}", leaves.trim_end_matches("al"))), "{ending}: {word}");
            assert_ne!(word, format!("bacad{ending}"), "{ending}");
        }
        for ending in RESIDUAL_SUFFIXES {
            let mut word = format!("bacat{ending}");
            residue(&mut word, 3);
            assert_eq!(word, "bacat", "{ending}");
        }
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            "cache caches cached caching",
            "code codes coded coding",
            "run runs running ran",
            "use uses used using",
            "retry retries retried retrying",
            "query queries querying queried",
            "deploy deploys deployed deploying deployment deployments",
            "configure configures configured configuring configuration configurations",
            "migrate migrates migrated migrating migration migrations",
            "delete deletes deleted deleting deletion",
            "depend depends depended depending dependency dependencies dependence",
            "index indexes indexed indexing indices",
            "embed embeds embedded embedding embeddings",
            "install installs installed installing installation",
            "validate validates validated validating validation validator",
            "tokenize tokenizes tokenizer tokenization tokenizing",
            "authorize authorized authorization",
            "format formats formatted formatting formatter",
            "compile compiles compiled compiling compiler",
            "manage manages managed managing manager management",
            "control controls controlled controlling controller",
            "add adds added adding",
            "log logs logged logging",
            "box boxes boxed",
            "match matches matched matching",
            "process processes processed processing",
            "status statuses",
            "database databases",
            "quick quickly",
            "automatic automatically",
            "function functions functional functionality",
            "available availability",
            "active activity activities",
            "secure secured security",
            "write writes writing wrote written",
            "child children",
            "api apis",
            "gpu gpus",
            "url urls",
            "schedule schedules scheduled scheduler scheduling",
            "connect connects connected connecting connection connections",
            "refer refers referred reference references",
            "prefer preferred preference preferences",
            "ready readiness",
        ] {
            let stems: Vec<String> = forms.split(' ').map(stemmed).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn unrelated_words_stay_apart() {
        for (one, other) in [
            ("import", "important"),
            ("author", "authority"),
            ("author", "authorize"),
            ("position", "positive"),
            ("custom", "customer"),
            ("general", "generate"),
            ("person", "personal"),
            ("origin", "original"),
            ("terminal", "terminate"),
            ("response", "responsible"),
            ("organ", "organization"),
            ("busy", "business"),
            ("prior", "priority"),
            ("integrate", "integrity"),
            ("depart", "department"),
            ("doc", "dock"),
            ("server", "serve"),
            ("user", "use"),
            ("number", "numb"),
            ("string", "str"),
            ("test", "testament"),
            ("past", "paste"),
            ("even", "evening"),
            ("ear", "early"),
            ("new", "news"),
            ("stat", "status"),
            ("policy", "police"),
            ("universal", "university"),
        ] {
            assert_ne!(stemmed(one), stemmed(other), "{one} {other}");
        }
    }

    #[test]
    fn short_words_and_codes_stay_whole() {
        for word in ["as", "is", "go", "sha256", "e0277", "red", "sing", "ring", "class", "redis", "straße"]
        {
            let mut own = word.to_owned();
            stem(&mut own);
            assert_eq!(own, word);
        }
    }

    proptest! {
        #[test]
        fn any_letters_are_stemmed_without_harm(word in "[a-z]{0,64}") {
            let mut own = word.clone();
            stem(&mut own);
            prop_assert!(own.len() <= word.len() + 1);
            prop_assert!(word.is_empty() || !own.is_empty());
            prop_assert_eq!(own.bytes().next(), word.bytes().next());
        }
    }
}
