"""What came of a scrub or a preview, made ready for its page: counts, shares, the list of findings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Case, Count, F, Q, TextField, Value, When
from django.http import QueryDict

from datasets_app.core.web.paging import Page, asked, page_by_two
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import ScrubFinding, ScrubRun, Session

# The parts of a turn. Unknown keys of a line, and what other apps keep beside turns, are the rest.
PARTS = {
    "text": "Text",
    "tags": "Tags",
    "metadata": "Metadata",
    "session_id": "Session id",
    "persona_id": "Persona",
    "other": "Other keys, notes of labels",
}
_IN_METADATA = Q(field__startswith="metadata.") | Q(field__startswith="a key of metadata")
PART = Case(
    When(field__in=["text", "session_id", "persona_id"], then=F("field")),
    When(field__startswith="tags[", then=Value("tags")),
    When(_IN_METADATA, then=Value("metadata")),
    default=Value("other"),
    output_field=TextField(),
)
# Findings of a finished run never change but for becoming fewer with the next scrub.
_KEPT_SECONDS = 3600
HASH_SHOWN = 12


class Bar(NamedTuple):
    """A row of a chart. ``width`` is of the longest bar, ``share`` of all, both from 0 to 1."""

    key: str
    label: str
    count: int
    width: float
    share: float

    @property
    def percent(self) -> str:
        """The width for an attribute of SVG: a bar that is there can be seen."""
        return f"{max(100 * self.width, 0.8 if self.count else 0):.2f}"


def bars(counts: Mapping[str, int], labels: Mapping[str, str]) -> list[Bar]:
    """The counts in falling order."""
    total, longest = sum(counts.values()), max(counts.values(), default=0)
    return [
        Bar(key, labels.get(key, key), count, count / longest, count / total)
        for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count
    ]


class Touched(NamedTuple):
    """Findings by the part they stand in, and how many sessions and turns hold any."""

    parts: dict[str, int]
    sessions: int
    turns: int


def touched(scrub: ScrubRun) -> Touched:
    """Reads every finding of the run, so the answer for a finished one is kept for a while."""
    key = f"scrub-touched-{scrub.pk}-{scrub.finished_at:%Y%m%d%H%M%S%f}" if scrub.finished_at else ""
    if key and (kept := cache.get(key)) is not None:
        return Touched(*kept)
    found = ScrubFinding.objects.filter(scrub=scrub).order_by()
    of_turns = found.exclude(turn_index=None).values("session", "turn_index").distinct()
    answer = Touched(
        dict(found.annotate(part=PART).values_list("part").annotate(Count("pk"))),
        found.aggregate(n=Count("session", distinct=True))["n"],
        of_turns.count(),
    )
    if key:
        cache.set(key, tuple(answer), _KEPT_SECONDS)
    return answer


class Wanted(NamedTuple):
    """Which findings are to be listed; empty for all."""

    kind: str
    part: str


def wanted(query: QueryDict) -> Wanted:
    part = query.get("part", "")
    return Wanted(query.get("class", "").replace("\0", "")[:100], part if part in PARTS else "")


def finding_page(scrub: ScrubRun, only: Wanted, query: QueryDict) -> Page:
    """Findings by class, then in the order in which they were made. Never their values."""
    findings = ScrubFinding.objects.filter(scrub=scrub).select_related("session")
    if only.kind:
        findings = findings.filter(kind=only.kind)
    if only.part:
        findings = findings.annotate(part=PART).filter(part=only.part)
    page = page_by_two(findings, "kind", asked(query))
    _name_sessions(scrub, page.rows)
    return page


def _name_sessions(scrub: ScrubRun, rows: list[Any]) -> None:
    """Give each row ``shown_session``: the session's id, unless something was found in that very id."""
    keys = {row.session_id for row in rows}
    found = ScrubFinding.objects.filter(session__in=keys, scrub=scrub, turn_index=None, field="session_id")
    telling = set(found.values_list("session_id", flat=True)) if scrub.dry_run else set()
    for row in rows:
        hidden = row.session_id in telling
        row.shown_session = f"number {row.session_id}" if hidden else _short(row.session)


def _short(session: Session) -> str:
    """A hash tells nothing that its beginning does not tell."""
    return f"{session.session_id[:HASH_SHOWN]}…" if session.id_hashed else session.session_id


def result_of(scrub: ScrubRun, query: QueryDict) -> dict[str, Any]:
    """What the page shows of one finished run."""
    only = wanted(query)
    found_in = touched(scrub)
    policy = Policy.from_json(scrub.policy)
    return {
        "scrub": scrub,
        "classes": bars(scrub.totals, {}),
        "parts": bars(found_in.parts, PARTS),
        "session_share": found_in.sessions / scrub.session_count if scrub.session_count else 0,
        "turn_share": found_in.turns / scrub.turn_count if scrub.turn_count else 0,
        "only": only,
        "part_label": PARTS.get(only.part, ""),
        "page": finding_page(scrub, only, query),
        "policy_words": policy.as_words(),
        "policy": policy,
        "not_looked_for": [kind for kind in KINDS if kind not in policy.kinds],
        "remaining": sorted((scrub.verification or {}).get("remaining", {}).items()),
    }
