"""What production data must have gone through before it leaves the house or is shown to annotators.

Answers for pages: :func:`is_scrubbed`, :func:`can_override`. For operations: :func:`require_scrubbed`.
"""

from typing import Any

from datasets_app.catalog import activity
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, ScrubRun

PURPOSE_VERBS = {"export": "exported", "annotate": "annotated", "release": "released"}
OVERRIDE_PERMISSION = "datasets_app.override_gate"
MAX_REASON_CHARACTERS = 500
# What a calibration is tried on must not be what it learns from.
LOCKED_SPLIT = "test"


def is_scrubbed(dataset: Dataset) -> bool:
    """Whether the gates are open: data that is nobody's, or a last scrub that has passed its verification."""
    origin, status = Dataset.objects.values_list("origin", "status").get(pk=dataset.pk)
    if origin != Dataset.Origin.PRODUCTION:
        return True
    if status not in {Dataset.Status.SCRUBBED, Dataset.Status.RELEASED}:
        return False
    last = ScrubRun.objects.filter(dataset=dataset, dry_run=False).order_by("-pk").first()
    return last is not None and last.verified_at is not None


def can_override(actor: Any) -> bool:
    """Who may have it done all the same: by permission, or by access to the command line."""
    return actor is None or bool(actor.has_perm(OVERRIDE_PERMISSION))


def require_scrubbed(dataset: Dataset, purpose: str, *, actor: Any, override: str = "") -> None:
    """Refuse to let production data through that is not scrubbed, unless ``override`` gives a reason and
    ``actor`` may; that leaves an entry in the audit trail. Nothing goes through in the middle of a scrub.

    ``purpose`` is a key of :data:`PURPOSES`. To be called in the transaction of what it guards.
    """
    activity.refuse_during_scrub(dataset)
    if is_scrubbed(dataset):
        return
    done, reason = PURPOSE_VERBS[purpose], " ".join(override.split())
    if not reason:
        raise UserError(
            f"{dataset.name} holds production data that no scrub has verified; it can't be {done} before. "
            "Scrub it first. Who may override this must give a reason."
        )
    record_override(
        dataset, purpose, actor=actor, reason=reason, refusal=f"have unscrubbed production data {done}"
    )


def record_override(dataset: Dataset, purpose: str, *, actor: Any, reason: str, refusal: str) -> None:
    """Put on record that a gate was opened for a ``reason``, on one line; Refused for who may not, or if it
    is too long. ``refusal`` says what they may not."""
    if not can_override(actor):
        raise UserError(f"You may not {refusal}; ask a privacy officer.")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise UserError(f"Give the reason in at most {MAX_REASON_CHARACTERS} characters.")
    audit.record("override", actor=actor, dataset_name=dataset.name, purpose=purpose, reason=reason)
