"""Makes a test case of a reply: its conversation and variants of it become a family in a dataset of cases."""

import hmac
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.campaigns.settings import get_annotators
from datasets_app.access.limit_access import check_restriction, copy_restriction
from datasets_app.catalog import facts, gates, raw_access
from datasets_app.catalog.rows.turn_writer import add_sessions
from datasets_app.catalog.tombstones import refuse_erased
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.families import (
    GROUP_TAG,
    KINDS,
    ORIGIN,
    CaseFacts,
    InvalidFamily,
    Variant,
    draft_variant,
    make_family,
    spell_digest,
)
from datasets_app.models import AuditEvent, Dataset, Persona, Session, Turn
from datasets_app.retention.session_identity import mark_conversation

NAME_CHARACTERS = 10
MAX_TEXT_CHARACTERS, MAX_RUBRIC_CHARACTERS, MAX_MODE_CHARACTERS = 20_000, 1_000, 90


class CaseOptions(NamedTuple):
    """``first`` is the first turn that is kept. ``rubric`` is what a good answer does, ``failure_mode`` what
    was wrong with this one. The case is to be sent to ``annotators``, if any."""

    first: int = 1
    rubric: str = ""
    failure_mode: str = ""
    variants: Sequence[Variant] = ()
    annotators: Sequence[str] = ()


class MadeCase(NamedTuple):
    """``seen_by`` are the people who were shown the raw text of the conversation."""

    dataset: Dataset
    family: str
    sessions: int
    seen_by: list[str]


def make_case(
    session: Session, turn_index: int, name: str, options: CaseOptions, *, actor: Any = None
) -> MadeCase:
    """Add the reply as a case to the dataset ``name``, which is created if it doesn't exist: of the same
    origin, and not yet scrubbed (see :func:`send_case`). Raises UserError."""
    source = session.dataset
    raw_access.check_may_read(actor, source)
    _check_can_send(session, options.annotators)
    turns = read_turns(session, options.first, turn_index)
    digest = _compute_digest(turns)
    name_of_case = _keyed_digest(f"{session.session_id}\0{turn_index}\0{digest}")
    family = f"case-{name_of_case[:NAME_CHARACTERS]}"
    seen_by = list_readers(session)
    origin = {
        "dataset": source.name,
        "conversation": mark_conversation(session),
        "turn": turn_index,
        "digest": digest,
        "seen_by": len(seen_by),
    }
    told = CaseFacts(family, options.rubric.strip(), options.failure_mode.strip(), origin)
    try:
        sessions = make_family(turns, told, options.variants)
    except InvalidFamily as error:
        raise UserError(str(error)) from None
    facts.check_dataset_name(name)
    with transaction.atomic():
        gates.check_can_copy(source)
        made, is_new = _lock_dataset(name, source, actor)
        refuse_erased(made, chain(turns, *sessions), actor=actor, override="")
        if Turn.objects.filter(dataset=made, tags__contains=[f"{GROUP_TAG}{family}"]).exists():
            raise UserError(f"{name} already has a case of this reply: {family}.")
        add_sessions(made, sessions)
        if is_new:
            made.source, made.license, made.attribution = source.source, source.license, source.attribution
            copy_restriction(made, source, actor=actor)
        made.save()
        audit.record(
            "make_case",
            actor=actor,
            dataset_name=name,
            made_from=source.name,
            session=session.pk,
            turn=turn_index,
            case=family,
            digest=digest,
            sessions=len(sessions),
            seen_by=seen_by,
        )
    return MadeCase(made, family, len(sessions), seen_by)


def _check_can_send(session: Session, annotators: Sequence[str]) -> None:
    """Before anything is made: sending is for a job, which may be long. Raises UserError."""
    if not annotators:
        return
    get_annotators(annotators)
    if not Persona.objects.filter(persona_id=session.persona_id).exists():
        raise UserError(
            "The persona of this conversation isn't in the list of personas, so nobody can judge it. Import "
            "the persona, or send the case to nobody."
        )


def draft_by_rules(session: Session, turn_index: int) -> list[Variant]:
    """Variants for the reply, of the kinds that take no person and no model."""
    asked = Turn.objects.filter(dataset=session.dataset_id, session=session, role="user")
    last = asked.filter(turn_index__lt=turn_index).order_by("-turn_index").first()
    drafts = {name: draft_variant(name, last.text) for name in KINDS} if last else {}
    return [Variant(name, KINDS[name].answer, text) for name, text in drafts.items() if text]


def check_holds_cases(dataset: Dataset) -> None:
    """Making a case takes no permission to scrub anything else. Raises UserError."""
    cases = Turn.objects.filter(dataset=dataset, session=OuterRef("pk"), metadata__has_key=ORIGIN)
    if dataset.sessions.filter(~Exists(cases)).exists():
        raise UserError(
            f"{dataset.name} holds other sessions than test cases, which would be scrubbed with them. Choose "
            "another dataset for the case."
        )


def list_readers(session: Session) -> list[str]:
    """Who was shown the page of the session while its text was raw; the audit log has the other places."""
    events = AuditEvent.objects.filter(
        action=raw_access.ACTION, dataset_name=session.dataset.name, details__session=session.pk
    )
    return sorted(set(events.values_list("actor", flat=True)))


def _lock_dataset(name: str, source: Dataset, actor: Any) -> tuple[Dataset, bool]:
    """The dataset of cases, and whether it is new. Raises UserError."""
    if actor is not None and Dataset.objects.hidden_from(actor).filter(name=name).exists():
        raise UserError(f"You can't add cases to {name}; choose another name.")
    made, is_new = facts.lock_or_create_dataset(name, origin=source.origin, actor=actor)
    if made.pk == source.pk:
        raise UserError("Choose another dataset for the case than that of the conversation.")
    if not is_new:
        check_holds_cases(made)
        check_restriction(made, source)
    return made, is_new


def read_turns(session: Session, first: int, last: int) -> list[TurnRecord]:
    rows = Turn.objects.filter(
        dataset=session.dataset_id, session=session, turn_index__gte=first, turn_index__lte=last
    ).order_by("turn_index")
    return [
        TurnRecord(
            session.session_id, row.turn_index, row.role, row.text, list(row.tags or []),
            session.persona_id, None, row.metadata, row.extra,
        )
        for row in rows
    ]  # fmt: skip


def _compute_digest(turns: Sequence[TurnRecord]) -> str:
    return _keyed_digest("\0".join(f"{turn.role}\0{turn.text}" for turn in turns))


def _keyed_digest(text: str) -> str:
    """Tells the same text again, and can't be guessed without the key."""
    return spell_digest(hmac.digest(hash_key(), text.encode("utf-8", "surrogatepass"), "sha256").hex())
