"""YAML from people's files, read without being taken in by it; and YAML that reads back the same."""

import re
from typing import Any

import yaml

MAX_CHARACTERS = 16 << 20
MAX_NESTING = 100
# Reading a million takes seconds and hundreds of megabytes.
MAX_VALUES = 1_000_000
# Longer numbers take quadratic time (1:1:1:… is one, to the base 60), and nobody writes them.
MAX_NUMBER_CHARACTERS = 400
# Written plainly, these would be folded away as line ends, or lost.
_NEEDS_ESCAPES = re.compile("[\r\x7f-\xa0\u2028\u2029\ufeff]")


class YamlError(ValueError):
    """The text isn't YAML that is read here; the message says where and why."""


class FieldError(ValueError):
    """What a file has in ``field`` (empty: as a whole) isn't what was ``expected``. A ``message`` of the
    reader of YAML says both by itself."""

    def __init__(self, field: str, expected: str = "", found: str = "", message: str = "") -> None:
        place = f"{field}: " if field else ""
        super().__init__(message or f"{place}expected {expected}, found {found}")
        self.field, self.expected, self.found = field, expected, found


class _Loader(yaml.CSafeLoader):
    """Refuses a key that stands twice in a mapping: YAML would keep the last and lose the others."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if (key.tag, key.value) in seen:
                    raise yaml.constructor.ConstructorError(
                        None, None, "a key stands twice in one mapping", key.start_mark
                    )
                seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        if len(node.value) > MAX_NUMBER_CHARACTERS:
            raise yaml.constructor.ConstructorError(
                None, None, f"a number has more than {MAX_NUMBER_CHARACTERS} characters", node.start_mark
            )
        return super().construct_yaml_int(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def load_yaml(text: str, *, allow_aliases: bool = False) -> Any:
    """What ``yaml.safe_load`` gives, by the C parser.

    That parser follows nesting on the machine's stack, a few aliases can unfold to gigabytes, and each value
    takes hundreds of bytes; so all are counted first, unfolded, from the flat stream of events. Raises
    :class:`YamlError`.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlError(f"longer than {MAX_CHARACTERS:,} characters")
    try:
        check_events(text, allow_aliases)
        return yaml.load(text, _Loader)  # a subclass of the safe loader # nosec B506
    except yaml.YAMLError as error:
        raise YamlError(_describe_error(error)) from None
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(error, YamlError):
            raise
        # A date such as 2025-02-30 passes the grammar and fails only when it is made.
        raise YamlError(f"a value can't be read: {error}") from None


def check_events(text: str, allow_aliases: bool) -> None:
    """Count values and levels as if each alias were written out. Raises :class:`YamlError`."""
    values, anchors = 0, dict[str | None, tuple[int, int]]()
    # Of each open collection: its anchor, the values before it, and the levels in it.
    path: list[tuple[str | None, int, int]] = [(None, 0, 0)]
    for event in yaml.parse(text, yaml.CSafeLoader):
        levels = 0
        if isinstance(event, yaml.CollectionStartEvent):
            path.append((event.anchor, values, 0))
            values += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before, inner = path.pop()
            levels = inner + 1
            anchors[anchor] = values - before, levels
        elif isinstance(event, yaml.AliasEvent):
            if not allow_aliases:
                raise YamlError(f"aliases (*{event.anchor}) are not read here; write the value out")
            if event.anchor not in anchors:
                raise YamlError(f"*{event.anchor} isn't a value that ends before it")
            unfolded, levels = anchors[event.anchor]
            values += unfolded
        elif isinstance(event, yaml.ScalarEvent):
            anchors[event.anchor] = 1, 0
            values += 1
        if values > MAX_VALUES:
            raise YamlError(f"more than {MAX_VALUES:,} values")
        if len(path) - 1 + levels > MAX_NESTING:
            raise YamlError(f"nested deeper than {MAX_NESTING} levels")
        anchor, before, inner = path[-1]
        path[-1] = anchor, before, max(inner, levels)


def _describe_error(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: not valid YAML: {error.problem}"
    if isinstance(error, yaml.reader.ReaderError):
        return f"character {error.position + 1} is not allowed in YAML"
    return "not valid YAML"


def dump_yaml(value: Any) -> str:
    """``value`` as YAML that :func:`load_yaml` reads back to the same characters."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """Repeats what stands twice instead of referring to it, as aliases are not read here."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = '"' if _NEEDS_ESCAPES.search(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_string)
