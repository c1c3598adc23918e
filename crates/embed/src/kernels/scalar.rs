//! The portable path, and the reference in tests of the others.

use super::{Product, Quantised, fits};
use crate::layout::{CHANNELS, INPUTS, Linear};

path!(SCALAR, Scalar, linear, product);

fn linear(x: &Quantised, linear: &Linear<'_>, out: &mut [f32]) {
    assert!(fits(x, linear, out), "a matrix and its buffers disagree");
    for (row, steps) in x.steps.chunks_exact(linear.inputs).enumerate() {
        for (block, weights) in linear.weights.chunks_exact(CHANNELS * linear.inputs).enumerate() {
            let mut sums = [0_i32; CHANNELS];
            for (four, weights) in
                steps.as_chunks::<INPUTS>().0.iter().zip(weights.chunks_exact(CHANNELS * INPUTS))
            {
                for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<INPUTS>().0) {
                    for (&step, &weight) in four.iter().zip(weights) {
                        *sum += i32::from(step) * i32::from(weight);
                    }
                }
            }
            for (lane, sum) in sums.into_iter().enumerate() {
                let channel = block * CHANNELS + lane;
                let sum = sum.wrapping_sub(x.zero[row].wrapping_mul(linear.sum[channel]));
                let scale = x.scale[row] * linear.scale[channel];
                out[row * linear.outputs + channel] = (sum as f32).mul_add(scale, linear.bias[channel]);
            }
        }
    }
}

fn product(p: &mut Product<'_>) {
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
