//! Compares every path of this processor with the scalar one: results are equal to the bit.

use super::*;

/// A small random number generator with a fixed seed.
struct KernelTestRng(u64);

impl KernelTestRng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn float(&mut self) -> f32 {
        self.next() as f32 / (1_u64 << 30) as f32 - 1.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}

fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| float.to_bits()).collect()
}

#[test]
fn linear_is_exact_at_the_extremes_and_equal_on_every_path() {
    let mut numbers = KernelTestRng(1);
    for (rows, outputs, inputs) in [(1, 64, 64), (2, 128, 64), (5, 64, 1536), (7, 192, 384), (20, 64, 128)] {
        let extreme = rows == 5;
        let mut x = QuantisedRows::default();
        x.resize(rows, inputs);
        for step in &mut x.steps {
            *step = if extreme { 255 } else { numbers.next() as u8 };
        }
        for (scale, zero) in x.scale.iter_mut().zip(&mut x.zero) {
            (*scale, *zero) = (numbers.float(), (numbers.next() % 256) as i32);
        }
        let weights: Vec<i8> =
            (0..outputs * inputs).map(|_| if extreme { -127 } else { numbers.next() as i8 }).collect();
        let (scale, bias) = (numbers.floats(outputs), numbers.floats(outputs));
        let mut sum = vec![0_i32; outputs];
        for (index, &weight) in weights.iter().enumerate() {
            sum[index / (CHANNELS_PER_BLOCK * inputs) * CHANNELS_PER_BLOCK + index % GROUP_BYTES / 4] +=
                i32::from(weight);
        }
        let linear =
            LinearLayer { outputs, inputs, weights: &weights, scale: &scale, sum: &sum, bias: &bias };
        let run = |kernels: &Kernels| {
            let mut out = vec![f32::NAN; rows * outputs];
            kernels.linear(&x, &linear, &mut out);
            out
        };
        let truth = run(&scalar::SCALAR);
        // Check the scalar path itself against one explicit sum.
        let last = linear.weights.len() - GROUP_BYTES;
        let whole: i64 = (0..inputs / 4)
            .flat_map(|group| (0..4).map(move |k| (group, k)))
            .map(|(group, k)| {
                let weight = weights[last - (inputs / 4 - 1 - group) * GROUP_BYTES + 63 * 4 + k];
                i64::from(x.steps[(rows - 1) * inputs + group * 4 + k]) * i64::from(weight)
            })
            .sum();
        let whole = whole - i64::from(x.zero[rows - 1]) * i64::from(sum[outputs - 1]);
        let wanted = (whole as f32).mul_add(x.scale[rows - 1] * scale[outputs - 1], bias[outputs - 1]);
        assert_eq!(truth[rows * outputs - 1].to_bits(), wanted.to_bits());
        for kernels in tables() {
            assert_eq!(bits(&run(kernels)), bits(&truth), "{:?}, {rows} rows", kernels.path);
        }
    }
}

#[test]
fn products_are_equal_on_every_path() {
    let mut numbers = KernelTestRng(2);
    for (rows, inner, columns) in [(1, 1, 32), (3, 32, 64), (13, 20, 32), (20, 32, 96), (6, 7, 32)] {
        let (left_stride, right_stride, out_stride) = (inner + 5, columns + 3, columns + 1);
        let left = numbers.floats(rows * left_stride);
        let right = numbers.floats(inner * right_stride);
        let run = |kernels: &Kernels| {
            let mut out = vec![0.5; rows * out_stride];
            kernels.product(MatrixProduct {
                left: &left,
                left_stride,
                right: &right,
                right_stride,
                out: &mut out,
                out_stride,
                rows,
                inner,
                columns,
            });
            out
        };
        let truth = run(&scalar::SCALAR);
        let corner: f64 = (0..inner).map(|k| f64::from(left[k]) * f64::from(right[k * right_stride])).sum();
        assert!((f64::from(truth[0]) - corner).abs() < 1e-4);
        for kernels in tables() {
            assert_eq!(bits(&run(kernels)), bits(&truth), "{:?}", kernels.path);
        }
    }
}

#[test]
fn the_arithmetic_on_floats_is_equal_on_every_path() {
    let mut numbers = KernelTestRng(3);
    let (rows, width) = (5, 192);
    let (x, y) = (numbers.floats(rows * width), numbers.floats(rows * width));
    let (weight, bias) = (numbers.floats(width), numbers.floats(width));
    let run = |kernels: &Kernels| {
        let mut x = x.clone();
        let mut inverse = vec![0.0; rows];
        let mut steps = QuantisedRows::default();
        let norms = NormParameters { weight: &weight, bias: &bias, epsilon: 1e-12 };
        kernels.add_norm(&mut x, &y, &norms);
        kernels.gelu(&mut x);
        kernels.quantise(&x, width, &mut steps);
        kernels.softmax(&mut x, width, 100, &mut inverse);
        (bits(&x), bits(&inverse), steps.steps, bits(&steps.scale), steps.zero)
    };
    let truth = run(&scalar::SCALAR);
    for kernels in tables() {
        assert_eq!(run(kernels), truth, "{:?}", kernels.path);
    }
}

#[test]
fn tiles_cover_every_row_once_and_evenly() {
    for rows in 0..50 {
        let all: Vec<(usize, usize)> = tiles(rows, 6).collect();
        let next = all.iter().fold(0, |next, &(start, count)| {
            assert_eq!(start, next);
            assert!((1..=6).contains(&count));
            start + count
        });
        assert_eq!(next, rows);
    }
    assert_eq!(tiles(20, 6).map(|(_, count)| count).collect::<Vec<_>>(), [5, 5, 5, 5]);
}

#[test]
fn the_scalar_path_is_always_there_and_last() {
    assert_eq!(KernelPath::available().last(), Some(&KernelPath::Scalar));
    assert_eq!(best_kernels().path, KernelPath::available()[0]);
    assert!(kernels_for(KernelPath::Scalar).is_some());
}
