//! Unified diffs of two texts, as `diff -u` prints them.

use std::fmt::Write;

/// The number of context lines around a change.
const CONTEXT_LINES: usize = 3;
/// The maximum size of the alignment table. Above it the differing middle counts as fully replaced; settings
/// files are small, and nobody reads a longer diff.
const MAX_DIFF_CELLS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum DiffSide {
    Both,
    Old,
    New,
}

/// The diff from `old` to `new`; empty if they are equal. `None` means that the file does not exist.
pub fn unified(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    // A carriage return would move the terminal's cursor.
    render([name, name], old, new, |line| line.trim_end_matches('\r'))
}

/// The same diff as a byte-exact patch for `git apply` and `patch -p1` in the folder of the file.
pub fn patch(name: &str, old: Option<&str>, new: Option<&str>) -> String {
    render([&format!("a/{name}"), &format!("b/{name}")], old, new, |line| line)
}

fn render(names: [&str; 2], old: Option<&str>, new: Option<&str>, shown_as: fn(&str) -> &str) -> String {
    let (before, after) = (lines(old.unwrap_or_default()), lines(new.unwrap_or_default()));
    let script = compare(&before, &after);
    let mut shown = String::new();
    for (from, to) in hunks(&script) {
        let (left, right) = (&script[..from], &script[from..to]);
        let count = |part: &[(DiffSide, &str)], side| {
            part.iter().filter(|(on, _)| *on == DiffSide::Both || *on == side).count()
        };
        let range = |side| {
            let (skipped, length) = (count(left, side), count(right, side));
            format!("{},{length}", if length == 0 { skipped } else { skipped + 1 })
        };
        append(&mut shown, format_args!("@@ -{} +{} @@\n", range(DiffSide::Old), range(DiffSide::New)));
        for (side, line) in right {
            let mark = match side {
                DiffSide::Both => ' ',
                DiffSide::Old => '-',
                DiffSide::New => '+',
            };
            let bare = shown_as(line.strip_suffix('\n').unwrap_or(line));
            append(&mut shown, format_args!("{mark}{bare}\n"));
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

fn append(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    text.write_fmt(arguments).unwrap_or_default();
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(DiffSide, &'a str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old[head..].iter().rev().zip(new[head..].iter().rev());
    let tail = rest.take_while(|(a, b)| a == b).count();
    let (middle_old, middle_new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut script: Vec<(DiffSide, &str)> = old[..head].iter().map(|line| (DiffSide::Both, *line)).collect();
    script.extend(middle(middle_old, middle_new));
    script.extend(old[old.len() - tail..].iter().map(|line| (DiffSide::Both, *line)));
    script
}

/// Aligns two lists of lines by their longest common subsequence (dynamic programming).
fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(DiffSide, &'a str)> {
    let width = new.len() + 1;
    let mut common = match (old.len() + 1).checked_mul(width) {
        Some(cells) if cells <= MAX_DIFF_CELLS => vec![0u32; cells],
        _ => Vec::new(),
    };
    if !common.is_empty() {
        for (i, a) in old.iter().enumerate().rev() {
            for (j, b) in new.iter().enumerate().rev() {
                let (down, right) = (common[(i + 1) * width + j], common[i * width + j + 1]);
                let both = common[(i + 1) * width + j + 1] + 1;
                common[i * width + j] = if a == b { both } else { down.max(right) };
            }
        }
    }
    let at = |i: usize, j: usize| common.get(i * width + j).copied().unwrap_or(0);
    let (mut script, mut i, mut j) = (Vec::new(), 0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            script.push((DiffSide::Both, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j == new.len() || at(i + 1, j) >= at(i, j + 1)) {
            script.push((DiffSide::Old, old[i]));
            i += 1;
        } else {
            script.push((DiffSide::New, new[j]));
            j += 1;
        }
    }
    script
}

/// The line ranges of changes with their context.
fn hunks(script: &[(DiffSide, &str)]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (at, _) in script.iter().enumerate().filter(|(_, (side, _))| *side != DiffSide::Both) {
        let (from, to) = (at.saturating_sub(CONTEXT_LINES), (at + CONTEXT_LINES + 1).min(script.len()));
        match hunks.last_mut() {
            Some((_, end)) if from <= *end => *end = to,
            _ => hunks.push((from, to)),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("10\n", "ten\nand more\n");
        insta::assert_snapshot!(unified("f", Some(&old), Some(&new)), @r"
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
        assert_eq!(unified("f", None, Some("a\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(
            unified("f", Some("a"), None),
            "--- f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", Some("a"), Some("a")), "");
    }

    proptest! {
        #[test]
        fn each_side_is_in_the_script(old in "([a-d]\n){0,12}", new in "([a-d]\n){0,12}") {
            let script = compare(&lines(&old), &lines(&new));
            let side = |wanted| script.iter().filter(|(on, _)| *on == DiffSide::Both || *on == wanted).map(|(_, line)| *line).collect::<String>();
            prop_assert_eq!(side(DiffSide::Old), old.clone());
            prop_assert_eq!(side(DiffSide::New), new.clone());
        }
    }
}
