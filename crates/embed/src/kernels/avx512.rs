//! Kernels for x86-64 with AVX-512 and its byte dot products.
#![expect(unsafe_code, reason = "vector intrinsics and the pointers they read from")]

use std::arch::x86_64::*;

use super::{GROUP_BYTES, MatrixProduct, QuantisedRows, ROWS_PER_STEP, fits, tiles};
use crate::layout::{CHANNELS_PER_BLOCK, INPUTS_PER_STEP, LinearLayer, PANEL_WIDTH};

path!(PLAIN, Avx512, linear, product, "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma");

/// The table of this path, with its own `dots`: the compiler does not find the byte dot products by itself.
pub(super) const AVX512: super::Kernels = super::Kernels { dots, ..PLAIN };

/// The number of floats, or four-byte sums, in a register.
const LANES: usize = 16;
/// The number of registers for the sums of a block of channels.
const BLOCK_REGISTERS: usize = CHANNELS_PER_BLOCK / LANES;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn linear(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for channel in (0..linear.outputs).step_by(CHANNELS_PER_BLOCK) {
        for (row, rows) in tiles(x.scale.len(), ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above), `channel` starts a block and `row..row + rows` are rows of `x`.
            unsafe { with_rows!(rows, tile(x, linear, row, channel, out.as_mut_ptr())) }
        }
    }
}

/// Computes `R` rows by one block of channels.
///
/// # Safety
/// The buffers fit, `channel` starts a block, and rows `row..row + R` exist.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
unsafe fn tile<const R: usize>(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    out: *mut f32,
) {
    let inputs = linear.inputs;
    let mut sums = [[_mm512_setzero_si512(); BLOCK_REGISTERS]; R];
    // SAFETY: by the contract, within `x.steps` and `linear.weights`.
    let (steps, weights) =
        unsafe { (x.steps.as_ptr().add(row * inputs), linear.weights.as_ptr().add(channel * inputs)) };
    for k in (0..inputs).step_by(INPUTS_PER_STEP) {
        let mut block = [_mm512_setzero_si512(); BLOCK_REGISTERS];
        for (v, register) in block.iter_mut().enumerate() {
            // SAFETY: a block has `inputs / INPUTS_PER_STEP` groups of `GROUP_BYTES` bytes.
            *register =
                unsafe { _mm512_loadu_si512(weights.add(k / INPUTS_PER_STEP * GROUP_BYTES + v * 64).cast()) };
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `k + 3 < inputs`, and the row is one of `x`.
            let four = unsafe { steps.add(r * inputs + k).cast::<i32>().read_unaligned() };
            let four = _mm512_set1_epi32(four);
            for (sum, weights) in sums.iter_mut().zip(block) {
                *sum = _mm512_dpbusd_epi32(*sum, four, weights);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        let (zero, scale) = (_mm512_set1_epi32(x.zero[row + r]), _mm512_set1_ps(x.scale[row + r]));
        for (v, sum) in sums.into_iter().enumerate() {
            let at = channel + v * LANES;
            // SAFETY: `at + 15` is a channel, and the place in `out` is that of this row and channel.
            unsafe {
                let offset = _mm512_mullo_epi32(zero, _mm512_loadu_si512(linear.sum.as_ptr().add(at).cast()));
                let exact = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, offset));
                let scale = _mm512_mul_ps(scale, _mm512_loadu_ps(linear.scale.as_ptr().add(at)));
                let value = _mm512_fmadd_ps(exact, scale, _mm512_loadu_ps(linear.bias.as_ptr().add(at)));
                _mm512_storeu_ps(out.add((row + r) * linear.outputs + at), value);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn product(p: &mut MatrixProduct<'_>) {
    assert!(p.fits(), "a product and its buffers disagree");
    for column in (0..p.columns).step_by(PANEL_WIDTH) {
        for (row, rows) in tiles(p.rows, ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above); the panel and the rows are within them.
            unsafe { with_rows!(rows, panel(p, row, column)) }
        }
    }
}

/// Computes `R` rows by one panel of columns.
///
/// # Safety
/// The buffers fit, and rows `row..row + R` and columns `column..column + PANEL_WIDTH` exist.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
unsafe fn panel<const R: usize>(p: &mut MatrixProduct<'_>, row: usize, column: usize) {
    let mut sums = [[_mm512_setzero_ps(); PANEL_WIDTH / LANES]; R];
    let (left, right, out) = (p.left.as_ptr(), p.right.as_ptr(), p.out.as_mut_ptr());
    for k in 0..p.inner {
        // SAFETY: row `k` of `right` has the panel's columns, by the contract.
        let right = unsafe {
            let start = right.add(k * p.right_stride + column);
            [_mm512_loadu_ps(start), _mm512_loadu_ps(start.add(LANES))]
        };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: row `row + r` of `left` has `inner` values, by the contract.
            let left = _mm512_set1_ps(unsafe { *left.add((row + r) * p.left_stride + k) });
            for (sum, right) in sums.iter_mut().zip(right) {
                *sum = _mm512_fmadd_ps(left, right, *sum);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (v, sum) in sums.into_iter().enumerate() {
            // SAFETY: row `row + r` of `out` has the panel's columns, by the contract.
            unsafe { _mm512_storeu_ps(out.add((row + r) * p.out_stride + column + v * LANES), sum) };
        }
    }
}

/// The same result as [`super::math::dots`], with byte dot products.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma")]
fn dots(query: &[i8], rows: &[u8], out: &mut [i32]) {
    let Some(width) = std::num::NonZero::new(query.len()) else { return };
    // The instruction needs one unsigned side. Flipping the sign bit adds 128 to every step of a row.
    let flip = _mm512_set1_epi8(i8::MIN);
    let too_much: i32 = query.iter().map(|&step| i32::from(step) * 128).sum();
    let (chunks, rest) = query.as_chunks::<64>();
    let mask = (1_u64 << rest.len()) - 1;
    // SAFETY: the mask has a bit for each byte of `rest`.
    let last = unsafe { _mm512_maskz_loadu_epi8(mask, rest.as_ptr()) };
    for (row, out) in rows.chunks_exact(width.get()).zip(out) {
        let (parts, over) = row.as_chunks::<64>();
        let mut sum = _mm512_setzero_si512();
        for (query, part) in chunks.iter().zip(parts) {
            // SAFETY: both are 64 bytes.
            let (query, part) = unsafe {
                (_mm512_loadu_si512(query.as_ptr().cast()), _mm512_loadu_si512(part.as_ptr().cast()))
            };
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(part, flip), query);
        }
        if mask != 0 {
            // SAFETY: a row is as long as the query, so `over` is as long as `rest`. Beyond it the query is zero.
            let part = unsafe { _mm512_maskz_loadu_epi8(mask, over.as_ptr().cast()) };
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(part, flip), last);
        }
        *out = _mm512_reduce_add_epi32(sum) - too_much;
    }
}
