//! About how many tokens a text is (OBS-24). One estimate for every threshold and cap, so that they can be compared.

/// The estimate: four letters are a token, a sign of Chinese, Japanese or Korean is one of its own.
pub fn estimate(text: &str) -> u64 {
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
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("four letters are a token"), 6);
        assert_eq!(estimate("記憶"), 2);
    }
}
