"""Writes the lines that an import excluded, unchanged, with the reasons: to be fixed and imported again."""

from collections.abc import Iterator
from pathlib import Path

from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.conversations.survey import MAX_PROBLEMS_LISTED, Problems
from datasets_app.domain.wording import format_count


def write_quarantine(file: ConversationFile, problems: Problems, directory: Path) -> dict[str, object]:
    """Write ``<name>.quarantine.jsonl`` (the lines, byte for byte) and ``….reasons.txt``.

    A session with an invalid line is written in full. Returns the file names and the line count.
    """
    stem = data_stem(Path(file.name).name)
    lines, reasons = _find_free_paths(directory, stem)
    kept = 0
    with lines.open("xb") as out:
        for item in _read_quarantined_lines(file, problems):
            out.write(item + b"\n")
            kept += 1
    with reasons.open("x", encoding="utf-8") as out:
        out.write(f"{format_count(kept, 'line')} of {file.name} not imported.\n")
        out.write(f"They are in {lines.name}: fix them there, then import that file.\n\n")
        for finding in problems.listed:
            out.write(f"{file.name}:{finding.line}: {finding.code} {finding.message}\n")
        if problems.total > MAX_PROBLEMS_LISTED:
            out.write(f"… and {problems.total - MAX_PROBLEMS_LISTED:,} more\n")
    return {"lines": kept, "files": [lines.name, reasons.name]}


def _read_quarantined_lines(file: ConversationFile, problems: Problems) -> Iterator[bytes]:
    for number, raw, session_id in file.read_raw_lines():
        if number in problems.lines or session_id in problems.sessions:
            yield raw


def _find_free_paths(directory: Path, stem: str) -> tuple[Path, Path]:
    """The first pair of unused names, so that no existing file is overwritten."""
    for number in range(1, 10_000):
        suffix = "" if number == 1 else f"-{number}"
        lines = directory / f"{stem}.quarantine{suffix}.jsonl"
        reasons = directory / f"{stem}.quarantine{suffix}.reasons.txt"
        if not lines.exists() and not reasons.exists():
            return lines, reasons
    raise FileExistsError(f"{directory} is full of quarantine files of {stem}")
