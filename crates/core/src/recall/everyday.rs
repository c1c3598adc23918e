//! Whether a prompt is what everybody types and no memory answers (B-06): small talk, exercises, general knowledge, errors of
//! well-known programs.
//!
//! A small network looks at the prompt's vector: one layer of units, each a weighted sum that counts where it is above zero,
//! and a weighted sum of those. It was taught with prompts of both kinds (`models/everyday.txt`, `models/work.txt`) and is read
//! where it lies: the name of the model whose vectors it knows, and its numbers.

/// Who says "we" speaks of something that was agreed on: that is so much in the logarithm of the odds. 10.2 % of the prompts
/// about work and 1.8 % of the others do, and the vector hardly knows.
const OURS: f64 = 1.7;
/// The same in a few languages.
const WE: [&str; 24] = [
    "we", "our", "ours", "us", "wir", "uns", "unser", "unsere", "unserem", "unseren", "unserer", "nous",
    "notre", "nos", "nosotros", "nuestro", "nuestra", "nuestros", "nuestras", "noi", "nostro", "nostra",
    "onze", "wij",
];
/// Behind so many words nobody looks for it.
const WORDS: usize = 500;

/// How the file begins; the last byte is its version.
const MAGIC: &[u8] = b"RKEVERY1";
const NUMBER: usize = size_of::<f32>();

/// The network, as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Everyday<'a> {
    model: &'a str,
    width: usize,
    /// Of each unit its weights, what it starts from and what it counts for; then what the sum starts from.
    numbers: &'a [u8],
}

impl<'a> Everyday<'a> {
    /// Reads what [`write()`] wrote; none if it is something else.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (name, rest) = sized(bytes.strip_prefix(MAGIC)?)?;
        let (width, rest) = rest.split_first_chunk()?;
        let (count, numbers) = rest.split_first_chunk()?;
        let width = u32::from_le_bytes(*width) as usize;
        let is_whole = width > 0 && numbers.len() == u32::from_le_bytes(*count) as usize * NUMBER;
        let is_network = numbers.len() % (unit(width) * NUMBER) == NUMBER;
        let model = std::str::from_utf8(name).ok()?;
        (is_whole && is_network).then_some(Self { model, width, numbers })
    }

    /// Whose vectors it knows.
    pub fn model(&self) -> &str {
        self.model
    }

    /// The logarithm of the odds that a prompt is an everyday one: above zero if that is more likely than not. None for a
    /// vector of another width.
    pub fn odds(&self, prompt: &str, vector: &[f32]) -> Option<f64> {
        let mut words = prompt.split(|letter: char| !letter.is_alphabetic()).take(WORDS);
        let is_ours = words.any(|word| WE.iter().any(|we| word.eq_ignore_ascii_case(we)));
        self.by_vector(vector).map(|odds| if is_ours { odds - OURS } else { odds })
    }

    /// The same by the vector alone.
    pub fn by_vector(&self, vector: &[f32]) -> Option<f64> {
        let (units, sum) = self.numbers.split_at(self.numbers.len() - NUMBER);
        let mut odds = number(sum)?;
        for unit in units.chunks_exact(unit(self.width) * NUMBER) {
            let (weights, ends) = unit.split_at(self.width * NUMBER);
            let (start, counts) = ends.split_at(NUMBER);
            let products = weights.chunks_exact(NUMBER).zip(vector);
            let sum: f32 = products.map(|(weight, value)| number(weight).unwrap_or_default() * value).sum();
            odds += number(counts)? * (sum + number(start)?).max(0.0);
        }
        (vector.len() == self.width).then_some(f64::from(odds))
    }
}

/// The bytes of a network for vectors of this width by this model. `numbers` are as [`Everyday`] has them.
pub fn write(model: &str, width: u32, numbers: &[f32]) -> Vec<u8> {
    let [length, count] = [model.len(), numbers.len()].map(|size| (size as u32).to_le_bytes());
    let mut bytes = [MAGIC, &length, model.as_bytes(), &width.to_le_bytes(), &count].concat();
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

/// How many numbers a unit has.
fn unit(width: usize) -> usize {
    width + 2
}

fn number(bytes: &[u8]) -> Option<f32> {
    bytes.first_chunk().map(|bytes| f32::from_le_bytes(*bytes))
}

fn sized(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b_06_units_count_where_they_are_above_zero() {
        // Two units over two values: 2a - b + 1, which counts for 3, and -a, which counts for 10; the sum starts from 0.5.
        let bytes = write("m", 2, &[2.0, -1.0, 1.0, 3.0, -1.0, 0.0, 0.0, 10.0, 0.5]);
        let network = Everyday::read(&bytes).unwrap();
        assert_eq!(network.model(), "m");
        assert_eq!(network.by_vector(&[1.0, 1.0]), Some(6.5), "3 x 2 + 0 + 0.5");
        assert_eq!(network.by_vector(&[-1.0, 0.0]), Some(10.5), "0 + 10 x 1 + 0.5");
        assert_eq!(network.by_vector(&[1.0]), None, "a vector of another model");
        assert_eq!(network.odds("The deploy", &[1.0, 1.0]), Some(6.5));
        assert_eq!(network.odds("Our deploy", &[1.0, 1.0]), Some(6.5 - OURS));
    }

    proptest! {
        #[test]
        fn bytes_of_anything_else_are_no_network(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 1..40usize) {
            prop_assert!(Everyday::read(&bytes).is_none());
            let whole = write("m", 4, &[0.5; 13]);
            prop_assert!(Everyday::read(&whole).is_some());
            prop_assert!(Everyday::read(&whole[..whole.len() - cut]).is_none());
        }
    }
}
