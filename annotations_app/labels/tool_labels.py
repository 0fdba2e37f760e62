"""Labels in files of other tools (Label Studio, Argilla, doccano, Prodigy, tables) → label records."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.domain.annotation_lines import parse_label_object
from datasets_app.domain.conversations.jsonl import InvalidRecord, check_timestamp
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import FORMATS
from datasets_app.domain.conversations.records import LabelRecord, LineError, TurnRecord
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import decode_value, opposite
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import list_left_out_with_lines
from datasets_app.domain.traces.label_rules import LabelRules, LabelTally, read_value
from datasets_app.domain.wording import format_count


class ToolLabels:
    """The labels of a file that say on-brand or off-brand. ``unmapped`` counts the others, by question;
    ``left_out`` are records that can't be read as labels."""

    def __init__(self, file: ConvertedFile, rules: LabelRules, persona: str | None) -> None:
        self.file, self.persona = file, persona
        self.has_places = False
        tally = LabelTally()
        for _, metadata in self._turns():
            tally.add(metadata["labels"])
            self.has_places |= "turn_index" in metadata.get("place", {})
        self._mapped = tally.map(rules)
        self.questions = tally.describe(rules)
        self.total = tally.values.total()
        self.left_out = list_left_out_with_lines(file.report)
        self.unmapped = self.total - sum(tally.values[key] for key in self._mapped)

    def records(self) -> Iterator[LabelRecord | LineError]:
        """Each has a ``line`` of its own: the number of the label."""
        yield from (item for item in self.file.turns() if isinstance(item, LineError))
        number = 0
        for turn, metadata in self._turns():
            for label in metadata["labels"]:
                number += 1
                value = read_value(label) if type(label) is dict else None
                mapped = self._mapped.get((str(label.get("question") or ""), value)) if value else None
                if mapped is not None:
                    mapped = opposite(ON_BRAND, mapped) if label.get("applies") is False else mapped
                    yield self._make_record(turn, metadata.get("place"), label, mapped, number)

    def find_record(self, line: int) -> int:
        """The label itself: what people count in the file isn't known any more."""
        return line

    def _turns(self) -> Iterator[tuple[TurnRecord, dict[str, Any]]]:
        for turn in self.file.turns():
            if isinstance(turn, TurnRecord) and type((turn.metadata or {}).get("labels")) is list:
                yield turn, turn.metadata or {}

    def _make_record(
        self, turn: TurnRecord, place: Any, label: dict[str, Any], mapped: int, number: int
    ) -> LabelRecord | LineError:
        found = place or {"session_id": turn.session_id, "turn_index": turn.turn_index}
        index, confidence = found.get("turn_index"), label.get("confidence")
        value = {
            "text": turn.text,
            "label": decode_value(ON_BRAND, mapped),
            "persona_id": found.get("persona_id") or self.persona,
            "session_id": str(found["session_id"]) if found.get("session_id") else None,
            "turn_index": int(str(index)) if str(index).isdecimal() else None,
            "annotator": label.get("annotator"),
            "notes": label.get("notes") if type(label.get("notes")) is str else None,
            "confidence": confidence if type(confidence) in (int, float) else None,
            "timestamp": _read_time(label.get("timestamp")),
        }
        try:
            return parse_label_object(value, number)
        except InvalidRecord as error:
            return error.to_line_error(turn.line, turn.session_id)


def open_tool_labels(
    path: Path, *, format: str, name: str, rules: LabelRules, persona: str | None
) -> ToolLabels | None:
    """None for annotation JSONL. Raises UserError."""
    options = ConvertOptions(labeled_texts=True)
    try:
        file = open_conversation_file(
            path, format=format, limits=configured_limits(), name=name, options=options
        )
        if file.format in FORMATS:
            return None
        assert isinstance(file, ConvertedFile)  # what isn't a format of ours is converted  # nosec B101
        labels = ToolLabels(file, rules, persona)
    except UnreadableFile as error:
        raise UserError(f"{name} {error}") from None
    if not labels.total:
        raise UserError(f"{name} has no labels. Is this the right file?")
    if labels.unmapped == labels.total:
        questions = ", ".join(question or "(unnamed)" for question, _ in labels.questions[:10])
        raise UserError(
            f"{name} has {format_count(labels.total, 'label')} of {questions}, but none that says on-brand "
            "or off-brand. Name what the values mean, for example --label-map good=1,bad=0, or the question "
            "with --question."
        )
    return labels


def _read_time(value: Any) -> str | None:
    try:
        check_timestamp(value)
    except (InvalidRecord, TypeError):
        return None
    return str(value)
