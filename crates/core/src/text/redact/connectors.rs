//! The words that lead from a cue to a secret, and those that lead elsewhere.

/// What leads from the cue to the value.
#[rustfmt::skip]
pub(super) const CONNECTORS: [&str; 38] = [
    "is", "was", "be", "are", "equals", "ist", "lautet", "war", "heißt", "heisst", "bleibt", "es", "era",
    "será", "sera", "est", "était", "c'est", "c’est", "é", "eh", "foi", "это", "был", "такой", "è", "luidt",
    "jest", "brzmi", "będzie", "wordt", "diventa",
    // "The password that he has": "пароль у него …".
    "него", "неё", "нее", "них", "нас", "меня",
];

/// As those, after verbs: "set the password to". They lead to many other things too.
pub(super) const PREPOSITIONS: [&str; 9] = ["to", "as", "auf", "a", "à", "para", "на", "na", "naar"];

/// What a sentence is about whose cue is followed by it: "the password strength is", "password prompt:".
pub(super) const ASPECTS: [&str; 16] = [
    "check", "expiry", "field", "fix", "flow", "format", "grant", "hash", "hashing", "history", "length",
    "manager", "meter", "policy", "prompt", "strength",
];

pub(super) const EASTERN_CONNECTORS: [char; 17] =
    ['は', 'を', 'が', 'へ', 'に', '是', '为', '為', '成', '即', '：', '는', '은', '를', '을', '가', '이'];

/// What may stand between a connector and the value.
#[rustfmt::skip]
pub(super) const FILLERS: [&str; 38] = [
    "nu", "ora", "adesso", "teraz", "obecnie",
    "now", "currently", "still", "just", "simply", "again", "set", "changed", "actually", "probably", "the",
    "following", "jetzt", "nun", "aktuell", "derzeit", "immer", "noch", "wieder", "ahora", "actualmente",
    "la", "siguiente", "maintenant", "toujours", "actuellement", "le", "suivant", "agora", "atualmente",
    "seguinte", "сейчас", "теперь",
];

/// What leads from a value back to the cue: "hunter2 is the password", "use hunter2 as the password".
pub(super) const BACKWARD: [&str; 15] = [
    "that's", "that’s", "thats", "is", "as", "ist", "als", "es", "como", "est", "comme", "é", "è", "come",
    "jako",
];

/// Words that say that something is set.
#[rustfmt::skip]
pub(super) const STEMS: [&str; 24] = [
    "set", "chang", "rotat", "updat", "switch", "assign", "rename", "setz", "änder", "stell", "cambi", "pus",
    "défini", "modif", "mudei", "alter", "смен", "измен", "помен", "установ", "zmien", "zmieni", "ustaw", "verander",
];

/// Those whose languages say "in" where others say "to".
pub(super) const STEMS_WITH_IN: [&str; 4] = ["cambi", "modific", "verander", "wijzig"];
