//! The hot loops: one file per instruction set, selected once at run time.
#![expect(
    unsafe_code,
    reason = "code compiled for instructions the processor may lack can only be called so"
)]

mod math;

use crate::layout::{CHANNELS_PER_BLOCK, LinearLayer};

/// Calls `$tile::<R>` with `R` equal to `$rows`, for all tile sizes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! with_rows {
    ($rows:expr, $tile:ident($($argument:expr),* $(,)?)) => {
        match $rows {
            1 => $tile::<1>($($argument),*),
            2 => $tile::<2>($($argument),*),
            3 => $tile::<3>($($argument),*),
            4 => $tile::<4>($($argument),*),
            5 => $tile::<5>($($argument),*),
            _ => $tile::<6>($($argument),*),
        }
    };
}

/// Compiles the functions of [`math`] for one path and builds its table, including its own two kernels.
macro_rules! path {
    ($name:ident, $path:ident, $linear:ident, $product:ident $(, $features:literal)?) => {
        pub(super) const $name: super::Kernels = {
            $(#[target_feature(enable = $features)])?
            fn add_norm(x: &mut [f32], y: &[f32], norms: &super::NormParameters<'_>) {
                super::math::add_norm(x, y, norms);
            }
            $(#[target_feature(enable = $features)])?
            fn gelu(x: &mut [f32]) {
                super::math::gelu(x);
            }
            $(#[target_feature(enable = $features)])?
            fn quantise(x: &[f32], width: usize, out: &mut super::QuantisedRows) {
                super::math::quantise(x, width, out);
            }
            $(#[target_feature(enable = $features)])?
            fn softmax(scores: &mut [f32], width: usize, count: usize, inverse: &mut [f32]) {
                super::math::softmax(scores, width, count, inverse);
            }
            $(#[target_feature(enable = $features)])?
            fn dots(query: &[i8], rows: &[u8], out: &mut [i32]) {
                super::math::dots(query, rows, out);
            }
            super::Kernels {
                path: super::KernelPath::$path,
                linear: $linear,
                product: $product,
                add_norm,
                gelu,
                quantise,
                softmax,
                dots,
            }
        };
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

/// A set of kernels. All sets give bit-identical vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelPath {
    /// x86-64 with AVX-512 VNNI (Ice Lake, Zen 4 and later).
    Avx512,
    /// x86-64 with AVX-VNNI in 256 bits (Alder Lake, Zen 5 and later).
    AvxVnni,
    /// x86-64 with AVX2 and FMA (since 2013).
    Avx2,
    /// aarch64 with dot products (since about 2018, every Apple M).
    NeonDot,
    /// Any other aarch64 processor.
    Neon,
    /// No vector instructions beyond the baseline of the architecture.
    Scalar,
}

impl KernelPath {
    /// The paths that this processor supports, best first. The last is always [`KernelPath::Scalar`].
    pub fn available() -> Vec<Self> {
        tables().map(|kernels| kernels.path).collect()
    }
}

/// A matrix quantised to bytes, with a scale and a zero point per row.
#[derive(Debug, Default)]
pub(crate) struct QuantisedRows {
    pub(crate) steps: Vec<u8>,
    pub(crate) scale: Vec<f32>,
    pub(crate) zero: Vec<i32>,
}

impl QuantisedRows {
    pub(crate) fn resize(&mut self, rows: usize, width: usize) {
        self.steps.resize(rows * width, 0);
        self.scale.resize(rows, 0.0);
        self.zero.resize(rows, 0);
    }
}

/// Scale, shift and epsilon of a layer normalisation.
#[derive(Debug)]
pub(crate) struct NormParameters<'a> {
    pub(crate) weight: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) epsilon: f32,
}

/// A matrix product `out = left x right` of floats, where each matrix may be part of a larger one. Every
/// element of `out` is summed in the order of `inner`, so that all paths agree to the bit.
#[derive(Debug)]
pub(crate) struct MatrixProduct<'a> {
    pub(crate) left: &'a [f32],
    pub(crate) left_stride: usize,
    pub(crate) right: &'a [f32],
    pub(crate) right_stride: usize,
    pub(crate) out: &'a mut [f32],
    pub(crate) out_stride: usize,
    pub(crate) rows: usize,
    pub(crate) inner: usize,
    /// A multiple of [`crate::layout::PANEL_WIDTH`].
    pub(crate) columns: usize,
}

impl MatrixProduct<'_> {
    /// True if everything that will be read and written is within the buffers; the kernels use raw pointers.
    fn fits(&self) -> bool {
        let covers = |length: usize, rows: usize, stride: usize, columns: usize| {
            rows == 0 || (columns <= stride && (rows - 1) * stride + columns <= length)
        };
        covers(self.left.len(), self.rows, self.left_stride, self.inner)
            && covers(self.right.len(), self.inner, self.right_stride, self.columns)
            && covers(self.out.len(), self.rows, self.out_stride, self.columns)
            && self.columns.is_multiple_of(crate::layout::PANEL_WIDTH)
    }
}

/// True if everything that [`Kernels::linear`] will read and write is within the buffers; the kernels use raw
/// pointers.
fn fits(x: &QuantisedRows, linear: &LinearLayer<'_>, out: &[f32]) -> bool {
    let rows = x.scale.len();
    linear.outputs.is_multiple_of(CHANNELS_PER_BLOCK)
        && linear.inputs.is_multiple_of(CHANNELS_PER_BLOCK)
        && x.zero.len() == rows
        && x.steps.len() == rows * linear.inputs
        && linear.weights.len() == linear.outputs * linear.inputs
        && [linear.scale.len(), linear.sum.len(), linear.bias.len()] == [linear.outputs; 3]
        && out.len() == rows * linear.outputs
}

/// The number of rows per tile, chosen so that every sum stays in a register.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const ROWS_PER_STEP: usize = 6;
/// The bytes of four inputs of a block of channels.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const GROUP_BYTES: usize = CHANNELS_PER_BLOCK * crate::layout::INPUTS_PER_STEP;

/// Splits rows into tiles of at most `most` rows, as evenly as possible: 20 rows by 6 are 5, 5, 5 and 5.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn tiles(rows: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(most);
    (0..count).map(move |tile| {
        let (start, end) = (tile * rows / count, (tile + 1) * rows / count);
        (start, end - start)
    })
}

/// The kernels of one path. The tables are private to this module. Only [`best`] and [`on`] hand them out,
/// after checking the processor, which makes every call of them sound.
#[derive(Debug)]
pub(crate) struct Kernels {
    path: KernelPath,
    linear: unsafe fn(&QuantisedRows, &LinearLayer<'_>, &mut [f32]),
    product: unsafe fn(&mut MatrixProduct<'_>),
    add_norm: unsafe fn(&mut [f32], &[f32], &NormParameters<'_>),
    gelu: unsafe fn(&mut [f32]),
    quantise: unsafe fn(&[f32], usize, &mut QuantisedRows),
    softmax: unsafe fn(&mut [f32], usize, usize, &mut [f32]),
    dots: unsafe fn(&[i8], &[u8], &mut [i32]),
}

impl Kernels {
    pub(crate) fn path(&self) -> KernelPath {
        self.path
    }

    /// Computes `out = x * weights + bias`, from bytes to floats. The integer sums are exact on every path.
    pub(crate) fn linear(&self, x: &QuantisedRows, linear: &LinearLayer<'_>, out: &mut [f32]) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.linear)(x, linear, out) }
    }

    /// Computes a matrix product; see [`MatrixProduct`].
    pub(crate) fn product(&self, mut product: MatrixProduct<'_>) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.product)(&mut product) }
    }

    /// Adds and normalises: [`math::add_norm`] on this path.
    pub(crate) fn add_norm(&self, x: &mut [f32], y: &[f32], norms: &NormParameters<'_>) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.add_norm)(x, y, norms) }
    }

    /// Applies the activation: [`math::gelu`] on this path.
    pub(crate) fn gelu(&self, x: &mut [f32]) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.gelu)(x) }
    }

    /// Quantises rows: [`math::quantise`] on this path. Resizes `out` to the size of `x`.
    pub(crate) fn quantise(&self, x: &[f32], width: usize, out: &mut QuantisedRows) {
        out.resize(x.len() / width, width);
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.quantise)(x, width, out) }
    }

    /// Normalises scores: [`math::softmax`] on this path.
    pub(crate) fn softmax(&self, scores: &mut [f32], width: usize, count: usize, inverse: &mut [f32]) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.softmax)(scores, width, count, inverse) }
    }

    /// Computes dot products: [`math::dots`] on this path.
    pub(crate) fn dots(&self, query: &[i8], rows: &[u8], out: &mut [i32]) {
        // SAFETY: this table was handed out, so the processor has the path's instructions.
        unsafe { (self.dots)(query, rows, out) }
    }
}

fn tables() -> impl Iterator<Item = &'static Kernels> {
    #[cfg(target_arch = "x86_64")]
    let known = {
        let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        let avx512 = avx2
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vnni");
        let vnni = avx2 && is_x86_feature_detected!("avxvnni");
        [(avx512, &avx512::AVX512), (vnni, &avx2::AVX_VNNI), (avx2, &avx2::AVX2), (true, &scalar::SCALAR)]
    };
    #[cfg(target_arch = "aarch64")]
    let known = {
        let dot = std::arch::is_aarch64_feature_detected!("dotprod");
        [(dot, &neon::NEON_DOT), (true, &neon::NEON), (true, &scalar::SCALAR)]
    };
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let known = [(true, &scalar::SCALAR)];
    known.into_iter().filter(|(runs, _)| *runs).map(|(_, kernels)| kernels)
}

/// The best kernels for this processor.
pub(crate) fn best_kernels() -> &'static Kernels {
    tables().next().unwrap_or(&scalar::SCALAR)
}

/// The kernels of `path`, if this processor can run them.
pub(crate) fn kernels_for(path: KernelPath) -> Option<&'static Kernels> {
    tables().find(|kernels| kernels.path == path)
}

#[cfg(test)]
mod tests;
