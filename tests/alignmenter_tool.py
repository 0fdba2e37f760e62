"""Runs the real Alignmenter, which has an environment of its own: it needs an older openai than we do."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

# `make setup` makes it, from locks/alignmenter.txt.
PROGRAMS = Path(sys.prefix) / "alignmenter/bin"


def run_alignmenter(home: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run its command in ``home``."""
    return _run(home, PROGRAMS / "alignmenter", *arguments)


def run_code_with_alignmenter(
    home: Path, code: str, *arguments: Any, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run Python code that can import it; ``typed`` is what a person enters at the terminal."""
    return _run(home, PROGRAMS / "python", "-c", code, *arguments, typed=typed)


def _run(home: Path, *command: Any, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Where it can reach nothing but the test's own folder and memory."""
    assert PROGRAMS.exists(), "alignmenter is missing: make setup"
    # It commits to disk for every turn; memory is where that costs nothing.
    scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(home)
    done = subprocess.run(
        list(map(str, command)),
        capture_output=True,
        text=True,
        input=typed,
        timeout=120,
        cwd=home,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "TMPDIR": scratch, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done
