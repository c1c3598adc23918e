//! English counts for messages: `1 file`, `2 files`.

/// The count with the noun in singular or plural. The plural of `noun` must be formed with an `s`.
pub fn count_phrase(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_everything_else_plural() {
        assert_eq!([0, 1, 2].map(|count| count_phrase(count, "file")), ["0 files", "1 file", "2 files"]);
    }
}
