"""Signs the legal review: a person states with their account that the current dataset may be shared."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction

from datasets_app import hooks
from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.core import audit
from datasets_app.core.audit import require_second_person
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, ScrubRun, Session, SharingReview
from datasets_app.releasing.sharing.changes import was_edited_since

MAX_STATEMENT_CHARACTERS = 2_000


def describe_end(dataset: Dataset) -> str:
    """What will end a signature soon; empty if nobody is labeling."""
    _, open_count = hooks.labels.find_label_progress(dataset)
    if not open_count:
        return ""
    isnt = "isn't" if open_count == 1 else "aren't"
    return (
        f"{format_count(open_count, 'campaign')} of this dataset {isnt} closed: the next label ends the "
        "signature. Sign once labeling is over, or release a version while the signature is valid: it "
        "keeps the signature."
    )


class ReviewedState(NamedTuple):
    """What the dataset was when it was reviewed: its newest session and verified scrub."""

    last_session: int | None
    last_scrub: int | None


def get_state(dataset: Dataset) -> ReviewedState:
    sessions = Session.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", flat=True)
    scrubs = ScrubRun.objects.filter(dataset=dataset).exclude(verified_at=None).values_list("pk", flat=True)
    return ReviewedState(sessions.first(), scrubs.first())


def sign_review(
    dataset: Dataset,
    *,
    statement: str = "",
    actor: Any,
    reviewed: ReviewedState | None = None,
    reviewed_at: datetime | None = None,
) -> SharingReview:
    """Store the signature of the account ``actor``. It holds until sessions are added or scrubbed, or
    metadata, tags, labels, splits, kept terms, personas or the choice of sessions change.

    Raises UserError, also if the dataset is no longer what was ``reviewed``.
    """
    require_second_person()
    statement = statement.strip()
    if len(statement) > MAX_STATEMENT_CHARACTERS:
        raise UserError(f"Keep the statement to {MAX_STATEMENT_CHARACTERS:,} characters.")
    name = format_signer(actor)
    with transaction.atomic():
        # Imports wait, so that the signature covers exactly what is stored now.
        row = lock_dataset(dataset.pk)
        gates.check_can_copy(row)
        state = get_state(row)
        edited = reviewed_at is not None and was_edited_since(row, reviewed_at)
        if edited or reviewed not in (None, state):
            raise UserError(
                f"{row.name} has changed since the signature was requested. Review and sign it again."
            )
        if state.last_session is None:
            raise UserError(f"{row.name} has no sessions; there is nothing to sign.")
        review = SharingReview.objects.create(
            dataset=row,
            name=name,
            statement=statement,
            signed_by=actor,
            turn_count=row.turn_count,
            **state._asdict(),
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


def format_signer(account: Any) -> str:
    """ "Dana Ortiz (dortiz)": the user name, since nobody else can sign in with it."""
    username, full_name = account.get_username(), account.get_full_name()
    return f"{full_name} ({username})" if full_name else str(username)
