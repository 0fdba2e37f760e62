"""Turns as a pandas DataFrame or a Hugging Face dataset, if those are installed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from alignmenter_datasets.errors import ClientError

_COLUMNS = ("session_id", "turn_index", "role", "text", "tags", "persona_id", "timestamp", "metadata")


def read_frame(source: str | Path | Iterable[dict[str, Any]]) -> Any:
    """A DataFrame of one row for each turn. ``source``: turns, as of ``Client.turns``, or a JSONL file."""
    try:
        import pandas
    except ImportError:
        raise ClientError("pandas is not installed: pip install 'alignmenter-datasets[pandas]'") from None
    if isinstance(source, str | Path):
        return pandas.read_json(source, lines=True, dtype=False, convert_dates=False)
    frame = pandas.DataFrame.from_records(list(source))
    known = [name for name in _COLUMNS if name in frame.columns]
    return frame[[*known, *(name for name in frame.columns if name not in known)]]


def read_dataset(path: str | Path) -> Any:
    """A ``datasets.Dataset`` of a pulled file, read from the disk and not into memory. Best of a Parquet file
    (``pull(…, format="parquet")``): metadata of turns may differ from line to line in JSONL."""
    try:
        import datasets
    except ImportError:
        raise ClientError("datasets is not installed: pip install 'alignmenter-datasets[datasets]'") from None
    kind = "parquet" if Path(path).suffix == ".parquet" else "json"
    return datasets.load_dataset(kind, data_files=str(path), split="train")
