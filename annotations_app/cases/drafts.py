"""Variants that a model wrote: left out of everything until a person has seen them and kept them."""

from typing import Any, NamedTuple

from django.db import transaction

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.facts import lock_dataset
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.families import (
    ANSWER_TAG,
    ANSWERS,
    CASE_TAG,
    DRAFT_TAG,
    KINDS,
    ORIGINAL,
    VARIANT_TAG,
    decide_tags,
    read_tag,
)
from datasets_app.models import Dataset, Session, Turn

MAX_DRAFTS = 50


class Draft(NamedTuple):
    """``message`` is what the user says in the case, ``text`` what they say in the variant."""

    session: int
    case: str
    kind: str
    answer: str
    message: str
    text: str

    @property
    def label(self) -> str:
        return KINDS[self.kind].label if self.kind in KINDS else self.kind


def find_drafts(dataset: Dataset) -> Any:
    """The replies that name themselves drafts."""
    return Turn.objects.filter(dataset=dataset, tags__contains=[DRAFT_TAG], session__excluded=True)


def count_drafts(dataset: Dataset) -> int:
    return int(find_drafts(dataset).count())


def list_drafts(dataset: Dataset) -> list[Draft]:
    """The oldest first, at most :data:`MAX_DRAFTS`."""
    replies = find_drafts(dataset).order_by("session_id")[:MAX_DRAFTS]
    messages: dict[str, str] = {}
    drafts = []
    for reply in replies:
        case = read_tag(reply.tags, CASE_TAG)
        if case not in messages:
            tags = [f"{CASE_TAG}{case}", f"{VARIANT_TAG}{ORIGINAL}"]
            original = Turn.objects.filter(dataset=dataset, tags__contains=tags).first()
            messages[case] = _read_message(original) if original else ""
        kind, answer = read_tag(reply.tags, VARIANT_TAG), read_tag(reply.tags, ANSWER_TAG)
        drafts.append(Draft(reply.session_id, case, kind, answer, messages[case], _read_message(reply)))
    return drafts


def decide_draft(dataset: Dataset, session: int, answer: str | None, *, actor: Any = None) -> str:
    """Keep a draft as a variant whose answer must stay the "same" or "change", or (None) discard it: then its
    session stays excluded. Nobody keeps what they may not read. Returns the name of its case. Raises
    UserError."""
    if answer is not None and answer not in ANSWERS:
        raise UserError("Say whether the answer must stay the same or change.")
    with transaction.atomic():
        locked = lock_dataset(dataset.pk)
        gates.check_can_replace_text(locked)
        raw_access.check_may_read(actor, locked)
        reply = find_drafts(locked).filter(session=session).first()
        if reply is None:
            raise UserError("This draft isn't waiting any more: somebody has decided on it.")
        reply.tags = decide_tags(reply.tags, answer)
        Turn.objects.filter(dataset=locked, pk=reply.pk).update(tags=reply.tags)
        Session.objects.filter(dataset=locked, pk=session).update(excluded=answer is None)
        locked.save(update_fields=["updated_at"])
        case = read_tag(reply.tags, CASE_TAG)
        audit.record(
            "discard_variant" if answer is None else "keep_variant",
            actor=actor,
            dataset_name=locked.name,
            case=case,
            session=session,
        )
    return case


def _read_message(reply: Turn) -> str:
    asked = Turn.objects.filter(
        dataset=reply.dataset_id, session=reply.session_id, role="user", turn_index__lt=reply.turn_index
    )
    return str(asked.order_by("-turn_index").values_list("text", flat=True).first() or "")
