//! Arithmetic without special instructions, written once for every path.
//!
//! Each kernel file compiles these functions again with its own vector instructions. The results are
//! bit-identical everywhere: sums are kept in [`LANES`] columns whatever the width of a register, products
//! are added with one rounding (`mul_add`), and the compiler may not reorder float operations.

use super::{NormParameters, QuantisedRows};

/// The number of columns for sums, minima and maxima.
const LANES: usize = 16;

/// Computes `x[row] = norm(x[row] + y[row])` for every row; without `y`, of `x` alone.
#[inline(always)]
pub(super) fn add_norm(x: &mut [f32], y: &[f32], norms: &NormParameters<'_>) {
    let width = norms.weight.len();
    let mut sums = y.chunks_exact(width);
    for row in x.chunks_exact_mut(width) {
        if let Some(sum) = sums.next() {
            for (value, other) in row.iter_mut().zip(sum) {
                *value += other;
            }
        }
        let mut lanes = [0.0; LANES];
        for chunk in row.as_chunks::<LANES>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *lane += value;
            }
        }
        let mean = total(lanes) / width as f32;
        let mut lanes = [0.0; LANES];
        for chunk in row.as_chunks::<LANES>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                let distance = value - mean;
                *lane = distance.mul_add(distance, *lane);
            }
        }
        let factor = 1.0 / (total(lanes) / width as f32 + norms.epsilon).sqrt();
        for ((value, weight), bias) in row.iter_mut().zip(norms.weight).zip(norms.bias) {
            *value = ((*value - mean) * factor).mul_add(*weight, *bias);
        }
    }
}

/// Applies the activation function of the intermediate layer in place.
#[inline(always)]
pub(super) fn gelu(x: &mut [f32]) {
    for value in x {
        *value = gelu_of(*value);
    }
}

/// Computes the dot product of `query` with every row of signed bytes. Integer sums are exact on every path.
#[inline(always)]
pub(super) fn dots(query: &[i8], rows: &[u8], out: &mut [i32]) {
    let Some(width) = std::num::NonZero::new(query.len()) else { return };
    for (row, out) in rows.chunks_exact(width.get()).zip(out) {
        let products = query.iter().zip(row).map(|(&a, &b)| i32::from(a) * i32::from(b.cast_signed()));
        *out = products.sum();
    }
}

/// Quantises each row of `width` floats to bytes, with a scale and a zero point per row. This uses the whole
/// range of a row, which keeps eight bits close enough to the floats.
#[inline(always)]
pub(super) fn quantise(x: &[f32], width: usize, out: &mut QuantisedRows) {
    for (index, (row, steps)) in x.chunks_exact(width).zip(out.steps.chunks_exact_mut(width)).enumerate() {
        let (low, high) = (-largest(0.0, row, |value| -value), largest(0.0, row, |value| value));
        let range = high - low;
        let inverse = if range > 0.0 { 255.0 / range } else { 0.0 };
        let zero = round_to_u8_range(-low * inverse);
        for (step, value) in steps.iter_mut().zip(row) {
            *step = round_to_u8_range(value.mul_add(inverse, zero as f32)) as u8;
        }
        out.scale[index] = range / 255.0;
        out.zero[index] = zero as i32;
    }
}

/// Computes `exp(x - max)` of the first `count` values of each row of `width`, and the inverse of their sum.
/// The rest of the row becomes zero.
#[inline(always)]
pub(super) fn softmax(scores: &mut [f32], width: usize, count: usize, inverse: &mut [f32]) {
    let used = count.next_multiple_of(LANES).min(width);
    for (row, inverse) in scores.chunks_exact_mut(width).zip(inverse) {
        let (row, unused) = row.split_at_mut(used);
        unused.fill(0.0);
        row[count..].fill(f32::NEG_INFINITY);
        let most = largest(f32::NEG_INFINITY, row, |value| value);
        let mut lanes = [0.0; LANES];
        for chunk in row.as_chunks_mut::<LANES>().0 {
            for (lane, value) in lanes.iter_mut().zip(chunk) {
                *value = exp_of(*value - most);
                *lane += *value;
            }
        }
        *inverse = 1.0 / total(lanes);
    }
}

/// The maximum of `of` over a row, or `start` if all values are smaller. Minimum and maximum are separate
/// passes, because for both in one pass the compiler shuffles them into one register and back.
#[inline(always)]
fn largest(start: f32, row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let larger = |most: f32, value: f32| if value > most { value } else { most };
    let mut lanes = [start; LANES];
    for chunk in row.as_chunks::<LANES>().0 {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, of(value));
        }
    }
    lanes.into_iter().fold(start, larger)
}

/// Rounds to an integer between 0 and 255, ties to even. NaN becomes 0.
#[inline(always)]
fn round_to_u8_range(value: f32) -> u32 {
    let value = if value > 0.0 { value } else { 0.0 };
    let value = if value < 255.0 { value } else { 255.0 };
    // At this magnitude the last bit of a float is worth one, so adding rounds, and the low bits are the
    // integer.
    (value + 8_388_608.0).to_bits() & 0xff
}

/// Adds all lanes in one fixed order.
#[inline(always)]
fn total(mut lanes: [f32; LANES]) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for index in 0..half {
            lanes[index] += lanes[index + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Computes `x / 2 * (1 + erf(x / sqrt 2))`. The rational approximation was fitted for this file; its error
/// is below 6e-7 of erf.
#[inline(always)]
fn gelu_of(x: f32) -> f32 {
    /// Beyond this value erf is one in float precision.
    const ERF_LIMIT: f32 = 3.92;
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let z = if z < ERF_LIMIT { z } else { ERF_LIMIT };
    let z = if z > -ERF_LIMIT { z } else { -ERF_LIMIT };
    let t = z * z;
    let above = 0.000_345_808_45_f32;
    let above = above.mul_add(t, 0.009_674_638_5);
    let above = above.mul_add(t, 0.070_852_354);
    let above = above.mul_add(t, 0.338_044_2);
    let above = above.mul_add(t, 1.128_377);
    let below = 1.996_621e-5_f32;
    let below = below.mul_add(t, 0.002_458_463_7);
    let below = below.mul_add(t, 0.026_899_023);
    let below = below.mul_add(t, 0.173_843_22);
    let below = below.mul_add(t, 0.632_892_8);
    let below = below.mul_add(t, 1.0);
    let half = 0.5 * x;
    half.mul_add(z * above / below, half)
}

/// Computes `exp(x)` for `x <= 0`, with zero instead of subnormal results. The relative error is below 2e-7.
#[inline(always)]
fn exp_of(x: f32) -> f32 {
    let y = x * std::f32::consts::LOG2_E;
    let y = if y > -126.0 { y } else { -127.0 };
    let shifted = y + 12_582_912.0;
    let whole = shifted - 12_582_912.0;
    let rest = y - whole;
    let power = 0.001_326_698_f32;
    let power = power.mul_add(rest, 0.009_675_469);
    let power = power.mul_add(rest, 0.055_507_427);
    let power = power.mul_add(rest, 0.240_221_22);
    let power = power.mul_add(rest, 0.693_146_95);
    let power = power.mul_add(rest, 1.000_000_1);
    // For -127 the exponent field is zero, so the product is zero.
    power * f32::from_bits(shifted.to_bits().wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series of erf in double precision, as a slow reference.
    fn erf(z: f64) -> f64 {
        let mut term = z;
        let mut sum = z;
        for n in 1..400 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * 2.0 / std::f64::consts::PI.sqrt()
    }

    #[test]
    fn gelu_is_close_to_its_definition() {
        for step in -6000..6000 {
            let x = f64::from(step) / 1000.0;
            let truth = if x > 5.5 {
                x
            } else if x < -5.5 {
                0.0
            } else {
                x / 2.0 * (1.0 + erf(x / 2.0_f64.sqrt()))
            };
            assert!((f64::from(gelu_of(x as f32)) - truth).abs() < 3e-6, "{x}");
        }
        assert!((gelu_of(1e30) - 1e30).abs() < 1e24);
        assert!(gelu_of(f32::NAN).is_nan());
    }

    #[test]
    fn exp_is_close_to_its_definition() {
        for step in 0..87_000 {
            let x = -f64::from(step) / 1000.0;
            let truth = (x as f32 as f64).exp();
            assert!((f64::from(exp_of(x as f32)) / truth - 1.0).abs() < 8e-6, "{x}");
        }
        assert_eq!([exp_of(-88.0), exp_of(-1e9), exp_of(f32::NEG_INFINITY)], [0.0; 3]);
        assert!((exp_of(0.0) - 1.0).abs() < 2e-7);
    }

    #[test]
    fn rows_come_back_from_bytes_within_half_a_step() {
        let rows: Vec<f32> = (0..64).map(|i| ((i * 37) % 64) as f32 / 7.0 - 2.0).chain([0.0; 64]).collect();
        let mut out = QuantisedRows::default();
        out.resize(2, 64);
        quantise(&rows, 64, &mut out);
        for (index, &value) in rows.iter().enumerate() {
            let row = index / 64;
            let back = (i32::from(out.steps[index]) - out.zero[row]) as f32 * out.scale[row];
            assert!((back - value).abs() <= out.scale[row] * 0.51, "{value} came back as {back}");
        }
    }

    #[test]
    fn wild_floats_do_no_harm() {
        let rows = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX].repeat(16);
        let mut out = QuantisedRows::default();
        out.resize(1, 64);
        quantise(&rows, 64, &mut out);
    }

    #[test]
    fn softmax_leaves_out_the_padding() {
        let mut scores = vec![9.0_f32; 32];
        scores[..3].copy_from_slice(&[1.0, 2.0, 3.0]);
        let mut inverse = [0.0];
        softmax(&mut scores, 32, 3, &mut inverse);
        let truth = [0.090_030_57, 0.244_728_47, 0.665_240_96];
        for (score, truth) in scores.iter().zip(truth) {
            assert!((score * inverse[0] - truth).abs() < 1e-6);
        }
        assert!(scores[3..].iter().all(|&score| score == 0.0));
    }
}
