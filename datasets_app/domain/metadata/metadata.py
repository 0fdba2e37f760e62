"""Dataset metadata, ``<name>.meta.yaml``: what must be known of a file that its lines don't say."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

from datasets_app.domain.metadata.yaml_text import FieldError, YamlError, check_events

MAX_CHARACTERS = 1 << 20
DATA_EXTENSIONS = (".jsonl", ".ndjson", ".json")


class MetadataError(FieldError):
    """What is wrong with a metadata file. The text found is described and not repeated."""


@dataclass(frozen=True)
class DatasetMetadata:
    """The fields of ``.meta.yaml``. Dates, versions and words are text, as written.

    ``date_range`` is text, a list of texts or a mapping, as given. ``extra`` holds unknown keys
    with plain values (text, numbers, true/false, null, lists, mappings with text keys).
    """

    name: str | None = None
    version: str | None = None
    created: str | None = None
    source: str | None = None
    license: str | None = None
    attribution: str | None = None
    modifications: list[str] = field(default_factory=list)
    date_range: str | list[str] | dict[str, str] | None = None
    generator: str | None = None
    seed: int | None = None
    model: str | None = None
    temperature: float | None = None
    total_sessions: int | None = None
    total_turns: int | None = None
    safety_traps: int | None = None
    brand_traps: int | None = None
    anonymization: list[str] = field(default_factory=list)
    sha256: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)


METADATA_FIELDS = frozenset(item.name for item in fields(DatasetMetadata))


def get_stated_split(metadata: DatasetMetadata) -> str | None:
    """Of which split a file says that it is: as split_dataset writes it, or an export of one split."""
    split = metadata.extra.get("split")
    name = split.get("name") if isinstance(split, dict) else split
    if isinstance(name, str) and name:
        return name
    exported = (said.rpartition("of split ")[2] for said in metadata.modifications if "of split " in said)
    return next(exported, None)


class _PlainLoader(yaml.CSafeLoader):
    """YAML 1.2's idea of plain values: a date is text, and so are ``no`` and ``12:30``."""

    yaml_implicit_resolvers: dict[Any, Any] = {}


class _PlainDumper(yaml.CSafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _add_resolver(tag: str, pattern: str, first: str) -> None:
    # The dumper must know them too: text that looks like one of these is to be quoted.
    for side in (_PlainLoader, _PlainDumper):
        side.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), list(first))


_add_resolver("null", r"(?:~|null|Null|NULL|)\Z", "~nN")
_PlainLoader.yaml_implicit_resolvers[""] = list(_PlainLoader.yaml_implicit_resolvers["~"])
_add_resolver("bool", r"(?:true|True|TRUE|false|False|FALSE)\Z", "tTfF")
_add_resolver("int", r"[-+]?(?:0|[1-9][0-9]{0,18})\Z", "-+0123456789")
_add_resolver("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z", "-+.0123456789")


# --- reading ---------------------------------------------------------------------------------


def parse_metadata(text: str) -> DatasetMetadata:
    """The text of a ``.meta.yaml`` → metadata. Raises :class:`MetadataError`; nothing else."""
    if len(text) > MAX_CHARACTERS:
        raise MetadataError("", f"at most {MAX_CHARACTERS:,} characters", f"{len(text):,}")
    try:
        check_events(text, allow_aliases=False)
        return _build_metadata(yaml.compose(text, _PlainLoader))
    except YamlError as error:
        raise MetadataError("", message=str(error)) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise MetadataError("", "valid YAML", f"a mistake{where}") from None
    except (yaml.YAMLError, UnicodeError, RecursionError):
        raise MetadataError("", "valid YAML", "characters that can't stand in it") from None


def read_metadata(path: Path) -> DatasetMetadata | None:
    """The metadata file at ``path``, or None where there is none. Raises :class:`MetadataError`."""
    try:
        with path.open("rb") as file:
            raw = file.read(4 * MAX_CHARACTERS + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise MetadataError("", "a readable file", error.strerror or "none") from None
    try:
        return parse_metadata(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise MetadataError("", "UTF-8", "another encoding") from None


def metadata_path(data_path: Path) -> Path:
    """Where the metadata of a data file stands: ``a.jsonl`` and ``a.jsonl.gz`` → ``a.meta.yaml``."""
    name = data_path.name.removesuffix(".gz")
    for ending in DATA_EXTENSIONS:
        if name.endswith(ending) and name != ending:
            name = name.removesuffix(ending)
            break
    return data_path.with_name(f"{name}.meta.yaml")


def _build_metadata(root: Any) -> DatasetMetadata:
    if root is None:
        return DatasetMetadata()
    if not isinstance(root, yaml.MappingNode):
        raise MetadataError("", "a mapping of fields", _describe_node(root))
    known: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, node in _read_entries(root, ""):
        if key in known or key in extra:
            raise MetadataError(key, "each field once", "the field twice")
        read = _READERS.get(key)
        if read is not None:
            known[key] = read(key, node)
        else:
            extra[key] = _read_plain_value(key, node)
    return DatasetMetadata(**known, extra=extra)


def _read_entries(node: Any, within: str) -> list[tuple[str, Any]]:
    entries = []
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise MetadataError(within, "keys that are words", _describe_node(key))
        entries.append((_check_storable(within, key.value), value))
    return entries


def _read_text(name: str, node: Any) -> str | None:
    if not isinstance(node, yaml.ScalarNode):
        raise MetadataError(name, "text", _describe_node(node))
    # The characters as written: version 1.10 is not the number 1.1.
    return None if _is_null(node) else _check_storable(name, node.value)


def _read_texts(name: str, node: Any) -> list[str]:
    if isinstance(node, yaml.ScalarNode):
        text = _read_text(name, node)
        return [] if text is None else [text]
    if not isinstance(node, yaml.SequenceNode):
        raise MetadataError(name, "a list of texts", _describe_node(node))
    return [_read_text(name, item) or "" for item in node.value]


def _read_dates(name: str, node: Any) -> str | list[str] | dict[str, str] | None:
    if isinstance(node, yaml.MappingNode):
        return {key: _read_text(f"{name}.{key}", value) or "" for key, value in _read_entries(node, name)}
    return _read_texts(name, node) if isinstance(node, yaml.SequenceNode) else _read_text(name, node)


def _read_integer(name: str, node: Any) -> int | None:
    value = _read_plain_value(name, node)
    if value is None or type(value) is int:
        return value
    raise MetadataError(name, "a whole number", _describe_node(node))


def _read_count(name: str, node: Any) -> int | None:
    value = _read_integer(name, node)
    if value is not None and value < 0:
        raise MetadataError(name, "a number from 0", "a negative one")
    return value


def _read_number(name: str, node: Any) -> float | None:
    value = _read_plain_value(name, node)
    if value is None or type(value) in (int, float):
        return value if value is None else float(value)
    raise MetadataError(name, "a number", _describe_node(node))


def _read_plain_value(name: str, node: Any) -> Any:
    """A node as a value that JSON has as well."""
    if isinstance(node, yaml.MappingNode):
        return {key: _read_plain_value(f"{name}.{key}", value) for key, value in _read_entries(node, name)}
    if isinstance(node, yaml.SequenceNode):
        return [_read_plain_value(name, item) for item in node.value]
    kind = node.tag.removeprefix("tag:yaml.org,2002:")
    if kind == "str":
        return _check_storable(name, node.value)
    if kind not in _SCALARS:
        raise MetadataError(name, "a plain value", "a YAML tag")
    try:
        value = _SCALARS[kind](node.value)
    except (ValueError, KeyError):
        raise MetadataError(name, f"a value of kind {kind}", "something else") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise MetadataError(name, "a finite number", "infinity or no number")
    return value


def _is_null(node: Any) -> bool:
    return bool(node.tag == "tag:yaml.org,2002:null")


def _check_storable(name: str, text: str) -> str:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise MetadataError(name, "text that can be stored", "a NUL or half a character")
    return text


def _describe_node(node: Any) -> str:
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    kinds = {"int": "a whole number", "float": "a number", "bool": "true or false", "null": "nothing"}
    return kinds.get(node.tag.removeprefix("tag:yaml.org,2002:"), "text")


_SCALARS: dict[str, Callable[[str], Any]] = {
    "null": lambda text: None,
    "bool": lambda text: {"true": True, "false": False}[text.lower()],
    "int": int,
    "float": float,
}
_Reader = Callable[[str, Any], Any]
_READERS: dict[str, _Reader] = {
    **dict.fromkeys(
        ("name", "version", "created", "source", "license", "attribution", "generator", "model", "sha256"),
        _read_text,
    ),
    **dict.fromkeys(("total_sessions", "total_turns", "safety_traps", "brand_traps"), _read_count),
    "modifications": _read_texts,
    "anonymization": _read_texts,
    "date_range": _read_dates,
    "seed": _read_integer,
    "temperature": _read_number,
}


# --- writing ---------------------------------------------------------------------------------


def render_metadata(metadata: DatasetMetadata) -> str:
    """``meta`` as YAML that :func:`parse_metadata` reads back: fields in order, empty ones left out."""
    value = {
        item.name: getattr(metadata, item.name)
        for item in fields(metadata)
        if item.name != "extra" and getattr(metadata, item.name) not in (None, [])
    }
    value.update(metadata.extra)
    text = yaml.dump(
        value, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=100
    )
    return str(text)
