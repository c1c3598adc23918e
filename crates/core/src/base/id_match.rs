//! Resolution of names as people type them: a prefix of an id, or a name with a typo.

use std::collections::BTreeSet;

/// The minimum number of characters of an abbreviated id.
pub const MIN_ID_CHARS: usize = 4;
/// The maximum number of names suggested.
const MAX_SUGGESTIONS: usize = 3;
/// The minimum similarity (0 to 1) of a suggested name.
const MIN_NAME_SIMILARITY: f64 = 0.6;

/// The result of resolving an abbreviated id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdMatch {
    /// Exactly one match: the whole id, or the only id with this prefix.
    One(String),
    /// All ids with this prefix; there are several.
    Several(Vec<String>),
    /// No id has this prefix.
    Nothing,
}

/// Finds the id that equals `typed` or starts with it, ignoring case.
pub fn by_prefix<'a>(typed: &str, ids: impl IntoIterator<Item = &'a str>) -> IdMatch {
    let prefix = typed.trim().to_lowercase();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for id in ids {
        let lower = id.to_lowercase();
        if lower == prefix {
            return IdMatch::One(id.to_owned());
        }
        if prefix.len() >= MIN_ID_CHARS && lower.starts_with(&prefix) {
            found.insert(id);
        }
    }
    let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => IdMatch::One(only),
        (Some(last), false) => {
            found.push(last);
            IdMatch::Several(found)
        }
        (None, _) => IdMatch::Nothing,
    }
}

/// The names most similar to `typed`, best first.
pub fn similar_names<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let prefix = typed.trim().to_lowercase();
    if prefix.len() < 2 || prefix.len() > 200 {
        return Vec::new();
    }
    let score = |name: &str| {
        let name = name.to_lowercase();
        let whole = strsim::normalized_damerau_levenshtein(&prefix, &name);
        if name.contains(&prefix) || prefix.contains(&name) { whole.max(MIN_NAME_SIMILARITY) } else { whole }
    };
    let names: BTreeSet<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let mut scored: Vec<(f64, &str)> = names.into_iter().map(|name| (score(name), name)).collect();
    scored.retain(|(score, _)| *score >= MIN_NAME_SIMILARITY);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_is_enough_if_only_one_begins_so() {
        let ids = ["m-7k2d9q0x1abc", "m-7k2e00000000", "379d93d5-1201-4f74"];
        assert_eq!(by_prefix("m-7k2d", ids), IdMatch::One("m-7k2d9q0x1abc".into()));
        assert_eq!(by_prefix("379D", ids), IdMatch::One("379d93d5-1201-4f74".into()));
        let IdMatch::Several(both) = by_prefix("m-7k2", ids) else { panic!("two begin so") };
        assert_eq!(both, ["m-7k2d9q0x1abc", "m-7k2e00000000"]);
        assert_eq!(by_prefix("379", ids), IdMatch::Nothing, "three characters are too few");
        assert_eq!(
            by_prefix("abc", ["abc", "abcd"]),
            IdMatch::One("abc".into()),
            "the whole id is always enough"
        );
        assert_eq!(by_prefix("", ids), IdMatch::Nothing);
    }

    #[test]
    fn a_name_that_is_almost_right_is_suggested() {
        let names = ["staging-port", "staging-db", "release-day", "x"];
        assert_eq!(similar_names("staging", names), ["staging-db", "staging-port"]);
        assert_eq!(similar_names("stagign-port", names)[0], "staging-port");
        assert!(similar_names("kubernetes", names).is_empty());
        assert!(similar_names("", names).is_empty());
    }
}
