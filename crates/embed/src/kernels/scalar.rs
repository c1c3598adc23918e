//! The portable path, and the reference in tests of the others.

use super::{MatrixProduct, QuantisedRows, fits};
use crate::layout::{CHANNELS_PER_BLOCK, INPUTS_PER_STEP, LinearLayer};

path!(SCALAR, Scalar, linear, product);

fn linear(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for (row, steps) in x.steps.chunks_exact(linear.inputs).enumerate() {
        for (block, weights) in linear.weights.chunks_exact(CHANNELS_PER_BLOCK * linear.inputs).enumerate() {
            let mut sums = [0_i32; CHANNELS_PER_BLOCK];
            for (four, weights) in steps
                .as_chunks::<INPUTS_PER_STEP>()
                .0
                .iter()
                .zip(weights.chunks_exact(CHANNELS_PER_BLOCK * INPUTS_PER_STEP))
            {
                for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<INPUTS_PER_STEP>().0) {
                    for (&step, &weight) in four.iter().zip(weights) {
                        *sum += i32::from(step) * i32::from(weight);
                    }
                }
            }
            for (lane, sum) in sums.into_iter().enumerate() {
                let channel = block * CHANNELS_PER_BLOCK + lane;
                let sum = sum.wrapping_sub(x.zero[row].wrapping_mul(linear.sum[channel]));
                let scale = x.scale[row] * linear.scale[channel];
                out[row * linear.outputs + channel] = (sum as f32).mul_add(scale, linear.bias[channel]);
            }
        }
    }
}

fn product(p: &mut MatrixProduct<'_>) {
    assert!(p.fits(), "a product and its buffers disagree");
    for row in 0..p.rows {
        let out = &mut p.out[row * p.out_stride..][..p.columns];
        out.fill(0.0);
        for inner in 0..p.inner {
            let left = p.left[row * p.left_stride + inner];
            let right = &p.right[inner * p.right_stride..][..p.columns];
            for (out, right) in out.iter_mut().zip(right) {
                *out = left.mul_add(*right, *out);
            }
        }
    }
}
