//! The small-talk classifier: recognises prompts that no memory answers (B-06), such as small talk,
//! exercises, general knowledge and errors of well-known programs.
//!
//! It is a support vector machine, trained on prompts of both classes (`models/everyday.txt`,
//! `models/work.txt`); its support vectors are the embeddings of some of these prompts. The file holds the
//! vectors with their coefficients and is used in place. The caller computes the dot products with the
//! prompt's vector.

/// The reduction of the margin for a prompt that says "we". Such a prompt refers to something agreed on,
/// which the embedding hardly captures: 10.2 % of the prompts about work say it, and 1.8 % of the others.
const FIRST_PERSON_PLURAL_MARGIN: f64 = 0.3;
/// The first person plural in several languages.
const FIRST_PERSON_PLURAL_WORDS: [&str; 24] = [
    "we", "our", "ours", "us", "wir", "uns", "unser", "unsere", "unserem", "unseren", "unserer", "nous",
    "notre", "nos", "nosotros", "nuestro", "nuestra", "nuestros", "nuestras", "noi", "nostro", "nostra",
    "onze", "wij",
];
/// The maximum number of words to scan for it.
const MAX_SCANNED_WORDS: usize = 500;

/// The magic bytes of the file; the last one is its version.
const MAGIC: &[u8] = b"RKEVERY2";
const NUMBER_BYTES: usize = size_of::<f32>();

/// A small-talk classifier that borrows its file.
#[derive(Clone, Copy, Debug)]
pub struct SmallTalkClassifier<'a> {
    model: &'a str,
    width: usize,
    narrow: f32,
    /// The scale and the coefficient of each support vector.
    numbers: &'a [u8],
    steps: &'a [u8],
}

/// A support vector of the classifier.
#[derive(Clone, Debug, PartialEq)]
pub struct SupportVector {
    /// The quantised vector, one step per dimension.
    pub steps: Vec<i8>,
    /// The value of one quantisation step, which gives the vector unit length.
    pub scale: f32,
    /// The coefficient: positive for small talk.
    pub coefficient: f32,
}

impl<'a> SmallTalkClassifier<'a> {
    /// Parses a file that [`write()`] produced; `None` for anything else.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (name, rest) = sized(bytes.strip_prefix(MAGIC)?)?;
        let (head, rest) = rest.split_at_checked(3 * NUMBER_BYTES)?;
        let field = |place: usize| head.get(place * NUMBER_BYTES..)?.first_chunk().copied();
        let [width, count] = [field(0)?, field(1)?].map(|bytes| u32::from_le_bytes(bytes) as usize);
        let narrow = f32::from_le_bytes(field(2)?);
        let (numbers, steps) = rest.split_at_checked(count.checked_mul(2 * NUMBER_BYTES)?)?;
        let is_whole = width > 0 && steps.len() == count.checked_mul(width)?;
        let model = std::str::from_utf8(name).ok()?;
        is_whole.then_some(Self { model, width, narrow, numbers, steps })
    }

    /// The id of the embedding model of the vectors.
    pub fn model(&self) -> &str {
        self.model
    }

    /// The dimension of the vectors.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The quantised support vectors, one after the other.
    pub fn steps(&self) -> &'a [u8] {
        self.steps
    }

    /// The margin by which a prompt looks like small talk: 1 or more is clearly small talk, -1 or less
    /// clearly not. `products` are the dot products of the quantised prompt with each support vector; `scale`
    /// is the quantisation step of the prompt at unit length.
    pub fn small_talk_margin(&self, prompt: &str, products: &[i32], scale: f32) -> f64 {
        let mut words = prompt.split(|letter: char| !letter.is_alphabetic()).take(MAX_SCANNED_WORDS);
        let is_ours =
            words.any(|word| FIRST_PERSON_PLURAL_WORDS.iter().any(|we| word.eq_ignore_ascii_case(we)));
        let margin = f64::from(self.margin_from_products(products, scale));
        if is_ours { margin - FIRST_PERSON_PLURAL_MARGIN } else { margin }
    }

    /// The margin by the embedding alone.
    pub fn margin_from_products(&self, products: &[i32], scale: f32) -> f32 {
        let examples = self.numbers.chunks_exact(2 * NUMBER_BYTES).zip(products);
        examples
            .map(|(numbers, product)| {
                let (own, says) = numbers.split_at(NUMBER_BYTES);
                #[expect(clippy::cast_precision_loss, reason = "a product of a few hundred bytes is exact")]
                let cosine = *product as f32 * scale * number(own);
                number(says) * kernel_value(cosine, self.narrow)
            })
            .sum()
    }
}

/// The radial basis function kernel: 1 for equal vectors, decreasing with distance, faster for a larger
/// `narrow`.
pub fn kernel_value(cosine: f32, narrow: f32) -> f32 {
    (2.0 * narrow * (cosine.min(1.0) - 1.0)).exp()
}

/// Serialises a classifier for vectors of a model and width.
pub fn write(model: &str, width: u32, narrow: f32, examples: &[SupportVector]) -> Vec<u8> {
    let [length, count] = [model.len(), examples.len()].map(|size| (size as u32).to_le_bytes());
    let mut bytes = [MAGIC, &length, model.as_bytes(), &width.to_le_bytes(), &count].concat();
    bytes.extend(narrow.to_le_bytes());
    bytes.extend(examples.iter().flat_map(|one| [one.scale, one.coefficient]).flat_map(f32::to_le_bytes));
    bytes.extend(examples.iter().flat_map(|one| &one.steps).map(|step| step.cast_unsigned()));
    bytes
}

fn number(bytes: &[u8]) -> f32 {
    bytes.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes))
}

fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn two() -> Vec<u8> {
        let example =
            |steps: [i8; 2], says| SupportVector { steps: steps.to_vec(), scale: 0.01, coefficient: says };
        write("m", 2, 1.5, &[example([100, 0], 2.0), example([0, 100], -1.0)])
    }

    #[test]
    fn b_06_the_near_ones_have_a_say() {
        let bytes = two();
        let machine = SmallTalkClassifier::read(&bytes).unwrap();
        assert_eq!((machine.model(), machine.width()), ("m", 2));
        assert_eq!(machine.steps(), [100, 0, 0, 100]);
        // The vector of the first example: its own coefficient, plus a little of the orthogonal second one.
        let far = (-3.0_f32).exp();
        let own = machine.margin_from_products(&[10_000, 0], 0.01);
        assert!((own - (2.0 - far)).abs() < 1e-6, "{own}");
        assert!(machine.margin_from_products(&[0, 10_000], 0.01) < 0.0);
        let [plain, ours] =
            ["The deploy", "Our deploy"].map(|prompt| machine.small_talk_margin(prompt, &[10_000, 0], 0.01));
        assert!((plain - ours - FIRST_PERSON_PLURAL_MARGIN).abs() < 1e-9);
        assert!(kernel_value(1.2, 1.5) <= 1.0, "nothing is nearer than the same");
    }

    proptest! {
        #[test]
        fn bytes_of_anything_else_are_no_machine(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 1..40usize) {
            prop_assert!(SmallTalkClassifier::read(&bytes).is_none());
            let whole = two();
            prop_assert!(SmallTalkClassifier::read(&whole).is_some());
            let cut = cut.min(whole.len());
            prop_assert!(SmallTalkClassifier::read(&whole[..whole.len() - cut]).is_none());
            prop_assert!(SmallTalkClassifier::read(&[&whole[..], &vec![0; cut]].concat()).is_none());
        }
    }
}
