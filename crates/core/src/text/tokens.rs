//! Estimates the number of tokens in a text (OBS-24). Every threshold and limit uses the same estimate, so
//! that they are comparable.

/// The estimated number of tokens: one per four letters, and one per Chinese, Japanese or Korean character.
pub fn estimate_tokens(text: &str) -> u64 {
    let (mut quarters, mut whole) = (0u64, 0u64);
    for c in text.chars() {
        match c {
            '\u{2e80}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}' => {
                whole += 1;
            }
            _ => quarters += 1,
        }
    }
    whole + quarters.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obs_24_words_and_signs() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("four letters are a token"), 6);
        assert_eq!(estimate_tokens("記憶"), 2);
    }
}
