"""The parts of docs/ that say what the code says: ``python -m scripts.documents [--check]``.

A part stands between ``<!-- NAME -->`` and ``<!-- end of NAME -->``. With ``--check`` nothing is written, and
the exit code is 1 if a part is out of date.
"""

import argparse
import ast
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from scripts.floors import FLOORS

PROJECT = Path(__file__).resolve().parent.parent
DOCS = PROJECT / "docs"
APPS = ("datasets_app", "annotations_app", "alignmenter_site")
# Folders that frameworks prescribe.
_PRESCRIBED = {"migrations", "management", "commands", "static", "templatetags", "demo"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, and name what is out of date")
    options = parser.parse_args()
    _set_up_django()
    outdated = [item for item in update_documents() if item[0].read_text(encoding="utf-8") != item[1]]
    if not options.check:
        for path, text in outdated:
            path.write_text(text, encoding="utf-8")
    elif outdated:
        names = ", ".join(str(path.relative_to(PROJECT)) for path, _ in outdated)
        sys.exit(f"Out of date: {names}. Run `make docs`.")


def update_documents() -> Iterator[tuple[Path, str]]:
    """Each document that has such parts, as it would be with all of them up to date."""
    for path, parts in _parts().items():
        text = path.read_text(encoding="utf-8")
        for name, write in parts.items():
            text = replace_part(text, name, write())
        yield path, text


def replace_part(text: str, name: str, content: str) -> str:
    """Raises ValueError if there is no such part."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not (found_begin and found_end):
        raise ValueError(f"the document has no part {name!r}")
    return f"{before}{begin}\n\n{content.strip()}\n\n{end}{after}"


def _parts() -> dict[Path, dict[str, Callable[[], str]]]:
    from alignmenter_site.api.reference import write_markdown

    return {
        DOCS / "api.md": {"reference": write_markdown},
        DOCS / "architecture.md": {
            **{f"floors of {app}": partial(write_floors, app) for app in FLOORS},
            "packages": write_packages,
        },
        DOCS / "commands.md": {"commands": write_commands},
    }


def write_floors(app: str) -> str:
    """From the highest to the ground."""
    lines = (f"{'  '.join(floor.packages):<44} {floor.purpose}".rstrip() for floor in reversed(FLOORS[app]))
    return "\n".join(["```", *lines, "```"])


def write_packages() -> str:
    """What each package is responsible for: the first line of its docstring."""
    lines = ["| Package | Responsible for |", "| --- | --- |"]
    for app in APPS:
        for folder in list_packages(PROJECT / app):
            name = str(folder.relative_to(PROJECT))
            lines.append(f"| `{name}` | {read_purpose(folder)} |")
    return "\n".join(lines)


def list_packages(folder: Path) -> list[Path]:
    """The packages below an app that we named, at any depth."""
    found = (path.parent for path in sorted(folder.rglob("__init__.py")))
    return [path for path in found if path != folder and not _PRESCRIBED & set(path.parts)]


def read_purpose(folder: Path) -> str:
    """The first line of a package's docstring without its full stop. Raises ValueError if it has none."""
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    if not text:
        raise ValueError(f"{folder.relative_to(PROJECT)}/__init__.py doesn't say what the package is for")
    return " ".join(text.partition("\n\n")[0].split()).removesuffix(".")


def write_commands() -> str:
    """Each command: the first line of its help, then its arguments."""
    from django.core.management import get_commands, load_command_class

    lines: list[str] = []
    for name, app in sorted(get_commands().items()):
        if app in APPS:
            parser = load_command_class(app, name).create_parser("manage.py", name)
            first_line = (parser.description or "").strip().partition("\n")[0]
            lines += [f"### {name}", "", first_line, "", *_write_arguments(parser), ""]
    return "\n".join(lines)


def _write_arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    from django.core.management import BaseCommand

    common = {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}
    for action in parser._actions:
        if action.dest not in common and action.help != argparse.SUPPRESS:
            value = "" if action.nargs == 0 or not action.option_strings else f" {_name_value(action)}"
            names = ", ".join(f"`{name}{value}`" for name in action.option_strings) or f"`{action.dest}`"
            text = (action.help or "") % {**vars(action), "prog": parser.prog}
            yield f"- {names}: {' '.join(text.split())}" if text else f"- {names}"


def _name_value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest.upper())


def _set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
    django.setup()


if __name__ == "__main__":
    main()
