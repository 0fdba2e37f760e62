"""Options of commands that read files of other tools."""

from argparse import ArgumentParser
from typing import Any

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.label_rules import LabelRules, read_label_rules
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
        help="a table's column for session_id, turn_index, role, text or timestamp; again and again",
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


def parse_mapping(given: list[str]) -> dict[str, str]:
    mapping = {}
    for item in given:
        field, equals, column = item.partition("=")
        if not equals or not column:
            raise command_error(f"--map takes FIELD=COLUMN, for example --map text=Body; got {item!r}.")
        mapping[field.strip()] = column
    return mapping
