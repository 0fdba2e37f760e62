"""Commands as a person runs them, with their exit code and what they print, but in this process: to
start another takes longer than most commands do. Where the process itself is the point, see
``manage_subprocess``."""

import contextlib
import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from django.core.management import get_commands, load_command_class


def run_in_process(
    *arguments: Any, cwd: Path, input: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """The command ``arguments[0]`` in the folder ``cwd``. What it does not catch fails the test. In a test
    without a database there is none to be had."""
    name, *given = map(str, arguments)
    with contextlib.chdir(cwd), _standard_streams(input or b"") as (out, err):
        command = load_command_class(get_commands()[name], name)  # takes the streams as they are now
        code: Any = 0
        try:
            command.run_from_argv(["manage.py", name, *given])
        except SystemExit as end:
            code = end.code or 0
    if not isinstance(code, int):
        err.write(f"{code}\n".encode())
        code = 1
    return subprocess.CompletedProcess(["manage.py", name, *given], code, out.getvalue(), err.getvalue())


def decode_output(done: subprocess.CompletedProcess[bytes]) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@contextlib.contextmanager
def _standard_streams(input_bytes: bytes) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Standard streams made of bytes, as a shell's are."""
    out, err = io.BytesIO(), io.BytesIO()
    wrapped = {
        "stdin": io.TextIOWrapper(io.BytesIO(input_bytes), "utf-8"),
        "stdout": io.TextIOWrapper(out, "utf-8", write_through=True),
        "stderr": io.TextIOWrapper(err, "utf-8", write_through=True),
    }
    with patch.multiple(sys, **wrapped):
        yield out, err
    for stream in (wrapped["stdout"], wrapped["stderr"]):
        with contextlib.suppress(ValueError):  # a command may have closed it
            stream.detach()
