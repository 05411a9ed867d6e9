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
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, TypeVar

from ehrkg.foundation.errors import UsageError

SETTING = "EHRKG_WORKERS"
"""The variable of the environment that says how many workers, where the caller does not."""

AHEAD = 4
"""Tasks a worker that may be begun or done before their results are asked for."""

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

    Whoever is free takes the next task, so put first what takes longest. Nobody runs further ahead
    of what was asked for than ``AHEAD`` tasks a worker, so no more results are held.

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
    team = _Team(work, tasks, workers)
    try:
        for at in range(len(tasks)):
            yield team.result(at)
    finally:
        team.end()


class _Team:
    """Forked workers, each with a pipe on which it sends (number of a task, done, result)."""

    def __init__(self, work: Callable[[Any], Any], tasks: Sequence[Any], workers: int) -> None:
        context = multiprocessing.get_context("fork")
        turns = _Turns(context.Value("q", 0), context.Semaphore(AHEAD * workers), os.getpid())
        self._turns = turns
        self._found: dict[int, tuple[bool, Any]] = {}
        self._listening: list[Connection] = []
        self._processes: list[BaseProcess] = []
        # What was made until here stays, so that looking for garbage copies none of its pages.
        gc.freeze()
        try:
            for _ in range(workers):
                receiving, sending = context.Pipe(duplex=False)
                self._listening.append(receiving)
                process = context.Process(
                    target=_serve,
                    args=(work, tasks, turns, sending, tuple(self._listening)),
                    daemon=True,
                )
                with warnings.catch_warnings():
                    # From Python 3.12 on a fork beside threads is warned of; see the module's text.
                    warnings.simplefilter("ignore", DeprecationWarning)
                    process.start()
                sending.close()
                self._processes.append(process)
        finally:
            gc.unfreeze()

    def result(self, at: int) -> Any:
        """Of a task, all before which were asked for; what came before its turn is kept."""
        while at not in self._found:
            for connection in wait(self._listening):
                self._receive(connection)  # type: ignore[arg-type]
        done, answer = self._found.pop(at)
        self._turns.permits.release()
        if not done:
            raise answer
        return answer

    def _receive(self, connection: Connection) -> None:
        try:
            told = pickle.loads(connection.recv_bytes())  # noqa: S301 - our own worker's
        except EOFError as error:
            raise RuntimeError(
                f"a worker was killed, maybe for want of memory: set {SETTING}=1 and try again"
            ) from error
        if told is None:
            self._listening.remove(connection)
        else:
            at, done, answer = told
            self._found[at] = (done, answer)

    def end(self) -> None:
        """Let no worker go on."""
        for process in self._processes:
            process.terminate()
            process.join()


class _Turns(NamedTuple):
    """Whose turn it is: the number of the next task, and leave to take it."""

    next: Any
    permits: Any
    parent: int

    def take(self) -> int | None:
        """The number of the next task, once it may be begun; None if nobody waits for it."""
        while not self.permits.acquire(timeout=1):
            if os.getppid() != self.parent:  # killed: nobody will ever give leave
                return None
        with self.next.get_lock():
            at: int = self.next.value
            self.next.value += 1
        return at


def _serve(
    work: Callable[[Any], Any],
    tasks: Sequence[Any],
    turns: _Turns,
    sending: Connection,
    of_parent: Sequence[Connection],
) -> None:
    """Do tasks as their turn comes and send their results; end when nobody listens any more."""
    gc.disable()
    for connection in of_parent:  # else a parent that was killed would seem to listen for ever
        connection.close()
    try:
        while (at := turns.take()) is not None and at < len(tasks):
            try:
                answer = (at, True, work(tasks[at]))
            except Exception as error:  # noqa: BLE001 - raised again by the caller
                answer = (at, False, error)
            sending.send_bytes(pickle.dumps(answer, protocol=5))
            if not answer[1]:
                break
        sending.send_bytes(pickle.dumps(None))
    except BrokenPipeError:
        return
