//! Agreement with the reference: tokenizer, vectors, and every path of this processor with the others.
#![expect(clippy::unwrap_used, reason = "a golden file or a small model that cannot be made fails the test")]

use rekindle_embed::{CrossEncoder, EmbeddingModel, EncoderScratch, KernelPath, TextRole};

const TOKENS: &str = include_str!("golden/tokens.json");
const TEXTS: &str = include_str!("golden/texts.json");
const READINGS: &str = include_str!("golden/readings.json");
const VECTORS: &[u8] = include_bytes!("golden/vectors.i16");

fn texts() -> Vec<String> {
    serde_json::from_str(TEXTS).unwrap()
}

/// The reference's vectors, of length one up to rounding.
fn vectors() -> Vec<Vec<f32>> {
    let numbers: Vec<f32> =
        VECTORS.as_chunks().0.iter().map(|&two| f32::from(i16::from_le_bytes(two)) / 32767.0).collect();
    numbers.chunks_exact(384).map(<[f32]>::to_vec).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn tokens_agree_with_the_reference_on_every_text() {
    let cases: Vec<(String, Vec<u32>)> = serde_json::from_str(TOKENS).unwrap();
    assert!(cases.len() > 400);
    let wrong: Vec<&String> = cases
        .iter()
        .filter(|(text, ids)| &EmbeddingModel::builtin().tokenize(text) != ids)
        .map(|(text, _)| text)
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ, first {:?}", wrong.len(), cases.len(), wrong[0]);
}

#[test]
fn vectors_agree_with_the_reference_on_every_text() {
    let (texts, vectors) = (texts(), vectors());
    assert_eq!((texts.len(), vectors.len()), (500, 500));
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let ours = EmbeddingModel::builtin().embed_batch(TextRole::Passage, &borrowed, 2);
    let cosines: Vec<f64> = ours.iter().zip(&vectors).map(|(ours, theirs)| cosine(ours, theirs)).collect();
    let (at, least) = cosines.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let mean = cosines.iter().sum::<f64>() / 500.0;
    println!("cosine with the reference: least {least:.5} (text {at}), mean {mean:.5}");
    assert!(*least >= 0.99, "text {at}: {least}");
    assert!(mean >= 0.998, "{mean}");
    for vector in &ours {
        assert!((dot(vector, vector) - 1.0).abs() < 1e-5);
    }
}

/// A number that changes with any bit of any of the vectors.
fn fingerprint(vectors: &[Vec<f32>]) -> u64 {
    let bits = vectors.iter().flatten().map(|value| u64::from(value.to_bits()));
    bits.fold(0, |sum, bits| (sum ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23))
}

/// The fingerprint is written down, so that machines are compared and not only paths: `scripts/embed-cross.sh`
/// runs this on another architecture.
#[test]
fn short_texts_give_the_same_bits_on_every_path_and_machine() {
    let texts: Vec<String> = texts().into_iter().filter(|text| text.len() < 40).step_by(9).collect();
    println!("paths here: {:?}, {} texts", KernelPath::available(), texts.len());
    for path in KernelPath::available() {
        let mut scratch = EncoderScratch::for_path(path).unwrap();
        assert_eq!(scratch.path(), path);
        let vectors: Vec<Vec<f32>> = texts
            .iter()
            .map(|text| EmbeddingModel::builtin().embed(&mut scratch, TextRole::Query, text))
            .collect();
        assert_eq!(format!("{:016x}", fingerprint(&vectors)), "ad59da1da8281c6f", "{path:?}");
        let theirs = self::texts().iter().position(|text| text == &texts[0]).unwrap();
        assert!(cosine(&vectors[0], &self::vectors()[theirs]) >= 0.99);
    }
}

/// The scalar path would take a second for each of these.
#[test]
fn long_texts_give_the_same_bits_on_every_path_with_vectors() {
    for text in texts().iter().filter(|text| text.len() > 300).step_by(12) {
        let paths = KernelPath::available().into_iter().filter(|&path| path != KernelPath::Scalar);
        let mut vectors = paths.map(|path| {
            let mut scratch = EncoderScratch::for_path(path).unwrap();
            (path, EmbeddingModel::builtin().embed(&mut scratch, TextRole::Query, text))
        });
        let first = vectors.next();
        for (path, vector) in vectors {
            assert_eq!(Some(vector), first.as_ref().map(|(_, vector)| vector.clone()), "{path:?}");
        }
    }
}

#[test]
fn a_batch_gives_what_each_text_gives_alone() {
    let texts = texts();
    let some: Vec<&str> = texts.iter().step_by(23).map(String::as_str).collect();
    let mut scratch = EncoderScratch::new();
    let alone: Vec<Vec<f32>> = some
        .iter()
        .map(|text| EmbeddingModel::builtin().embed(&mut scratch, TextRole::Passage, text))
        .collect();
    for threads in [0, 1, 3] {
        assert_eq!(EmbeddingModel::builtin().embed_batch(TextRole::Passage, &some, threads), alone);
    }
    assert!(EmbeddingModel::builtin().embed_batch(TextRole::Passage, &[], 2).is_empty());
}

/// VER-13: what means the same is near, what does not is not.
#[test]
fn ver_13_related_texts_are_near_and_unrelated_ones_are_not() {
    let texts = texts();
    let mut scratch = EncoderScratch::new();
    let vectors: Vec<Vec<f32>> = texts[..6]
        .iter()
        .map(|text| EmbeddingModel::builtin().embed(&mut scratch, TextRole::Passage, text))
        .collect();
    let near = [(0, 1), (2, 3)].map(|(a, b)| cosine(&vectors[a], &vectors[b]));
    let far = [(0, 2), (0, 5), (2, 4), (3, 4), (4, 5)].map(|(a, b)| cosine(&vectors[a], &vectors[b]));
    println!("related {near:.3?}, unrelated {far:.3?}");
    assert!(near.iter().all(|&cosine| cosine > 0.45), "{near:?}");
    assert!(far.iter().all(|&cosine| cosine < 0.15), "{far:?}");
}

#[test]
fn readings_agree_with_the_reference_and_on_every_path() {
    let golden: Vec<(String, String, f32)> = serde_json::from_str(READINGS).unwrap();
    assert!(golden.len() > 70);
    let cross_encoder = CrossEncoder::builtin();
    let read = |path, (prompt, memory, _): &(String, String, f32)| {
        let (prompt, passage) = (cross_encoder.prompt(prompt), cross_encoder.passage(memory));
        cross_encoder.score(&mut EncoderScratch::for_path(path).unwrap(), &prompt, &[passage])[0]
    };
    let paths = KernelPath::available();
    let ours: Vec<f32> = golden.iter().map(|pair| read(paths[0], pair)).collect();
    let apart: Vec<f32> =
        ours.iter().zip(&golden).map(|(ours, (.., theirs))| (ours - theirs).abs()).collect();
    let (most, mean) = (
        apart.iter().fold(0.0_f32, |most, &apart| most.max(apart)),
        apart.iter().sum::<f32>() / apart.len() as f32,
    );
    println!("log odds beside those of the reference: at most {most:.3} apart, {mean:.3} on average");
    let far = apart.iter().filter(|&&apart| apart > 0.5).count();
    assert!(mean < 0.06 && far * 100 <= golden.len() && most < 1.0, "{mean} {far} {most}");
    for &path in &paths[1..] {
        for (pair, ours) in golden.iter().zip(&ours).step_by(8) {
            assert_eq!(read(path, pair).to_bits(), ours.to_bits(), "{path:?}: {pair:?}");
        }
    }
}
