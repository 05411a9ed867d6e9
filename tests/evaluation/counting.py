"""A server of the OpenAI protocol on this machine, which counts what it is asked."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ehrkg.foundation.hashing import hash64


class Counting:
    """What a server of the OpenAI protocol was asked, and where it is."""

    def __init__(self) -> None:
        self.prompts: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.url = ""


def by_hash(prompt: str) -> str:
    """A letter, whatever is asked."""
    return "ABCD"[hash64(prompt) % 4]


@contextmanager
def counting(say: Callable[[str], str] = by_hash) -> Iterator[Counting]:
    """The server, for as long as it is needed.

    Args:
        say: from what is asked (as JSON) to the answer.
    """
    state = Counting()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_words: object) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            prompt = json.dumps(body["messages"])
            with state.lock:
                state.prompts[prompt] += 1
            time.sleep(0.02)  # so that a kill finds calls in flight
            said = say(prompt)
            choice = {"index": 0, "message": {"role": "assistant", "content": said}}
            data = json.dumps(
                {
                    "id": "c",
                    "object": "chat.completion",
                    "created": 1,
                    "model": "m",
                    "choices": [choice | {"finish_reason": "stop"}],
                    "usage": {
                        "prompt_tokens": 50,
                        "completion_tokens": 1,
                        "total_tokens": 51,
                        # A service that has kept the beginning of a prompt counts it all the same.
                        "prompt_tokens_details": {"cached_tokens": 30},
                    },
                }
            ).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    state.url = f"http://127.0.0.1:{http.server_address[1]}/v1"
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
