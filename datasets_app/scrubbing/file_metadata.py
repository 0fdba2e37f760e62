"""The ``.meta.yaml`` of a sanitized file: what was done to it, and what had been done before."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from datasets_app.catalog.files import load_metadata
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.batches import FindingPlace, ScrubSetup
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.scrubbing.sanitize_file import SanitizeResult

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
    values, findings = scrubber.scrub_object(values)
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
        changes.append(f"personal data replaced in {result.found_turns:,} of {result.turns:,} turns")
    return replace(
        metadata,
        name=metadata.name or name,
        anonymization=_merge_lists(metadata.anonymization, done),
        modifications=_merge_lists(metadata.modifications, changes),
        total_sessions=result.sessions,
        total_turns=result.turns,
        sha256=result.sha256,
    )


def _merge_lists(first: Sequence[str], second: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*first, *second)))
