//! Links between notes in the syntax of note apps: `[[path|words]]`.

use super::escape::normalise_line;
use crate::text::clean::one_line;

/// The maximum length of the title in a link.
const MAX_LINK_WORDS: usize = 80;

/// Renders a link to `path` with the text `title`. `None` if the path cannot be part of a link.
pub fn render(path: &str, title: &str) -> Option<String> {
    if path.trim() != path
        || path.is_empty()
        || path.contains(|c: char| c.is_control() || "[]|#^\\".contains(c))
    {
        return None;
    }
    let words: String =
        title.chars().map(|c| if c.is_control() || "[]|\\".contains(c) { ' ' } else { c }).collect();
    let words = one_line(&normalise_line(&words), MAX_LINK_WORDS);
    Some(if words.is_empty() { format!("[[{path}]]") } else { format!("[[{path}|{words}]]") })
}

/// The targets of the links in a text, without their display text and heading.
pub fn link_targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("[[").skip(1).filter_map(|rest| {
        let inside = rest.split_once("]]")?.0;
        let target = inside.split(['|', '#']).next()?;
        (!target.trim().is_empty() && !target.contains('\n')).then_some(target.trim())
    })
}

/// True if a text refers to the idea `slug` of the incubator: by a link or a path to its folder, or by its
/// name. A name of one word is too common to count (IDEA-06).
pub fn mentions_idea(text: &str, slug: &str) -> bool {
    let edge = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '-' || c == '_');
    let stands_alone = |name: &str| {
        text.match_indices(name).any(|(at, _)| {
            edge(text[..at].chars().next_back()) && edge(text[at + name.len()..].chars().next())
        })
    };
    let is_linked = || link_targets(text).any(|target| target == slug);
    stands_alone(&format!("{}/{slug}", super::layout::INCUBATOR))
        || text.contains(&format!("{}/{slug}/", super::layout::INCUBATOR))
        || is_linked()
        || (slug.contains('-') && stands_alone(slug))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_link_reads_back(path in "[\\PC]{0,30}", title in any::<String>()) {
            if let Some(link) = render(&path, &title) {
                prop_assert!(!link.contains('\n'));
                prop_assert_eq!(link_targets(&link).collect::<Vec<_>>(), [path.as_str()]);
                let around = format!("before {link} after [[b]]");
                prop_assert_eq!(link_targets(&around).collect::<Vec<_>>(), [path.as_str(), "b"]);
            }
        }
    }

    #[test]
    fn links_of_people_are_read() {
        let text = "See [[Notes/Pumps#Valves|the valves]], [[pumps]] and [[broken\n]] and [[never closed";
        assert_eq!(link_targets(text).collect::<Vec<_>>(), ["Notes/Pumps", "pumps"]);
        assert_eq!(render("a]]b", "x"), None);
        assert_eq!(render("V/a.md", "a | [b]\nc").as_deref(), Some("[[V/a.md|a b c]]"));
    }

    #[test]
    fn idea_06_an_idea_is_spoken_of_by_link_path_or_name() {
        for text in [
            "[[V/personal-private/_idea-incubator/faster-tests/_index.md]]",
            "see _idea-incubator/faster-tests",
            "[[faster-tests]]",
            "this is faster-tests, again",
        ] {
            assert!(mentions_idea(text, "faster-tests"), "{text}");
        }
        for text in ["faster tests", "faster-tests-2", "_idea-incubator/faster-tests-2/_index.md", ""] {
            assert!(!mentions_idea(text, "faster-tests"), "{text}");
        }
        assert!(!mentions_idea("a cache is a cache", "cache"));
        assert!(mentions_idea("[[cache]]", "cache") && mentions_idea("_idea-incubator/cache/x.md", "cache"));
    }
}
