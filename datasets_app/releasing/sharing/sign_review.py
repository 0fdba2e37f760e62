"""A person puts their name to it that a dataset may be shared as it stands."""

from typing import Any

from django.db import transaction

from datasets_app.catalog import activity
from datasets_app.catalog.require_active import refuse_expired
from datasets_app.core import audit
from datasets_app.core.errors import Refused
from datasets_app.models import Dataset, ScrubRun, Session, SharingReview

SHORTEST_NAME, LONGEST_NAME, LONGEST_STATEMENT = 3, 200, 2_000


def sign_review(dataset: Dataset, *, name: str, statement: str = "", actor: Any = None) -> SharingReview:
    """Keep the signature. It holds until a session comes or a scrub changes something. Raises Refused."""
    name, statement = " ".join(name.split()), statement.strip()
    _check(name, statement)
    with transaction.atomic():
        # What is imported waits; what has come before is signed for.
        row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        refuse_expired(row)
        activity.refuse_while_scrubbed(row)
        last = Session.objects.filter(dataset=row).order_by("-pk").values_list("pk", flat=True).first()
        if last is None:
            raise Refused(f"{row.name} holds no sessions; there is nothing to sign for.")
        scrub = ScrubRun.objects.filter(dataset=row).exclude(verified_at=None).first()
        review = SharingReview.objects.create(
            dataset=row,
            name=name,
            statement=statement,
            signed_by=actor,
            last_session=last,
            last_scrub=scrub.pk if scrub else None,
            turn_count=row.turn_count,
        )
        audit.record(
            "sign_review",
            actor=actor,
            dataset_name=row.name,
            name=name,
            statement=statement,
            turns=row.turn_count,
        )
    return review


def _check(name: str, statement: str) -> None:
    if not SHORTEST_NAME <= len(name) <= LONGEST_NAME or not any(map(str.isalpha, name)):
        raise Refused(f"Sign with your full name, of {SHORTEST_NAME} to {LONGEST_NAME} characters.")
    if len(statement) > LONGEST_STATEMENT:
        raise Refused(f"Keep the statement to {LONGEST_STATEMENT:,} characters.")
