"""Verifies a scrub by reading the dataset again."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.core.progress import ProgressCallback
from datasets_app.domain.pii.exemptions import ExemptionCounter
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.models import Dataset, Session
from datasets_app.scrubbing.chunks import MAX_PLACES, MAX_TURNS_PER_CHUNK, Said, describe_place
from datasets_app.scrubbing.rows import read_sessions


def verify_scrub(dataset: Dataset, scrubber: Scrubber, report_progress: ProgressCallback) -> dict[str, Any]:
    """Search the stored rows again; returns "remaining" matches by type, the first "places" of them,
    "exempt" terms by type, "languages" (how many sessions are of each), "unmeasured" (the turns in languages
    in which it was not measured how many names stay), "sessions", "turns" and "seconds".

    Reads all current sessions of the dataset, not only those in chunks. Each batch is its own statement, so
    that no transaction stays open.
    """
    began = time.monotonic()
    remaining: Counter[str] = Counter()
    languages: Counter[str] = Counter()
    unmeasured: Counter[str] = Counter()
    places: list[str] = []
    exempt = ExemptionCounter(list_exemptions(dataset))
    sessions = turns = 0
    for keys in _read_batches(dataset):
        texts = _load_texts(dataset, keys)
        for value in scrubber.find_remaining(texts):
            remaining[value.kind] += 1
            if len(places) < MAX_PLACES:
                places.append(describe_place(keys[value.session], value))
        spoken = scrubber.count_languages(texts)
        languages.update(spoken.conversations)
        unmeasured.update(spoken.unmeasured)
        for text in scrubber.list_strings(texts):
            exempt.add(text)
        sessions += len(texts)
        turns += sum(len(session.turns) for session in texts)
        report_progress(dataset.turn_count, dataset.turn_count)
    return {
        "remaining": dict(sorted(remaining.items())),
        "places": places,
        "exempt": exempt.totals(),
        "languages": dict(sorted(languages.items())),
        "unmeasured": dict(sorted(unmeasured.items())),
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


def _load_texts(dataset: Dataset, keys: list[int]) -> list[SessionInput]:
    with transaction.atomic():  # what is read is locked
        said = Said(dataset.pk, keys)
    return [
        SessionInput(session.turns, said.list_objects(session.key), session.id_hashed)
        for session in read_sessions(dataset.pk, keys)
    ]
