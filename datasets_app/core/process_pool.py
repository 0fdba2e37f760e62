"""Work spread over processes: results in the order of the tasks, and never more than a few of them in memory.

A process of it ends with its parent, however that ends: it waits on a pipe that nobody else holds. One that
dies ends the work with :class:`WorkFailed`; errors are told by kind and place, never by their message,
which may repeat text of a conversation.
"""

import multiprocessing
import os
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, islice
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any

# One task in work and one waiting, for each process.
MAX_TASKS_PER_PROCESS = 2
# Libraries for matrices would start threads of their own, in each of the processes.
THREAD_COUNT_VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")

TaskHandler = Callable[[Any], Any]


class ProcessPoolError(Exception):
    """The work can't be finished; the message is a sentence without any text of the tasks."""


class WorkerStartError(Exception):
    """What ``begin`` raises if its argument can't be worked with: the message is shown as it is."""


def available_cpus() -> int:
    """How many processes can work at once, by what this one may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ProcessPool:
    """``begin(argument)`` gives what works off a task, in each of at most ``count`` processes.

    With ``count`` 1 there is none but this one. All that is passed is pickled, and ``begin`` is a function
    of a module: processes start anew and inherit nothing. Used as a context; leaving it ends them.
    """

    def __init__(self, count: int, begin: Callable[[Any], TaskHandler], argument: Any) -> None:
        self.count, self._begin, self._argument = count, begin, argument
        self._here = _Worker(begin, argument)
        self._idle_processes: SimpleQueue[_WorkerProcess] = SimpleQueue()
        self._all_processes: list[_WorkerProcess] = []
        self._closed, self._starting = False, Lock()
        self._threads: ThreadPoolExecutor | None = None

    def __enter__(self) -> "ProcessPool":
        for name in THREAD_COUNT_VARIABLES:
            os.environ.setdefault(name, "1")
        return self

    def __exit__(self, *_: object) -> None:
        with self._starting:
            self._closed = True
            for process in self._all_processes:
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
            for task in chain(first, tasks):
                yield _unwrap(self._here.work((kind, task)))
            return
        ahead: deque[Future[Any]] = deque()
        for task in chain(first, tasks):
            ahead.append(self._submit((kind, task)))
            if len(ahead) >= MAX_TASKS_PER_PROCESS * self.count:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    def _submit(self, task: Any) -> "Future[Any]":
        if self._threads is None:
            # Its start lifts the block on signals that is set below.
            resource_tracker.ensure_running()
            # Threads pass the block on to the processes that they start: Ctrl-C is the parent's to deal with.
            self._threads = ThreadPoolExecutor(
                self.count, initializer=signal.pthread_sigmask, initargs=(signal.SIG_BLOCK, {signal.SIGINT})
            )
        return self._threads.submit(self._run_in_process, task)

    def _run_in_process(self, task: Any) -> Any:
        """In a thread: each waits for one process."""
        try:
            process = self._idle_processes.get_nowait()
        except Empty:
            process = self._start_process()
        answer = process.work(task)
        self._idle_processes.put(process)
        return _unwrap(answer)

    def _start_process(self) -> "_WorkerProcess":
        with self._starting:
            if self._closed:
                raise ProcessPoolError("It was stopped.")
            process = _WorkerProcess(self._begin, self._argument)
            self._all_processes.append(process)
            return process


Answer = tuple[bool, Any]  # whether a task was worked off, and its result or the message of its error


def _unwrap(answer: Answer) -> Any:
    done, result = answer
    if not done:
        raise ProcessPoolError(result)
    return result


class _Worker:
    """Works off tasks in this process; begins with the first."""

    def __init__(self, begin: Callable[[Any], TaskHandler], argument: Any) -> None:
        self._begin, self._argument = begin, argument
        self._handler: TaskHandler | None = None

    def work(self, task: Any) -> Answer:
        try:
            self._handler = self._handler or self._begin(self._argument)
            return True, self._handler(task)
        except WorkerStartError as error:
            return False, str(error)
        except Exception as error:
            return False, f"It failed: {_describe_place(error)}."


class _WorkerProcess:
    """One process, and the pipe to it."""

    def __init__(self, begin: Callable[[Any], TaskHandler], argument: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve_tasks, args=(theirs, begin, argument), daemon=True)
        self._process.start()
        theirs.close()

    def work(self, task: Any) -> Answer:
        try:
            self._pipe.send(task)
            answer: Answer = self._pipe.recv()
            return answer
        except (EOFError, OSError):
            self._process.join(timeout=5)
            code = self._process.exitcode
            how = f"killed by signal {-code}; out of memory?" if code and code < 0 else f"exit code {code}"
            raise ProcessPoolError(f"A process of it ended before its work was done ({how}).") from None

    def end(self) -> None:
        with suppress(OSError):
            self._process.kill()
            self._process.join(timeout=5)


def _serve_tasks(pipe: Connection, begin: Callable[[Any], TaskHandler], argument: Any) -> None:
    """The life of a process: answer tasks until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = _Worker(begin, argument)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(worker.work(pipe.recv()))


def _describe_place(error: Exception) -> str:
    """Type and place, without the message, which may quote a text."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {last.name} ({os.path.basename(last.filename)}:{last.lineno})"
