"""Work spread over processes: results in the order of the tasks, and never more than a few of them in memory.

A process of it ends with its parent, however that ends: it waits on a pipe that nobody else holds. One that
dies ends the work with :class:`WorkFailed`; errors are told by kind and place, never by their message,
which may repeat text of a conversation.
"""

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

from alignmenter_site.logs import without_values

# One task in work and one waiting, for each process.
TASKS_AHEAD = 2
# Libraries for matrices would start threads of their own, in each of the processes.
ONE_THREAD_EACH = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

Work = Callable[[Any], Any]


class WorkFailed(Exception):
    """The work can't be finished; the message is a sentence without any text of the tasks."""


class CannotBegin(Exception):
    """What ``begin`` raises if its argument can't be worked with: the message is shown as it is."""


def cores() -> int:
    """How many processes can work at once, by what this one may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkProcesses:
    """``begin(argument)`` gives what works off a task, in each of at most ``count`` processes.

    With ``count`` 1 there is none but this one. All that is passed is pickled, and ``begin`` is a function
    of a module: processes start anew and inherit nothing. Used as a context; leaving it ends them.
    """

    def __init__(self, count: int, begin: Callable[[Any], Work], argument: Any) -> None:
        self.count, self._begin, self._argument = count, begin, argument
        self._own: Work | None = None
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        self._all: list[_Process] = []
        self._closed, self._starting = False, Lock()
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> "WorkProcesses":
        for name in ONE_THREAD_EACH:
            os.environ.setdefault(name, "1")
        return self

    def __exit__(self, *_: object) -> None:
        with self._starting:
            self._closed = True
            for process in self._all:
                process.end()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)

    def map(self, tasks: Iterable[Any], kind: str = "") -> Iterator[Any]:
        """The result of each ``(kind, task)``, in order; tasks are taken as they are needed.

        A single task is worked off here: a process is not worth its start.
        """
        tasks = iter(tasks)
        first = list(islice(tasks, 2))
        if self.count == 1 or (len(first) < 2 and self._threads is None):
            for task in _chained(first, tasks):
                yield self._here((kind, task))
            return
        ahead: deque[Future[Any]] = deque()
        for task in _chained(first, tasks):
            ahead.append(self._submit((kind, task)))
            if len(ahead) >= TASKS_AHEAD * self.count:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    def _here(self, task: Any) -> Any:
        try:
            if self._own is None:
                self._own = self._begin(self._argument)
            return self._own(task)
        except CannotBegin as error:
            raise WorkFailed(str(error)) from None
        except Exception as error:
            raise WorkFailed(f"It failed: {without_values(error)}.") from None

    def _submit(self, task: Any) -> "Future[Any]":
        if self._threads is None:
            # Its start lifts the block on signals that is set below.
            resource_tracker.ensure_running()
            self._threads = ThreadPoolExecutor(self.count, initializer=_leave_interrupts_to_the_main_thread)
        return self._threads.submit(self._elsewhere, task)

    def _elsewhere(self, task: Any) -> Any:
        """In a thread: each waits for one process."""
        try:
            process = self._idle.get_nowait()
        except Empty:
            process = self._started()
        done, result = process.work(task)
        self._idle.put(process)
        if not done:
            raise WorkFailed(result)
        return result

    def _started(self) -> "_Process":
        with self._starting:
            if self._closed:
                raise WorkFailed("It was stopped.")
            process = _Process(self._begin, self._argument)
            self._all.append(process)
            return process


class _Process:
    """One process, and the pipe to it."""

    def __init__(self, begin: Callable[[Any], Work], argument: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, begin, argument), daemon=True)
        self._process.start()
        theirs.close()

    def work(self, task: Any) -> tuple[bool, Any]:
        try:
            self._pipe.send(task)
            answer: tuple[bool, Any] = self._pipe.recv()
            return answer
        except (EOFError, OSError):
            self._process.join(timeout=5)
            code = self._process.exitcode
            how = f"killed by signal {-code}; out of memory?" if code and code < 0 else f"exit code {code}"
            raise WorkFailed(f"A process of it ended before its work was done ({how}).") from None

    def end(self) -> None:
        with suppress(OSError):
            self._process.kill()
            self._process.join(timeout=5)


def _leave_interrupts_to_the_main_thread() -> None:
    """Threads pass the block on to the processes that they start: Ctrl-C is the parent's to deal with."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _serve(pipe: Connection, begin: Callable[[Any], Work], argument: Any) -> None:
    """The life of a process: answer tasks until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Work | None = None
    with suppress(EOFError, OSError):
        while True:
            task = pipe.recv()
            try:
                work = work or begin(argument)
                answer = True, work(task)
            except CannotBegin as error:
                answer = False, str(error)
            except Exception as error:
                answer = False, f"It failed: {without_values(error)}."
            pipe.send(answer)


def _chained(first: list[Any], rest: Iterator[Any]) -> Iterator[Any]:
    while first:
        yield first.pop(0)
    yield from rest
