"""Reading a scrubbed dataset again, to be able to say that nothing is left."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from datasets_app import hooks
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.pii.scrubber import Scrubber, SessionInput
from datasets_app.models import Dataset, Session
from datasets_app.scrubbing.chunks import MAX_TURNS_PER_CHUNK
from datasets_app.scrubbing.rows import read_sessions


def verify_scrub(dataset: Dataset, scrubber: Scrubber, report_progress: ProgressCallback) -> dict[str, Any]:
    """What the rules still find in the stored rows: "remaining" by class, "sessions", "turns", "seconds".

    It goes by the dataset's sessions as they stand now, not by the chunks that were written. Each batch is
    a statement of its own, so that no transaction stays open meanwhile.
    """
    began = time.monotonic()
    remaining: Counter[str] = Counter()
    sessions = turns = 0
    for keys in _read_batches(dataset):
        texts = _load_texts(keys)
        remaining.update(scrubber.count_remaining(texts))
        sessions += len(texts)
        turns += sum(len(session.turns) for session in texts)
        report_progress(dataset.turn_count, dataset.turn_count)
    return {
        "remaining": dict(sorted(remaining.items())),
        "sessions": sessions,
        "turns": turns,
        "seconds": round(time.monotonic() - began, 3),
    }


def _read_batches(dataset: Dataset) -> Iterator[list[int]]:
    batch: list[int] = []
    turns = last = 0
    every = Session.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "turn_count")
    while some := list(every.filter(pk__gt=last)[:MAX_TURNS_PER_CHUNK]):
        for key, count in some:
            batch.append(key)
            turns += count
            if turns >= MAX_TURNS_PER_CHUNK:
                yield batch
                batch, turns = [], 0
        last = some[-1][0]
    if batch:
        yield batch


def _load_texts(keys: list[int]) -> list[SessionInput]:
    with transaction.atomic():  # what is read is locked for that long
        beside = [part.read(keys) for part in hooks.scrub_hooks]
    return [
        SessionInput(
            session.turns,
            [value for found in beside for _, value in found.get(session.key, ())],
            session.id_hashed,
        )
        for session in read_sessions(keys)
    ]
