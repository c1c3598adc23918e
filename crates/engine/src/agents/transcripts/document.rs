//! The old format of Gemini CLI: one JSON document per session, with a list of messages. It is converted to
//! the current lines while it streams past.

use std::fmt;
use std::io::Read;

use serde::de::{DeserializeSeed, Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Passes the messages of a document to `each` as lines, and then its header. `each` returns false to stop.
/// Returns true if the document was complete.
pub(super) fn lines(document: impl Read, each: &mut dyn FnMut(&[u8]) -> bool) -> bool {
    let mut json = serde_json::Deserializer::from_reader(document);
    let header = json.deserialize_map(JsonDocumentVisitor { each });
    match header {
        Ok(header) => {
            each(Value::Object(header).to_string().as_bytes());
            true
        }
        Err(_) => false,
    }
}

struct JsonDocumentVisitor<'a> {
    each: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl<'de> Visitor<'de> for JsonDocumentVisitor<'_> {
    type Value = Map<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a session")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut header = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if name == "messages" {
                fields.next_value_seed(MessageListVisitor { each: self.each })?;
            } else {
                header.insert(name, fields.next_value()?);
            }
        }
        Ok(header)
    }
}

struct MessageListVisitor<'a> {
    each: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl<'de> DeserializeSeed<'de> for MessageListVisitor<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for MessageListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut on = true;
        while let Some(message) = list.next_element::<Value>()? {
            // After a stop the rest is read and dropped.
            on = on && (self.each)(message.to_string().as_bytes());
        }
        Ok(())
    }
}
