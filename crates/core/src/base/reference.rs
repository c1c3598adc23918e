//! Names as people type them: the beginning of an id, or a name that is almost right.

use std::collections::BTreeSet;

/// Use at least so many characters of an id.
pub const SHORTEST: usize = 4;
/// So many names are suggested.
const SUGGESTED: usize = 3;
/// Names that are less alike (from 0 to 1) are not suggested.
const ALIKE: f64 = 0.6;

/// What an abbreviated id means among those that there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// This one: the whole id, or the only one that begins like that.
    One(String),
    /// All of these begin like that.
    Several(Vec<String>),
    /// No id begins like that.
    Nothing,
}

/// Finds the id that `typed` is or begins; upper and lower case are one.
pub fn by_prefix<'a>(typed: &str, ids: impl IntoIterator<Item = &'a str>) -> Meant {
    let wanted = typed.trim().to_lowercase();
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for id in ids {
        let lower = id.to_lowercase();
        if lower == wanted {
            return Meant::One(id.to_owned());
        }
        if wanted.len() >= SHORTEST && lower.starts_with(&wanted) {
            found.insert(id);
        }
    }
    let mut found: Vec<String> = found.into_iter().map(str::to_owned).collect();
    match (found.pop(), found.is_empty()) {
        (Some(only), true) => Meant::One(only),
        (Some(last), false) => {
            found.push(last);
            Meant::Several(found)
        }
        (None, _) => Meant::Nothing,
    }
}

/// The names that somebody may have meant, the likeliest first.
pub fn alike<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = typed.trim().to_lowercase();
    if wanted.len() < 2 || wanted.len() > 200 {
        return Vec::new();
    }
    let score = |name: &str| {
        let name = name.to_lowercase();
        let whole = strsim::normalized_damerau_levenshtein(&wanted, &name);
        if name.contains(&wanted) || wanted.contains(&name) { whole.max(ALIKE) } else { whole }
    };
    let names: BTreeSet<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let mut scored: Vec<(f64, &str)> = names.into_iter().map(|name| (score(name), name)).collect();
    scored.retain(|(score, _)| *score >= ALIKE);
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(SUGGESTED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_an_id_is_enough_if_only_one_begins_so() {
        let ids = ["m-7k2d9q0x1abc", "m-7k2e00000000", "379d93d5-1201-4f74"];
        assert_eq!(by_prefix("m-7k2d", ids), Meant::One("m-7k2d9q0x1abc".into()));
        assert_eq!(by_prefix("379D", ids), Meant::One("379d93d5-1201-4f74".into()));
        let Meant::Several(both) = by_prefix("m-7k2", ids) else { panic!("two begin so") };
        assert_eq!(both, ["m-7k2d9q0x1abc", "m-7k2e00000000"]);
        assert_eq!(by_prefix("379", ids), Meant::Nothing, "three characters are too few");
        assert_eq!(
            by_prefix("abc", ["abc", "abcd"]),
            Meant::One("abc".into()),
            "the whole id is always enough"
        );
        assert_eq!(by_prefix("", ids), Meant::Nothing);
    }

    #[test]
    fn a_name_that_is_almost_right_is_suggested() {
        let names = ["staging-port", "staging-db", "release-day", "x"];
        assert_eq!(alike("staging", names), ["staging-db", "staging-port"]);
        assert_eq!(alike("stagign-port", names)[0], "staging-port");
        assert!(alike("kubernetes", names).is_empty());
        assert!(alike("", names).is_empty());
    }
}
