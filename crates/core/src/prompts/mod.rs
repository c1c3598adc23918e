//! What language models are told. The words are in Markdown files beside this one, each with a version: what a model
//! made can be traced to the words it was given. There are no worked examples in them, because small models hand
//! those back as facts.

/// Instructions for one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// The job.
    pub name: &'static str,
    /// Goes up whenever a word changes.
    pub version: u32,
    text: &'static str,
}

impl Template {
    /// The words, without the line that names them.
    pub fn instructions(&self) -> &'static str {
        self.text.split_once('\n').map_or(self.text, |(_, words)| words).trim()
    }
}

/// A question into search words (REC-05).
pub const REWRITE: Template = Template { name: "rewrite", version: 1, text: include_str!("rewrite.md") };

/// Observations into proposals (REF-04…11).
pub const REFLECT: Template = Template { name: "reflect", version: 1, text: include_str!("reflect.md") };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::ContentHash;

    /// Every template, and the hash of its words in this version.
    const ALL: [(Template, &str); 2] = [(REWRITE, "ea4854b5b56c0d3e"), (REFLECT, "0df0ce08713eb552")];

    #[test]
    fn a_changed_word_is_a_new_version() {
        for (template, hash) in ALL {
            let Template { name, version, text } = template;
            assert_eq!(text.lines().next().unwrap(), format!("<!-- {name}, version {version} -->"));
            assert_eq!(
                ContentHash::of(text.as_bytes()).short(16),
                hash,
                "{name}.md changed: raise its version here and in the file, then put the new hash into this test"
            );
            assert!(template.instructions().len() > 100);
        }
    }
}
