//! Exceptions to the stemmer: function words, and irregular forms.

use super::hash::hash;

/// The special treatment of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KnownWord {
    /// A function word, which is not indexed.
    Stop,
    /// The stem of an irregular form.
    Stem(&'static str),
}

/// English function words. Contractions have no apostrophe, unless that makes a different word (shell, well).
/// Words that a rule may depend on (never, always, without, first) are not listed, nor is the month of May.
const STOP_WORDS: &str = "a about after all also am an and any are arent as at be because been before being between both \
    but by can cannot cant could couldnt did didnt do does doesnt doing dont during e.g each etc for from further had \
    hadnt has hasnt have havent having he hed her here heres hers herself hes him himself his how hows i i.e \
    if im in into is isnt it itd itll its itself ive just lets me might more most much must my myself no nor not \
    of off on only or other our ours ourselves out over own same shall shant she shes should shouldnt so \
    some such than that thats the their theirs them themselves then there theres these they theyd theyll theyre theyve \
    this those through to too under until up upon us very was wasnt we were werent weve what whats when whens \
    where wheres whether which while who whom whos whose why whys will with wont would wouldnt you youd youll your \
    youre yours yourself yourselves youve a.m p.m";

/// Irregular forms, and words that look like a form of another one. A word paired with itself stays as it is.
const STEMS: [(&str, &str); 193] = [
    // The ending is part of the word.
    ("customer", "customer"),
    ("customers", "customer"),
    ("department", "department"),
    ("departments", "department"),
    ("apartment", "apartment"),
    ("apartments", "apartment"),
    ("business", "business"),
    ("businesses", "business"),
    ("witness", "witness"),
    ("harness", "harness"),
    ("early", "early"),
    ("evening", "evening"),
    ("evenings", "evening"),
    ("embed", "embed"),
    ("embeds", "embed"),
    ("exceed", "exceed"),
    ("exceeds", "exceed"),
    ("exceeded", "exceed"),
    ("exceeding", "exceed"),
    ("proceed", "proceed"),
    ("proceeds", "proceed"),
    ("succeed", "succeed"),
    ("succeeds", "succeed"),
    ("news", "news"),
    ("always", "always"),
    ("perhaps", "perhaps"),
    ("alias", "alias"),
    ("aliases", "alias"),
    ("bias", "bias"),
    ("biases", "bias"),
    ("canvas", "canvas"),
    ("canvases", "canvas"),
    ("atlas", "atlas"),
    ("pandas", "pandas"),
    ("kubernetes", "kubernetes"),
    ("postgres", "postgres"),
    ("jenkins", "jenkins"),
    ("gas", "gas"),
    ("bus", "bus"),
    ("buses", "bus"),
    ("virus", "virus"),
    ("viruses", "virus"),
    ("status", "status"),
    ("statuses", "status"),
    ("focus", "focus"),
    ("focuses", "focus"),
    ("security", "secur"),
    ("reference", "refer"),
    ("references", "refer"),
    ("referenced", "refer"),
    ("analysis", "analys"),
    ("analyses", "analys"),
    ("paste", "paste"),
    ("pastes", "paste"),
    ("pasted", "paste"),
    ("pasting", "paste"),
    // Irregular plurals of nouns.
    ("children", "child"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("teeth", "tooth"),
    ("mice", "mous"),
    ("indices", "index"),
    ("matrices", "matrix"),
    ("vertices", "vertex"),
    ("criteria", "criterion"),
    ("schemata", "schema"),
    ("wives", "wife"),
    ("knives", "knife"),
    ("shelves", "shelf"),
    ("halves", "half"),
    // Irregular forms of verbs.
    ("ate", "eat"),
    ("eaten", "eat"),
    ("began", "begin"),
    ("begun", "begin"),
    ("bought", "buy"),
    ("bring", "bring"),
    ("brought", "bring"),
    ("broke", "break"),
    ("broken", "break"),
    ("built", "build"),
    ("came", "come"),
    ("caught", "catch"),
    ("chose", "choos"),
    ("chosen", "choos"),
    ("dealt", "deal"),
    ("died", "die"),
    ("dying", "die"),
    ("drank", "drink"),
    ("drawn", "draw"),
    ("drew", "draw"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("fallen", "fall"),
    ("fell", "fall"),
    ("felt", "feel"),
    ("flew", "fly"),
    ("flown", "fly"),
    ("fly", "fly"),
    ("flies", "fly"),
    ("flying", "fly"),
    ("forgot", "forget"),
    ("forgotten", "forget"),
    ("fought", "fight"),
    ("found", "find"),
    ("froze", "freez"),
    ("frozen", "freez"),
    ("gave", "give"),
    ("given", "give"),
    ("goes", "go"),
    ("going", "go"),
    ("gone", "go"),
    ("went", "go"),
    ("got", "get"),
    ("gotten", "get"),
    ("grew", "grow"),
    ("grown", "grow"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hid", "hide"),
    ("hidden", "hide"),
    ("kept", "keep"),
    ("knew", "know"),
    ("known", "know"),
    ("laid", "lay"),
    ("learnt", "learn"),
    ("led", "lead"),
    ("lent", "lend"),
    ("lie", "lie"),
    ("lies", "lie"),
    ("lying", "lie"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("met", "meet"),
    ("paid", "pay"),
    ("ran", "run"),
    ("rode", "ride"),
    ("ridden", "ride"),
    ("said", "say"),
    ("sang", "sing"),
    ("sung", "sing"),
    ("saw", "see"),
    ("seen", "see"),
    ("sent", "send"),
    ("shaken", "shake"),
    ("shook", "shake"),
    ("shot", "shoot"),
    ("shown", "show"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("spoke", "speak"),
    ("spoken", "speak"),
    ("stole", "steal"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("stuck", "stick"),
    ("swam", "swim"),
    ("swum", "swim"),
    ("taken", "take"),
    ("took", "take"),
    ("taught", "teach"),
    ("thought", "think"),
    ("threw", "throw"),
    ("thrown", "throw"),
    ("told", "tell"),
    ("tore", "tear"),
    ("torn", "tear"),
    ("tying", "tie"),
    ("understood", "understand"),
    ("woke", "wake"),
    ("woken", "wake"),
    ("won", "win"),
    ("wore", "wear"),
    ("worn", "wear"),
    ("written", "write"),
    ("wrote", "write"),
    ("overridden", "overrid"),
    ("overrode", "overrid"),
    ("override", "overrid"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrit"),
    ("rewrote", "rewrit"),
    ("reran", "rerun"),
    ("spun", "spin"),
    ("split", "split"),
    ("bound", "bound"),
    ("hung", "hang"),
    ("sought", "seek"),
    ("struck", "strike"),
    ("drunk", "drink"),
    ("quizzes", "quiz"),
];

const TABLE_SLOTS: usize = 1024;

/// An open-addressing table over term hashes. No two listed words share a hash (a test checks it), so the
/// hash identifies the word.
static TABLE: [(u64, Option<KnownWord>); TABLE_SLOTS] = table();

const fn table() -> [(u64, Option<KnownWord>); TABLE_SLOTS] {
    let mut table = [(0, None); TABLE_SLOTS];
    let bytes = STOP_WORDS.as_bytes();
    let (mut from, mut at) = (0, 0);
    while at <= bytes.len() {
        if at == bytes.len() || bytes[at] == b' ' {
            let (_, rest) = bytes.split_at(from);
            let (word, _) = rest.split_at(at - from);
            if let Ok(word) = std::str::from_utf8(word)
                && !word.is_empty()
            {
                insert(&mut table, word, KnownWord::Stop);
            }
            from = at + 1;
        }
        at += 1;
    }
    let mut next = 0;
    while next < STEMS.len() {
        insert(&mut table, STEMS[next].0, KnownWord::Stem(STEMS[next].1));
        next += 1;
    }
    table
}

const fn insert(table: &mut [(u64, Option<KnownWord>); TABLE_SLOTS], word: &str, known: KnownWord) {
    let hash = hash(word);
    let mut slot = hash as usize % TABLE_SLOTS;
    while table[slot].1.is_some() && table[slot].0 != hash {
        slot = (slot + 1) % TABLE_SLOTS;
    }
    table[slot] = (hash, Some(known));
}

/// The special treatment of a word in lower case without apostrophes, if any.
pub(super) fn lookup(word: &str) -> Option<KnownWord> {
    let wanted = hash(word);
    let mut slot = wanted as usize % TABLE_SLOTS;
    loop {
        match TABLE[slot] {
            (hash, Some(known)) if hash == wanted => return Some(known),
            (_, None) => return None,
            _ => slot = (slot + 1) % TABLE_SLOTS,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_word_is_in_the_table_once() {
        let stop: Vec<&str> = STOP_WORDS.split_whitespace().collect();
        let all: Vec<&str> = stop.iter().copied().chain(STEMS.iter().map(|(word, _)| *word)).collect();
        let distinct: HashSet<&str> = all.iter().copied().collect();
        let hashes: HashSet<u64> = all.iter().map(|word| hash(word)).collect();
        assert_eq!((distinct.len(), hashes.len()), (all.len(), all.len()));
        for word in &stop {
            assert_eq!(lookup(word), Some(KnownWord::Stop), "{word}");
        }
        for (word, stem) in STEMS {
            assert_eq!(lookup(word), Some(KnownWord::Stem(stem)), "{word}");
        }
        for word in ["shell", "hell", "memory", "", "never"] {
            assert_eq!(lookup(word), None, "{word}");
        }
    }
}
