"""A server on loopback that speaks both protocols and plays the faults it is told to play."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BATCHES = "/v1/messages/batches"

Answerer = Callable[[str], str]


class ModelServer:
    """What was asked, and what is to be answered.

    Attributes:
        asked: the prompts that came, in order.
        connections: how many requests came at all.
        batches: the requests of each batch that was made.
        fates: what becomes of the requests of batches, in order: a kind of result, a kind of error,
            or a fault of an answer; the rest succeed.
        looks: how often a batch is looked at before it has ended.
    """

    def __init__(self, answer: Answerer, faults: Sequence[str] = ()) -> None:
        self.answer = answer
        self.faults = list(faults)
        self.asked: list[str] = []
        self.connections = 0
        self.schemas: list[Any] = []
        self.port = 0
        self.batches: list[list[dict[str, Any]]] = []
        self.fates: list[str] = []
        self.looks = 1


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
        fault = state.faults.pop(0) if state.faults else ""
        if self.path == BATCHES:
            if not self._fails(fault):
                state.batches.append(body["requests"])
                self._send(200, self._batch(len(state.batches) - 1))
            return
        prompt = body["messages"][-1]["content"]
        anthropic = self.path.endswith("/messages")
        state.schemas.append(
            body.get("output_config", {}).get("format", {}).get("schema")
            if anthropic
            else body.get("response_format", {}).get("json_schema", {}).get("schema")
        )
        if self._fails(fault):
            return
        state.asked.append(prompt)
        self._send(200, (_anthropic if anthropic else _openai)(*self._says(prompt, fault)))

    def do_GET(self) -> None:
        """Look at a batch, or fetch its results."""
        state = self.server_state
        state.connections += 1
        if self._fails(state.faults.pop(0) if state.faults else ""):
            return
        batch, _, results = self.path.removeprefix(f"{BATCHES}/b").partition("/")
        if results:
            self._send(200, self._results(int(batch)))
            return
        self._send(200, self._batch(int(batch)))
        state.looks -= 1

    def _fails(self, fault: str) -> bool:
        """Play a fault of the connection; whether that was all there is to say."""
        if fault.isdigit():
            self._send(int(fault), {"type": "error", "error": {"type": "x", "message": "busy"}})
            return True
        if fault == "cut":
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"id": "half')
            self.connection.close()
            return True
        if fault == "late":
            time.sleep(1.5)
        return False

    def _says(self, prompt: str, fault: str) -> tuple[str, str]:
        """The text of an answer, and why it stops."""
        text = {"invalid": "no JSON at all", "empty": ""}.get(fault)
        stop = fault if fault in ("refusal", "max_tokens") else ""
        return self.server_state.answer(prompt) if text is None else text, stop

    def _batch(self, number: int) -> dict[str, Any]:
        state = self.server_state
        ended = state.looks <= 0
        size = len(state.batches[number])
        return {
            "id": f"b{number}",
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": dict.fromkeys(
                ("processing", "succeeded", "errored", "canceled", "expired"), 0
            )
            | {"succeeded" if ended else "processing": size},
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "ended_at": None,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"http://127.0.0.1:{state.port}{BATCHES}/b{number}/results"
            if ended
            else None,
        }

    def _results(self, number: int) -> bytes:
        """One line a request, in another order than they came."""
        state = self.server_state
        rows = []
        for request in state.batches[number]:
            fate = state.fates.pop(0) if state.fates else ""
            prompt = request["params"]["messages"][-1]["content"]
            if fate in ("expired", "canceled"):
                result: dict[str, Any] = {"type": fate}
            elif fate.endswith("_error"):
                error = {"type": "error", "error": {"type": fate, "message": f"an {fate}"}}
                result = {"type": "errored", "error": error | {"request_id": None}}
            else:
                state.asked.append(prompt)
                result = {"type": "succeeded", "message": _anthropic(*self._says(prompt, fate))}
            rows.append(json.dumps({"custom_id": request["custom_id"], "result": result}))
        return "\n".join(reversed(rows)).encode() + b"\n"

    def _send(self, status: int, body: dict[str, Any] | bytes) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
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
