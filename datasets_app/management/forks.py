"""Long-running processes that are forks of one, so that they share the memory of what it has imported."""

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from django.core.management.base import CommandError

from alignmenter_site.supervisor import (
    MAX_RESTART_DELAY_SECONDS,
    MIN_RESTART_DELAY_SECONDS,
    STABLE_AFTER_SECONDS,
    describe_exit,
    print_message,
)

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_forks(functions: Mapping[str, Callable[[], Any]]) -> None:
    """Run each function in a fork of its own until SIGTERM or Ctrl-C, which each of them gets.

    One that ends before is started again. All of them are told to stop if this process is killed. Call it
    from a main thread, before there are other threads and connections.
    """
    _Forks(functions).run()


class _Forks:
    def __init__(self, functions: Mapping[str, Callable[[], Any]]) -> None:
        self._functions = functions
        self._names: dict[int, str] = {}
        self._started_at: dict[str, float] = {}
        self._restarts: dict[str, int] = {}
        self._stopping = False
        # Nobody writes to it: forks read its end when this process has ended.
        self._reading, self._writing = os.pipe()

    def run(self) -> None:
        gc.collect()
        gc.freeze()  # the collector would write to all pages, and so copy them
        for number in _STOP_SIGNALS:
            signal.signal(number, self._stop)
        for name in self._functions:
            self._start(name)
        while self._names:
            pid, status = os.wait()
            name = self._names.pop(pid, "")
            if name and not self._stopping:
                self._restart(name, os.waitstatus_to_exitcode(status))

    def _stop(self, *_: object) -> None:
        self._stopping = True
        for pid in list(self._names):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)

    def _restart(self, name: str, code: int) -> None:
        is_stable = time.monotonic() - self._started_at[name] > STABLE_AFTER_SECONDS
        self._restarts[name] = 0 if is_stable else self._restarts.get(name, 0) + 1
        delay = min(MIN_RESTART_DELAY_SECONDS * 2.0 ** self._restarts[name], MAX_RESTART_DELAY_SECONDS)
        print_message(f"The {name} {describe_exit(code)}; it is started again in {delay:g} s.")
        deadline = time.monotonic() + delay
        while not self._stopping and time.monotonic() < deadline:
            time.sleep(0.1)
        if not self._stopping:
            self._start(name)

    def _start(self, name: str) -> None:
        # A signal between the fork and the entry in the list would miss the new process.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        self._started_at[name] = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._run_child(name)
        self._names[pid] = name
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)

    def _run_child(self, name: str) -> NoReturn:
        code = 1
        try:
            os.close(self._writing)
            for number in _STOP_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
            threading.Thread(target=_stop_with_parent, args=(self._reading,), daemon=True).start()
            self._functions[name]()
            code = 0
        except CommandError as error:
            print_message(str(error))
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as error:  # its text could quote private data
            print_message(f"The {name} failed ({type(error).__name__}).")
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code)


def _stop_with_parent(reading: int) -> None:
    os.read(reading, 1)
    os.kill(os.getpid(), signal.SIGTERM)
