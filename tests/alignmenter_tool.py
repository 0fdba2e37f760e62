"""Runs the real Alignmenter, which has an environment of its own: it needs an older openai than we do."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import preloaded
from tests.environment import VAR_DIR

# `make setup` makes it, from locks/alignmenter.txt.
PROGRAMS = Path(sys.prefix) / "alignmenter/bin"
# Further threads would wait for processors that other tests have.
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "NO_COLOR": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
ALIGNMENTER = preloaded.Program(
    PROGRAMS / "alignmenter",
    PROGRAMS / "python",
    ("alignmenter.cli",),
    (("HOME", str(VAR_DIR)), *ENVIRONMENT.items()),
)


def run_alignmenter(home: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run its command in ``home``."""
    return _checked(preloaded.run(*arguments, program=ALIGNMENTER, **_place(home)))


def run_code_with_alignmenter(
    home: Path, code: str, *arguments: Any, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python code that can import it; ``typed`` is what a person enters at the terminal."""
    command = [PROGRAMS / "python", "-c", code, *map(str, arguments)]
    return _checked(subprocess.run(command, capture_output=True, input=typed, **_place(home)))


def _place(home: Path) -> dict[str, Any]:
    """Where it can reach nothing but the test's own folder and memory."""
    assert PROGRAMS.exists(), "alignmenter is missing: make setup"
    # It commits to disk for every turn; memory is where that costs nothing.
    scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(home)
    environment = {**ENVIRONMENT, "HOME": str(home), "TMPDIR": scratch}
    return {"cwd": home, "env": environment, "text": True, "timeout": 120}


def _checked(done: subprocess.CompletedProcess[str]) -> subprocess.CompletedProcess[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return done
