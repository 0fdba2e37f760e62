"""Searches a dataset for words that are brands before its scrub, and takes one back."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.db import transaction

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.personas import list_persona_terms
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_column
from datasets_app.domain.batches import batched
from datasets_app.domain.pii.brands import MAX_TURNS_SEARCHED, BrandCounter, BrandTally, needs_brands
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.policy import Brand, Policy
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.models import Dataset, ScrubMark, ScrubRun
from datasets_app.scrubbing.marks import mark_value_missed
from datasets_app.scrubbing.rows import read_sessions

SESSIONS_PER_READ = 100
# Sessions in an order of chance, until they have so many turns.
_CHOOSE_SESSIONS = """
SELECT id FROM (
    SELECT id, sum(turn_count) OVER (ORDER BY hashint8(id), id) - turn_count AS turns_before
    FROM datasets_app_session WHERE dataset_id = %s
) numbered WHERE turns_before < %s ORDER BY id
"""


def add_brands(dataset: Dataset, policy: Policy) -> Policy:
    """``policy`` with the brands that a part of the dataset's sessions shows, if it asks for them."""
    persona_terms = tuple(list_persona_terms(dataset))
    if not needs_brands(policy, persona_terms):
        return policy
    key = hash_key()
    counter, tally = BrandCounter(policy, key, persona_terms), BrandTally()
    for sessions in _read_sample(dataset):
        tally.add(counter.count(sessions), len(sessions))
    return replace(policy, brands=tally.choose_brands(policy, key, persona_terms))


def _read_sample(dataset: Dataset) -> Iterator[list[SessionInput]]:
    keys = fetch_column(_CHOOSE_SESSIONS, [dataset.pk, MAX_TURNS_SEARCHED])
    for some in batched(keys, SESSIONS_PER_READ):
        yield [SessionInput(session.turns) for session in read_sessions(dataset.pk, some)]


def list_brands(scrub: ScrubRun | None) -> tuple[Brand, ...]:
    """The words that a scrub or a preview keeps as brands."""
    return Policy.from_json(scrub.policy).brands or () if scrub else ()


def compute_brand_key(term: str) -> str:
    """What a page calls a brand by."""
    mark = make_missed_mark(NAME, term, hash_key())
    return mark.digest if mark else ""


def scrub_brand(dataset: Dataset, key: str, *, actor: Any) -> ScrubMark:
    """Have a word that was kept as a brand replaced wherever it stands, from the next scrub on. The word
    itself is forgotten. Raises UserError."""
    with transaction.atomic():
        marked = None
        for scrub in dataset.scrubs.select_for_update():
            brands = list_brands(scrub)
            left = [brand for brand in brands if compute_brand_key(brand.term) != key]
            if len(left) < len(brands):
                [term] = {brand.term for brand in brands} - {brand.term for brand in left}
                marked = mark_value_missed(dataset, term, NAME, actor=actor)
                scrub.policy = {**scrub.policy, "brands": [list(brand) for brand in left]}
                scrub.save(update_fields=["policy"])
        if marked is None:
            raise UserError("This word is not kept as a brand any more. Reload the page.")
    return marked
