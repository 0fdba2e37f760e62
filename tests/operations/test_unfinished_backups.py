import os
import time
from pathlib import Path

from datasets_app.backups.schedule import delete_unfinished


def test_only_what_a_killed_backup_left_is_deleted(tmp_path: Path) -> None:
    left, running = tmp_path / ".monday.age.1f.part", tmp_path / ".tuesday.age.2f.part"
    complete, foreign = tmp_path / "sunday.age", tmp_path / "notes.part"
    for path in (left, running, complete, foreign):
        path.touch()
        age = 0 if path == running else 7200
        os.utime(path, (time.time() - age,) * 2)
    delete_unfinished(str(tmp_path))
    assert {path.name for path in tmp_path.iterdir()} == {running.name, complete.name, foreign.name}
