"""Delivered files → the new conversations in them, of which a rule chooses; the texts wait in a file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import IO, NamedTuple

from datasets_app.catalog.rows.existing_sessions import find_identical
from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.jsonl import encode_turn, parse_turn
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.traces import sampling
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.reasons import TOO_DEEP
from datasets_app.models import Dataset, Session, Source
from datasets_app.sources.seen import find_seen

# Near-duplicates are looked for among so many of the dataset's newest sessions.
MAX_EARLIER = 10_000
_BATCH = 1000
_PROGRESS_INTERVAL = 100
_NO_SESSION_COLUMN = (
    "{}: no column says which rows belong to the same conversation, so nothing was pulled. Call that column "
    "session_id in the file, or move the file out of the folder and import it on the page Import, where the "
    "column can be chosen."
)


class Candidate(NamedTuple):
    """``start`` and ``end`` are its place in the file; ``traces`` what is remembered of it."""

    session_id: str
    start: int
    end: int
    negative: bool
    traces: list[str]


class Candidates:
    """Conversations that pass a rule and were not delivered before. ``counts`` says what became of all;
    those with an invalid turn are written to the file ``quarantine``."""

    def __init__(self, source: Source, rule: sampling.Rule, file: IO[bytes], quarantine: Path) -> None:
        self.source, self.rule, self._file, self._quarantine = source, rule, file, quarantine
        self.found: list[Candidate] = []
        self.counts: Counter[str] = Counter()
        self.traces: list[str] = []

    def add_file(self, path: Path, format: str, report_progress: ProgressCallback) -> None:
        """Raises UserError for an answer of a tool that can't be read; files of a folder are only counted.
        Raises it also for a table without a session column, which would be read as one conversation."""
        try:
            file = open_conversation_file(
                path, format=format, limits=configured_limits(), name=self.source.name
            )
            file.scan(lambda _: report_progress(self.counts["conversations"], None))
            if isinstance(file, ConvertedFile):
                if file.report.lacks_sessions:
                    raise UserError(_NO_SESSION_COLUMN.format(path.name.partition("-")[2]))
                self.counts["unreadable_spans"] += file.report.left_out[TOO_DEEP].total
        except UnreadableFile as error:
            if self.source.kind != Source.Kind.FOLDER:
                raise UserError(f"What the source delivered can't be read: it {error}.") from None
            self.counts["unreadable_files"] += 1
            return
        invalid: set[str | None] = set()
        sessions = groupby(file.turns(), key=lambda record: record.session_id)
        for batch in batched(_list_turns(sessions, invalid), _PROGRESS_INTERVAL):
            self._add_batch(batch)
            report_progress(self.counts["conversations"], None)
        self.counts["unreadable"] += len(invalid)
        with self._quarantine.open("ab") as out:
            out.writelines(
                raw + b"\n" for _, raw, name in file.read_raw_lines() if invalid and name in invalid
            )

    def _add_batch(self, batch: list[list[TurnRecord]]) -> None:
        by_session = {turns[0].session_id: _list_traces(turns) for turns in batch}
        names = [name for traces in by_session.values() for name in traces]
        seen = set() if self.source.kind == Source.Kind.OTLP else find_seen(self.source, names)
        for turns in batch:
            self.counts["conversations"] += 1
            new = [name for name in by_session[turns[0].session_id] if name not in seen]
            if not new:
                self.counts["delivered_before"] += 1
                continue
            self.traces += new
            if not sampling.is_sampled(turns[0].session_id, self.rule.rate):
                self.counts["not_sampled"] += 1
            elif not sampling.matches_rule(turns, self.rule):
                self.counts["other_models_or_tags"] += 1
            else:
                self._keep(turns, new)

    def _keep(self, turns: list[TurnRecord], traces: list[str]) -> None:
        start = self._file.seek(0, 2)
        try:
            self._file.write(b"".join(map(encode_turn, turns)))
        except UnicodeEncodeError:
            self.counts["unreadable"] += 1
            return
        negative = sampling.has_negative_feedback(turns)
        self.found.append(Candidate(turns[0].session_id, start, self._file.tell(), negative, traces))

    def choose(self, dataset: Dataset | None) -> list[Candidate]:
        """Those to import, by the rule."""
        earlier = _read_earlier(dataset) if dataset and self.rule.skip_near_duplicates else ()
        numbers, repeated = sampling.choose(
            [candidate.negative for candidate in self.found],
            self.rule,
            lambda number: [turn.text for turn in self.read_turns(self.found[number])],
            earlier,
        )
        if repeated:
            self.counts["near_duplicates"] = repeated
        if over := len(self.found) - repeated - len(numbers):
            self.counts["over_maximum"] = over
        return [self.found[number] for number in numbers]

    def read_turns(self, candidate: Candidate) -> list[TurnRecord]:
        self._file.seek(candidate.start)
        lines = self._file.read(candidate.end - candidate.start).splitlines()
        turns = [parse_turn(number, line) for number, line in enumerate(lines, 1)]
        return [turn for turn in turns if isinstance(turn, TurnRecord)]

    def write_chosen(self, chosen: Sequence[Candidate], dataset: Dataset | None, out: IO[bytes]) -> int:
        """Write the conversations that the dataset doesn't have; returns how many. What continues one that
        it has is written as a session of its own: nothing that was imported changes."""
        taken: set[str] = set()
        same: set[str] = set()
        first: dict[str, Candidate] = {}
        if dataset is not None:
            for some in batched(chosen, _BATCH):
                ids = [candidate.session_id for candidate in some]
                rows = Session.objects.filter(dataset=dataset, session_id__in=ids)
                taken.update(rows.values_list("session_id", flat=True))
            # Of several with one id, the dataset can have but the first.
            first = {item.session_id: item for item in reversed(chosen) if item.session_id in taken}
            records = (turn for item in first.values() for turn in self.read_turns(item))
            same = find_identical(dataset, records, taken, None) if taken else set()
        written = 0
        for candidate in chosen:
            if candidate.session_id in same and first[candidate.session_id] is candidate:
                self.counts["already_in_dataset"] += 1
                continue
            name = candidate.session_id
            if name in taken:
                digest = blake2b("\0".join(candidate.traces).encode(errors="replace"), digest_size=4)
                name = f"{name[:240]}-{digest.hexdigest()}"
            taken.add(name)
            for turn in self.read_turns(candidate):
                out.write(encode_turn(turn._replace(session_id=name)))
            written += 1
        return written


def _list_turns(
    sessions: Iterable[tuple[str | None, Iterable[TurnRecord | LineError]]], invalid: set[str | None]
) -> Iterator[list[TurnRecord]]:
    """Sessions without a line that can't be read; the others are added to ``invalid``."""
    for session_id, records in sessions:
        found = list(records)
        turns = [record for record in found if isinstance(record, TurnRecord)]
        if len(turns) < len(found):
            invalid.add(session_id)
        elif turns:
            yield turns


def _list_traces(turns: Sequence[TurnRecord]) -> list[str]:
    """The ids of the traces that a conversation was made of, or its own if it comes from none."""
    found = (turns[0].metadata or {}).get("trace_ids")
    return [str(name) for name in found] if isinstance(found, list) and found else [turns[0].session_id]


def _read_earlier(dataset: Dataset) -> Iterator[list[str]]:
    newest = Session.objects.filter(dataset=dataset).order_by("-pk")[:MAX_EARLIER]
    ids = sorted(newest.values_list("session_id", flat=True))
    if ids:
        turns = read_turns(dataset, Selection(sessions=ids))
        for _, session in groupby(turns, key=lambda turn: turn.session_id):
            yield [turn.text for turn in session]
