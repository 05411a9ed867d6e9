"""A server on loopback that speaks both protocols and plays the faults it is told to play."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answerer = Callable[[str], str]


class ModelServer:
    """What was asked, and what is to be answered.

    Attributes:
        asked: the prompts that came, in order.
        connections: how many requests came at all.
    """

    def __init__(self, answer: Answerer, faults: Sequence[str] = ()) -> None:
        self.answer = answer
        self.faults = list(faults)
        self.asked: list[str] = []
        self.connections = 0
        self.schemas: list[Any] = []
        self.port = 0


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    handler = type("Handler", (_Handler,), {"server_state": server})
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.port = http.server_address[1]
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server_state: ModelServer

    def log_message(self, *_words: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        state = self.server_state
        state.connections += 1
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["messages"][-1]["content"]
        anthropic = self.path.endswith("/messages")
        state.schemas.append(
            body.get("output_config", {}).get("format", {}).get("schema")
            if anthropic
            else body.get("response_format", {}).get("json_schema", {}).get("schema")
        )
        fault = state.faults.pop(0) if state.faults else ""
        if fault.isdigit():
            self._send(int(fault), {"type": "error", "error": {"type": "x", "message": "busy"}})
            return
        if fault == "cut":
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "half')
            self.connection.close()
            return
        if fault == "late":
            time.sleep(1.5)
        state.asked.append(prompt)
        text = "no JSON at all" if fault == "invalid" else state.answer(prompt)
        stop = {"refusal": "refusal", "max_tokens": "max_tokens"}.get(fault, "")
        self._send(200, _anthropic(text, stop) if anthropic else _openai(text, stop))

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if status == 429:
            self.send_header("retry-after-ms", "20")
        self.end_headers()
        try:
            self.wfile.write(data)
        except BrokenPipeError:
            return


def _anthropic(text: str, stop: str) -> dict[str, Any]:
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [] if stop == "refusal" else [{"type": "text", "text": text}],
        "stop_reason": stop or "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


def _openai(text: str, stop: str) -> dict[str, Any]:
    reason = {"max_tokens": "length", "refusal": "content_filter"}.get(stop, "stop")
    message = {"role": "assistant", "content": text}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
