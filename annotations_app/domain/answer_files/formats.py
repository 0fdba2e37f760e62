"""The forms that answers are exported in, and the files they are read from."""

from typing import NamedTuple

from annotations_app.domain.answer_files import argilla, doccano, label_studio, prodigy, tables
from annotations_app.domain.answer_files.decisions import Encoder, Reader
from datasets_app.domain.conversations.jsonl import encode_line


class AnswerFormat(NamedTuple):
    """``label`` is shown to people."""

    label: str
    ending: str
    encode: Encoder


DEFAULT_FORMAT = "jsonl"
FORMATS = {
    DEFAULT_FORMAT: AnswerFormat(
        "Annotation JSONL, as Alignmenter reads it",
        "jsonl",
        lambda decisions, notes: (encode_line(line) for one in decisions for line in one.lines),
    ),
    "csv": AnswerFormat("CSV", "csv", tables.encode_csv),
    "parquet": AnswerFormat("Parquet", "parquet", tables.encode_parquet),
    "labelstudio": AnswerFormat("Label Studio", "labelstudio.json", label_studio.encode),
    "argilla": AnswerFormat("Argilla", "argilla.jsonl", argilla.encode),
    "doccano": AnswerFormat("doccano", "doccano.jsonl", doccano.encode),
    "prodigy": AnswerFormat("Prodigy", "prodigy.jsonl", prodigy.encode),
}
TABLE = "table"
# A record may look like those of several tools: the first decides.
READERS: dict[str, Reader] = {
    "argilla": argilla.read,
    "prodigy": prodigy.read,
    "labelstudio": label_studio.read,
    "doccano": doccano.read,
    TABLE: tables.read,
}
