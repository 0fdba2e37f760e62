"""Options of commands that read files of other tools."""

from argparse import ArgumentParser

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


def parse_mapping(given: list[str]) -> dict[str, str]:
    mapping = {}
    for item in given:
        field, equals, column = item.partition("=")
        if not equals or not column:
            raise command_error(f"--map takes FIELD=COLUMN, for example --map text=Body; got {item!r}.")
        mapping[field.strip()] = column
    return mapping
