//! Message content as every host writes it: text, or a list of parts. Deserialised without an intermediate
//! copy.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The value of a content field.
pub(super) enum MessageContent<Part> {
    /// Plain text without parts.
    Text(String),
    /// A list of parts.
    Parts(Vec<Part>),
}

impl<Part> Default for MessageContent<Part> {
    fn default() -> Self {
        Self::Parts(Vec::new())
    }
}

struct ContentVisitor<Part>(PhantomData<Part>);

impl<'de, Part: Deserialize<'de>> Visitor<'de> for ContentVisitor<Part> {
    type Value = MessageContent<Part>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list of parts")
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(MessageContent::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
        Ok(MessageContent::Text(text))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(MessageContent::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = list.next_element()? {
            parts.push(part);
        }
        Ok(MessageContent::Parts(parts))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let part = Part::deserialize(MapAccessDeserializer::new(map))?;
        Ok(MessageContent::Parts(vec![part]))
    }
}

impl<Part> MessageContent<Part> {
    /// The content as parts; plain text becomes one part, made by `part`.
    pub(super) fn into_parts(self, part: impl FnOnce(String) -> Part) -> Vec<Part> {
        match self {
            Self::Text(text) => vec![part(text)],
            Self::Parts(parts) => parts,
        }
    }
}

impl<'de, Part: Deserialize<'de>> Deserialize<'de> for MessageContent<Part> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor(PhantomData))
    }
}
