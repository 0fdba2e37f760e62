"""A file of conversations → one file for each split. No database: who is where, the files themselves say."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from datasets_app.catalog.files import DigestWriter, gzip_writer, write_with_metadata
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.metadata.metadata import (
    DatasetMetadata,
    MetadataError,
    metadata_path,
    read_metadata,
    render_metadata,
)
from datasets_app.domain.splits.decision import Conversation, SplitDecision, decide_splits, get_split_group
from datasets_app.domain.splits.splits import SPLITS, SplitSettings

# Under this key a file's metadata says which split it is, and how it was made.
SPLIT_KEY = "split"


class SplitFile(NamedTuple):
    """One of the files that were written."""

    name: str
    sessions: int
    turns: int
    sha256: str


class SplitFileResult(NamedTuple):
    """``only_there`` is how many sessions stood in the folder and not in the file; they were kept."""

    decision: SplitDecision
    files: dict[str, SplitFile]
    kept_sessions: int


def split_file(
    file: ConversationFile,
    folder: Path,
    settings: SplitSettings | None = None,
    *,
    report_progress: ProgressCallback = ignore_progress,
) -> SplitFileResult:
    """Write ``train.jsonl``, ``validation.jsonl`` and ``test.jsonl`` (.gz as ``file`` is), with metadata,
    into ``folder``. If they are there already, the sessions in them stay where they are, with what ``file``
    says of them now, and those that it does not have are kept. Raises Refused; then nothing is written.
    """
    earlier = _EarlierSplit(folder, file)
    asked = _choose_settings(earlier, settings)
    placed = earlier.placed()
    passes = _InputReader(file, report_progress)
    seen: set[str] = set()

    def sessions() -> Iterator[Conversation]:
        for session in group_conversations(passes.turns()):
            seen.add(session.session_id)
            yield session._replace(placed=placed.get(session.session_id))
        for split in earlier.paths:
            for session in group_conversations(earlier.turns(split)):
                if session.session_id not in seen:
                    yield session._replace(placed=split)

    try:
        decision = decide_splits(sessions(), asked)
        if not seen:
            raise UserError(f"{file.name} holds no sessions.")
        files = _write_files(file, earlier, decision, asked, seen, passes.turns())
    except UnreadableFile as error:
        raise UserError(f"{file.name}: {error}; nothing was written.") from None
    return SplitFileResult(decision, files, len(decision.ids) - len(seen))


def group_conversations(turns: Iterable[TurnRecord]) -> Iterator[Conversation]:
    """Turns, sessions in one piece → sessions."""
    for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
        of_session = list(group)
        tags = [tag for turn in of_session for tag in turn.tags]
        persona = next((turn.persona_id for turn in of_session if turn.persona_id), None)
        siblings = (get_split_group(turn.metadata) for turn in of_session)
        sibling = next((found for found in siblings if found is not None), None)
        yield Conversation(session_id, persona, tags, [turn.text for turn in of_session], sibling)


class _InputReader:
    """The file's turns, asked for twice; lines that are none are refused."""

    def __init__(self, file: ConversationFile, report_progress: ProgressCallback) -> None:
        self._file, self._report, self._before = file, report_progress, 0

    def turns(self) -> Iterator[TurnRecord]:
        before, total = self._before, 2 * self._file.bytes_total
        self._before += self._file.bytes_total
        return _require_turns(self._file, self._file.turns(lambda done: self._report(before + done, total)))


def _require_turns(file: ConversationFile, turns: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord]:
    for turn in turns:
        if isinstance(turn, LineError):
            raise UserError(f"{file.name}:{turn.line}: {turn.code} {turn.message}; nothing was written.")
        yield turn


class _EarlierSplit:
    """The files of an earlier split in a folder, if there are any."""

    def __init__(self, folder: Path, file: ConversationFile) -> None:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file; name a folder.")
        self.folder, self._limits = folder, file.limits
        self.ending = ".jsonl.gz" if file.name.lower().endswith(".gz") else ".jsonl"
        self.paths: dict[str, Path] = {}
        for split in SPLITS:
            there = [path for end in (".jsonl", ".jsonl.gz") if (path := folder / f"{split}{end}").exists()]
            if len(there) > 1:
                raise UserError(
                    f"{folder} holds both {there[0].name} and {there[1].name}; remove one of them."
                )
            if there and there[0].samefile(file.path):
                raise UserError(f"{there[0]} is the input itself; it stays as it is. Name another folder.")
            if there:
                self.paths[split] = there[0]
        if self.paths:
            self.ending = "." + next(iter(self.paths.values())).name.partition(".")[2]

    def path(self, split: str) -> Path:
        return self.paths.get(split) or self.folder / f"{split}{self.ending}"

    def turns(self, split: str) -> Iterator[TurnRecord]:
        path = self.paths.get(split)
        if path is None or _is_empty(path):
            return iter(())
        try:
            file = ConversationFile(path, format="turns", limits=self._limits, name=str(path))
            return _require_turns(file, file.turns())
        except UnreadableFile as error:
            raise UserError(f"{path}: {error}; nothing was written.") from None

    def placed(self) -> dict[str, str]:
        """The split of each session that stands in a file here."""
        found: dict[str, str] = {}
        for split, path in self.paths.items():
            for session_id, _ in groupby(self.turns(split), key=lambda turn: turn.session_id):
                other = found.setdefault(session_id, split)
                if other != split:
                    raise UserError(
                        f"A session stands in {self.paths[other].name} and in {path.name}; take it out of "
                        "one of them."
                    )
        return found

    def metadata(self) -> DatasetMetadata | None:
        return next((_read_metadata(path) for path in self.paths.values()), None)

    def settings(self) -> SplitSettings | None:
        """How the files say they were made; None if they don't."""
        for path in self.paths.values():
            stated = (_read_metadata(path) or DatasetMetadata()).extra.get(SPLIT_KEY)
            if isinstance(stated, dict):
                try:
                    return SplitSettings.from_json(stated)
                except (KeyError, TypeError, ValueError):
                    raise UserError(
                        f"{metadata_path(path)}: what it says of the split can't be read; mend it, or name "
                        "another folder."
                    ) from None
        return None


def _is_empty(path: Path) -> bool:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return not file.read(1)
    except (OSError, EOFError):
        return False  # reading it says what is wrong


def _read_metadata(path: Path) -> DatasetMetadata | None:
    beside_it = metadata_path(path)
    try:
        return read_metadata(beside_it)
    except MetadataError as error:
        raise UserError(f"{beside_it.name}: {error}; nothing was written. Mend or remove it.") from None


def _choose_settings(earlier: _EarlierSplit, settings: SplitSettings | None) -> SplitSettings:
    stored = earlier.settings()
    if stored is None:
        return settings or SplitSettings()
    if settings is not None and settings != stored:
        raise UserError(
            f"{earlier.folder} holds a split that was made otherwise: {stored.describe()}. Leave the "
            "settings out to go on with it, or name another folder."
        )
    return stored


def _write_files(
    file: ConversationFile,
    earlier: _EarlierSplit,
    decision: SplitDecision,
    settings: SplitSettings,
    seen: set[str],
    turns: Iterator[TurnRecord],
) -> dict[str, SplitFile]:
    stated = _read_metadata(file.path) or earlier.metadata() or DatasetMetadata()
    split_of = dict(zip(decision.ids, decision.splits, strict=True))
    try:
        earlier.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{earlier.folder} can't be made: {error.strerror or error}.") from None
    wanted = [split for split in SPLITS if split in settings.wanted() or split in earlier.paths]
    with ExitStack() as stack:
        outs = {}
        for split in wanted:
            path = earlier.path(split)
            outs[split] = stack.enter_context(
                _open_split_writer(path, _build_metadata(stated, path, split, settings))
            )
            outs[split].write(turn for turn in earlier.turns(split) if turn.session_id not in seen)
        for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
            outs[split_of[session_id]].write(group)
    return {split: out.written() for split, out in outs.items()}


class _SplitWriter:
    """A file that is being written."""

    def __init__(self, name: str, digest: DigestWriter, target: Any) -> None:
        self._name, self._digest, self._target = name, digest, target
        self._sessions = self._turns = 0

    def write(self, turns: Iterable[TurnRecord]) -> None:
        for _, group in groupby(turns, key=lambda turn: turn.session_id):
            self._sessions += 1
            for turn in group:
                self._turns += 1
                self._target.write(encode_turn(turn))

    def written(self) -> SplitFile:
        return SplitFile(self._name, self._sessions, self._turns, self._digest.hex)


@contextmanager
def _open_split_writer(path: Path, stated: DatasetMetadata) -> Iterator[_SplitWriter]:
    """Takes its place, with its metadata beside it, if all goes well."""
    with write_with_metadata(path) as (data, metadata):
        digest = DigestWriter(data)
        with gzip_writer(digest, path.suffix == ".gz") as target:
            out = _SplitWriter(path.name, digest, target)
            yield out
        _, sessions, turns, sha256 = out.written()
        counted = replace(stated, total_sessions=sessions, total_turns=turns, sha256=sha256)
        metadata.write(render_metadata(counted).encode())


def _drop_counts(extra: dict[str, Any]) -> dict[str, Any]:
    """Less what counts sessions of the whole."""
    return {key: value for key, value in extra.items() if key != "edge_cases"}


def _build_metadata(
    stated: DatasetMetadata, path: Path, split: str, settings: SplitSettings
) -> DatasetMetadata:
    """What the file's own metadata says, less what is no longer true of a part of it."""
    done = f"split: {split} of {settings.describe()}"
    before = [said for said in stated.modifications if not said.startswith("split: ")]
    return replace(
        stated,
        name=data_stem(path.name),
        modifications=[*before, done],
        safety_traps=None,
        brand_traps=None,
        extra={**_drop_counts(stated.extra), SPLIT_KEY: {"name": split, **settings.as_json()}},
    )
