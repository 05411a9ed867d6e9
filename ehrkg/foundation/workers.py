"""Work shared among processes, with the results in order: of one worker or of many, the same.

Workers are forked: what a piece of work looks at is there already, and only results travel. So it
is for work on arrays and plain rows, without files, threads or connections of its own. Where a
process can't be forked safely (anywhere but on Linux) there is one worker: the caller.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from ehrkg.foundation.errors import UsageError

SETTING = "EHRKG_WORKERS"
"""The variable of the environment that says how many workers, where the caller does not."""

Task = TypeVar("Task")
Result = TypeVar("Result")


def cores() -> int:
    """Processor cores that this process may use.

    >>> cores() >= 1
    True
    """
    may = getattr(os, "sched_getaffinity", None)
    return len(may(0)) if may else os.cpu_count() or 1


def workers_for(tasks: int, *, least: int = 2) -> int:
    """How many workers so many tasks get: one a core, or what the environment says.

    Args:
        tasks: how many there are.
        least: with fewer tasks than this, the caller works alone, unless the environment names a
            number: a fork costs more than it saves.

    Raises:
        UsageError: the environment says no number from 1.

    >>> workers_for(1)
    1
    """
    said = os.environ.get(SETTING, "")
    if said and not (said.isdigit() and int(said)):
        raise UsageError(f"{SETTING} is {said!r}", todo="name a number of processes, from 1")
    if not said and tasks < least:
        return 1
    return max(1, min(tasks, int(said) if said else cores()))


def in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], *, workers: int
) -> Iterator[Result]:
    """What the work gives for each task, in the order of the tasks, as it comes.

    Each worker takes every so-manieth task and waits with a result until it is asked for, so no
    more than one a worker is held.

    Args:
        work: a function of the task and of what does not change meanwhile. Results are pickled.
        tasks: what to do.
        workers: processes; with one, the caller does the work.

    Raises:
        What the work raises; RuntimeError if a worker was killed.

    >>> list(in_order(lambda number: number * number, [1, 2, 3], workers=2))
    [1, 4, 9]
    """
    workers = min(workers, len(tasks))
    if workers < 2 or not sys.platform.startswith("linux") or multiprocessing.parent_process():
        yield from (work(task) for task in tasks)
        return
    started = _started(work, tasks, workers)
    try:
        for at in range(len(tasks)):
            yield _received(started[at % workers][1])
    finally:
        for process, connection in started:
            connection.close()
            process.terminate()
            process.join()


def _started(work: Callable[[Any], Any], tasks: Sequence[Any], workers: int) -> list[Any]:
    context = multiprocessing.get_context("fork")
    started: list[Any] = []
    # What was made until here stays, so that looking for garbage copies none of its pages.
    gc.freeze()
    try:
        for worker in range(workers):
            receiving, sending = context.Pipe(duplex=False)
            others = [connection for _, connection in started]
            process = context.Process(
                target=_serve,
                args=(work, tasks[worker::workers], sending, [*others, receiving]),
                daemon=True,
            )
            with warnings.catch_warnings():
                # From Python 3.12 on a fork beside threads is warned of; see the module's text.
                warnings.simplefilter("ignore", DeprecationWarning)
                process.start()
            sending.close()
            started.append((process, receiving))
    finally:
        gc.unfreeze()
    return started


def _serve(
    work: Callable[[Any], Any],
    tasks: Sequence[Any],
    sending: Connection,
    of_parent: Sequence[Connection],
) -> None:
    """Do the tasks and send their results; end when nobody listens any more."""
    gc.disable()
    for connection in of_parent:  # else a parent that was killed would seem to listen for ever
        connection.close()
    try:
        for task in tasks:
            try:
                answer = (True, work(task))
            except Exception as error:  # noqa: BLE001 - raised again by the caller
                answer = (False, error)
            sending.send_bytes(pickle.dumps(answer, protocol=5))
            if not answer[0]:
                return
    except BrokenPipeError:
        return


def _received(connection: Connection) -> Any:
    try:
        done, answer = pickle.loads(connection.recv_bytes())  # noqa: S301 - our own worker's
    except EOFError as error:
        raise RuntimeError(
            f"a worker was killed, maybe for want of memory: set {SETTING}=1 and try again"
        ) from error
    if not done:
        raise answer
    return answer
