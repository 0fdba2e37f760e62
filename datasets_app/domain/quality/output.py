"""Findings as lines and objects for people, scripts and GitHub."""

from collections import Counter
from typing import Any

from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.pii.rules.patterns import find_patterns
from datasets_app.domain.quality.personal_data_codes import is_error
from datasets_app.domain.wording import format_count, shorten_hash


class Totals(Counter[str]):
    """How many findings there are of each code."""

    @property
    def warnings(self) -> int:
        return sum(count for code, count in self.items() if not is_error(code))

    @property
    def errors(self) -> int:
        return self.total() - self.warnings

    def summary(self) -> str:
        """``3 errors, 1 warning (E103: 2, E201: 1, W205: 1)``."""
        if not self:
            return "no findings"
        codes = ", ".join(f"{code}: {self[code]:,}" for code in sorted(self))
        return f"{format_count(self.errors, 'error')}, {format_count(self.warnings, 'warning')} ({codes})"


def format_text_line(source: str, finding: Finding) -> str:
    """``file.jsonl:12: E103 role must be …``; without the number where there is no line."""
    where = f"{source}:{finding.line}" if finding.line else source
    return f"{where}: {finding.code} {_format_place(finding)}{finding.message}"


def format_github_line(file: str, finding: Finding) -> str:
    """A workflow command: GitHub shows it beside the line. ``file`` may be empty."""
    kind = "error" if is_error(finding.code) else "warning"
    properties = {"file": file, "line": str(finding.line or ""), "title": finding.code}
    shown = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items() if value)
    return f"::{kind} {shown}::{_escape_data(_format_place(finding) + finding.message)}"


def build_finding_object(finding: Finding) -> dict[str, Any]:
    """For JSON. A session id that holds personal data is left out: a report must not repeat it."""
    session_id = finding.session_id
    return {
        "code": finding.code,
        "message": finding.message,
        "line": finding.line or None,
        "session_id": None if session_id is None or find_patterns(session_id) else session_id,
        "turn_index": finding.turn_index,
        "field": finding.field,
    }


def _format_place(finding: Finding) -> str:
    """For findings of a dataset, which has no lines."""
    session_id = finding.session_id
    if finding.line or session_id is None or find_patterns(session_id):
        return ""
    turn = f" turn {finding.turn_index}" if finding.turn_index is not None else ""
    return f"[{shorten_hash(session_id)}{turn}] "


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
