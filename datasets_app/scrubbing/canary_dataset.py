"""Measures how much a scrub would leave: plants values in copies of turns, scrubs them, and counts.

Nothing is stored in the dataset or written anywhere but the counts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from random import Random

from datasets_app.catalog import gates
from datasets_app.catalog.scrubbers import load_current_policy, make_scrubber
from datasets_app.catalog.text_scans import record_canary, start_scan
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.queries import fetch_column
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.canary.measure import (
    MAX_VALUES,
    MIN_VALUES,
    Survival,
    choose_carrier_turns,
    measure_survival,
)
from datasets_app.domain.pii.canary.survival_text import DEFAULT_LIMIT, DEFAULT_SEED, DEFAULT_VALUES
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.models import Dataset
from datasets_app.scrubbing.rows import read_sessions
from datasets_app.scrubbing.sanitize_file import require_turns

MAX_SESSIONS, SESSIONS_PER_READ = 1_000, 50
# A hash of the key: the same seed chooses the same sessions.
_CHOOSE_SESSIONS = """
SELECT id FROM datasets_app_session WHERE dataset_id = %s ORDER BY hashint8extended(id, %s), id LIMIT %s
"""
# Copies of files keep their ids, and files have no marks: nothing is hashed with it.
_NO_KEY = b"nothing is hashed in copies"


def canary_dataset(
    dataset: Dataset,
    *,
    count: int = DEFAULT_VALUES,
    seed: int = DEFAULT_SEED,
    limit: float = DEFAULT_LIMIT,
    report_progress: ProgressCallback = ignore_progress,
) -> Survival:
    """Measure with the policy of the dataset's last scrub, its reviewers' corrections, and all personas.

    The result is kept with what is known about the text, until that changes: failed if its upper bound is
    above ``limit``. Progress is in values. Raises
    UserError.
    """
    _check_count(count)
    gates.check_can_use(dataset)
    start = start_scan(dataset)
    scrubber = make_scrubber(_strip_policy(load_current_policy(dataset)), dataset)
    sessions = list(_read_sample(dataset, count, seed))
    survival = _measure(sessions, scrubber, count, seed, report_progress, dataset.name)
    record_canary(dataset, start, survival.as_json() | {"limit": limit})
    return survival._replace(limit=limit)


def canary_file(
    file: ConversationFile,
    policy: Policy,
    persona_terms: Sequence[str],
    *,
    count: int = DEFAULT_VALUES,
    seed: int = DEFAULT_SEED,
    report_progress: ProgressCallback = ignore_progress,
) -> Survival:
    """The same for a file, with ``policy``. Raises UserError, also for lines that aren't turns."""
    _check_count(count)
    try:
        scrubber = Scrubber(_strip_policy(policy), key=_NO_KEY, persona_terms=persona_terms)
    except (PolicyError, NameModelError) as error:
        raise UserError(str(error)) from None
    return _measure(_sample_file(file, count, seed), scrubber, count, seed, report_progress, file.name)


def _check_count(count: int) -> None:
    if not MIN_VALUES <= count <= MAX_VALUES:
        raise UserError(f"Plant {MIN_VALUES} to {MAX_VALUES:,} values, so that there is one of each type.")


def _strip_policy(policy: Policy) -> Policy:
    """Without what doesn't concern texts."""
    return replace(policy, hash_session_ids=False, fuzz_seconds=0, drop_timestamps=False)


def _measure(
    sessions: Sequence[Sequence[TurnRecord]],
    scrubber: Scrubber,
    count: int,
    seed: int,
    report_progress: ProgressCallback,
    name: str,
) -> Survival:
    try:
        return measure_survival(sessions, scrubber, count=count, seed=seed, report_count=report_progress)
    except ValueError:
        raise UserError(f"{name} has no turn with text, and values are planted in texts.") from None


def _read_sample(dataset: Dataset, count: int, seed: int) -> Iterator[list[TurnRecord]]:
    """Some turns of random sessions; of long sessions only a few are in memory at a time."""
    keys = fetch_column(_CHOOSE_SESSIONS, [dataset.pk, seed, min(count, MAX_SESSIONS)])
    random = Random(seed)
    for some in batched(keys, SESSIONS_PER_READ):
        for session in read_sessions(dataset.pk, sorted(some)):
            yield choose_carrier_turns(session.turns, random)


def _sample_file(file: ConversationFile, count: int, seed: int) -> list[list[TurnRecord]]:
    """Some turns of random sessions, each as likely as any other (reservoir sampling)."""
    file.scan(lambda done: None)
    random, kept = Random(seed), list[list[TurnRecord]]()
    for number, (_, turns) in enumerate(groupby(require_turns(file, None), key=attrgetter("session_id"))):
        place = number if number < min(count, MAX_SESSIONS) else random.randrange(number + 1)
        if place == len(kept):
            kept.append(choose_carrier_turns(list(turns), random))
        elif place < len(kept):
            kept[place] = choose_carrier_turns(list(turns), random)
    return kept
