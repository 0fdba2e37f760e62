"""No command passes on what a terminal would obey, whatever files and names contain."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands, load_command_class

from datasets_app.command_line.streams import escape_terminal
from datasets_app.command_line.validate import main
from datasets_app.management.base import BaseCommand
from tests.conftest import RunManage

EVIL = "\x1b]0;owned\x07\x1b[2J\r\x9b1m\u202etxt.exe\u2066\x7f"
OUR_PACKAGES = {"datasets_app", "annotations_app"}
# They print nothing that comes from a file.
SERVERS = {"run", "worker", "scheduler", "migrate"}


def unsafe(text: str) -> set[str]:
    return {char for char in text if escape_terminal(char) != char}


def test_what_is_shown_is_the_character_by_its_number() -> None:
    assert escape_terminal("a\tä\n\x1b[2J\u202e\x9b") == "a\tä\n\\u001b[2J\\u202e\\u009b"
    assert json.loads(escape_terminal(json.dumps(EVIL, ensure_ascii=False))) == EVIL


def test_every_command_writes_through_the_escaping_streams() -> None:
    own = {name for name, app in get_commands().items() if app in OUR_PACKAGES}
    assert len(own) > 25
    for name in own - SERVERS:
        command = load_command_class(get_commands()[name], name)
        assert isinstance(command, BaseCommand), name
        for stream in (command.stdout, command.stderr):
            assert type(stream).__name__ == "TerminalOutput", name


@pytest.fixture
def evil_file(tmp_path: Path) -> Path:
    turn = {
        "session_id": EVIL,
        "turn_index": 2,
        "role": EVIL,
        "text": EVIL,
        "persona_id": EVIL,
        "tags": [EVIL],
    }
    path = tmp_path / f"evil{EVIL.replace('/', '')}.jsonl"
    path.write_text(json.dumps(turn) + "\n" + json.dumps({**turn, "role": "user"}) + f"\n{EVIL}\n")
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate_dataset", "{file}"),
        ("validate_dataset", "--format", "json", "{file}"),
        ("import_dataset", "{file}", "--name", "support"),
        ("import_persona", "{file}"),
        ("import_annotations", "{file}", "--dataset", EVIL),
        ("sanitize_dataset", "--input", "{file}", "--out", "out.jsonl"),
        ("split_dataset", "--input", "{file}", "--out-dir", "out"),
        ("sample_dataset", "{file}", "--size", "1", "--out", "out.jsonl"),
        ("extract_candidates", EVIL),
        ("agreement", "{file}"),
        ("hold_dataset", EVIL, "--reason", EVIL),
        ("who_can_see", EVIL),
        ("export_dataset", EVIL, "--out", "x.jsonl"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_no_output_contains_a_control_character(
    db: None, manage: RunManage, evil_file: Path, arguments: tuple[str, ...]
) -> None:
    done = manage(*(argument.replace("{file}", str(evil_file)) for argument in arguments))
    assert done.returncode
    assert unsafe(done.stdout + done.stderr) == set()


def test_the_program_without_django_escapes_too(evil_file: Path, capsys: Any) -> None:
    assert main([str(evil_file), "--no-names"])
    written = capsys.readouterr()
    assert "\\u001b" in written.out
    assert unsafe(written.out + written.err) == set()
