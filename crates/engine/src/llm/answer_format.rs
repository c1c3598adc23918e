//! The expected format of an answer, expressed for each kind of provider.

use rekindle_core::llm::{AnswerFormat, LlmRequest};
use serde_json::{Value, json};

/// The instructions. `in_words` adds the schema, for providers that have no field for it.
pub(super) fn instructions_with_schema(request: &LlmRequest, in_words: bool) -> String {
    let words = request.prompt.instructions();
    match &request.expects {
        AnswerFormat::Schema(schema) if in_words => format!(
            "{words}\n\nAnswer with one JSON value that fits this JSON schema, and with nothing before or after it:\n{schema}"
        ),
        _ => words.to_owned(),
    }
}

/// The schema, if one is expected.
pub(super) fn schema(request: &LlmRequest) -> Option<&Value> {
    match &request.expects {
        AnswerFormat::Schema(schema) => Some(schema),
        AnswerFormat::Tags(_) => None,
    }
}

/// True if every object names all its fields, requires them and forbids others, as OpenAI demands of a strict
/// schema.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let object = fields.get("type") == Some(&json!("object")) || fields.contains_key("properties");
            let names = fields.get("properties").and_then(Value::as_object);
            let required = fields.get("required").and_then(Value::as_array);
            let all = names.is_some_and(|names| {
                let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
                names.keys().all(|name| required.contains(&name.as_str()))
            });
            let closed = fields.get("additionalProperties") == Some(&Value::Bool(false));
            (!object || (all && closed)) && fields.values().all(is_strict)
        }
        Value::Array(values) => values.iter().all(is_strict),
        _ => true,
    }
}

/// Strips the thinking that small models write before an answer.
pub(super) fn strip_thinking(text: &str) -> &str {
    match text.trim_start().strip_prefix("<think>").and_then(|rest| rest.split_once("</think>")) {
        Some((_, answer)) => answer.trim_start(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strict_schema_is_known() {
        let word = json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"],
            "additionalProperties": false});
        assert!(is_strict(&word));
        let list = json!({"type": "array", "items": word});
        assert!(is_strict(&list));
        let open =
            json!({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]});
        assert!(!is_strict(&open) && !is_strict(&json!({"type": "array", "items": open})));
        let optional = json!({"type": "object", "properties": {"word": {}}, "additionalProperties": false});
        assert!(!is_strict(&optional));
    }

    #[test]
    fn thoughts_are_no_answer() {
        assert_eq!(strip_thinking("\n<think>hm</think>\n\n{}"), "{}");
        assert_eq!(strip_thinking("a <think>b</think> c"), "a <think>b</think> c");
        assert_eq!(strip_thinking("<think>cut off"), "<think>cut off");
    }
}
