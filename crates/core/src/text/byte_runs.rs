//! Runs of bytes, tested eight at a time: the end of a word is hard to predict, and a branch misprediction
//! costs more than testing eight bytes.

/// The number of leading bytes that satisfy `is`.
#[inline]
pub(crate) fn count_leading(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    let (eights, rest) = bytes.as_chunks::<8>();
    for (nth, eight) in eights.iter().enumerate() {
        let others = u64::from_le_bytes(eight.map(|byte| u8::from(!is(byte))));
        if others != 0 {
            return nth * 8 + others.trailing_zeros() as usize / 8;
        }
    }
    eights.len() * 8 + rest.iter().take_while(|byte| is(**byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::count_leading;

    proptest! {
        #[test]
        fn a_run_is_as_long_as_one_look_at_each_byte_says(text in "[a-c]{0,30}[ a-c]{0,9}") {
            let plainly = text.bytes().take_while(u8::is_ascii_lowercase).count();
            prop_assert_eq!(count_leading(text.as_bytes(), |byte| byte.is_ascii_lowercase()), plainly);
        }
    }
}
