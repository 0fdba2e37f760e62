"""Makers of test data: files as people have them, with only what a test is about spelt out."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.jobs.ending import describe_result
from datasets_app.jobs.registry import get_operation
from datasets_app.jobs.running import RunningJob
from datasets_app.models import Dataset, JobRun


def make_turn(
    session_id: str = "s1", turn_index: int = 1, role: str | None = None, **fields: Any
) -> dict[str, Any]:
    role = role or ("user" if turn_index % 2 else "assistant")
    text = fields.pop("text", f"What {role} says as number {turn_index} of {session_id}.")
    return {"session_id": session_id, "turn_index": turn_index, "role": role, "text": text, **fields}


def make_session(session_id: str = "s1", turns: int = 2, **fields: Any) -> list[dict[str, Any]]:
    return [make_turn(session_id, index, **fields) for index in range(1, turns + 1)]


def make_sessions(count: int, turns: int = 2, **fields: Any) -> list[dict[str, Any]]:
    return [line for number in range(1, count + 1) for line in make_session(f"s{number}", turns, **fields)]


def encode_jsonl(lines: Iterable[Any]) -> bytes:
    """Objects as lines; bytes are taken as they are."""
    return b"".join(
        (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines
    )


def write_jsonl(path: Path, lines: Iterable[Any]) -> Path:
    path.write_bytes(encode_jsonl(lines))
    return path


def run_task(job: JobRun) -> dict[str, Any]:
    """What the row of a job keeps of its task, performed in this process and without a claim."""
    operation = get_operation(job.operation)
    assert operation.task is not None
    return describe_result(operation.task(RunningJob(job, operation.parameters)))


def import_file(path: Path, name: str = "support", **import_arguments: Any) -> dict[str, Any]:
    """Import a file by the operation itself; options by their names."""
    options = {
        key: import_arguments.pop(key) for key in list(import_arguments) if key in ImportOptions._fields
    }
    return import_dataset(
        [ImportSource(path, path.name)], name=name, options=ImportOptions(**options), **import_arguments
    )


def make_dataset(path: Path, lines: Sequence[Any], name: str = "support", **import_arguments: Any) -> Dataset:
    """Open to all roles, also production data, which starts restricted."""
    import_file(write_jsonl(path / f"{name}.jsonl", lines), name, **import_arguments)
    Dataset.objects.filter(name=name).update(restricted=False)
    return Dataset.objects.get(name=name)
