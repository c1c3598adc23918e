//! One generated memory: its topic, and 60 to 120 words of text about it.

use super::random::{SplitMix64, ZipfRanks};
use super::words;

/// The fewest words of a memory.
pub const MIN_WORDS: usize = 60;
/// The largest number of words of a memory.
pub const MAX_WORDS: usize = 120;
/// The number of made-up names of services and projects.
const NAME_COUNT: usize = 40_000;
/// The Zipf exponent of word lists, close to that of English.
const ZIPF_EXPONENT: f64 = 0.9;

/// A list of words with their frequencies.
struct WeightedWords {
    words: Vec<&'static str>,
    zipf: ZipfRanks,
}

impl WeightedWords {
    fn of(words: &'static str) -> Self {
        let words: Vec<_> = words.split_whitespace().collect();
        Self { zipf: ZipfRanks::new(words.len(), ZIPF_EXPONENT), words }
    }

    fn draw(&self, random: &mut SplitMix64) -> &'static str {
        self.words[self.zipf.draw(random)]
    }
}

/// The vocabulary and grammar of generated texts; made once.
pub struct TextGenerator {
    topics: Vec<WeightedWords>,
    topic: ZipfRanks,
    names: ZipfRanks,
    sentences: ZipfRanks,
    determiners: WeightedWords,
    things: WeightedWords,
    verbs: WeightedWords,
    adjectives: WeightedWords,
    adverbs: WeightedWords,
    people: WeightedWords,
    days: WeightedWords,
    units: WeightedWords,
    places: WeightedWords,
    kinds: Vec<&'static str>,
}

/// A generated memory, before it is written to a store.
#[derive(Clone, Debug)]
pub struct GeneratedMemory {
    /// The position in the corpus, from 0.
    pub index: usize,
    /// The text of the memory.
    pub text: String,
    /// The field of work, as an index into [`words::TOPICS`].
    pub topic: usize,
    /// The kind of the memory, which is also its folder.
    pub kind: &'static str,
    /// The names and words that the text is about.
    pub about: MemorySubject,
}

/// The subject shared by all sentences of one memory; questions are made from it.
#[derive(Clone, Debug)]
pub struct MemorySubject {
    /// The main noun, slot `{s}`.
    pub subject: &'static str,
    /// The second noun, slot `{o}`.
    pub object: &'static str,
    /// The adjective, slot `{a}`.
    pub adjective: &'static str,
    /// The verb in three forms: infinitive, past, participle.
    pub verb: [&'static str; 3],
    /// The name of the service or project.
    pub name: String,
    /// The name of a function or variable.
    pub identifier: String,
    /// The path of a file.
    pub path: String,
    /// An error code.
    pub error: String,
    /// A version number.
    pub version: String,
    /// The name of a person.
    pub who: &'static str,
    /// The day of the event.
    pub day: &'static str,
    /// The environment of the program, such as staging.
    pub place: &'static str,
}

impl Default for TextGenerator {
    fn default() -> Self {
        Self {
            topics: words::TOPICS.iter().map(|topic| WeightedWords::of(topic.nouns)).collect(),
            topic: ZipfRanks::new(words::TOPICS.len(), 0.6),
            names: ZipfRanks::new(NAME_COUNT, 0.8),
            sentences: ZipfRanks::new(words::SENTENCES.len(), 0.3),
            determiners: WeightedWords::of(words::DETERMINERS),
            things: WeightedWords::of(words::THINGS),
            verbs: WeightedWords::of(words::VERBS),
            adjectives: WeightedWords::of(words::ADJECTIVES),
            adverbs: WeightedWords::of(words::ADVERBS),
            people: WeightedWords::of(words::PEOPLE),
            days: WeightedWords::of(words::DAYS),
            units: WeightedWords::of(words::UNITS),
            places: WeightedWords::of(words::PLACES),
            kinds: words::KINDS.split_whitespace().collect(),
        }
    }
}

impl TextGenerator {
    /// Returns memory number `index` of the corpus of `seed`. The result does not depend on the size of the
    /// corpus.
    pub fn memory(&self, seed: u64, index: usize) -> GeneratedMemory {
        let random = &mut SplitMix64::of(seed, index as u64);
        let topic = self.topic.draw(random);
        let about = self.about(topic, random);
        let wanted = MIN_WORDS + random.below(MAX_WORDS - MIN_WORDS + 1);
        let mut words: Vec<String> = Vec::with_capacity(MAX_WORDS + 24);
        let mut last = usize::MAX;
        while words.len() < wanted {
            let number = self.sentences.draw(random);
            if number != last {
                let sentence = self.fill(words::SENTENCES[number], topic, &about, random);
                words.extend(capital(&sentence).split_whitespace().map(str::to_owned));
                last = number;
            }
        }
        // A sentence that exceeds the wanted length is cut off, as notes often are.
        words.truncate(wanted);
        GeneratedMemory { index, text: words.join(" "), topic, kind: random.pick(&self.kinds), about }
    }

    fn about(&self, topic: usize, random: &mut SplitMix64) -> MemorySubject {
        let subject = self.topics[topic].draw(random);
        let mut object = self.topics[topic].draw(random);
        while object == subject {
            object = self.topics[topic].draw(random);
        }
        MemorySubject {
            subject,
            object,
            adjective: self.adjectives.draw(random),
            verb: self.verb(random),
            name: self.name(random),
            identifier: self.identifier(topic, random),
            path: self.path(topic, random),
            error: self.error(topic, random),
            version: format!("v{}.{}.{}", random.below(12), random.below(40), random.below(20)),
            who: self.people.draw(random),
            day: self.days.draw(random),
            place: self.places.draw(random),
        }
    }

    /// Fills the slots of a template.
    pub fn fill(
        &self,
        template: &str,
        topic: usize,
        about: &MemorySubject,
        random: &mut SplitMix64,
    ) -> String {
        let mut text = String::with_capacity(template.len() * 2);
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            let (slot, after) = after.split_once('}').unwrap_or((after, ""));
            text.push_str(before);
            let word = self.slot(slot, topic, about, random);
            if word.starts_with(['a', 'e', 'i', 'o']) && (text == "A " || text.ends_with(" a ")) {
                text.insert(text.len() - 1, 'n');
            }
            text.push_str(&word);
            rest = after;
        }
        text + rest
    }

    fn slot(&self, slot: &str, topic: usize, about: &MemorySubject, random: &mut SplitMix64) -> String {
        // Half of the slots take the memory's own words, the other half a random word.
        let own = random.below(2) == 0;
        match slot {
            "s" => about.subject.to_owned(),
            "o" => about.object.to_owned(),
            "s2" => other_word(about.subject).to_owned(),
            "o2" => other_word(about.object).to_owned(),
            "id" => about.identifier.clone(),
            "path" => about.path.clone(),
            "err" => about.error.clone(),
            "ver" => about.version.clone(),
            "name" => about.name.clone(),
            "who" if own => about.who.to_owned(),
            "who" => self.people.draw(random).to_owned(),
            "day" => about.day.to_owned(),
            "where" => about.place.to_owned(),
            "a" if own => about.adjective.to_owned(),
            "a" => self.adjectives.draw(random).to_owned(),
            "v" if own => about.verb[0].to_owned(),
            "vd" if own => about.verb[1].to_owned(),
            "vg" if own => about.verb[2].to_owned(),
            "v" => self.verb(random)[0].to_owned(),
            "vd" => self.verb(random)[1].to_owned(),
            "vg" => self.verb(random)[2].to_owned(),
            "n" => self.topics[topic].draw(random).to_owned(),
            "t" => self.things.draw(random).to_owned(),
            "d" => self.determiners.draw(random).to_owned(),
            "r" => self.adverbs.draw(random).to_owned(),
            "unit" => self.units.draw(random).to_owned(),
            "num" => number(random),
            "fresh" => self.identifier(topic, random),
            "cmd" => self.command(topic, random),
            other => format!("{{{other}}}"),
        }
    }

    fn verb(&self, random: &mut SplitMix64) -> [&'static str; 3] {
        let mut forms = self.verbs.draw(random).split('/');
        [(); 3].map(|()| forms.next().unwrap_or_default())
    }

    /// Makes a name from syllables; the same rank gives the same name.
    fn name(&self, random: &mut SplitMix64) -> String {
        let sounds = &mut SplitMix64::of(0x6e61_6d65, self.names.draw(random) as u64);
        let mut name = String::new();
        for _ in 0..2 + sounds.below(2) {
            name.push_str(sounds.pick(&words::ONSETS));
            name.push_str(sounds.pick(&words::VOWELS));
        }
        name.push_str(sounds.pick(&words::CODAS));
        capital(&name)
    }

    /// Joins two to four words as program identifiers do.
    fn identifier(&self, topic: usize, random: &mut SplitMix64) -> String {
        let mut parts = vec![self.verb(random)[0]];
        for _ in 0..1 + random.below(2) {
            parts.push(self.topics[topic].draw(random));
        }
        if random.below(3) == 0 {
            parts.push(self.things.draw(random));
        }
        let parts: Vec<String> = parts.iter().map(|part| part.replace('-', "")).collect();
        let pascal = |parts: &[String]| parts.iter().map(|part| capital(part)).collect::<String>();
        match random.below(6) {
            0 => parts[0].clone() + &pascal(&parts[1..]),
            1 => pascal(&parts),
            2 => parts.join("_").to_uppercase(),
            3 => format!("{}::{}", pascal(&parts[1..]), parts[0]),
            _ => parts.join("_"),
        }
    }

    fn path(&self, topic: usize, random: &mut SplitMix64) -> String {
        let (a, b) = (self.topics[topic].draw(random), self.topics[topic].draw(random));
        let c = self.things.draw(random);
        let name = self.name(random).to_lowercase();
        match random.below(7) {
            0 => format!("src/{a}/{b}_{c}.rs"),
            1 => format!("services/{name}/{a}.yaml"),
            2 => format!("crates/{name}/src/{b}.rs"),
            3 => format!("web/{a}/{b}-{c}.tsx"),
            4 => format!("/etc/{name}/{a}.conf"),
            5 => format!("scripts/{b}-{name}.sh"),
            _ => format!("internal/{a}/{b}.go"),
        }
    }

    fn error(&self, topic: usize, random: &mut SplitMix64) -> String {
        match random.below(5) {
            0 => format!("E{:04}", random.below(10_000)),
            1 => {
                format!("HTTP {}", [400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504][random.below(11)])
            }
            2 => format!("0x{:08X}", 0x8000_0000 + random.below(0x10_0000)),
            3 => format!(
                "ERR_{}_{}",
                self.topics[topic].draw(random).to_uppercase(),
                self.adjectives.draw(random).to_uppercase()
            ),
            _ => {
                let kind = capital(self.topics[topic].draw(random));
                format!("{}{kind}Error", capital(self.adjectives.draw(random)))
            }
        }
    }

    fn command(&self, topic: usize, random: &mut SplitMix64) -> String {
        let (verb, noun) = (self.verb(random)[0], self.topics[topic].draw(random));
        let name = self.name(random).to_lowercase();
        match random.below(4) {
            0 => format!("{name} {verb} --{noun}"),
            1 => format!("make {verb}-{noun}"),
            2 => format!("cargo run -p {name} -- {verb}"),
            _ => format!("./scripts/{verb}-{noun}.sh {name}"),
        }
    }
}

fn number(random: &mut SplitMix64) -> String {
    let digits = 1 + random.below(4) as u32;
    random.below(10usize.pow(digits)).to_string()
}

/// Returns a synonym of a word, or the word itself if it has none.
fn other_word(word: &'static str) -> &'static str {
    let pairs = words::SYNONYMS.split_whitespace().filter_map(|pair| pair.split_once('/'));
    pairs.into_iter().find(|(one, _)| *one == word).map_or(word, |(_, other)| other)
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_has_sixty_to_a_hundred_and_twenty_words_and_no_open_slot() {
        let voice = TextGenerator::default();
        for index in 0..3000 {
            let memory = voice.memory(7, index);
            let words = memory.text.split_whitespace().count();
            assert!((MIN_WORDS..=MAX_WORDS).contains(&words), "{words}: {}", memory.text);
            assert!(!memory.text.contains(['{', '}', '\n']), "{}", memory.text);
        }
    }

    #[test]
    fn the_same_seed_says_the_same_and_another_does_not() {
        let (one, two) = (TextGenerator::default(), TextGenerator::default());
        assert_eq!(one.memory(7, 123).text, two.memory(7, 123).text);
        assert_ne!(one.memory(7, 123).text, one.memory(8, 123).text);
        assert_ne!(one.memory(7, 123).text, one.memory(7, 124).text);
    }

    #[test]
    fn words_are_spread_as_words_are() {
        let voice = TextGenerator::default();
        let mut counts = std::collections::HashMap::<String, usize>::new();
        let mut total = 0;
        for index in 0..5000 {
            for word in voice.memory(7, index).text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                *counts.entry(word.to_owned()).or_default() += usize::from(!word.is_empty());
                total += usize::from(!word.is_empty());
            }
        }
        let mut ranked: Vec<usize> = counts.into_values().collect();
        ranked.sort_unstable_by(|a, b| b.cmp(a));
        // As in English, the first word is about one in twenty, the hundredth one in a thousand, with a long
        // tail.
        assert!((12..30).contains(&(total / ranked[0])), "one in {}", total / ranked[0]);
        assert!((200..2000).contains(&(total / ranked[99])), "one in {}", total / ranked[99]);
        assert!(ranked.len() > 10_000, "{} words", ranked.len());
    }
}
