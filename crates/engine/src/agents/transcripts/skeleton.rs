//! Extracts the ids of an oversized line while it streams past.

use std::fmt;
use std::io::Read;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value, json};

/// The fields that place a line in its transcript.
const POSITION_FIELDS: &[&str] = &[
    "$rewindTo",
    "explicit",
    "id",
    "isSidechain",
    "leafUuid",
    "logicalParentUuid",
    "parentId",
    "parentUuid",
    "rewound",
    "type",
    "uuid",
];

struct FieldNameVisitor;

impl<'de> Visitor<'de> for FieldNameVisitor {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut names = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if POSITION_FIELDS.contains(&name.as_str()) {
                names.insert(name, fields.next_value()?);
            } else {
                fields.next_value::<IgnoredAny>()?;
                if name == "message" {
                    names.insert(name, json!({"role": "", "content": []}));
                }
            }
        }
        Ok(names)
    }
}

/// The line reduced to its id fields, with an empty message if it contains one; empty if it is not JSON.
pub(super) fn line_skeleton(line: impl Read) -> Vec<u8> {
    let mut json = serde_json::Deserializer::from_reader(line);
    let names = json.deserialize_map(FieldNameVisitor).unwrap_or_default();
    Value::Object(names).to_string().into_bytes()
}
