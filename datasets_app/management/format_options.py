"""Options of commands that read files of other tools."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Any

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import check_columns, parse_columns
from datasets_app.domain.traces.label_rules import LabelRules, read_label_rules
from datasets_app.management.files import read_text
from datasets_app.management.terminal import command_error


def add_reading_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--assistant",
        default="",
        metavar="NAME",
        help="who is the assistant in a messenger's export or a table; default: all but the first sender",
    )
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        dest="mapping",
        metavar="FIELD=COLUMN",
        help="a table's column for session_id, turn_index, role, text, timestamp or tags; again and again. "
        "Without a session column: session_id=one-conversation or each-row. For dates like 03/04/2026: "
        "dates=day-first or month-first, in every format. What a sender or a role is: 'sender:NAME=user', "
        "=assistant or =leave-out. repeated=drop leaves out exact repetitions of a message",
    )


def add_mapping_options(parser: ArgumentParser, *, of_files: bool, saves: bool = True) -> None:
    kind = "FILE" if of_files else "NAME|FILE"
    parser.add_argument(
        "--mapping",
        metavar=kind,
        default="",
        dest="saved_mapping",
        help="columns of a table from a JSON file" + ("" if of_files else ", or saved by name"),
    )
    if not saves:
        return
    parser.add_argument(
        "--save-mapping",
        metavar="FILE" if of_files else "NAME",
        default="",
        help="save the columns that were used, to use them again with --mapping",
    )


def add_label_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--label-map",
        default="",
        metavar="VALUE=LABEL,…",
        help="what labels of other tools mean: good=1,bad=0 (1 or on-brand, 0 or off-brand); default: yes, "
        "no, 1, 0, thumbs of a question about the brand, and on-brand, off-brand of any question",
    )
    parser.add_argument(
        "--question",
        default="",
        metavar="NAME",
        help="the only question of a label tool whose answers say on-brand or off-brand",
    )


def parse_label_rules(options: dict[str, Any]) -> LabelRules:
    try:
        return read_label_rules(options["question"], options["label_map"])
    except UnreadableFile as error:
        raise command_error(f"--label-map: {error}; got {options['label_map']!r}.") from None


def parse_mapping(
    options: dict[str, Any], load: Callable[[str], dict[str, str]] | None = None
) -> dict[str, str]:
    """The columns of --mapping, a file or a name for ``load``, with those of --map in their place."""
    chosen: Any = {}
    name = options["saved_mapping"]
    try:
        if name and (load is None or Path(name).is_file()):
            chosen = json.loads(read_text(name))
            check_columns(chosen)
        elif name and load:
            chosen = load(name)
        return {**chosen, **parse_columns(options["mapping"])}
    except ValueError:
        raise command_error(f"--mapping: {name} is no JSON.") from None
    except UnreadableFile as error:
        raise command_error(f"--map, --mapping: {error}.") from None
