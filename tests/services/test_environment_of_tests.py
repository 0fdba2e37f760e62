"""The tests' own servers: nobody's queue is emptied because REDIS_URL was set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from alignmenter_site import embedded
from alignmenter_site.embedded.places import PROJECT_DIR
from tests.environment import VAR_DIR_NAME

IN_USE = "redis://in-use.example.org:6379/0"


@pytest.mark.parametrize("for_tests", ["", "redis://for-tests.example.org:6379/1"])
def test_a_queue_in_use_is_left_alone(tmp_path: Path, for_tests: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import os, tests.environment; print(os.environ['REDIS_URL'])"],
        cwd=PROJECT_DIR,
        env={
            **os.environ,
            "REDIS_URL": IN_USE,
            "ALIGNMENTER_TEST_REDIS_URL": for_tests,
            VAR_DIR_NAME: str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip().startswith(for_tests or embedded.valkey_url(tmp_path))


def test_other_processes_of_a_test_use_the_tests_queue(subprocess_environment: dict[str, str]) -> None:
    own = embedded.valkey_url(Path(subprocess_environment[VAR_DIR_NAME]))
    assert subprocess_environment["REDIS_URL"].startswith(os.environ.get("ALIGNMENTER_TEST_REDIS_URL") or own)
