"""A stub language model: it speaks the APIs of Anthropic, OpenAI and Google on loopback, so that the real agents can run
whole sessions without a network.

The user's last prompt decides the answer. It may contain directives:

    [[say:TEXT]]            answers with TEXT instead of a plain "Understood."
    [[tool:NAME {json}]]    first calls this tool (the end of its name is enough)
    [[usage:N]]             claims that N tokens were read, to make an agent compact
    [[hang]]                never answers

Every request is kept, so that tests can inspect what an agent sent.
"""

import json
import re
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOL = re.compile(r"\[\[tool:([\w.-]+)\s*(\{.*?\})?\]\]", re.S)
SAY = re.compile(r"\[\[say:(.*?)\]\]", re.S)
USAGE = re.compile(r"\[\[usage:(\d+)\]\]")
# Text that agents and hooks add around a prompt is not part of it.
AROUND = re.compile(r"<(system-reminder|hook_context|environment_context)>.*?</\1>", re.S)


def text_of(content):
    if isinstance(content, str):
        return content
    parts = content or []
    return "\n".join(part.get("text") or "" for part in parts if isinstance(part, dict))


def anthropic_turns(body):
    for message in body.get("messages", []):
        content = message.get("content")
        kinds = [] if isinstance(content, str) else [part.get("type") for part in content or []]
        if message["role"] == "assistant":
            yield ("call" if "tool_use" in kinds else "answer"), ""
        else:
            for _ in range(kinds.count("tool_result")):
                yield "result", ""
            yield "user", text_of(content)


def chat_turns(body):
    for message in body.get("messages", []):
        role = message.get("role")
        if role == "assistant":
            yield ("call" if message.get("tool_calls") else "answer"), ""
        elif role == "tool":
            yield "result", ""
        elif role == "user":
            yield "user", text_of(message.get("content"))


def responses_turns(body):
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given or []
    for item in items:
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") == "assistant":
            yield "answer", ""
        elif kind == "message" and item.get("role") == "user":
            yield "user", text_of(item.get("content"))
        elif kind.endswith("_call_output"):
            yield "result", ""


def gemini_turns(body):
    for message in body.get("contents", []):
        parts = message.get("parts") or []
        if message.get("role") == "model":
            yield ("call" if any("functionCall" in part for part in parts) else "answer"), ""
            continue
        for part in parts:
            if "functionResponse" in part:
                yield "result", ""
        yield "user", "\n".join(part.get("text", "") for part in parts)


def tool_names(body):
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or []:
                yield inner.get("name"), tool.get("name")
        elif "functionDeclarations" in tool:
            for inner in tool["functionDeclarations"]:
                yield inner["name"], None
        else:
            yield tool.get("name") or (tool.get("function") or {}).get("name") or tool.get("type"), None


def decide(turns, body):
    """Returns the prompt since the last answer, and the number of its tools that have run."""
    prompt, results = "", 0
    for kind, text in turns:
        if kind == "answer":
            prompt, results = "", 0
        elif kind == "result":
            results += 1
        elif kind == "user":
            text = AROUND.sub("", text)
            if "[[" in text and "[[" not in prompt:
                prompt, results = text, 0
            elif not prompt:
                prompt = text
    usage = int((USAGE.findall(prompt) or ["100"])[-1])
    calls, known = TOOL.findall(prompt), dict(tool_names(body))
    if "[[hang]]" in prompt:
        return {"hang": True}
    if results < len(calls):
        wanted, arguments = calls[results]
        name = next((name for name in known if name and (name == wanted or name.endswith(wanted))), None)
        if name:
            return {"tool": name, "space": known[name], "arguments": json.loads(arguments or "{}"), "usage": usage}
    said = SAY.findall(prompt)
    return {"text": said[-1] if said else "Understood.", "usage": usage}


def fresh(prefix):
    return prefix + uuid.uuid4().hex[:20]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send_json(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            line = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write(((f"event: {name}\n" if name else "") + f"data: {line}\n\n").encode())
        self.wfile.flush()
        self.close_connection = True

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        model = {"id": "stub-model", "object": "model", "type": "model", "display_name": "stub"}
        self.send_json({"object": "list", "data": [model], "models": []} if self.path.split("?")[0].endswith("/models") else {})

    def body(self):
        if "chunked" not in (self.headers.get("transfer-encoding") or ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        data = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            data += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return data

    def do_POST(self):
        try:
            body = json.loads(self.body() or b"{}")
        except ValueError:
            body = {}
        path = self.path.split("?")[0]
        self.server.requests.append({"path": path, "body": body})
        if path.endswith("/count_tokens"):
            self.send_json({"input_tokens": 100})
        elif path.endswith(":countTokens"):
            self.send_json({"totalTokens": 100})
        elif path.endswith("/messages"):
            self.answer(anthropic_turns, body, self.write_anthropic)
        elif path.endswith("/chat/completions"):
            self.answer(chat_turns, body, self.write_chat)
        elif path.endswith("/responses"):
            self.answer(responses_turns, body, self.write_responses)
        elif "enerateContent" in path:
            self.answer(gemini_turns, body, lambda body, todo: self.write_gemini(body, todo, "stream" in path))
        else:
            self.send_json({})

    def answer(self, turns, body, write):
        todo = decide(turns(body), body)
        while todo.get("hang") and not self.server.stopping:
            time.sleep(0.1)
        if not todo.get("hang"):
            write(body, todo)

    def write_anthropic(self, body, todo):
        usage = {"input_tokens": todo["usage"], "output_tokens": 7, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        if "tool" in todo:
            block, stop = {"type": "tool_use", "id": fresh("toolu_"), "name": todo["tool"], "input": todo["arguments"]}, "tool_use"
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(todo["arguments"])}
        else:
            block, stop = {"type": "text", "text": todo["text"]}, "end_turn"
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": todo["text"]}
        message = {"id": fresh("msg_"), "type": "message", "role": "assistant", "model": body.get("model", "stub"),
                   "content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.send_json(message)
        events = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        self.send_events((event["type"], event) for event in events)

    def write_chat(self, body, todo):
        usage = {"prompt_tokens": todo["usage"], "completion_tokens": 7, "total_tokens": todo["usage"] + 7}
        if "tool" in todo:
            function = {"name": todo["tool"], "arguments": json.dumps(todo["arguments"])}
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": fresh("call_"), "type": "function", "function": function, "index": 0}]}
            finish = "tool_calls"
        else:
            message, finish = {"role": "assistant", "content": todo["text"]}, "stop"
        base = {"id": fresh("chatcmpl-"), "created": int(time.time()), "model": body.get("model", "stub")}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.send_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        chunk = {**base, "object": "chat.completion.chunk"}
        self.send_events([
            (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
            (None, {**chunk, "choices": [], "usage": usage}),
            (None, "[DONE]"),
        ])

    def write_responses(self, body, todo):
        if "tool" in todo:
            item = {"type": "function_call", "id": fresh("fc_"), "call_id": fresh("call_"), "name": todo["tool"],
                    "arguments": json.dumps(todo["arguments"]), "status": "completed"}
            if todo["space"]:
                item["namespace"] = todo["space"]
        else:
            item = {"type": "message", "id": fresh("msg_"), "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": todo["text"], "annotations": []}]}
        usage = {"input_tokens": todo["usage"], "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 7,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": todo["usage"] + 7}
        response = {"id": fresh("resp_"), "object": "response", "created_at": int(time.time()), "status": "completed",
                    "model": body.get("model", "stub"), "output": [item], "usage": usage, "error": None, "incomplete_details": None}
        if not body.get("stream"):
            return self.send_json(response)
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        events = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "status": "in_progress"}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": response},
        ]
        self.send_events((event["type"], event) for event in events)

    def write_gemini(self, body, todo, stream):
        if "state_snapshot" in json.dumps(body.get("systemInstruction") or ""):
            # A request for a summary gets an answer in the requested format.
            todo = {**todo, "text": "<state_snapshot>\nA session with a few facts.\n</state_snapshot>"}
            todo.pop("tool", None)
        part = {"functionCall": {"name": todo["tool"], "args": todo["arguments"]}} if "tool" in todo else {"text": todo["text"]}
        wanted = body.get("generationConfig") or {}
        if wanted.get("responseJsonSchema") or wanted.get("responseSchema"):
            # The agent asks which model to use and who speaks next.
            part = {"text": json.dumps({"reasoning": "stub", "next_speaker": "user", "model_choice": "flash",
                                        "complexity_reasoning": "stub", "complexity_score": 1})}
        usage = {"promptTokenCount": todo["usage"], "candidatesTokenCount": 7, "totalTokenCount": todo["usage"] + 7}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub"}
        self.send_events([(None, answer)]) if stream else self.send_json(answer)


class StubModel:
    """The stub model, which listens inside its `with` block."""

    def __enter__(self):
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.requests, self.server.stopping = [], False
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.stopping = True
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def requests(self):
        return self.server.requests
