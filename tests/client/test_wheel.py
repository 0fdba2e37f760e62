"""What pip installs, built and installed into an empty environment, and every command typed there."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from datasets_app.access.scopes import SCOPES
from datasets_app.access.tokens import create_token
from tests.api.calls import make_user
from tests.factories import make_turn, write_jsonl

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("alignmenter_datasets", "datasets_app/domain", "datasets_app/command_line", "datasets_app/core",
            "datasets_app/catalog", "datasets_app/scrubbing")  # fmt: skip
NOT_SHIPPED = {".py", ".pyc"}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("client")]


def run(*command: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, check=False, **options
    )


def _build(kind: str, source: Path, folder: Path) -> None:
    program = f"from setuptools import build_meta as b; b.build_{kind}({str(folder)!r})"
    done = run(sys.executable, "-c", program, cwd=source)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive of what the repository holds, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    source = folder / "source"
    listed = run("git", "ls-files", "-z", cwd=PROJECT).stdout.split("\0")
    for name in filter(None, listed):
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, target)
    _build("sdist", source, folder)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    _build("wheel", unpacked, folder)
    return folder


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that holds nothing but the wheel and what it requires."""
    place = tmp_path_factory.mktemp("empty")
    assert run(sys.executable, "-m", "venv", "--without-pip", place).returncode == 0
    (wheel,) = built.glob("*.whl")
    python = place / "bin" / "python"
    done = run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile", wheel)
    assert done.returncode == 0, done.stderr
    return place / "bin"


def test_the_wheel_has_every_data_file_of_its_packages(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        shipped = set(file.namelist())
    tracked = run("git", "ls-files", *PACKAGES, cwd=PROJECT).stdout.split()
    data = [name for name in tracked if Path(name).suffix not in NOT_SHIPPED and "/web/" not in name]
    assert len(data) > 5
    assert not [name for name in data if name not in shipped]


def test_every_command_works_outside_of_the_repository(
    installed: Path,
    tmp_path: Path,
    live_server: Any,
    transactional_db: None,
    media_root: Path,
    processes: Any,
) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [make_turn(text="Mail jane.roe@mailbox.org")])
    _, secret = create_token(make_user("curator"), name="wheel", scopes=list(SCOPES))
    names = {"ALIGNMENTER_SERVER": live_server.url, "ALIGNMENTER_TOKEN": secret, "PATH": os.environ["PATH"]}
    processes.start("worker")

    def command(*arguments: Any) -> subprocess.CompletedProcess[str]:
        return run(installed / "alignmenter-datasets", *arguments, cwd=tmp_path, env=names)

    scripts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]
    for name in scripts:
        assert run(installed / name, "--help", cwd=tmp_path, env=names).returncode == 0
    checked = run(installed / "alignmenter-validate", path, cwd=tmp_path, env=names)
    assert (checked.returncode, "E401" in checked.stdout) == (1, True), checked.stderr
    done = command("sanitize", path, "--out", "clean.jsonl")
    assert done.returncode == 0, done.stderr
    assert "[EMAIL]" in (tmp_path / "clean.jsonl").read_text()
    done = command("push", "clean.jsonl", "--dataset", "wheel", "--origin", "synthetic")
    assert done.returncode == 0, done.stderr
    done = command("pull", "wheel", "--out", "back.jsonl")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "back.jsonl").read_text().splitlines()[0])["text"] == "Mail [EMAIL]"
    done = command("check", "wheel")
    assert done.returncode in (0, 1), done.stderr
