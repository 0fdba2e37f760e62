"""Signs the legal review: a person states with their name that the current dataset may be shared."""

from typing import Any

from django.db import transaction

from datasets_app.catalog import gates
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, ScrubRun, Session, SharingReview

MIN_NAME_CHARACTERS, MAX_NAME_CHARACTERS, MAX_STATEMENT_CHARACTERS = 3, 200, 2_000


def sign_review(dataset: Dataset, *, name: str, statement: str = "", actor: Any = None) -> SharingReview:
    """Store the signature. It holds until sessions are added or scrubbed. Raises UserError."""
    name, statement = " ".join(name.split()), statement.strip()
    _check_signature(name, statement)
    with transaction.atomic():
        # Imports wait, so that the signature covers exactly what is stored now.
        row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        gates.check_can_copy(row)
        last = Session.objects.filter(dataset=row).order_by("-pk").values_list("pk", flat=True).first()
        if last is None:
            raise UserError(f"{row.name} has no sessions; there is nothing to sign.")
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


def _check_signature(name: str, statement: str) -> None:
    if not MIN_NAME_CHARACTERS <= len(name) <= MAX_NAME_CHARACTERS or not any(map(str.isalpha, name)):
        raise UserError(
            f"Sign with your full name, of {MIN_NAME_CHARACTERS} to {MAX_NAME_CHARACTERS} characters."
        )
    if len(statement) > MAX_STATEMENT_CHARACTERS:
        raise UserError(f"Keep the statement to {MAX_STATEMENT_CHARACTERS:,} characters.")
