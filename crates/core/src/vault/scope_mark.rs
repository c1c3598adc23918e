//! The scope mark at the end of a line, which people read and edit:
//! `(project: github.com/acme/payments)` or `(everywhere)`. A line without a mark says nothing about its
//! scope.

use crate::base::scope::{ProjectId, Scope};

const PROJECT_MARK_OPEN: &str = "(project:";
const EVERYWHERE_MARK: &str = "(everywhere)";
/// Project names that mean the global scope.
const EVERYWHERE_WORDS: [&str; 2] = ["everywhere", "all"];

/// Renders the mark of a scope.
pub fn render(scope: &Scope) -> String {
    match scope {
        Scope::Global => EVERYWHERE_MARK.to_owned(),
        Scope::Project(id) => format!("{PROJECT_MARK_OPEN} {id})"),
    }
}

/// Splits the mark at the end off a line, into words and scope. `None` if there is no mark.
pub fn split(line: &str) -> Option<(&str, Scope)> {
    let line = line.trim_end();
    let (words, scope) = match line.get(line.len().checked_sub(EVERYWHERE_MARK.len())?..) {
        Some(end) if end.eq_ignore_ascii_case(EVERYWHERE_MARK) => {
            (&line[..line.len() - EVERYWHERE_MARK.len()], Scope::Global)
        }
        _ => {
            let at = line.to_ascii_lowercase().rfind(PROJECT_MARK_OPEN)?;
            let name = line[at + PROJECT_MARK_OPEN.len()..].strip_suffix(')')?.trim();
            if name.is_empty() || name.contains('\n') {
                return None;
            }
            let is_all = EVERYWHERE_WORDS.iter().any(|all| name.eq_ignore_ascii_case(all));
            let scope = if is_all { Scope::Global } else { Scope::Project(ProjectId::new(name)) };
            (&line[..at], scope)
        }
    };
    let apart = words.is_empty() || words.ends_with(char::is_whitespace);
    apart.then(|| (words.trim_end(), scope))
}

/// The mark that these words need to parse with this scope. `None` if the words alone do.
pub(super) fn required_mark(words: &str, scope: &Scope) -> Option<String> {
    (*scope != Scope::Global || split(words).is_some()).then(|| render(scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(name: &str) -> Scope {
        Scope::Project(ProjectId::new(name))
    }

    #[test]
    fn r_15_a_mark_at_the_end_names_the_scope() {
        for (line, words, scope) in [
            ("Use pnpm (project: github.com/acme/payments)", "Use pnpm", project("github.com/acme/payments")),
            ("Use pnpm (Project:payments)  ", "Use pnpm", project("payments")),
            ("(project: payments)", "", project("payments")),
            ("Use pnpm (everywhere)", "Use pnpm", Scope::Global),
            ("Use pnpm (project: everywhere)", "Use pnpm", Scope::Global),
            ("a (project: x) (project: my (old) one)", "a (project: x)", project("my (old) one")),
        ] {
            assert_eq!(split(line), Some((words, scope)), "{line}");
        }
        for plain in [
            "",
            "Use tabs (only in Makefiles)",
            "Use pnpm(project: x)",
            "Use pnpm (project: )",
            "Use (project: x) there",
            "everywhere",
            "ünïcode: 日本語の文章です",
        ] {
            assert_eq!(split(plain), None, "{plain}");
        }
    }

    #[test]
    fn r_15_what_is_marked_reads_back() {
        for scope in [Scope::Global, project("github.com/acme/payments")] {
            for words in ["Use pnpm", "Use pnpm (project: other)", "Use pnpm (everywhere)"] {
                let line = match required_mark(words, &scope) {
                    Some(mark) => format!("{words} {mark}"),
                    None => words.to_owned(),
                };
                let read = split(&line).unwrap_or((&line, Scope::Global));
                assert_eq!(read, (words, scope.clone()), "{line}");
            }
        }
    }
}
