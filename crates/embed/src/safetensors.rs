//! Parses the safetensors format: a length, a JSON table of names, then the numbers.

use serde_json::{Map, Value};

use crate::Error;

const WEIGHTS_FILE: &str = "model.safetensors";

/// The tensors of a file by name.
pub(crate) struct SafeTensors<'a> {
    table: Map<String, Value>,
    body: &'a [u8],
}

impl<'a> SafeTensors<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let (length, rest) =
            bytes.split_first_chunk().ok_or_else(|| problem("shorter than its own length field"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let (table, body) =
            rest.split_at_checked(length).ok_or_else(|| problem("its table goes beyond the end"))?;
        let table = serde_json::from_slice(table).map_err(|_| problem("its table is not a JSON object"))?;
        Ok(Self { table, body })
    }

    /// All numbers of `name`, which must have exactly this shape.
    pub(crate) fn floats(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let (found, floats) = self.find(name)?;
        if found != shape {
            return Err(problem(&format!("{name} has the shape {found:?}, not {shape:?}")));
        }
        Ok(floats)
    }

    /// The first `rows` rows of `name`, which must have at least that many.
    pub(crate) fn rows(&self, name: &str, rows: usize, columns: usize) -> Result<Vec<f32>, Error> {
        let (found, mut floats) = self.find(name)?;
        if found.len() != 2 || found[0] < rows || found[1] != columns {
            return Err(problem(&format!(
                "{name} has the shape {found:?}, not at least {:?}",
                [rows, columns]
            )));
        }
        floats.truncate(rows * columns);
        Ok(floats)
    }

    /// The number of layers of the encoder.
    pub(crate) fn layers(&self) -> usize {
        (0..)
            .take_while(|layer| self.entry(&format!("encoder.layer.{layer}.output.dense.weight")).is_some())
            .count()
    }

    /// Looks up a tensor. A model saved with a head has its encoder under `bert.`.
    fn entry(&self, name: &str) -> Option<&Value> {
        self.table.get(name).or_else(|| self.table.get(&format!("bert.{name}")))
    }

    fn find(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), Error> {
        let entry = self.entry(name).ok_or_else(|| problem(&format!("{name} is missing")))?;
        let numbers = |value: &Value| -> Option<Vec<usize>> {
            value.as_array()?.iter().map(|number| usize::try_from(number.as_u64()?).ok()).collect()
        };
        let shape = entry.get("shape").and_then(numbers);
        let offsets = entry.get("data_offsets").and_then(numbers);
        let (Some(shape), Some(&[start, end])) = (shape, offsets.as_deref()) else {
            return Err(problem(&format!("the table's entry for {name} is incomplete")));
        };
        let bytes =
            self.body.get(start..end).ok_or_else(|| problem(&format!("{name} goes beyond the end")))?;
        let floats: Vec<f32> = match entry.get("dtype").and_then(Value::as_str) {
            Some("F32") => bytes.as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect(),
            Some("F16") => {
                bytes.as_chunks().0.iter().map(|&two| half_to_f32(u16::from_le_bytes(two))).collect()
            }
            Some("BF16") => {
                let wide = |two| f32::from_bits(u32::from(u16::from_le_bytes(two)) << 16);
                bytes.as_chunks().0.iter().map(|&two| wide(two)).collect()
            }
            _ => return Err(problem(&format!("{name} is of a type other than F32, F16 and BF16"))),
        };
        if shape.iter().try_fold(1_usize, |product, &side| product.checked_mul(side)) != Some(floats.len()) {
            return Err(problem(&format!("{name} has {} numbers for the shape {shape:?}", floats.len())));
        }
        if !floats.iter().all(|float| float.is_finite()) {
            return Err(problem(&format!("{name} has numbers that are not finite")));
        }
        Ok((shape, floats))
    }
}

/// Converts a half-precision number to single precision, exactly.
fn half_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let magnitude = u32::from(bits & 0x7fff);
    // Shifting the fields leaves the exponent too small by 112. The product corrects that, subnormals
    // included.
    let value = f32::from_bits(magnitude << 13) * f32::from_bits((254 - 15) << 23);
    let value = if magnitude >= 0x7c00 { f32::from_bits(0x7f80_0000 | magnitude << 13) } else { value };
    f32::from_bits(value.to_bits() | sign)
}

fn problem(problem: &str) -> Error {
    Error::Source { file: WEIGHTS_FILE, problem: problem.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let known = [
            (0x0000, 0.0),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_95),
            (0x7bff, 65504.0),
            (0x0400, 6.103_515_6e-5),
            (0x0001, 5.960_464_5e-8),
            (0x83ff, -6.097_555e-5),
            (0x7c00, f32::INFINITY),
        ];
        for (bits, value) in known {
            assert_eq!(half_to_f32(bits), value, "{bits:04x}");
        }
        assert!(half_to_f32(0x7e00).is_nan());
    }

    #[test]
    fn broken_files_say_where() {
        let file = |table: &str, body: usize| {
            let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
            bytes.extend(table.as_bytes());
            bytes.resize(bytes.len() + body, 0);
            bytes
        };
        let ask = |bytes: &[u8]| match SafeTensors::read(bytes).and_then(|tensors| tensors.floats("x", &[2]))
        {
            Ok(_) => "fine".to_owned(),
            Err(error) => error.to_string(),
        };
        let entry = |dtype: &str, shape: &str, offsets: &str| {
            file(&format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#), 8)
        };
        assert_eq!(ask(&entry("F32", "[2]", "[0,8]")), "fine");
        assert_eq!(ask(&entry("F16", "[2]", "[4,8]")), "fine");
        assert_eq!(ask(b"1234567"), "model.safetensors: shorter than its own length field");
        assert_eq!(ask(&[255; 9]), "model.safetensors: its table goes beyond the end");
        assert_eq!(ask(&file("[]", 0)), "model.safetensors: its table is not a JSON object");
        assert_eq!(ask(&file("{}", 0)), "model.safetensors: x is missing");
        assert_eq!(ask(&entry("F32", "[2]", "[4,12]")), "model.safetensors: x goes beyond the end");
        assert_eq!(ask(&entry("F32", "[2]", "[8,4]")), "model.safetensors: x goes beyond the end");
        assert_eq!(ask(&entry("F32", "[1]", "[0,4]")), "model.safetensors: x has the shape [1], not [2]");
        assert_eq!(
            ask(&entry("F32", "[2]", "[0,4]")),
            "model.safetensors: x has 1 numbers for the shape [2]"
        );
        assert_eq!(
            ask(&entry("I64", "[1]", "[0,8]")),
            "model.safetensors: x is of a type other than F32, F16 and BF16"
        );
        assert_eq!(
            ask(&entry("F32", "2", "[0,8]")),
            "model.safetensors: the table's entry for x is incomplete"
        );
    }
}
