//! Kernels for aarch64, with and without byte dot products.
//!
//! Both multiply signed bytes by signed bytes. So the activations are lowered by 128, and 128 times the sum
//! of the weights is added back, which gives the same integers as on every other path.
#![expect(unsafe_code, reason = "vector intrinsics and the pointers they read from")]

use std::arch::aarch64::*;

use super::{GROUP_BYTES, MatrixProduct, QuantisedRows, ROWS_PER_STEP, fits, tiles};
use crate::layout::{CHANNELS_PER_BLOCK, INPUTS_PER_STEP, LinearLayer, PANEL_WIDTH};

path!(NEON_DOT, NeonDot, linear_dot, product, "neon,dotprod");
path!(NEON, Neon, linear_neon, product, "neon");

/// The number of floats, or four-byte sums, in a register.
const LANES: usize = 4;
/// The offset by which the activations are lowered.
const LOWERED: i32 = 128;

#[target_feature(enable = "neon,dotprod")]
fn linear_dot(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for channel in (0..linear.outputs).step_by(4 * LANES) {
        for (row, rows) in tiles(x.scale.len(), ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above), `channel` starts a part of a block, the rows are rows of `x`.
            unsafe { with_rows!(rows, tile_dot(x, linear, row, channel, out.as_mut_ptr())) }
        }
    }
}

/// Computes `R` rows by sixteen channels.
///
/// # Safety
/// The buffers fit, `channel` is a multiple of 16 below the outputs, and rows `row..row + R` exist.
#[target_feature(enable = "neon,dotprod")]
unsafe fn tile_dot<const R: usize>(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    out: *mut f32,
) {
    let inputs = linear.inputs;
    let mut sums = [[vdupq_n_s32(0); 4]; R];
    // SAFETY: by the contract, within `x.steps` and `linear.weights`.
    let (steps, weights) = unsafe { (x.steps.as_ptr().add(row * inputs), part(linear, channel)) };
    for k in (0..inputs).step_by(INPUTS_PER_STEP) {
        let mut block = [vdupq_n_s8(0); 4];
        for (v, register) in block.iter_mut().enumerate() {
            // SAFETY: a block has `inputs / INPUTS_PER_STEP` groups, and this part of it is 64 bytes of each.
            *register = unsafe { vld1q_s8(weights.add(k / INPUTS_PER_STEP * GROUP_BYTES + v * 16)) };
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `k + 3 < inputs`, and the row is one of `x`.
            let four = unsafe { lowered(steps.add(r * inputs + k)) };
            for (sum, weights) in sums.iter_mut().zip(block) {
                *sum = dot(*sum, four, weights);
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

/// The dot-product instruction. Its intrinsic is not stable yet.
#[target_feature(enable = "neon,dotprod")]
fn dot(sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    let mut result = sum;
    // SAFETY: the instruction works on registers alone, and this function needs a processor that has it.
    unsafe {
        std::arch::asm!(
            "sdot {sum:v}.4s, {a:v}.16b, {b:v}.16b",
            sum = inout(vreg) result,
            a = in(vreg) a,
            b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    result
}

#[target_feature(enable = "neon")]
fn linear_neon(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for channel in (0..linear.outputs).step_by(2 * LANES) {
        for (row, rows) in tiles(x.scale.len(), ROWS_PER_STEP) {
            // SAFETY: the buffers fit (above), `channel` starts a part of a block, the rows are rows of `x`.
            unsafe { with_rows!(rows, tile_neon(x, linear, row, channel, out.as_mut_ptr())) }
        }
    }
}

/// Computes `R` rows by eight channels.
///
/// # Safety
/// The buffers fit, `channel` is a multiple of 8 below the outputs, and rows `row..row + R` exist.
#[target_feature(enable = "neon")]
unsafe fn tile_neon<const R: usize>(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    out: *mut f32,
) {
    let inputs = linear.inputs;
    // Each register has two sums for each of two channels.
    let mut sums = [[vdupq_n_s32(0); 4]; R];
    // SAFETY: by the contract, within `x.steps` and `linear.weights`.
    let (steps, weights) = unsafe { (x.steps.as_ptr().add(row * inputs), part(linear, channel)) };
    for k in (0..inputs).step_by(INPUTS_PER_STEP) {
        // SAFETY: a block has `inputs / INPUTS_PER_STEP` groups, and this part of it is 32 bytes of each.
        let block = unsafe {
            let start = weights.add(k / INPUTS_PER_STEP * GROUP_BYTES);
            [vld1_s8(start), vld1_s8(start.add(8)), vld1_s8(start.add(16)), vld1_s8(start.add(24))]
        };
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `k + 3 < inputs`, and the row is one of `x`.
            let four = vget_low_s8(unsafe { lowered(steps.add(r * inputs + k)) });
            for (sum, weights) in sums.iter_mut().zip(block) {
                // The largest product, 128 x 128, fits into sixteen bits.
                *sum = vpadalq_s16(*sum, vmull_s8(four, weights));
            }
        }
    }
    for (r, [a, b, c, d]) in sums.into_iter().enumerate() {
        // SAFETY: as by the contract.
        unsafe {
            finish(x, linear, row + r, channel, vpaddq_s32(a, b), out);
            finish(x, linear, row + r, channel + LANES, vpaddq_s32(c, d), out);
        }
    }
}

/// Four activations, lowered and repeated four times.
///
/// # Safety
/// `steps` points to four bytes.
#[target_feature(enable = "neon")]
unsafe fn lowered(steps: *const u8) -> int8x16_t {
    // SAFETY: by the contract.
    let four = unsafe { steps.cast::<u32>().read_unaligned() };
    // Flipping the highest bit of a byte subtracts 128 from it.
    vreinterpretq_s8_u32(vdupq_n_u32(four ^ 0x8080_8080))
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

/// Converts the exact sums of four channels to floats and stores them.
///
/// # Safety
/// The buffers fit, `row` is a row and `channel..channel + 4` are channels.
#[target_feature(enable = "neon")]
unsafe fn finish(
    x: &QuantisedRows,
    linear: &LinearLayer<'_>,
    row: usize,
    channel: usize,
    sum: int32x4_t,
    out: *mut f32,
) {
    let (zero, scale) = (vdupq_n_s32(x.zero[row].wrapping_sub(LOWERED)), vdupq_n_f32(x.scale[row]));
    // SAFETY: by the contract, all are within the buffers.
    unsafe {
        let exact = vcvtq_f32_s32(vmlsq_s32(sum, zero, vld1q_s32(linear.sum.as_ptr().add(channel))));
        let scale = vmulq_f32(scale, vld1q_f32(linear.scale.as_ptr().add(channel)));
        let value = vfmaq_f32(vld1q_f32(linear.bias.as_ptr().add(channel)), exact, scale);
        vst1q_f32(out.add(row * linear.outputs + channel), value);
    }
}

#[target_feature(enable = "neon")]
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
#[target_feature(enable = "neon")]
unsafe fn half_panel<const R: usize>(p: &mut MatrixProduct<'_>, row: usize, column: usize) {
    let mut sums = [[vdupq_n_f32(0.0); 4]; R];
    let (left, right, out) = (p.left.as_ptr(), p.right.as_ptr(), p.out.as_mut_ptr());
    for k in 0..p.inner {
        let mut line = [vdupq_n_f32(0.0); 4];
        for (v, register) in line.iter_mut().enumerate() {
            // SAFETY: row `k` of `right` has these columns, by the contract.
            *register = unsafe { vld1q_f32(right.add(k * p.right_stride + column + v * LANES)) };
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: row `row + r` of `left` has `inner` values, by the contract.
            let left = vdupq_n_f32(unsafe { *left.add((row + r) * p.left_stride + k) });
            for (sum, right) in sums.iter_mut().zip(line) {
                *sum = vfmaq_f32(*sum, left, right);
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        for (v, sum) in sums.into_iter().enumerate() {
            // SAFETY: row `row + r` of `out` has these columns, by the contract.
            unsafe { vst1q_f32(out.add((row + r) * p.out_stride + column + v * LANES), sum) };
        }
    }
}
