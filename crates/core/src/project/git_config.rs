//! A minimal parser for git configuration that finds the remotes.
//!
//! It does not follow `include`, which can name any file on the machine; a repository must not make us open
//! it. It does not apply `insteadOf`, which is mostly in the user's own configuration, and that is not read
//! on a hot path.

use std::iter::Peekable;
use std::str::Chars;

/// The URL of the remote that identifies the project: `origin`, else `upstream`, else the first in the file.
/// Lines that git would reject are skipped.
pub fn preferred_remote(config: &str) -> Option<String> {
    let remotes = remotes(config);
    let named = |wanted: &str| remotes.iter().find(|remote| remote.name == wanted && remote.url.is_some());
    named("origin")
        .or_else(|| named("upstream"))
        .or_else(|| remotes.iter().find(|remote| remote.url.is_some()))
        .and_then(|remote| remote.url.clone())
}

struct ConfiguredRemote {
    name: String,
    url: Option<String>,
}

fn remotes(config: &str) -> Vec<ConfiguredRemote> {
    let mut remotes: Vec<ConfiguredRemote> = Vec::new();
    let mut reader = GitConfigReader { chars: config.trim_start_matches('\u{feff}').chars().peekable() };
    // The index in `remotes` of the current section's remote.
    let mut current = None;
    while let Some(item) = reader.next_item() {
        match item {
            GitConfigItem::Section(Some(name)) => {
                let known = remotes.iter().position(|remote| remote.name == name);
                current = Some(known.unwrap_or(remotes.len()));
                if known.is_none() {
                    remotes.push(ConfiguredRemote { name, url: None });
                }
            }
            GitConfigItem::Section(None) => current = None,
            GitConfigItem::Value { key, value } if key == "url" => {
                if let Some(remote) = current.and_then(|index| remotes.get_mut(index)) {
                    // The first URL is the one that git fetches from. An empty one resets the list.
                    remote.url = if value.is_empty() { None } else { remote.url.take().or(Some(value)) };
                }
            }
            GitConfigItem::Value { .. } | GitConfigItem::Other => {}
        }
    }
    remotes
}

enum GitConfigItem {
    /// A section header, with the name if it is a remote.
    Section(Option<String>),
    Value {
        key: String,
        value: String,
    },
    /// A comment, a key without a value, or an invalid line.
    Other,
}

struct GitConfigReader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl GitConfigReader<'_> {
    fn next_item(&mut self) -> Option<GitConfigItem> {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
        Some(match self.chars.peek()? {
            '[' => match self.section() {
                Some(remote) => GitConfigItem::Section(remote),
                None => {
                    // Keys after an invalid header belong to no section, least of all to the one before.
                    self.skip_line();
                    GitConfigItem::Section(None)
                }
            },
            'a'..='z' | 'A'..='Z' => match self.assignment() {
                Some((key, value)) => GitConfigItem::Value { key, value },
                None => {
                    self.skip_line();
                    GitConfigItem::Other
                }
            },
            _ => {
                self.skip_line();
                GitConfigItem::Other
            }
        })
    }

    /// Parses a header up to its `]`: `Some(Some(name))` for a remote, `None` if it is invalid.
    fn section(&mut self) -> Option<Option<String>> {
        self.chars.next_if_eq(&'[')?;
        let mut section = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || ".-".contains(*c)) {
            section.push(c.to_ascii_lowercase());
        }
        if self.chars.next_if_eq(&']').is_some() {
            // The old syntax `[remote.name]`, in which the name is case-insensitive too.
            return Some(section.strip_prefix("remote.").map(str::to_owned));
        }
        self.skip_blanks();
        self.chars.next_if_eq(&'"')?;
        let mut name = String::new();
        loop {
            match self.chars.next_if(|c| *c != '\n')? {
                '"' => break,
                '\\' => name.push(self.chars.next_if(|c| *c != '\n')?),
                c => name.push(c),
            }
        }
        self.chars.next_if_eq(&']')?;
        Some((section == "remote").then_some(name))
    }

    /// Parses `key = value`. `None` for any other line.
    fn assignment(&mut self) -> Option<(String, String)> {
        let mut key = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
            key.push(c.to_ascii_lowercase());
        }
        self.skip_blanks();
        self.chars.next_if_eq(&'=')?;
        self.skip_blanks();
        Some((key, self.value()?))
    }

    /// The rest of the line and its continuation lines, without quotes, comment and trailing blanks. Stops
    /// before the line end on an error, so that only this line is lost.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // The length of `value` without trailing blanks.
        let mut kept = 0;
        let mut quoted = false;
        while let Some(c) = self.chars.next_if(|c| *c != '\n') {
            match c {
                '\r' if self.at_line_end() => break,
                '"' => {
                    quoted = !quoted;
                    kept = value.len();
                }
                '#' | ';' if !quoted => {
                    self.skip_line();
                    break;
                }
                '\\' => {
                    if self.chars.next_if_eq(&'\r').is_some() && !self.at_line_end() {
                        return None;
                    }
                    match self.chars.next()? {
                        '\n' => continue,
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'b' => value.push('\u{8}'),
                        c @ ('\\' | '"') => value.push(c),
                        _ => return None,
                    }
                    kept = value.len();
                }
                c => {
                    value.push(c);
                    if quoted || !c.is_whitespace() {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        (!quoted).then_some(value)
    }

    fn at_line_end(&mut self) -> bool {
        matches!(self.chars.peek(), None | Some('\n'))
    }

    fn skip_blanks(&mut self) {
        while self.chars.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
    }

    /// Skips to the line end without consuming it.
    fn skip_line(&mut self) {
        while self.chars.next_if(|c| *c != '\n').is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn url_is(config: &str, url: &str) {
        assert_eq!(preferred_remote(config).as_deref(), Some(url), "{config}");
    }

    #[test]
    fn what_git_writes_is_read() {
        let config = "[core]\n\trepositoryformatversion = 0\n\turl = nobody's\n[remote \"origin\"]\n\turl = https://github.com/acme/widgets.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        url_is(config, "https://github.com/acme/widgets.git");
        url_is(&format!("\u{feff}{}", config.replace('\n', "\r\n")), "https://github.com/acme/widgets.git");
    }

    #[test]
    fn b_05_origin_comes_before_upstream_before_the_first() {
        let remote = |name: &str| format!("[remote \"{name}\"]\nurl = {name}-url\n");
        url_is(&[remote("fork"), remote("upstream"), remote("origin")].concat(), "origin-url");
        url_is(&[remote("fork"), remote("upstream")].concat(), "upstream-url");
        url_is(&[remote("fork"), remote("Origin")].concat(), "fork-url");
        url_is(&remote("only"), "only-url");
        url_is(&["[remote \"origin\"]\npushurl = x\n".to_owned(), remote("fork")].concat(), "fork-url");
        assert_eq!(preferred_remote("[core]\nbare = true\n"), None);
        assert_eq!(preferred_remote(""), None);
    }

    #[test]
    fn quotes_escapes_comments_and_continued_lines() {
        url_is("[remote \"origin\"] url = a ; said so\n", "a");
        url_is("[remote \"origin\"]\nurl = \"a # b ; c\"  # comment\n", "a # b ; c");
        url_is("[remote \"origin\"]\nurl = a\\\n  b\n", "a  b");
        url_is("[remote \"origin\"]\r\nurl = a\\\r\nb\r\n", "ab");
        url_is("[remote \"origin\"]\nurl = C:\\\\git\\\\\\\"w\\\"  \t\n", "C:\\git\\\"w\"");
        url_is("[remote \"origin\"]\nurl = a\" b \"\n", "a b ");
        url_is("[remote \"origin\"]\n# url = no\n; url = no\nurl=a", "a");
        url_is("[remote \"odd\\\"na\\\\me\"]\nurl = a\n", "a");
    }

    #[test]
    fn keys_and_sections_have_no_case_but_names_do() {
        url_is("[ReMote \"origin\"]\n\tURL = a\n[remote \"ORIGIN\"]\nurl = b\n", "a");
        url_is("[remote.Origin]\nurl = a\n", "a");
    }

    #[test]
    fn the_first_address_counts_and_an_empty_one_takes_back() {
        url_is("[remote \"origin\"]\nurl = a\nurl = b\n[core]\nx = y\n[remote \"origin\"]\nurl = c\n", "a");
        url_is("[remote \"origin\"]\nurl = a\nurl =\nurl = b\n", "b");
        assert_eq!(preferred_remote("[remote \"origin\"]\nurl\n"), None);
    }

    #[test]
    fn a_broken_line_is_skipped_alone() {
        let rest = "[remote \"origin\"]\nurl = a\n";
        for broken in [
            "[remote \"origin\nurl = x\n",
            "[remote origin]\nurl = x\n",
            "[\nurl = x\n",
            "=\n",
            "\u{0}\u{1}\n",
            "9 = 9\n",
        ] {
            url_is(&format!("{broken}{rest}"), "a");
        }
        for broken in
            ["url = \"open\n", "url = bad \\q escape\n", "ur l = x\n", "url x\n", "]]\n", "url = x\\\ry\n"]
        {
            url_is(&format!("[remote \"origin\"]\n{broken}url = a\n"), "a");
        }
        // Keys after an invalid header do not belong to the previous remote.
        assert_eq!(preferred_remote("[remote \"origin\"]\n[remote \"b\nurl = x\n"), None);
    }

    #[test]
    fn includes_are_not_a_remote() {
        assert_eq!(
            preferred_remote("[include]\npath = /etc/passwd\n[url \"a\"]\ninsteadOf = b\nurl = c\n"),
            None
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_is_survived(config in "[\\[\\]\"\\\\ =#;\r\n\ta-cremotul]{0,80}") {
            preferred_remote(&config);
        }

        #[test]
        fn a_value_written_with_quotes_reads_back(url in "[^\\x00-\\x1f]{1,40}", name in "[^\\x00-\\x1f]{1,20}") {
            let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
            let config = format!("[remote \"{}\"]\n\turl = \"{}\"\n", quote(&name), quote(&url));
            prop_assert_eq!(preferred_remote(&config), Some(url));
        }
    }
}
