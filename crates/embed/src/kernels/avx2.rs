//! Kernels for x86-64 with AVX2, with and without byte dot products.
#![expect(unsafe_code, reason = "vector intrinsics and the pointers they read from")]

use std::arch::x86_64::*;

use super::{GROUP_BYTES, MatrixProduct, QuantisedRows, ROWS_PER_STEP, fits, tiles};
use crate::layout::{CHANNELS_PER_BLOCK, INPUTS_PER_STEP, LinearLayer, PANEL_WIDTH};

path!(AVX_VNNI, AvxVnni, linear_vnni, product, "avxvnni,avx2,fma");
path!(AVX2, Avx2, linear_avx2, product, "avx2,fma");

/// The number of floats, or four-byte sums, in a register.
const LANES: usize = 8;

#[target_feature(enable = "avxvnni,avx2,fma")]
fn linear_vnni(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for channel in (0..linear.outputs).step_by(2 * LANES) {
        for (row, rows) in tiles(x.scale.len(), ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above), `channel` starts a part of a block, the rows are rows of `x`.
            unsafe { with_rows!(rows, tile_vnni(x, linear, row, channel, out.as_mut_ptr())) }
        }
    }
}

/// Computes `R` rows by sixteen channels.
///
/// # Safety
/// The buffers fit, `channel` is a multiple of 16 below the outputs, and rows `row..row + R` exist.
#[target_feature(enable = "avxvnni,avx2,fma")]
unsafe fn tile_vnni<const R: usize>(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    out: *mut f32,
) {
    let inputs = linear.inputs;
    let mut sums = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: by the contract, within `x.steps` and `linear.weights`.
    let (steps, weights) = unsafe { (x.steps.as_ptr().add(row * inputs), part(linear, channel)) };
    for k in (0..inputs).step_by(INPUTS_PER_STEP) {
        // SAFETY: a block has `inputs / INPUTS_PER_STEP` groups, and this part of it is 64 bytes of each.
        let block = unsafe {
            let start = weights.add(k / INPUTS_PER_STEP * GROUP_BYTES);
            [_mm256_loadu_si256(start.cast()), _mm256_loadu_si256(start.add(32).cast())]
        };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `k + 3 < inputs`, and the row is one of `x`.
            let four = unsafe { steps.add(r * inputs + k).cast::<i32>().read_unaligned() };
            let four = _mm256_set1_epi32(four);
            for (sum, weights) in sums.iter_mut().zip(block) {
                *sum = _mm256_dpbusd_avx_epi32(*sum, four, weights);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (v, sum) in sums.into_iter().enumerate() {
            // SAFETY: as by the contract.
            unsafe { finish(x, linear, row + r, channel + v * LANES, sum, out) };
        }
    }
}

/// The AVX2 kernel. AVX2 multiplies bytes only into 16-bit sums that saturate, which would not be exact. So
/// both sides are widened first, the activations once for all channels.
#[target_feature(enable = "avx2,fma")]
fn linear_avx2(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    let wide: Vec<i16> = x.steps.iter().map(|&step| i16::from(step)).collect();
    for channel in (0..linear.outputs).step_by(LANES) {
        for (row, rows) in tiles(x.scale.len(), ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above), `channel` starts a part of a block, the rows are rows of `x`, and
            // `wide` has as many values as `x.steps`.
            unsafe { with_rows!(rows, tile_avx2(x, &wide, linear, row, channel, out.as_mut_ptr())) }
        }
    }
}

/// Computes `R` rows by eight channels.
///
/// # Safety
/// The buffers fit, `wide` has as many values as `x.steps`, `channel` is a multiple of 8 below the outputs,
/// and rows `row..row + R` exist.
#[target_feature(enable = "avx2,fma")]
unsafe fn tile_avx2<const R: usize>(
    x: &QuantisedRows,
    wide: &[i16],
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    out: *mut f32,
) {
    let inputs = linear.inputs;
    // Each register has two sums for each of four channels.
    let mut sums = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: by the contract, within `wide` and `linear.weights`.
    let (steps, weights) = unsafe { (wide.as_ptr().add(row * inputs), part(linear, channel)) };
    for k in (0..inputs).step_by(INPUTS_PER_STEP) {
        // SAFETY: a block has `inputs / INPUTS_PER_STEP` groups, and this part of it is 32 bytes of each.
        let block = unsafe {
            let start = weights.add(k / INPUTS_PER_STEP * GROUP_BYTES);
            [
                _mm256_cvtepi8_epi16(_mm_loadu_si128(start.cast())),
                _mm256_cvtepi8_epi16(_mm_loadu_si128(start.add(16).cast())),
            ]
        };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `k + 3 < inputs`, and the row is one of `wide`.
            let four = unsafe { steps.add(r * inputs + k).cast::<i64>().read_unaligned() };
            let four = _mm256_set1_epi64x(four);
            for (sum, weights) in sums.iter_mut().zip(block) {
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(four, weights));
            }
        }
    }
    for (r, [low, high]) in sums.into_iter().enumerate() {
        // Horizontal pair sums: channels 0 1 4 5 2 3 6 7, then put in order.
        let sum = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_hadd_epi32(low, high));
        // SAFETY: as by the contract.
        unsafe { finish(x, linear, row + r, channel, sum, out) };
    }
}

/// The start of the weights of a part of a block.
///
/// # Safety
/// The buffers fit, and `channel` is below the outputs.
unsafe fn part(linear: &LinearLayer<'_>, channel: usize) -> *const i8 {
    let inside = channel % CHANNELS_PER_BLOCK;
    // SAFETY: the block of `channel` starts at the first product, and its first group has 256 bytes.
    unsafe { linear.weights.as_ptr().add((channel - inside) * linear.inputs + inside * INPUTS_PER_STEP) }
}

/// Converts the exact sums of eight channels to floats and stores them.
///
/// # Safety
/// The buffers fit, `row` is a row and `channel..channel + 8` are channels.
#[target_feature(enable = "avx2,fma")]
unsafe fn finish(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    sum: __m256i,
    out: *mut f32,
) {
    let (zero, scale) = (_mm256_set1_epi32(x.zero[row]), _mm256_set1_ps(x.scale[row]));
    // SAFETY: by the contract, all are within the buffers.
    unsafe {
        let offset = _mm256_mullo_epi32(zero, _mm256_loadu_si256(linear.sum.as_ptr().add(channel).cast()));
        let exact = _mm256_cvtepi32_ps(_mm256_sub_epi32(sum, offset));
        let scale = _mm256_mul_ps(scale, _mm256_loadu_ps(linear.scale.as_ptr().add(channel)));
        let value = _mm256_fmadd_ps(exact, scale, _mm256_loadu_ps(linear.bias.as_ptr().add(channel)));
        _mm256_storeu_ps(out.add(row * linear.outputs + channel), value);
    }
}

#[target_feature(enable = "avx2,fma")]
fn product(p: &mut MatrixProduct<'_>) {
    assert!(p.fits(), "a product and its buffers disagree");
    for column in (0..p.columns).step_by(PANEL_WIDTH / 2) {
        for (row, rows) in tiles(p.rows, ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above); half a panel and the rows are within them.
            unsafe { with_rows!(rows, half_panel(p, row, column)) }
        }
    }
}

/// Computes `R` rows by half a panel of columns.
///
/// # Safety
/// The buffers fit, and rows `row..row + R` and columns `column..column + PANEL_WIDTH / 2` exist.
#[target_feature(enable = "avx2,fma")]
unsafe fn half_panel<const R: usize>(p: &mut MatrixProduct<'_>, row: usize, column: usize) {
    let mut sums = [[_mm256_setzero_ps(); 2]; R];
    let (left, right, out) = (p.left.as_ptr(), p.right.as_ptr(), p.out.as_mut_ptr());
    for k in 0..p.inner {
        // SAFETY: row `k` of `right` has these columns, by the contract.
        let right = unsafe {
            let start = right.add(k * p.right_stride + column);
            [_mm256_loadu_ps(start), _mm256_loadu_ps(start.add(LANES))]
        };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: row `row + r` of `left` has `inner` values, by the contract.
            let left = _mm256_set1_ps(unsafe { *left.add((row + r) * p.left_stride + k) });
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = _mm256_fmadd_ps(left, right, *sum);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (v, sum) in sums.into_iter().enumerate() {
            // SAFETY: row `row + r` of `out` has these columns, by the contract.
            unsafe { _mm256_storeu_ps(out.add((row + r) * p.out_stride + column + v * LANES), sum) };
        }
    }
}
