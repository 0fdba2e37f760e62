"""The forms that answers are exported in, and the files they are read from."""

from collections.abc import Callable
from typing import Any, NamedTuple

from annotations_app.domain.answer_files import argilla, doccano, label_studio, prodigy, tables
from annotations_app.domain.answer_files.decisions import Encoder, Reader
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.traces.formats.label_studio import matches
from datasets_app.domain.traces.formats.labels import matches_argilla, matches_doccano, matches_prodigy


class AnswerFormat(NamedTuple):
    ending: str
    encode: Encoder


class AnswerReader(NamedTuple):
    matches: Callable[[Any], bool]
    read: Reader


DEFAULT_FORMAT = "jsonl"
FORMATS = {
    DEFAULT_FORMAT: AnswerFormat(
        "jsonl", lambda decisions, notes: (encode_line(line) for one in decisions for line in one.lines)
    ),
    "csv": AnswerFormat("csv", tables.encode_csv),
    "parquet": AnswerFormat("parquet", tables.encode_parquet),
    "labelstudio": AnswerFormat("labelstudio.json", label_studio.encode),
    "argilla": AnswerFormat("argilla.jsonl", argilla.encode),
    "doccano": AnswerFormat("doccano.jsonl", doccano.encode),
    "prodigy": AnswerFormat("prodigy.jsonl", prodigy.encode),
}
TABLE = "table"
# A record may look like those of several tools: the first decides.
READERS = {
    "argilla": AnswerReader(matches_argilla, argilla.read),
    "prodigy": AnswerReader(matches_prodigy, prodigy.read),
    "labelstudio": AnswerReader(matches, label_studio.read),
    "doccano": AnswerReader(matches_doccano, doccano.read),
    TABLE: AnswerReader(lambda row: type(row) is dict, tables.read),
}
