"""Options of commands, declared as ``--help`` shows them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple


class Option(NamedTuple):
    name: str
    settings: dict[str, Any]


def option(name: str, help: str | None = None, **settings: Any) -> Option:
    """``"--seed N"`` takes a value, ``"--dry-run"`` takes none, and ``"files FILE"`` has no dashes.

    A number as ``default`` says the type of the value; ``repeatable`` collects values in a list. All other
    settings are those of ``ArgumentParser.add_argument``.
    """
    flag, _, metavar = name.partition(" ")
    if metavar:
        settings["metavar"] = metavar
    if settings.pop("repeatable", False):
        settings |= {"action": "append", "default": []}
    elif flag.startswith("-") and not metavar and settings.keys().isdisjoint(("choices", "action")):
        settings["action"] = "store_true"
    elif isinstance(settings.get("default"), int | float):
        settings.setdefault("type", type(settings["default"]))
    return Option(flag, settings | {"help": help})


class OneOf(NamedTuple):
    options: Sequence[Option]
    required: bool


def one_of(*options: Option, required: bool = False) -> OneOf:
    """Options of which a call takes only one; with ``required`` it takes no less."""
    return OneOf(options, required)


def add_options(parser: Any, options: Iterable[Option | OneOf]) -> None:
    """To a parser or a group of its options."""
    for one in options:
        if isinstance(one, OneOf):
            add_options(parser.add_mutually_exclusive_group(required=one.required), one.options)
        else:
            parser.add_argument(one.name, **one.settings)
