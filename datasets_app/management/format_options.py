"""Options of commands that read files of other tools."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from datasets_app.command_line.conversion import read_mapping
from datasets_app.command_line.options import Option, option
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.label_rules import LabelRules, read_label_rules
from datasets_app.management.terminal import command_error


def mapping_options(*, of_files: bool, saves: bool = True) -> Sequence[Option]:
    mapping = option(
        f"--mapping {'FILE' if of_files else 'NAME|FILE'}",
        "columns of a table from a JSON file" + ("" if of_files else ", or saved by name"),
        default="",
        dest="saved_mapping",
    )
    save = option(
        f"--save-mapping {'FILE' if of_files else 'NAME'}",
        "save the columns that were used, and what each sender is, with the senders' names: treat it "
        "like the data. --mapping uses it again",
        default="",
    )
    return (mapping, save) if saves else (mapping,)


LABEL_OPTIONS = (
    option(
        "--label-map VALUE=LABEL,…",
        "what labels of other tools mean: good=1,bad=0 (1 or on-brand, 0 or off-brand); default: yes, "
        "no, 1, 0, thumbs of a question about the brand, and on-brand, off-brand of any question",
        default="",
    ),
    option(
        "--question NAME",
        "the only question of a label tool whose answers say on-brand or off-brand",
        default="",
    ),
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
    name = options["saved_mapping"]
    if not name or load is None or Path(name).is_file():
        return read_mapping(options["mapping"], name)
    return {**load(name), **read_mapping(options["mapping"])}
