"""A persona's YAML as the fields of a form, and changes of some of them that leave the rest as written."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from datasets_app.domain.metadata.yaml_text import YamlError, dump_yaml, load_yaml

# Where each field is in the YAML. Those that hold one text; the others hold lists.
PATHS = {
    "id": ("id",),
    "display_name": ("display_name",),
    "description": ("description",),
    "brand": ("brand",),
    "products": ("products",),
    "competitors": ("competitors",),
    "exemplars": ("exemplars",),
    "preferred": ("lexicon", "preferred"),
    "avoid": ("lexicon", "avoid"),
    "disallowed_topics": ("safety_rules", "disallowed_topics"),
}
TEXTS = ("id", "display_name", "description", "brand")
# A list of longer entries has a line for each.
_MAX_INLINE_CHARACTERS = 24


def read_fields(text: str) -> dict[str, str]:
    """By name: a text, or the entries of a list as lines. Without what a field can't show, such as a mapping.

    Raises :class:`YamlError`.
    """
    values = _load(text)
    found = {name: _find(values, path) for name, path in PATHS.items()}
    return {
        name: "\n".join(map(_to_line, entries))
        for name, value in found.items()
        if all(map(_is_line, entries := _to_list(value))) and (name not in TEXTS or len(entries) < 2)
    }


def change_fields(text: str, changes: Mapping[str, str]) -> str:
    """The YAML with these fields changed, and all else as it was, comments as well, where that is possible.

    Raises :class:`YamlError`.
    """
    for name, entered in changes.items():
        values, path = _load(text), PATHS[name]
        lines = [line.strip() for line in entered.splitlines() if line.strip()]
        value = " ".join(lines) if name in TEXTS else lines
        if not value and not _find(values, path):
            continue
        _set(values, path, value)
        changed = _replace(text, values, path)
        text = changed if _reads_as(changed, values) else dump_yaml(values)
    return text


def _load(text: str) -> dict[Any, Any]:
    values = load_yaml(text, allow_aliases=True)
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise YamlError("not a YAML mapping")
    return values


def _reads_as(text: str, values: Any) -> bool:
    try:
        return bool(load_yaml(text, allow_aliases=True) == values)
    except YamlError:
        return False


def _find(values: Any, path: Sequence[str]) -> Any:
    for key in path:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _set(values: dict[Any, Any], path: Sequence[str], value: Any) -> None:
    *parents, last = path
    for key in parents:
        if not isinstance(values.get(key), dict):
            values[key] = {}
        values = values[key]
    values[last] = value


def _to_list(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _is_line(value: Any) -> bool:
    return isinstance(value, str | int | float) and (not isinstance(value, str) or "\n" not in value.strip())


def _to_line(value: Any) -> str:
    return str(value).strip()


def _replace(text: str, values: dict[Any, Any], path: Sequence[str]) -> str:
    """Write the innermost entry of the path that has lines of its own."""
    node = yaml.compose(text, yaml.CSafeLoader)
    entry: tuple[int, int, int] | None = None
    for key in path:
        if not isinstance(node, yaml.MappingNode) or node.flow_style:
            break
        found = next(((name, value) for name, value in node.value if name.value == key), None)
        if found is None:
            break
        name, node = found
        entry = (name.start_mark.index, node.end_mark.index, name.start_mark.column)
        values, written = values[key], {key: values[key]}
    if entry is None:
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return before + _dump({path[0]: values[path[0]]})
    start, end, indent = entry
    lines = text[start:end].splitlines(keepends=True)
    while len(lines) > 1 and lines[-1].lstrip()[:1] in ("", "#"):
        end -= len(lines.pop())
    new = _dump(written).replace("\n", "\n" + indent * " ").rstrip(" ")
    return text[:start] + (new if text[start:end].endswith("\n") else new.rstrip("\n")) + text[end:]


def _dump(entry: dict[str, Any]) -> str:
    (value,) = entry.values()
    if isinstance(value, list) and all(len(str(each)) <= _MAX_INLINE_CHARACTERS for each in value):
        style: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "default_flow_style": None}
        return str(yaml.safe_dump(entry, width=10_000, **style))
    return dump_yaml(entry)
