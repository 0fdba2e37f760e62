"""A folder of a source whose files become links, pipes or others between listing and opening."""

import os
from pathlib import Path

import pytest

from datasets_app.core.errors import UserError
from datasets_app.sources import folder


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "secret.jsonl").write_text("secret")
    inside = tmp_path / "root" / "deep"
    inside.mkdir(parents=True)
    (inside / "a.jsonl").write_text("fine")
    return tmp_path


def open_after(place: Path, change: str) -> bytes:
    (found,) = folder._walk(place / "root")
    file, deep = place / "root" / "deep" / "a.jsonl", place / "root" / "deep"
    if change == "file becomes a link":
        file.unlink()
        file.symlink_to(place / "secret.jsonl")
    elif change == "folder becomes a link":
        deep.rename(place / "moved")
        (place / "moved" / "a.jsonl").write_text("secret")
        deep.symlink_to(place / "moved")
    elif change == "file becomes another":
        file.rename(place / "kept")
        os.link(place / "secret.jsonl", file)
    elif change == "file becomes a pipe":
        file.unlink()
        os.mkfifo(file)
    with folder._open(None, found) as opened:
        return opened.read()


def test_what_was_listed_is_read(place: Path) -> None:
    assert open_after(place, "nothing changes") == b"fine"


@pytest.mark.parametrize(
    "change",
    ["file becomes a link", "folder becomes a link", "file becomes another", "file becomes a pipe"],
)
def test_what_changed_is_refused(place: Path, change: str) -> None:
    with pytest.raises(UserError, match="can't be read"):
        open_after(place, change)


def test_links_and_pipes_are_not_listed(place: Path) -> None:
    (place / "root" / "link.jsonl").symlink_to(place / "secret.jsonl")
    (place / "root" / "linked").symlink_to(place)
    os.mkfifo(place / "root" / "pipe.jsonl")
    assert [found.name for found in folder._walk(place / "root")] == ["deep/a.jsonl"]
