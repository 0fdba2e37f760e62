"""Writes the lines that an import excluded, unchanged, with the reasons: to be fixed and imported again."""

from collections.abc import Iterator
from pathlib import Path

from datasets_app.core.atomic_files import create_private
from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.quality.survey import MAX_PROBLEMS_LISTED, Problems
from datasets_app.domain.traces.converted_file import ConvertedFile
from datasets_app.domain.wording import format_count


def write_quarantine(file: ConversationFile, problems: Problems, directory: Path) -> dict[str, object]:
    """Write ``<name>.quarantine.jsonl`` (the lines, byte for byte) and ``….reasons.txt``.

    A session with an invalid line is written in full. Returns the file names and the line count.
    """
    stem = data_stem(Path(file.name).name)
    lines, reasons = _find_free_paths(directory, stem)
    kept = 0
    with create_private(lines) as out:
        for item in _read_quarantined_lines(file, problems):
            out.write(item + b"\n")
            kept += 1
    remedy = "fix them there, then import that file."
    if isinstance(file, ConvertedFile):
        settle = f"Settle that and import {file.name} again, or {remedy}"
        remedy = f"as they were read, without what the reasons name. {settle}"
    said = [
        f"{format_count(kept, 'line')} of {file.name} not imported.",
        f"They are in {lines.name}: {remedy}",
        "",
        *(f"{file.name}:{finding.line}: {finding.code} {finding.message}" for finding in problems.listed),
    ]
    if problems.total > MAX_PROBLEMS_LISTED:
        said.append(f"… and {problems.total - MAX_PROBLEMS_LISTED:,} more")
    with create_private(reasons) as out:
        out.write("".join(f"{line}\n" for line in said).encode())
    return {"lines": kept, "files": [lines.name, reasons.name]}


def _read_quarantined_lines(file: ConversationFile, problems: Problems) -> Iterator[bytes]:
    # Of a converted file, problems have lines of the original, which may hold valid conversations too.
    lines = set() if isinstance(file, ConvertedFile) else problems.lines
    for number, raw, session_id in file.read_raw_lines():
        if number in lines or session_id in problems.sessions:
            yield raw
    if isinstance(file, ConvertedFile):
        yield from file.read_unread_lines()


def _find_free_paths(directory: Path, stem: str) -> tuple[Path, Path]:
    """The first pair of unused names, so that no existing file is overwritten."""
    for number in range(1, 10_000):
        suffix = "" if number == 1 else f"-{number}"
        lines = directory / f"{stem}.quarantine{suffix}.jsonl"
        reasons = directory / f"{stem}.quarantine{suffix}.reasons.txt"
        if not lines.exists() and not reasons.exists():
            return lines, reasons
    raise FileExistsError(f"{directory} is full of quarantine files of {stem}")
