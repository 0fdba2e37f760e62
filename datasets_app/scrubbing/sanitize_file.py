"""A conversation file → the same without personal data: verified, or not written at all. No database."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from datasets_app.catalog.files import gzip_writer, load_metadata
from datasets_app.core.errors import UserError
from datasets_app.core.line_problems import LineProblems
from datasets_app.core.process_pool import ProcessPool, ProcessPoolError, WorkerStartError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile, hash_file
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii import batches, session_ids
from datasets_app.domain.pii.batches import (
    MAX_PLACES_LISTED,
    PREVIEW,
    SCRUB,
    VERIFY,
    FindingPlace,
    ScrubSetup,
)
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.proposals import TermTally
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.quality.e202_repeated_turns import refuse_repeated
from datasets_app.domain.quality.kept_terms import state_preference
from datasets_app.domain.wording import format_count

# Written are lines of at most what was read, and a little for placeholders longer than what they replace.
NO_LIMITS = Limits(1 << 40, 1 << 60)


@dataclass
class SanitizeResult:
    """What was found and changed; ``kinds`` and ``fields`` count findings. Places, never values, but for
    ``names``, which stay empty unless the setup counts them.

    ``remaining`` is what verification still found: the result is no good if there is anything; ``languages``
    are those of the sessions it read, ``unmeasured`` the turns in those in which it was not measured how many
    names stay.
    """

    sessions: int = 0
    turns: int = 0
    found_sessions: int = 0
    found_turns: int = 0
    changed_sessions: int = 0
    changed_turns: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    fields: Counter[str] = field(default_factory=Counter)
    places: list[FindingPlace] = field(default_factory=list)
    names: TermTally = field(default_factory=TermTally)
    verified_turns: int | None = None
    remaining: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    unmeasured: Counter[str] = field(default_factory=Counter)
    remaining_places: list[FindingPlace] = field(default_factory=list)
    sha256: str | None = None

    @property
    def total(self) -> int:
        return self.kinds.total()


def scan_file(
    file: ConversationFile,
    setup: ScrubSetup,
    *,
    processes: int = 1,
    report_progress: ProgressCallback = ignore_progress,
) -> SanitizeResult:
    """What a scrub would find; writes nothing. Raises UserError, with the lines that aren't turns."""
    result = SanitizeResult()
    with _open_pool(processes, setup) as pool:
        _process_file(file, pool, None, result, report_progress)
    return result


def sanitize_file(
    file: ConversationFile,
    out: IO[bytes],
    setup: ScrubSetup,
    *,
    gzipped: bool = False,
    processes: int = 1,
    report_progress: ProgressCallback = ignore_progress,
) -> SanitizeResult:
    """Write the scrubbed turns of ``file`` to ``out`` (compressed if ``gzipped``) and read them again.

    ``out`` is a file that can be opened once more by its name, and is put in place by the caller if nothing
    remains. Progress is in bytes: of the input, then of the output. Raises UserError.
    """
    result = SanitizeResult()
    with _open_pool(processes, setup) as pool:
        with gzip_writer(out, gzipped) as target:
            _process_file(file, pool, target, result, report_progress)
        out.flush()
        _verify_output(Path(out.name), pool, result, report_progress)
    if result.remaining:
        _locate_in_input(file, result)
    result.sha256 = hash_file(Path(out.name))
    return result


def make_batch_handler(setup: ScrubSetup) -> Any:
    """Runs in each process. Errors keep the message of the code that raised them."""
    try:
        return batches.make_batch_worker(setup)
    except (PolicyError, NameModelError) as error:
        raise WorkerStartError(str(error)) from None


@contextmanager
def _open_pool(processes: int, setup: ScrubSetup) -> Iterator[ProcessPool]:
    try:
        with ProcessPool(processes, make_batch_handler, setup) as pool:
            yield pool
    except ProcessPoolError as failure:
        raise UserError(f"{failure} Nothing was written.") from None
    except UnreadableFile as error:
        raise UserError(f"The file {error}. Nothing was written.") from None


# --- scrubbing ---------------------------------------------------------------------------------


def _process_file(
    file: ConversationFile,
    pool: ProcessPool,
    target: Any,
    result: SanitizeResult,
    report_progress: ProgressCallback,
) -> None:
    file.scan(lambda done: report_progress(done // 10, file.bytes_total))
    read = 0

    def turns() -> Iterator[TurnRecord]:
        nonlocal read
        for turn in require_turns(file, lambda done: report_progress(done, file.bytes_total)):
            read += 1
            yield turn

    for batch in pool.map(batches.split_batches(turns()), PREVIEW if target is None else SCRUB):
        if target is not None:
            target.write(batch.lines)
        for name in (
            "sessions",
            "turns",
            "found_sessions",
            "found_turns",
            "changed_sessions",
            "changed_turns",
        ):
            setattr(result, name, getattr(result, name) + getattr(batch, name))
        result.kinds.update(batch.kinds)
        result.fields.update(batch.fields)
        result.places += batch.places[: MAX_PLACES_LISTED - len(result.places)]
        result.names.add(batch.names)
    if not result.turns:
        raise UserError("The file has no turns. Nothing was written.")
    if result.turns != read:
        raise ProcessPoolError(f"{read:,} turns were read and {result.turns:,} scrubbed.")


def require_turns(file: ConversationFile, on_bytes: Any) -> Iterator[TurnRecord]:
    """The turns of a file that has nothing else. Raises UserError that lists all other lines."""
    problems = LineProblems("nothing was written")
    yield from problems.skip(file.name, refuse_repeated(file.turns(on_bytes)))
    problems.raise_if_any(file.name)


# --- verification ------------------------------------------------------------------------------


def _verify_output(
    path: Path, pool: ProcessPool, result: SanitizeResult, report_progress: ProgressCallback
) -> None:
    """Read the output as a recipient would, and detect once more."""
    written = ConversationFile(path, format="turns", limits=NO_LIMITS)
    size = written.bytes_total

    def turns() -> Iterator[TurnRecord]:
        # In order as written: nothing is sorted, and the lines count the turns.
        for item in written.turns(lambda done: report_progress(done, size)):
            if isinstance(item, LineError):
                raise ProcessPoolError(f"What was written can't be read again ({item.code}).")
            yield item

    verified = 0
    for left in pool.map(batches.split_batches(turns()), VERIFY):
        verified += left.turns
        result.remaining.update(left.kinds)
        result.languages.update(left.spoken.conversations)
        result.unmeasured.update(left.spoken.unmeasured)
        result.remaining_places += left.places[: MAX_PLACES_LISTED - len(result.remaining_places)]
    if verified != result.turns:
        raise ProcessPoolError(f"{result.turns:,} turns were written and {verified:,} can be read again.")
    result.verified_turns = verified


def _locate_in_input(file: ConversationFile, result: SanitizeResult) -> None:
    """Places in what was written, which nobody will see, → lines of the input."""
    wanted = {place.line for place in result.remaining_places}
    lines = {
        number: turn.line for number, turn in enumerate(require_turns(file, None), 1) if number in wanted
    }
    result.remaining_places = [
        place._replace(line=lines.get(place.line, 0)) for place in result.remaining_places
    ]


# The `.meta.yaml` of a sanitized file: what was done to it, and what had been done before.

# License and attribution are owed to those they name, and stay; so do names and numbers of the file.
SCRUBBED_FIELDS = ("source", "modifications", "date_range", "generator", "model", "extra")
_FUZZED_PATTERN = re.compile(r"timestamps moved by up to ([\d,]+) seconds")


@dataclass
class InputMetadata:
    """What the metadata file beside the input says; ``notices`` are sentences for the user."""

    setup: ScrubSetup
    metadata: DatasetMetadata = field(default_factory=DatasetMetadata)
    places: list[FindingPlace] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def read_input_metadata(path: Path | None, setup: ScrubSetup) -> InputMetadata:
    """Look at the metadata beside the input (``path`` is None for a pipe): what was done to it under this
    key is not done again, and personal data in the metadata goes too. Raises UserError."""
    before = InputMetadata(setup)
    if path is None:
        return before
    metadata = load_metadata(path)
    if metadata is None:
        return before
    before.metadata = metadata
    if setup.policy.hash_session_ids and session_ids.is_key_stated(setup.key, metadata.anonymization):
        before.setup = before.setup._replace(may_have_hashed_ids=True)
        before.notices.append(
            "Session ids were hashed with this key before; those that are stay as they are."
        )
    if setup.policy.fuzz_seconds and _was_fuzzed(metadata, setup.policy.fuzz_seconds, path):
        policy = replace(setup.policy, fuzz_seconds=0, seed=None)
        before.setup = before.setup._replace(policy=policy)
        before.notices.append("Timestamps were moved by as much before; they stay as they are.")
    _scrub_metadata(before)
    return before


def _was_fuzzed(metadata: DatasetMetadata, seconds: int, path: Path) -> bool:
    """Only if the metadata is that of this very file: turns added since have their true times."""
    said = {
        int(match[1].replace(",", ""))
        for match in map(_FUZZED_PATTERN.match, metadata.anonymization)
        if match
    }
    return seconds in said and metadata.sha256 == hash_file(path)


def _scrub_metadata(before: InputMetadata) -> None:
    """Rules only: names of people and of products are not to be told apart without a sentence."""
    given = before.setup.policy
    kinds = tuple(kind for kind in given.kinds if kind != NAME)
    policy = Policy(
        kinds=kinds,
        patterns=given.patterns,
        recognizers=given.recognizers,
        missed=given.missed,
        allow=given.allow,
    )
    values = {name: getattr(before.metadata, name) for name in SCRUBBED_FIELDS}
    values = {name: value for name, value in values.items() if value}
    scrubber = Scrubber(policy, key=before.setup.key, persona_terms=before.setup.persona_terms)
    values, findings = scrubber.scrub_fields(values, own=SCRUBBED_FIELDS)
    if findings:
        before.metadata = replace(before.metadata, **values)
        before.places = [
            FindingPlace(0, None, value.field.removeprefix("beside."), *value[2:6]) for value in findings
        ]


def build_output_metadata(
    before: InputMetadata, setup: ScrubSetup, result: SanitizeResult, name: str
) -> DatasetMetadata:
    """What the output's metadata file says. The same again, if the same is done again."""
    policy, metadata = setup.policy, before.metadata
    done = policy.describe()
    if policy.hash_session_ids:
        done.append(session_ids.format_key_statement(setup.key))
    changes = []
    if result.found_turns:
        turns = format_count(result.turns, "turn")
        changes.append(f"personal data replaced in {result.found_turns:,} of {turns}")
    return replace(
        state_preference(metadata, policy.prefer),
        name=metadata.name or name,
        anonymization=_merge_lists(metadata.anonymization, done),
        modifications=_merge_lists(metadata.modifications, changes),
        total_sessions=result.sessions,
        total_turns=result.turns,
        sha256=result.sha256,
    )


def _merge_lists(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))
