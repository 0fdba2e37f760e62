"""The generated secret key, with real processes."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from alignmenter_site.embedded.places import PROJECT_DIR

PROGRAM = """
import sys
from pathlib import Path
from alignmenter_site import embedded
from alignmenter_site.keys import secret_key
print("there", flush=True)
sys.stdin.readline()
print(secret_key.load_or_create(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("left_by_a_crash", [None, ""])
def test_processes_that_start_at_once_have_the_same_key(tmp_path: Path, left_by_a_crash: str | None) -> None:
    path = tmp_path / "secret_key"
    if left_by_a_crash is not None:
        path.write_text(left_by_a_crash)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(path)],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(8)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=20)[0].strip() for process in processes}
    assert keys == {path.read_text()}
    assert len(path.read_text()) > 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not (tmp_path / "secret_key.new").exists()
