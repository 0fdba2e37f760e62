"""What came of a scrub or a preview, made ready for its page: counts, shares, the list of findings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Case, Count, F, Q, TextField, Value, When
from django.http import QueryDict

from datasets_app.core.web.paging import Page, paginate_by_field_and_id, parse_page_request
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import ScrubFinding, ScrubRun, Session

# The parts of a turn. Unknown keys of a line, and what other apps keep beside turns, are the rest.
PART_LABELS = {
    "text": "Text",
    "tags": "Tags",
    "metadata": "Metadata",
    "session_id": "Session id",
    "persona_id": "Persona",
    "other": "Other keys, notes of labels",
}
_METADATA_CONDITION = Q(field__startswith="metadata.") | Q(field__startswith="a key of metadata")
PART_EXPRESSION = Case(
    When(field__in=["text", "session_id", "persona_id"], then=F("field")),
    When(field__startswith="tags[", then=Value("tags")),
    When(_METADATA_CONDITION, then=Value("metadata")),
    default=Value("other"),
    output_field=TextField(),
)
# Findings of a finished run never change but for becoming fewer with the next scrub.
_CACHE_SECONDS = 3600
MAX_HASH_CHARACTERS = 12


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


def make_bars(counts: Mapping[str, int], labels: Mapping[str, str]) -> list[Bar]:
    """The counts in falling order."""
    total, longest = sum(counts.values()), max(counts.values(), default=0)
    return [
        Bar(key, labels.get(key, key), count, count / longest, count / total)
        for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count
    ]


class FindingCounts(NamedTuple):
    """Findings by the part they stand in, and how many sessions and turns hold any."""

    parts: dict[str, int]
    sessions: int
    turns: int


def count_findings(scrub: ScrubRun) -> FindingCounts:
    """Reads every finding of the run, so the answer for a finished one is kept for a while."""
    key = f"scrub-touched-{scrub.pk}-{scrub.finished_at:%Y%m%d%H%M%S%f}" if scrub.finished_at else ""
    if key and (kept := cache.get(key)) is not None:
        return FindingCounts(*kept)
    found = ScrubFinding.objects.filter(scrub=scrub).order_by()
    of_turns = found.exclude(turn_index=None).values("session", "turn_index").distinct()
    answer = FindingCounts(
        dict(found.annotate(part=PART_EXPRESSION).values_list("part").annotate(Count("pk"))),
        found.aggregate(n=Count("session", distinct=True))["n"],
        of_turns.count(),
    )
    if key:
        cache.set(key, tuple(answer), _CACHE_SECONDS)
    return answer


class FindingFilter(NamedTuple):
    """Which findings are to be listed; empty for all."""

    kind: str
    part: str


def parse_filter(query: QueryDict) -> FindingFilter:
    part = query.get("part", "")
    return FindingFilter(query.get("class", "").replace("\0", "")[:100], part if part in PART_LABELS else "")


def paginate_findings(scrub: ScrubRun, finding_filter: FindingFilter, query: QueryDict) -> Page:
    """Findings by class, then in the order in which they were made. Never their values."""
    findings = ScrubFinding.objects.filter(scrub=scrub).select_related("session")
    if finding_filter.kind:
        findings = findings.filter(kind=finding_filter.kind)
    if finding_filter.part:
        findings = findings.annotate(part=PART_EXPRESSION).filter(part=finding_filter.part)
    page = paginate_by_field_and_id(findings, "kind", parse_page_request(query))
    _label_sessions(scrub, page.rows)
    return page


def _label_sessions(scrub: ScrubRun, rows: list[Any]) -> None:
    """Give each row ``session_label``: the session's id, unless something was found in that very id."""
    keys = {row.session_id for row in rows}
    found = ScrubFinding.objects.filter(session__in=keys, scrub=scrub, turn_index=None, field="session_id")
    telling = set(found.values_list("session_id", flat=True)) if scrub.dry_run else set()
    for row in rows:
        hidden = row.session_id in telling
        row.session_label = f"number {row.session_id}" if hidden else _short_session_id(row.session)


def _short_session_id(session: Session) -> str:
    """A hash tells nothing that its beginning does not tell."""
    return f"{session.session_id[:MAX_HASH_CHARACTERS]}…" if session.id_hashed else session.session_id


def result_context(scrub: ScrubRun, query: QueryDict) -> dict[str, Any]:
    """What the page shows of one finished run."""
    only = parse_filter(query)
    found_in = count_findings(scrub)
    policy = Policy.from_json(scrub.policy)
    return {
        "scrub": scrub,
        "classes": make_bars(scrub.totals, {}),
        "parts": make_bars(found_in.parts, PART_LABELS),
        "session_share": found_in.sessions / scrub.session_count if scrub.session_count else 0,
        "turn_share": found_in.turns / scrub.turn_count if scrub.turn_count else 0,
        "finding_filter": only,
        "part_label": PART_LABELS.get(only.part, ""),
        "page": paginate_findings(scrub, only, query),
        "policy_words": policy.describe(),
        "policy": policy,
        "skipped_kinds": [kind for kind in KINDS if kind not in policy.kinds],
        "remaining": sorted((scrub.verification or {}).get("remaining", {}).items()),
    }
