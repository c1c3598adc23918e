//! Zero-copy access to numbers in a file.
#![expect(unsafe_code, reason = "weights are used in place: copying 23 MB would cost more than the query")]

#[cfg(target_endian = "big")]
compile_error!("model files are little-endian and used in place");

mod sealed {
    pub(crate) trait PlainNumber: Copy {}
    impl PlainNumber for i8 {}
    impl PlainNumber for u8 {}
    impl PlainNumber for i32 {}
    impl PlainNumber for u32 {}
    impl PlainNumber for f32 {}
}
pub(crate) use sealed::PlainNumber;

/// Views the bytes as numbers. `None` if they do not start or end on a whole number.
pub(crate) fn numbers<T: PlainNumber>(bytes: &[u8]) -> Option<&[T]> {
    // SAFETY: every type that is `PlainNumber` is valid for any bits, and `align_to` stays within the slice.
    let (before, middle, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_aligned_numbers_are_read() {
        let words = [1.0_f32, -2.0];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        // An array of bytes may start anywhere, so find an aligned and an unaligned position in it.
        let mut room = [0_u8; 32];
        let start = room.as_ptr().align_offset(4);
        room[start..start + 8].copy_from_slice(&bytes);
        assert_eq!(numbers::<f32>(&room[start..start + 8]), Some(&words[..]));
        assert_eq!(numbers::<f32>(&room[start + 1..start + 9]), None);
        assert_eq!(numbers::<f32>(&room[start..start + 7]), None);
    }
}
