//! Vectors with four bits per step, for the fine windows, which only rescoring reads. They take half the
//! space.

use rekindle_embed::QuantisedVector;

/// The maximum absolute value of a step.
const MAX_STEP: f32 = 7.0;

/// The number of bytes of a vector.
pub(super) fn width(dimension: usize) -> usize {
    dimension.div_ceil(2)
}

/// Quantises a vector to four bits per step. Doing so twice changes nothing further.
pub(super) fn quantise_to_nibbles(vector: &QuantisedVector) -> QuantisedVector {
    let largest = vector.steps.iter().map(|step| step.unsigned_abs()).max().unwrap_or(0);
    if largest == 0 {
        return QuantisedVector { steps: vec![0; vector.steps.len()], scale: 0.0 };
    }
    let ratio = f32::from(largest) / MAX_STEP;
    let steps = vector.steps.iter().map(|step| (f32::from(*step) / ratio).round_ties_even() as i8).collect();
    QuantisedVector { steps, scale: vector.scale * ratio }
}

/// Packs two steps into a byte.
pub(super) fn pack_nibbles(steps: &[i8]) -> Vec<u8> {
    let nibble = |step: &i8| step.cast_unsigned() & 15;
    steps.chunks(2).map(|pair| nibble(&pair[0]) | pair.get(1).map_or(0, nibble) << 4).collect()
}

/// Unpacks the steps of all vectors in `bytes` and appends them to `steps`.
pub(super) fn unpack_nibbles(bytes: &[u8], dimension: usize, steps: &mut Vec<u8>) {
    let wide = |nibble: u8| (nibble ^ 8).wrapping_sub(8);
    let (width, before) = (width(dimension).max(1), steps.len());
    steps.resize(before + bytes.len() / width * dimension, 0);
    for (row, steps) in bytes.chunks_exact(width).zip(steps[before..].chunks_exact_mut(dimension.max(1))) {
        let (pairs, odd) = steps.as_chunks_mut::<2>();
        for (pair, byte) in pairs.iter_mut().zip(row) {
            *pair = [wide(byte & 15), wide(byte >> 4)];
        }
        if let ([last], Some(byte)) = (odd, row.last()) {
            *last = wide(byte & 15);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn coarse_vectors_come_back_as_they_are(
            steps in prop::collection::vec(-127_i8..=127, 1..50),
            scale in 0.001_f32..1.0,
            times in 0_usize..4,
        ) {
            let coarse = quantise_to_nibbles(&QuantisedVector { steps: steps.clone(), scale });
            let bytes = pack_nibbles(&coarse.steps);
            prop_assert_eq!(bytes.len(), width(steps.len()));
            let mut back = b"before".to_vec();
            unpack_nibbles(&bytes.repeat(times), steps.len(), &mut back);
            let back: Vec<i8> = back.split_off(b"before".len()).into_iter().map(u8::cast_signed).collect();
            prop_assert_eq!(&back, &coarse.steps.repeat(times));
            prop_assert_eq!(quantise_to_nibbles(&coarse), coarse.clone());
            for (step, coarse_step) in steps.iter().zip(&coarse.steps) {
                let off = (f32::from(*step) * scale - f32::from(*coarse_step) * coarse.scale).abs();
                prop_assert!(off <= coarse.scale * 0.51);
            }
        }
    }
}
