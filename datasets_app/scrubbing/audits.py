"""Audits of a scrub: people read a sample of what is left, and an estimate for all of it follows."""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from datasets_app.catalog import gates, raw_access
from datasets_app.core import audit as audit_log
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.audit_estimate import LeakEstimate, StratumCount, estimate_leaks
from datasets_app.domain.pii.audit_strata import STRATUM_LABELS, allocate_sample, classify_text
from datasets_app.domain.pii.names.names import score_by_built_in
from datasets_app.domain.pii.placeholders import blank_placeholders
from datasets_app.models import AuditedTurn, Dataset, ScrubAudit, Session, TextScan, Turn

DEFAULT_SAMPLE, MAX_SAMPLE = 200, 2_000
# Turns that are sorted by their risk before some of them are drawn: all of a small dataset.
MAX_SORTED_TURNS = 5_000

_READ_TURNS = """
SELECT t.session_id, t.turn_index, t.text
FROM unnest(%s::bigint[], %s::integer[]) AS place (session_id, turn_index)
JOIN datasets_app_turn t USING (session_id, turn_index)
WHERE t.dataset_id = %s
ORDER BY t.session_id, t.turn_index
"""


class AuditState(NamedTuple):
    """How far an audit is, and what it says. ``estimate`` is None before the first turn was read."""

    wanted: int
    read: int
    leaking: int
    estimate: LeakEstimate | None
    strata: list[tuple[str, int, int, int]]  # label, turns in the dataset, read, with something left


class _ChosenTurn(NamedTuple):
    session: int
    turn_index: int
    text: str


# --- drawing the sample ------------------------------------------------------------------------------


def draw_audit(dataset: Dataset, *, wanted: int, seed: int | None = None, actor: Any) -> ScrubAudit:
    """Draw a sample of about ``wanted`` turns, more where the risk is higher. Raises UserError."""
    if not 1 <= wanted <= MAX_SAMPLE:
        raise UserError(f"A sample has 1 to {MAX_SAMPLE:,} turns, not {wanted:,}.")
    raw_access.check_may_read(actor, dataset)
    facts = gates.load_facts(dataset)
    if not facts.is_scrubbed:
        raise UserError(
            f"{dataset.name} has text that was not scrubbed. Scrub it first, then audit the scrub."
        )
    seed = random.SystemRandom().randrange(1 << 31) if seed is None else seed
    rng = random.Random(seed)  # a sample, no secret # nosec B311
    last = facts.text.last_session
    sessions = Session.objects.filter(dataset=dataset, pk__lte=last)
    total = sessions.aggregate(sum=Sum("turn_count"))["sum"]
    chosen = _choose_turns(dataset, sessions, total, rng)
    strata = _sort_by_risk(chosen)
    counts = allocate_sample([len(stratum) for stratum in strata], wanted)
    drawn = [
        (number, turn)
        for number, (stratum, count) in enumerate(zip(strata, counts, strict=True))
        for turn in rng.sample(stratum, count)
    ]
    rng.shuffle(drawn)
    sizes = [round(total * len(stratum) / len(chosen)) for stratum in strata]
    with transaction.atomic():
        audit = ScrubAudit.objects.create(
            dataset=dataset, last_session=last, turn_count=total, strata=sizes, seed=seed, created_by=actor
        )
        AuditedTurn.objects.bulk_create(
            AuditedTurn(
                audit=audit,
                session_id=turn.session,
                turn_index=turn.turn_index,
                position=position,
                stratum=stratum,
            )
            for position, (stratum, turn) in enumerate(drawn, 1)
        )
        audit_log.record(
            "draw_scrub_audit", actor=actor, dataset_name=dataset.name, scrub_audit=audit.pk, turns=len(drawn)
        )
    return audit


def _choose_turns(
    dataset: Dataset, sessions: QuerySet[Session], total: int, rng: random.Random
) -> list[_ChosenTurn]:
    """Turns drawn evenly from all ``total`` of them; every one if they are few."""
    places = sorted(rng.sample(range(1, total + 1), min(total, MAX_SORTED_TURNS)))
    chosen: list[tuple[int, int]] = []
    until = 0
    for session, turns in sessions.order_by("pk").values_list("pk", "turn_count").iterator():
        until += turns
        while len(chosen) < len(places) and places[len(chosen)] <= until:
            chosen.append((session, places[len(chosen)] - until + turns))
    with connection.cursor() as cursor:
        cursor.execute(_READ_TURNS, [*map(list, zip(*chosen, strict=True)), dataset.pk])
        return [_ChosenTurn(*row) for row in cursor.fetchall()]


def _sort_by_risk(turns: Sequence[_ChosenTurn]) -> list[list[_ChosenTurn]]:
    scores = score_by_built_in([blank_placeholders(turn.text) for turn in turns])
    strata: list[list[_ChosenTurn]] = [[] for _ in STRATUM_LABELS]
    for turn, score in zip(turns, scores, strict=True):
        strata[classify_text(turn.text, score)].append(turn)
    return strata


# --- reading it --------------------------------------------------------------------------------------


def find_audit(dataset: Dataset) -> ScrubAudit | None:
    """The newest audit of the dataset."""
    return ScrubAudit.objects.filter(dataset=dataset).first()


def find_next(audit: ScrubAudit, after: int = 0) -> AuditedTurn | None:
    """The next turn that nobody has read: after this position, else from the start."""
    unread = AuditedTurn.objects.filter(audit=audit, verdict="")
    return unread.filter(position__gt=after).first() or unread.first()


def load_turns_around(item: AuditedTurn, before: int) -> list[Turn]:
    """The turn and those before it in its session."""
    turns = Turn.objects.filter(dataset=item.audit.dataset_id, session_id=item.session_id)
    wanted = turns.filter(turn_index__range=(item.turn_index - before, item.turn_index))
    return list(wanted.order_by("turn_index"))


def record_verdict(item: AuditedTurn, verdict: str, *, actor: Any) -> None:
    """Keep what somebody found in a turn, and the estimate that follows from all verdicts."""
    with transaction.atomic():
        audit = ScrubAudit.objects.select_for_update(no_key=True).get(pk=item.audit_id)
        item.verdict, item.read_by, item.read_at = verdict, actor, timezone.now()
        item.save(update_fields=["verdict", "read_by", "read_at"])
        state = describe_audit(audit)
        if state.read == state.wanted:
            audit_log.record(
                "finish_scrub_audit",
                actor=actor,
                dataset_name=audit.dataset.name,
                scrub_audit=audit.pk,
                turns=state.read,
                leaking=state.leaking,
            )
        _state_result(audit, state)


def describe_audit(audit: ScrubAudit) -> AuditState:
    counted = {
        row["stratum"]: row
        for row in AuditedTurn.objects.filter(audit=audit)
        .values("stratum")
        .order_by("stratum")
        .annotate(drawn=Count("pk"), read=Count("pk", ~Q(verdict="")), leaking=Count("pk", Q(verdict="leak")))
    }
    empty = {"drawn": 0, "read": 0, "leaking": 0}
    rows = [(size, counted.get(number, empty)) for number, size in enumerate(audit.strata)]
    read = sum(row["read"] for _, row in rows)
    counts = [StratumCount(size, row["read"], row["leaking"]) for size, row in rows if size]
    return AuditState(
        wanted=sum(row["drawn"] for _, row in rows),
        read=read,
        leaking=sum(row["leaking"] for _, row in rows),
        estimate=estimate_leaks(counts) if read else None,
        strata=[
            (label, size, row["read"], row["leaking"])
            for label, (size, row) in zip(STRATUM_LABELS, rows, strict=True)
        ],
    )


def _state_result(audit: ScrubAudit, state: AuditState) -> None:
    """Put the result where every statement about the text is made from."""
    if state.estimate is None:
        return
    said = {
        "last_session": audit.last_session,
        "read": state.read,
        "turns": audit.turn_count,
        "estimate": state.estimate.texts,
        "low": state.estimate.low,
        "high": state.estimate.high,
        "on": timezone.localdate().isoformat(),
    }
    TextScan.objects.filter(dataset=audit.dataset_id).update(audit=said)
