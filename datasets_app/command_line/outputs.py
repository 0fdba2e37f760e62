"""Findings as they are printed: lines for people, JSON for scripts, workflow commands for GitHub."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from datasets_app.command_line.remedies import append_remedy
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.packages.quality_statement import (
    QualityStatement,
    describe_certificate,
    describe_estimate,
)
from datasets_app.domain.quality.output import (
    Totals,
    build_finding_object,
    format_github_line,
    format_text_line,
)
from datasets_app.domain.wording import format_count

Write = Callable[[str], Any]


class Output:
    """Takes the findings file by file, and prints lines; ``totals`` counts all of them, shown or not."""

    def __init__(self, write: Write, write_error: Write, limit: int) -> None:
        self.totals = Totals()
        self._write, self._write_error, self._limit = write, write_error, limit
        self._source, self._file, self._source_totals = "", "", Totals()

    def start_source(self, source: str, kind: str | None, *, is_file: bool = True) -> None:
        self._source, self._file, self._source_totals = source, source if is_file else "", Totals()

    def add(self, finding: Finding) -> None:
        finding = finding._replace(message=append_remedy(finding.code, finding.message))
        self.totals[finding.code] += 1
        self._source_totals[finding.code] += 1
        if not self._limit or self._source_totals[finding.code] <= self._limit:
            self.write_finding(finding)

    def set_totals(self, totals: dict[str, int]) -> None:
        """For a source of which more is known than was added."""
        self.totals += Totals({code: n - self._source_totals[code] for code, n in totals.items()})
        self._source_totals.update({code: n - self._source_totals[code] for code, n in totals.items()})

    def note_kept(self, terms: int) -> None:
        """Say how many terms the metadata of the file keeps from being reported."""
        self._write_error(f"{self._source}: {format_count(terms, 'term')} kept by its metadata not reported")

    def note_quality(self, stated: QualityStatement) -> None:
        """Say what the metadata of the file states of judges and rates."""
        for one in stated.certificates:
            said = " ".join(describe_certificate(one))
            self._write_error(f"{self._source}: its metadata states, tested on {one.day}: {said}")
        for estimate in stated.estimates:
            self._write_error(f"{self._source}: its metadata states: {describe_estimate(estimate)}")

    def note_conversion(self, lines: Sequence[str]) -> None:
        """Say what became of a file in a format of another tool: what was left out, merged or guessed."""
        for line in lines:
            self._write_error(line)

    def write_finding(self, finding: Finding) -> None:
        self._write(format_text_line(self._source, finding))

    def close(self) -> None:
        # On the error stream, so that what is piped on is findings and nothing else.
        self._write_error(self.totals.summary())


class GithubOutput(Output):
    def write_finding(self, finding: Finding) -> None:
        self._write(format_github_line(self._file, finding))


class JsonOutput(Output):
    def __init__(self, write: Write, write_error: Write, limit: int) -> None:
        super().__init__(write, write_error, limit)
        self._files: list[dict[str, Any]] = []

    def start_source(self, source: str, kind: str | None, *, is_file: bool = True) -> None:
        super().start_source(source, kind, is_file=is_file)
        name = {"file": source, "kind": kind} if is_file else {"dataset": source}
        self._files.append({**name, "findings": [], "totals": self._source_totals})

    def note_kept(self, terms: int) -> None:
        self._files[-1]["kept_terms"] = terms

    def note_quality(self, stated: QualityStatement) -> None:
        self._files[-1]["quality"] = stated.as_json()

    def note_conversion(self, lines: Sequence[str]) -> None:
        self._files[-1]["conversion"] = list(lines)

    def write_finding(self, finding: Finding) -> None:
        self._files[-1]["findings"].append(build_finding_object(finding))

    def close(self) -> None:
        totals = self.totals
        value = {"files": self._files, "totals": totals, "errors": totals.errors, "warnings": totals.warnings}
        self._write(json.dumps(value, ensure_ascii=True, indent=2))


OUTPUTS: dict[str, type[Output]] = {"text": Output, "json": JsonOutput, "github": GithubOutput}
