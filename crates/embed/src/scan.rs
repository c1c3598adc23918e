//! Vector search by brute force: compares a query with every vector of an index.
//!
//! A vector of unit length is stored as signed bytes with one scale. Products of bytes are integers, so every
//! processor finds the same neighbours in the same order.

use crate::kernels;

/// A vector quantised to signed bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantisedVector {
    /// One byte per dimension.
    pub steps: Vec<i8>,
    /// The value of one step.
    pub scale: f32,
}

/// Quantises a vector: its largest component becomes 127.
pub fn quantise(vector: &[f32]) -> QuantisedVector {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if !(largest.is_finite() && largest > 0.0) {
        return QuantisedVector { steps: vec![0; vector.len()], scale: 0.0 };
    }
    let inverse = 127.0 / largest;
    let steps = vector.iter().map(|value| (value * inverse).round_ties_even() as i8).collect();
    QuantisedVector { steps, scale: largest / 127.0 }
}

/// Computes the dot product of `query` with each row of `rows` (concatenated [`QuantisedVector::steps`]) into
/// `out`. If the numbers of rows and outputs differ, the excess is ignored.
pub fn dots(query: &[i8], rows: &[u8], out: &mut [i32]) {
    kernels::best_kernels().dots(query, rows, out);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::KernelPath;

    proptest! {
        #[test]
        fn every_path_finds_what_the_plain_sum_finds(
            query in prop::collection::vec(any::<i8>(), 1..400),
            rows in prop::collection::vec(any::<u8>(), 0..3000),
        ) {
            let count = rows.len() / query.len();
            let mut truth = Vec::new();
            for row in 0..count {
                let mut sum = 0_i64;
                for (place, &step) in query.iter().enumerate() {
                    sum += i64::from(step) * i64::from(rows[row * query.len() + place] as i8);
                }
                truth.push(i32::try_from(sum).unwrap());
            }
            for path in KernelPath::available() {
                let mut out = vec![0; count];
                kernels::kernels_for(path).unwrap().dots(&query, &rows, &mut out);
                prop_assert_eq!(&out, &truth, "{:?}", path);
            }
        }

        #[test]
        fn bytes_stay_close_to_the_floats(vector in prop::collection::vec(-1.0_f32..1.0, 1..400)) {
            let bytes = quantise(&vector);
            for (step, value) in bytes.steps.iter().zip(&vector) {
                prop_assert!((f32::from(*step) * bytes.scale - value).abs() <= bytes.scale * 0.51);
            }
        }
    }

    #[test]
    fn nothing_and_nonsense_have_no_direction() {
        assert_eq!(quantise(&[]), QuantisedVector { steps: vec![], scale: 0.0 });
        assert_eq!(quantise(&[0.0, 0.0]).scale, 0.0);
        assert_eq!(quantise(&[f32::NAN, f32::INFINITY]).scale, 0.0);
        dots(&[], &[1, 2, 3], &mut [0; 3]);
    }
}
