"""Processes of a program, as manage.py, that start at once: forks of one that has imported the libraries.

To import them takes a second of processor time, more than most commands work. A fork is a process of its own
all the same: with its environment, folder, standard streams, session and exit code it runs the program from
the top, settings included. What Python reads at its own start, as the seed of hashes, is that of all of them.
"""

import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parent.parent
# What takes longest of all that commands import and that needs no settings.
LIBRARIES = (
    *("allauth.core.internal.cryptokit", "croniter", "cryptography.hazmat.primitives.asymmetric.ed25519"),
    *("django.contrib.admin.utils", "django.contrib.postgres.search", "django.core.management"),
    *("django.core.servers.basehttp", "django.db.backends.postgresql.base", "django.db.migrations.executor"),
    *("django.db.models", "django.template.loader", "django.urls", "django.views.generic"),
    *("import_export.formats.base_formats", "import_export.widgets", "msgspec", "numpy", "phonenumbers"),
    *("psycopg", "redis", "requests", "rq", "spacy", "spacy.lang.en", "tablib", "yaml"),
)
PACKAGES = ("datasets_app.domain", "annotations_app.domain")
MAX_REQUEST_BYTES = 1 << 16


class Program(NamedTuple):
    """A Python file, the interpreter that runs it, and what is imported before, in an environment. ``name.*``
    is a package with all of its modules. With a ``base``, its server is a fork of that one's."""

    file: Path
    python: Path
    imports: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] | None = None
    base: "Program | None" = None


MANAGE = Program(
    PROJECT / "manage.py",
    Path(sys.executable),
    (*LIBRARIES, *(f"{name}.*" for name in PACKAGES), "tests.loaded_models"),
)
_servers: dict[Program, tuple[socket.socket, subprocess.Popen[Any]]] = {}
_usual: list[dict[str, str]] = []


def share_environment(environment: dict[str, str]) -> None:
    """Most processes of a run start in this environment: in their server, Django has been set up as well."""
    _usual[:] = [environment]


def _choose_program(environment: dict[str, str] | None) -> Program:
    if environment is None or environment not in _usual:
        return MANAGE
    return MANAGE._replace(
        imports=("tests.django_setup",), environment=tuple(sorted(environment.items())), base=MANAGE
    )


class Popen(subprocess.Popen[Any]):
    """As ``subprocess.Popen``, with the arguments of a program. Its parent says how it ended."""

    def __init__(self, *arguments: Any, program: Program | None = None, **options: Any) -> None:
        self._program = program = program or _choose_program(options.get("env"))
        super().__init__([str(program.file), *map(str, arguments)], **options)

    def _execute_child(self, args: list[str], *rest: Any) -> None:
        _, _, _, _, cwd, env, _, _, _, *pipes, _, _, _, _, _, start_new_session, _ = rest
        stdin, _, _, stdout, _, stderr = pipes
        streams = [own if given == -1 else given for own, given in enumerate((stdin, stdout, stderr))]
        request = [args, str(cwd or Path.cwd()), dict(os.environ if env is None else env), start_new_session]
        self._status, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(
                _get_server(self._program), [json.dumps(request).encode()], [*streams, theirs.fileno()]
            )
        self.pid = int(self._status.makefile().readline())
        self._child_created = True
        self._close_pipe_fds(*pipes)

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        try:
            status = self._status.recv(16, socket.MSG_DONTWAIT if wait_flags & os.WNOHANG else 0)
        except BlockingIOError:
            return 0, 0
        return self.pid, int(status or signal.SIGKILL)

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self._handle_exitstatus(status)
        return self.returncode


def run(
    *arguments: Any, input: Any = None, timeout: float = 120.0, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """As ``subprocess.run`` with ``capture_output``."""
    if "stdin" not in options:
        options["stdin"] = subprocess.PIPE
    with Popen(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _get_server(program: Program) -> socket.socket:
    """It ends with this process, when its end of the socket is the last."""
    key = program._replace(file=Path(__file__))
    if key not in _servers:
        ours, theirs = socket.socketpair()
        environment = dict(os.environ if program.environment is None else program.environment)
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        options: Any = {"cwd": PROJECT, "env": environment, "stdin": theirs, "start_new_session": True}
        with theirs:
            if program.base:
                server = Popen(*program.imports, program=program.base._replace(file=key.file), **options)
            else:
                command = [program.python, "-m", "tests.preloaded", *program.imports]
                server = subprocess.Popen(command, **options)
        _servers[key] = ours, server
    return _servers[key][0]


def _serve(requests: socket.socket) -> list[str] | None:
    """Returns in each process that is forked, with its arguments; None when nobody asks any more."""
    while True:
        request, fds, _, _ = socket.recv_fds(requests, MAX_REQUEST_BYTES, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not request:
            return None
        if not os.fork():
            requests.close()
            arguments, *more = json.loads(request)
            if _fork_and_report(fds[3]):
                _become(fds, *more)
                return arguments
        for fd in fds:
            os.close(fd)


def _fork_and_report(fd: int) -> bool:
    """True in the child; this process waits for its end and reports it."""
    if not (pid := os.fork()):
        return True
    with suppress(BrokenPipeError):  # a server ends after who asked for it
        os.write(fd, f"{pid}\n".encode())
        os.write(fd, str(os.waitpid(pid, 0)[1]).encode())
    os._exit(0)


def _become(fds: list[int], cwd: str, environment: dict[str, str], start_new_session: bool) -> None:
    for number, fd in enumerate(fds):
        if number < 3:
            os.dup2(fd, number)
        os.close(fd)
    if start_new_session:
        os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    unbuffered = bool(environment.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = _open_stream(0, "rb")
    sys.stdout = sys.__stdout__ = _open_stream(1, "wb", write_through=unbuffered)
    sys.stderr = sys.__stderr__ = _open_stream(2, "wb", errors="backslashreplace", line_buffering=True)


def _open_stream(fd: int, mode: str, **options: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(os.fdopen(fd, mode, closefd=False), "utf-8", **options)


def _preload(names: list[str]) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in names:
        module = importlib.import_module(name.removesuffix(".*"))
        if name.endswith(".*"):
            for found in pkgutil.walk_packages(module.__path__, f"{module.__name__}."):
                importlib.import_module(found.name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _preload(sys.argv[1:])
    if (arguments := _serve(socket.socket(fileno=0))) is not None:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")
