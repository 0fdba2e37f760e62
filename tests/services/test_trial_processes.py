"""The trial that kills processes knows them by what they do, also when their parent is gone."""

import os
import subprocess
import sys
from pathlib import Path

from scripts.trials.processes import find_roles, kill

# As `manage.py worker --processes 2`: a worker in the group of its parent, and a job in one of its own.
PROGRAM = r"""
import os, time

if not os.fork():
    if os.fork():
        os.write(1, b"worker %d\n" % os.getpid())
    else:
        os.setpgrp()
        os.write(1, b"job %d\n" % os.getpid())
time.sleep(60)
"""


def test_jobs_are_told_from_workers_and_workers_from_their_master(tmp_path: Path) -> None:
    script = tmp_path / "manage.py"
    script.write_text(PROGRAM)
    var = tmp_path / "var"
    environment = os.environ | {"ALIGNMENTER_VAR_DIR": str(var)}
    command = [sys.executable, str(script), "worker", "--processes", "1"]
    master = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, process_group=0)
    assert master.stdout is not None
    lines = (master.stdout.readline().split() for _ in range(2))
    pids = {name: int(pid) for name, pid in lines}
    try:
        roles = {"worker master": [master.pid], "worker or scheduler": [pids["worker"]], "job": [pids["job"]]}
        assert find_roles(var) == roles
        master.kill()
        master.wait()
        assert find_roles(var) == {role: found for role, found in roles.items() if role != "worker master"}
        kill(pids["worker"])
        while "worker or scheduler" in (left := find_roles(var)):
            pass
        assert left == {"job": [pids["job"]]}
    finally:
        for pid in pids.values():
            kill(pid)
        master.kill()
        master.wait()
        master.stdout.close()
