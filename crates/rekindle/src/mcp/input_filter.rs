//! Filters messages before the SDK. The SDK ends the server on a message before the handshake and skips
//! unreadable lines, and a client without an answer hangs. The filter therefore answers every line that has
//! an answer.

use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use serde_json::{Value, json};

/// The verdict on a line.
#[derive(Debug)]
pub(super) enum LineDecision {
    /// Pass the message to the SDK.
    Pass(Box<ClientJsonRpcMessage>),
    /// Answer with this message.
    Answer(Value),
    /// Drop the line, because no answer is expected.
    Ignore,
}

/// JSON-RPC error codes.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;

/// The method with which newer clients connect without a handshake. This server needs one; the error makes
/// the client fall back to it.
const DISCOVER_METHOD: &str = "server/discover";
/// The methods of the SDK. With invalid parameters it would report them as unknown methods.
const METHODS: [&str; 7] = [
    "initialize",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "ping",
];

pub(super) fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The error for a line that is too long.
pub(super) fn too_long_error(limit: usize) -> Value {
    error(&Value::Null, INVALID_REQUEST, &format!("a message has at most {limit} bytes"))
}

/// The error for an id with an unanswered request.
pub(super) fn duplicate_id_error(id: &Value) -> Value {
    error(id, INVALID_REQUEST, "a request with this id is being worked on")
}

/// Judges a line. `open` is true after the handshake.
pub(super) fn decide_line(line: &[u8], open: bool) -> LineDecision {
    if line.trim_ascii().is_empty() {
        return LineDecision::Ignore;
    }
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return LineDecision::Answer(error(&Value::Null, PARSE_ERROR, "this is not JSON"));
    };
    let Some(fields) = message.as_object() else {
        return LineDecision::Answer(error(&Value::Null, INVALID_REQUEST, "a message is one JSON object"));
    };
    let id = fields.get("id").cloned();
    let method = match fields.get("method") {
        Some(Value::String(method)) => method.clone(),
        // A response to a request of ours.
        None if fields.contains_key("result") || fields.contains_key("error") => {
            return match open.then(|| serde_json::from_value(message)) {
                Some(Ok(answer)) => LineDecision::Pass(Box::new(answer)),
                _ => LineDecision::Ignore,
            };
        }
        _ => {
            let id = id.filter(is_id).unwrap_or(Value::Null);
            return LineDecision::Answer(error(&id, INVALID_REQUEST, "a request has a method"));
        }
    };
    match id {
        None => notification(message, open),
        Some(id) if !is_id(&id) => {
            LineDecision::Answer(error(&Value::Null, INVALID_REQUEST, "an id is a text or a whole number"))
        }
        Some(id) => request(message, &method, &id, open),
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.is_i64()
}

fn notification(message: Value, open: bool) -> LineDecision {
    match open.then(|| serde_json::from_value(message)) {
        Some(Ok(message @ JsonRpcMessage::Notification(_))) => LineDecision::Pass(Box::new(message)),
        _ => LineDecision::Ignore,
    }
}

fn request(message: Value, method: &str, id: &Value, open: bool) -> LineDecision {
    if method == DISCOVER_METHOD || (!open && !METHODS[..1].contains(&method) && method != "ping") {
        return LineDecision::Answer(error(id, METHOD_NOT_FOUND, method));
    }
    if !open && method == "ping" {
        return LineDecision::Answer(json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    match serde_json::from_value::<ClientJsonRpcMessage>(message) {
        Ok(JsonRpcMessage::Request(request)) => match &request.request {
            ClientRequest::CustomRequest(_) if METHODS.contains(&method) => bad_parameters(method, id),
            ClientRequest::CustomRequest(_) => LineDecision::Answer(error(id, METHOD_NOT_FOUND, method)),
            _ => LineDecision::Pass(Box::new(JsonRpcMessage::Request(request))),
        },
        _ => bad_parameters(method, id),
    }
}

fn bad_parameters(method: &str, id: &Value) -> LineDecision {
    LineDecision::Answer(error(id, INVALID_PARAMS, &format!("`{method}` does not take these parameters")))
}

/// True for the message that opens the handshake.
pub(super) fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request) if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(judged: LineDecision) -> i64 {
        match judged {
            LineDecision::Answer(answer) => answer["error"]["code"].as_i64().unwrap(),
            other => panic!("{other:?}"),
        }
    }

    fn line(message: &Value) -> Vec<u8> {
        message.to_string().into_bytes()
    }

    fn initialize(version: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "0"},
        }})
    }

    #[test]
    fn a_request_before_the_introduction_is_an_unknown_method() {
        for method in [DISCOVER_METHOD, "tools/list", "tools/call", "anything"] {
            let asked = json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": {"_meta": {}}});
            assert_eq!(code(decide_line(&line(&asked), false)), i64::from(METHOD_NOT_FOUND), "{method}");
        }
        let ping = json!({"jsonrpc": "2.0", "id": 5, "method": "ping"});
        assert!(
            matches!(decide_line(&line(&ping), false), LineDecision::Answer(answer) if answer["result"] == json!({}))
        );
        for version in ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01"] {
            let LineDecision::Pass(message) = decide_line(&line(&initialize(version)), false) else {
                panic!("{version}")
            };
            assert!(is_initialize(&message));
        }
        let bad = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
        assert_eq!(code(decide_line(&line(&bad), false)), i64::from(INVALID_PARAMS));
        let early = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(matches!(decide_line(&line(&early), false), LineDecision::Ignore));
    }

    #[test]
    fn what_is_no_message_is_answered() {
        for open in [false, true] {
            for (bytes, expected) in [
                (&b"{"[..], PARSE_ERROR),
                (b"\xff\xfe", PARSE_ERROR),
                (b"[]", INVALID_REQUEST),
                (b"3", INVALID_REQUEST),
                (b"{}", INVALID_REQUEST),
                (b"{\"id\":1.5,\"method\":\"ping\"}", INVALID_REQUEST),
                (b"{\"id\":null,\"method\":\"ping\"}", INVALID_REQUEST),
                (b"{\"id\":1,\"method\":7}", INVALID_REQUEST),
            ] {
                assert_eq!(
                    code(decide_line(bytes, open)),
                    i64::from(expected),
                    "{}",
                    String::from_utf8_lossy(bytes)
                );
            }
            assert!(matches!(decide_line(b" \r", open), LineDecision::Ignore));
            assert!(matches!(
                decide_line(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}", false),
                LineDecision::Ignore
            ));
        }
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {}}});
        assert_eq!(code(decide_line(&line(&call), true)), i64::from(INVALID_PARAMS));
        let unknown = json!({"jsonrpc": "2.0", "id": 1, "method": "no/such"});
        assert_eq!(code(decide_line(&line(&unknown), true)), i64::from(METHOD_NOT_FOUND));
    }
}
