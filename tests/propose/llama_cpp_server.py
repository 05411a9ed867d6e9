"""llama.cpp's own server with a real small model, as a process of its own, always ended.

``xllamacpp`` carries the server as a prebuilt wheel; run as a program, this module serves a GGUF
file and prints its address once the model is loaded.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import ROOT
from tests.processes import ending_with_tests

TEMPLATE = """{{ messages[0].content }}
<start_of_turn>user
0. insulin treats diabetes
1. insulin treats cataract
Which hold?<end_of_turn>
<start_of_turn>model
{"holds": [0]}<end_of_turn>
<start_of_turn>user
{{ messages[-1].content }}<end_of_turn>
<start_of_turn>model
"""
"""A base model has no chat template; an example shows it the form, and where an answer ends."""


@contextmanager
def llama_cpp(weights: Path, folder: Path, template: str = TEMPLATE) -> Iterator[str]:
    """The address of a server of these weights, on a loopback port of its own choosing.

    Args:
        weights: a GGUF file.
        folder: where its log goes.
        template: of a chat, which a base model has none of its own for.
    """
    log = folder / "llama.log"
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            ending_with_tests(sys.executable, "-m", __name__, str(weights), template),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), log.read_text()[-3000:]
            yield address
        finally:
            process.kill()


def serve(weights: str, template: str) -> None:
    """Serve until killed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 4096
    params.n_parallel = 2
    params.warmup = False
    params.use_jinja = True
    params.chat_template = template
    # Threads that wait for each other actively crawl on a machine that has other work to do.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)  # noqa: T201
    threading.Event().wait()


if __name__ == "__main__":
    serve(*sys.argv[1:])
