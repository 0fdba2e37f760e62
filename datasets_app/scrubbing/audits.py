"""Audits of a scrub: people read a sample of what is left, and an estimate for all of it follows."""

import random
from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db import transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Left
from django.utils import timezone

from datasets_app.catalog import gates, raw_access
from datasets_app.core import audit as audit_log
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_all
from datasets_app.domain.pii.audit_estimate import LeakEstimate, StratumCount, estimate_leaks
from datasets_app.domain.pii.audit_strata import (
    STRATUM_LABELS,
    allocate_sample,
    classify_text,
    tell_frequent_languages,
)
from datasets_app.domain.pii.names.names import score_by_built_in
from datasets_app.domain.pii.network.languages import name_language
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
# Enough of a session to tell its language.
_START = ArrayAgg(Left("text", 600), order_by="turn_index")


class Part(NamedTuple):
    """``size`` turns of the dataset that have something in common, ``read`` of them, ``leaking`` of these."""

    label: str
    size: int
    read: int
    leaking: int
    estimate: LeakEstimate


class AuditState(NamedTuple):
    """How far an audit is, and what it says. ``estimate`` is None before the first turn was read.
    ``languages`` is empty if there is only one."""

    wanted: int
    read: int
    leaking: int
    estimate: LeakEstimate | None
    strata: list[Part]
    languages: list[Part]


class _ChosenTurn(NamedTuple):
    session: int
    turn_index: int
    text: str
    language: str = ""


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
    strata = _sort_by_risk(_choose_turns(dataset, sessions, total, rng))
    counts = allocate_sample([len(stratum) for stratum in strata], wanted)
    languages, sizes = _count_cells(strata, total)
    drawn = [
        (languages.index(turn.language) * len(strata) + number, turn)
        for number, (stratum, count) in enumerate(zip(strata, counts, strict=True))
        for turn in rng.sample(stratum, count)
    ]
    rng.shuffle(drawn)
    with transaction.atomic():
        audit = ScrubAudit.objects.create(
            dataset=dataset,
            last_session=last,
            turn_count=total,
            strata=sizes,
            languages=languages,
            seed=seed,
            created_by=actor,
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
    read = fetch_all(_READ_TURNS, [*map(list, zip(*chosen, strict=True)), dataset.pk])
    found = [_ChosenTurn(*row) for row in read]
    first = Turn.objects.filter(dataset=dataset, session__in={key for key, _ in chosen}, turn_index__lte=6)
    starts = dict(first.order_by().values_list("session").annotate(start=_START))
    languages = dict(zip(starts, tell_frequent_languages(list(starts.values())), strict=True))
    return [turn._replace(language=languages.get(turn.session, "")) for turn in found]


def _sort_by_risk(turns: Sequence[_ChosenTurn]) -> list[list[_ChosenTurn]]:
    scores = score_by_built_in([blank_placeholders(turn.text) for turn in turns])
    strata: list[list[_ChosenTurn]] = [[] for _ in STRATUM_LABELS]
    for turn, score in zip(turns, scores, strict=True):
        strata[classify_text(turn.text, score)].append(turn)
    return strata


def _count_cells(strata: Sequence[Sequence[_ChosenTurn]], total: int) -> tuple[list[str], list[int]]:
    """The languages, most frequent first, and how many of ``total`` turns each stratum has in each."""
    cells = Counter((turn.language, number) for number, turns in enumerate(strata) for turn in turns)
    chosen = Counter(turn.language for turns in strata for turn in turns)
    languages = sorted(chosen, key=lambda language: (-chosen[language], language))
    return languages, [
        round(total * cells[language, number] / chosen.total())
        for language in languages
        for number in range(len(strata))
    ]


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
    rows = [counted.get(number, empty) for number in range(len(audit.strata))]
    cells = [
        StratumCount(size, row["read"], row["leaking"]) for size, row in zip(audit.strata, rows, strict=True)
    ]
    # A stratum is drawn from all languages alike, so what was read of it stands for it in all.
    step = len(STRATUM_LABELS)
    strata = [
        _build_part(label, [StratumCount(*map(sum, zip(*cells[number::step], strict=True)))])
        for number, label in enumerate(STRATUM_LABELS)
    ]
    languages = [
        _build_part(name_language(language), cells[number * step : (number + 1) * step])
        for number, language in enumerate(audit.languages or [])
    ]
    read = sum(part.read for part in strata)
    return AuditState(
        wanted=sum(row["drawn"] for row in rows),
        read=read,
        leaking=sum(part.leaking for part in strata),
        estimate=estimate_leaks(StratumCount(*part[1:4]) for part in strata if part.size) if read else None,
        strata=strata,
        languages=languages if len(languages) > 1 else [],
    )


def _build_part(label: str, counts: Sequence[StratumCount]) -> Part:
    size, read, leaking = (sum(numbers) for numbers in zip(*counts, strict=True))
    return Part(label, int(size), read, leaking, estimate_leaks(count for count in counts if count.size))


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
        "languages": {
            language: [ceil(part.estimate.high), part.size]
            for language, part in zip(audit.languages or [], state.languages, strict=False)
        },
        "on": timezone.localdate().isoformat(),
    }
    TextScan.objects.filter(dataset=audit.dataset_id).update(audit=said)
