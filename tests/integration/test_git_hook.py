"""The git hook as another repository has it: the real pre-commit, which installs us for itself."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# The hook is installed once, which takes longer than all else.
pytestmark = pytest.mark.xdist_group("git hook")

PROJECT = Path(__file__).resolve().parents[2]
INSTALLED = (".pre-commit-hooks.yaml", "pyproject.toml", "datasets_app")
CANARY = "zebulon.fonseca@canary.example"
CLEAN = {"session_id": "s", "turn_index": 1, "role": "user", "text": "How do I return a parcel?"}
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: alignmenter-pii
"""


class Repository:
    """A git repository of somebody who knows nothing of this project but its hook."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self._environment = folder, environment
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet")

    def git(self, *arguments: str) -> str:
        return self._run("git", *arguments, check=True).stdout

    def pre_commit(self, *arguments: str) -> None:
        self._run(sys.executable, "-m", "pre_commit", *arguments, check=True)

    def commit(self) -> tuple[int, str]:
        """Everything there is; whether git took it, and all that was said."""
        self.git("add", "--all")
        done = self._run("git", "commit", "--quiet", "--message", "More conversations")
        return done.returncode, done.stdout + done.stderr

    def write(self, name: str, *lines: object) -> None:
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path = self.folder / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())

    def _run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=check,
            timeout=300,
        )


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A home of its own; how pip comes by its packages is that of the machine. Nothing names a server, and
    what is compiled would be used for a few seconds only."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "ALIGNMENTER_", "DATABASE_", "REDIS_", "DJANGO_", "PYTHON"))
    }
    who = {
        f"GIT_{role}_{what}": "t@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    home = str(tmp_path_factory.mktemp("pre-commit"))
    return kept | who | {"PRE_COMMIT_HOME": home, "PIP_NO_COMPILE": "1", "PRE_COMMIT_COLOR": "never"}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Repository:
    """With the hook in place; the first commit installs it."""
    ours = Repository(tmp_path_factory.mktemp("ours"), environment)
    for name in INSTALLED:
        source, target = PROJECT / name, ours.folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    assert ours.commit()[0] == 0
    theirs = Repository(tmp_path_factory.mktemp("theirs"), environment)
    revision = ours.git("rev-parse", "HEAD").strip()
    config = CONFIG.format(repository=ours.folder, revision=revision)
    (theirs.folder / ".pre-commit-config.yaml").write_text(config)
    theirs.pre_commit("install")
    return theirs


@pytest.fixture(autouse=True)
def _as_it_was(theirs: Repository):
    yield
    theirs.git(
        "rm", "-rq", "--force", "--ignore-unmatch", "--", "*.jsonl", "*.gz", ".alignmenter-allow", "*.md"
    )


def test_what_is_clean_is_committed_and_nothing_is_left_beside_it(theirs: Repository) -> None:
    theirs.write("talks.jsonl", CLEAN)
    theirs.write("README.md", CANARY)
    code, said = theirs.commit()
    assert code == 0, said
    assert {path.name for path in theirs.folder.iterdir()} == {
        ".git",
        ".pre-commit-config.yaml",
        "README.md",
        "talks.jsonl",
    }
    assert theirs.git("status", "--porcelain") == ""


def test_personal_data_is_refused_by_line_and_never_repeated(theirs: Repository) -> None:
    before = theirs.git("rev-list", "--all", "--count")
    theirs.write("talks.jsonl", CLEAN, {**CLEAN, "turn_index": 2, "text": f"Write to {CANARY}."})
    theirs.write("labels.jsonl.gz", {"text": "Hi", "label": 1, "persona_id": "p", "notes": f"ask {CANARY}"})
    theirs.write("chat.jsonl", {"messages": [{"role": "user", "content": "my name is Zebulon Fonseca"}]})
    theirs.write("others.jsonl", {"rows": [{"who": {"contact": CANARY}}]}, [CANARY])
    (theirs.folder / "cut.jsonl").write_text(f'{{"text": "mail {CANARY}')
    code, said = theirs.commit()
    assert code != 0
    findings = {line for line in said.splitlines() if ".jsonl" in line}
    told = "(30 characters); scrub it before sharing"
    assert findings == {
        f"talks.jsonl:2: E401 e-mail address in text at column 10 {told}",
        f"labels.jsonl.gz:1: E401 e-mail address in notes at column 5 {told}",
        "chat.jsonl:1: W406 name of a person in messages[0].content at column 12 (15 characters); "
        "scrub it before sharing",
        f"others.jsonl:1: E401 e-mail address in rows[0].who.contact at column 1 {told}",
        f"others.jsonl:2: E401 e-mail address in the line at column 3 {told}",
        f"cut.jsonl:1: E401 e-mail address in the line at column 16 {told}",
    }
    assert "ebulon" not in said
    assert "onseca" not in said
    assert theirs.git("rev-list", "--all", "--count") == before


def test_what_the_repository_allows_may_stand(theirs: Repository) -> None:
    theirs.write("talks.jsonl", {**CLEAN, "text": "Write to help@shop.example, or ask Zebulon Fonseca."})
    (theirs.folder / ".alignmenter-allow").write_text("# ours\nHELP@shop.example\n\nZebulon Fonseca\n")
    code, said = theirs.commit()
    assert code == 0, said
