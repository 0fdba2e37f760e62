"""docs/alignmenter.md names every command of the installed Alignmenter, and the files it reads and writes."""

import json
import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from tests.alignmenter_tool import run_code_with_alignmenter

pytestmark = pytest.mark.xdist_group("alignmenter")

DOCUMENT = Path(__file__).parents[2] / "docs/alignmenter.md"
# Every command with its options and arguments, and those of them that are files or folders.
LIST_COMMANDS = """
import inspect, json
from typer.models import ArgumentInfo
from alignmenter.cli import app

def walk(group, prefix):
    for info in group.registered_commands:
        found = {}
        for name, parameter in inspect.signature(info.callback).parameters.items():
            default = parameter.default
            names = [name.upper()] if isinstance(default, ArgumentInfo) else [
                one for one in default.param_decls or () if one.startswith("--")
            ] or ["--" + name.replace("_", "-")]
            found[names[0].split("/")[0]] = "Path" in str(parameter.annotation)
        yield prefix + (info.name or info.callback.__name__.replace("_", "-")), found
    for info in group.registered_groups:
        yield from walk(info.typer_instance, prefix + info.name + " ")

print(json.dumps(dict(walk(app, ""))))
"""


def read_table() -> dict[str, list[str]]:
    part = DOCUMENT.read_text(encoding="utf-8").split("<!-- commands of alignmenter -->")[1]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", part.split("<!-- end")[0], re.MULTILINE)
    return {command: [cell.strip() for cell in cells.split(" |")] for command, cells in rows}


def test_the_table_names_every_command_and_its_files(tmp_path: Path) -> None:
    installed = json.loads(run_code_with_alignmenter(tmp_path, LIST_COMMANDS).stdout)
    table = read_table()
    assert table.keys() == installed.keys()
    wrong = {}
    for command, (reads, writes, *_) in table.items():
        named = set(re.findall(r"`(--[\w-]+|[A-Z_]{4,})`", f"{reads} {writes}"))
        files = {name for name, is_file in installed[command].items() if is_file}
        if not files <= named <= installed[command].keys():
            wrong[command] = (files - named, named - installed[command].keys())
    assert not wrong


def test_the_commands_of_ours_that_it_names_exist() -> None:
    ours = {name for cells in read_table().values() for name in re.findall(r"`(\w+_\w+)[ `]", cells[-1])}
    assert len(ours) > 10
    assert ours <= get_commands().keys()
