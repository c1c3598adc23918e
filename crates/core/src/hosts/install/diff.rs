//! Unified diffs of two texts, as `diff -u` prints them.

use similar::{Algorithm, capture_diff_slices, group_diff_ops};

/// The number of context lines around a change.
const CONTEXT_LINES: usize = 3;

/// The diff from `old` to `new`; empty if they are equal. `None` means that the file does not exist.
pub fn unified_diff(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    // A carriage return would move the terminal's cursor.
    render([name, name], old, new, |line| line.trim_end_matches('\r'))
}

/// The same diff as a byte-exact patch for `git apply` and `patch -p1` in the folder of the file.
pub fn git_patch(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    render([&format!("a/{name}"), &format!("b/{name}")], old, new, |line| line)
}

fn render(names: [&str; 2], old: Option<&str>, new: Option<&str>, shown_as: fn(&str) -> &str) -> String {
    let (before, after) = (lines(old.unwrap_or_default()), lines(new.unwrap_or_default()));
    let mut shown = String::new();
    for hunk in group_diff_ops(capture_diff_slices(Algorithm::Myers, &before, &after), CONTEXT_LINES) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let old_range = range(first.old_range().start, last.old_range().end);
        let new_range = range(first.new_range().start, last.new_range().end);
        shown.push_str(&format!("@@ -{old_range} +{new_range} @@\n"));
        for change in hunk.iter().flat_map(|step| step.iter_changes(&before, &after)) {
            let line = change.value();
            let bare = shown_as(line.strip_suffix('\n').unwrap_or(line));
            shown.push_str(&format!("{}{bare}\n", change.tag()));
            if !line.ends_with('\n') {
                shown.push_str("\\ No newline at end of file\n");
            }
        }
    }
    if shown.is_empty() {
        return shown;
    }
    let label = |text: Option<&str>, name| if text.is_some() { name } else { "/dev/null" };
    let [from, to] = names;
    format!("--- {}\n+++ {}\n{shown}", label(old, from), label(new, to))
}

/// A range in a hunk header: the number of its first line and its length. An empty range names the line before
/// it.
fn range(start: usize, end: usize) -> String {
    format!("{},{}", if start == end { start } else { start + 1 }, end - start)
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("10\n", "ten\nand more\n");
        insta::assert_snapshot!(unified_diff("f", Some(&old), Some(&new)), @r"
        --- f
        +++ f
        @@ -7,7 +7,8 @@
         7
         8
         9
        -10
        +ten
        +and more
         11
         12
         13
        ");
    }

    #[test]
    fn files_that_come_and_go() {
        assert_eq!(unified_diff("f", None, Some("a\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(
            unified_diff("f", Some("a"), None),
            "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified_diff("f", Some("a"), Some("a")), "");
    }

    /// Applies a patch as `patch` does.
    fn applied(old: &str, patch: &str) -> String {
        let mut rest = old.split_inclusive('\n');
        let (mut new, mut at) = (String::new(), 0);
        for line in patch.split_inclusive('\n').skip(2) {
            if let Some(ranges) = line.strip_prefix("@@ -") {
                let (start, length) = ranges.split_once(' ').unwrap().0.split_once(',').unwrap();
                let start = start.parse::<usize>().unwrap() - usize::from(length != "0");
                new.extend(rest.by_ref().take(start - at));
                at = start;
            } else if let Some(line) = line.strip_prefix('+') {
                new.push_str(line);
            } else {
                assert_eq!(rest.next(), Some(&line[1..]), "{patch}");
                at += 1;
                new.push_str(line.strip_prefix(' ').unwrap_or_default());
            }
        }
        new.extend(rest);
        new
    }

    proptest! {
        #[test]
        fn a_patch_leads_from_the_old_text_to_the_new(
            old in "([a-d]\n){0,30}",
            new in "([a-d]\n){0,30}",
        ) {
            let made = git_patch("f", Some(&old), Some(&new));
            prop_assert_eq!(made.is_empty(), old == new);
            prop_assert_eq!(applied(&old, &made), new);
        }

        #[test]
        fn each_line_that_is_kept_is_context(old in "([a-d]\n){0,30}", at in 0..30_usize) {
            let mut new: Vec<&str> = old.split_inclusive('\n').collect();
            new.insert(at.min(new.len()), "new\n");
            let made = unified_diff("f", Some(&old), Some(&new.concat()));
            prop_assert_eq!(made.lines().filter(|line| line.starts_with(['-', '+'])).count(), 3, "{}", made);
        }
    }
}
