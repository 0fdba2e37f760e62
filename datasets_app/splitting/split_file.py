"""Splits a conversation file into one file per split, without a database.

The files of an earlier split in the same folder say which session belongs where.
"""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from datasets_app.catalog.facts import subset_metadata
from datasets_app.catalog.files import load_metadata, write_turn_file
from datasets_app.core.errors import UserError
from datasets_app.core.line_problems import FilePasses, require_turns
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata, metadata_path
from datasets_app.domain.splits.decision import Conversation, SplitDecision, decide_splits
from datasets_app.domain.splits.splits import SPLITS, SplitSettings, get_split_group
from datasets_app.splitting.signing import open_signing

# Metadata key for the name and settings of the split that a file contains.
SPLIT_KEY = "split"
# Roughly, to guess how many sessions a file has.
SESSION_BYTES = 2000


class SplitFile(NamedTuple):
    name: str
    sessions: int
    turns: int
    sha256: str


class SplitFileResult(NamedTuple):
    """``kept_sessions`` counts sessions that are in the folder's earlier split but not in the input."""

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
    """Write ``train.jsonl``, ``validation.jsonl`` and ``test.jsonl`` with metadata into ``folder``, gzipped
    if ``file`` is.

    If the folder has an earlier split, sessions keep their split; their turns come from ``file``, and those
    missing from it are kept. Raises UserError and writes nothing if a file is invalid.
    """
    earlier = _EarlierSplit(folder, file)
    settings = _choose_settings(earlier, settings)
    placed = earlier.read_splits()
    reader = FilePasses(file, 2, report_progress)
    seen: set[str] = set()

    def sessions() -> Iterator[Conversation]:
        for session in group_conversations(reader.turns()):
            seen.add(session.session_id)
            yield session._replace(current_split=placed.get(session.session_id))
        for split in earlier.paths:
            for session in group_conversations(earlier.turns(split)):
                if session.session_id not in seen:
                    yield session._replace(current_split=split)

    try:
        with open_signing(settings.similarity, file.bytes_total // SESSION_BYTES) as sign_batches:
            decision = decide_splits(sessions(), settings, sign_batches=sign_batches)
        if not seen:
            raise UserError(f"{file.name} has no sessions.")
        files = _write_files(file, earlier, decision, settings, seen, reader.turns())
    except UnreadableFile as error:
        raise UserError(f"{file.name}: {error}; nothing was written.") from None
    return SplitFileResult(decision, files, len(decision.ids) - len(seen))


def group_conversations(turns: Iterable[TurnRecord]) -> Iterator[Conversation]:
    """Group turns into sessions; the turns of a session must follow each other."""
    for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
        session = list(group)
        tags = [tag for turn in session for tag in turn.tags]
        persona = next((turn.persona_id for turn in session if turn.persona_id), None)
        split_groups = (get_split_group(turn.metadata) for turn in session)
        sibling = next((name for name in split_groups if name is not None), None)
        yield Conversation(session_id, persona, tags, [turn.text for turn in session], sibling)


class _EarlierSplit:
    """The files of an earlier split in a folder, if there are any."""

    def __init__(self, folder: Path, file: ConversationFile) -> None:
        if folder.exists() and not folder.is_dir():
            raise UserError(f"{folder} is a file; name a folder.")
        self.folder, self._limits = folder, file.limits
        self.ending = ".jsonl.gz" if file.name.lower().endswith(".gz") else ".jsonl"
        self.paths: dict[str, Path] = {}
        for split in SPLITS:
            paths = [path for end in (".jsonl", ".jsonl.gz") if (path := folder / f"{split}{end}").exists()]
            if len(paths) > 1:
                raise UserError(f"{folder} has both {paths[0].name} and {paths[1].name}; remove one of them.")
            if paths and paths[0].samefile(file.path):
                raise UserError(f"{paths[0]} is the input file itself. Choose another folder.")
            if paths:
                self.paths[split] = paths[0]
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
            return require_turns(file.name, file.turns())
        except UnreadableFile as error:
            raise UserError(f"{path}: {error}; nothing was written.") from None

    def read_splits(self) -> dict[str, str]:
        """The split of each session in these files."""
        splits: dict[str, str] = {}
        for split, path in self.paths.items():
            for session_id, _ in groupby(self.turns(split), key=lambda turn: turn.session_id):
                other = splits.setdefault(session_id, split)
                if other != split:
                    raise UserError(
                        f"A session is in both {self.paths[other].name} and {path.name}; remove it from one "
                        "of them."
                    )
        return splits

    def metadata(self) -> DatasetMetadata | None:
        return next((load_metadata(path) for path in self.paths.values()), None)

    def settings(self) -> SplitSettings | None:
        """The settings in the files' metadata, or None."""
        for path in self.paths.values():
            stated = (load_metadata(path) or DatasetMetadata()).extra.get(SPLIT_KEY)
            if isinstance(stated, dict):
                try:
                    return SplitSettings.from_json(stated)
                except (KeyError, TypeError, ValueError):
                    raise UserError(
                        f"The split settings in {metadata_path(path)} are invalid; fix them or choose "
                        "another folder."
                    ) from None
        return None


def _is_empty(path: Path) -> bool:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return not file.read(1)
    except (OSError, EOFError):
        return False  # reading its turns reports the error


def _choose_settings(earlier: _EarlierSplit, settings: SplitSettings | None) -> SplitSettings:
    stored = earlier.settings()
    if stored is None:
        return settings or SplitSettings()
    if settings is not None and settings != stored:
        raise UserError(
            f"{earlier.folder} has a split with other settings: {stored.describe()}. Omit the settings to "
            "extend it, or choose another folder."
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
    metadata = load_metadata(file.path) or earlier.metadata() or DatasetMetadata()
    split_of = dict(zip(decision.ids, decision.splits, strict=True))
    try:
        earlier.folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{earlier.folder} can't be created: {error.strerror or error}.") from None
    paths = {
        split: earlier.path(split)
        for split in SPLITS
        if split in settings.target_shares() or split in earlier.paths
    }
    with ExitStack() as stack:
        writers = {}
        for split, path in paths.items():
            split_metadata = _build_metadata(metadata, path, split, settings)
            writers[split] = stack.enter_context(write_turn_file(path, split_metadata))
            writers[split].write(turn for turn in earlier.turns(split) if turn.session_id not in seen)
        for session_id, group in groupby(turns, key=lambda turn: turn.session_id):
            writers[split_of[session_id]].write(group)
    return {
        split: SplitFile(paths[split].name, writer.sessions, writer.turns, writer.sha256)
        for split, writer in writers.items()
    }


def _build_metadata(
    metadata: DatasetMetadata, path: Path, split: str, settings: SplitSettings
) -> DatasetMetadata:
    part = subset_metadata(metadata)
    earlier = [change for change in part.modifications if not change.startswith("split: ")]
    return replace(
        part,
        name=data_stem(path.name),
        modifications=[*earlier, f"split: {split} of {settings.describe()}"],
        extra={**part.extra, SPLIT_KEY: {"name": split, **settings.as_json()}},
    )
