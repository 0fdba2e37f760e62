"""The results of a scrub or preview for its page: counts, shares and the list of findings."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models import Case, Count, F, Q, TextField, Value, When
from django.http import QueryDict

from datasets_app.catalog.dataset_facts import join_exceptions, say_verified
from datasets_app.core.web.paging import Page, paginate_by_field_and_id, parse_page_request
from datasets_app.domain.charts import Bars, Chart, make_chart
from datasets_app.domain.pii.detector import KINDS, PATTERN_KINDS
from datasets_app.domain.pii.exemptions import describe_exempt, read_exempt_counts
from datasets_app.domain.pii.network.languages import describe_unmeasured, say_languages
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.pseudonyms import format_placeholder
from datasets_app.domain.wording import format_count
from datasets_app.models import ScrubFinding, ScrubRun, Session
from datasets_app.scrubbing import proposals
from datasets_app.templatetags.datasets_display import kind_label

# The parts of a turn. "other" is unknown keys of a line, and what other apps store with turns.
PART_LABELS = {
    "text": "Text",
    "tags": "Tags",
    "metadata": "Metadata",
    "session_id": "Session id",
    "persona_id": "Persona",
    "other": "Additional metadata, annotation notes",
}
_METADATA_CONDITION = Q(field__startswith="metadata.") | Q(field__startswith="a key of metadata")
PART_EXPRESSION = Case(
    When(field__in=["text", "session_id", "persona_id"], then=F("field")),
    When(field__startswith="tags[", then=Value("tags")),
    When(_METADATA_CONDITION, then=Value("metadata")),
    default=Value("other"),
    output_field=TextField(),
)
# Findings of a finished run never change, except that the next scrub may remove some.
_CACHE_SECONDS = 3600
MAX_HASH_CHARACTERS = 12


def _make_chart(
    head: str, parameter: str, counts: Mapping[str, int], query: QueryDict, may_list: bool
) -> Chart:
    """Largest first; each row leads to its findings, for people who may see them."""

    def link(key: str) -> str:
        changed = query.copy()
        changed[parameter] = key
        for place in ("after", "before", "last"):
            changed.pop(place, None)
        return f"?{changed.urlencode()}#findings" if may_list else ""

    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    bars = [
        Bars(
            PART_LABELS.get(key, key),
            [count],
            [link(key)],
            note=kind_label(key) if parameter == "class" else "",
            is_current=query.get(parameter) == key,
        )
        for key, count in ordered
        if count
    ]
    return make_chart(f"Findings by {head.lower()}", head, bars, series=["Findings"])


class FindingCounts(NamedTuple):
    """Findings by part, and the number of sessions and turns with findings."""

    parts: dict[str, int]
    sessions: int
    turns: int


def count_findings(scrub: ScrubRun) -> FindingCounts:
    """Count the findings of a run; caches the slow count of a finished run."""
    key = f"scrub-touched-{scrub.pk}-{scrub.finished_at:%Y%m%d%H%M%S%f}" if scrub.finished_at else ""
    if key and (cached := cache.get(key)) is not None:
        return FindingCounts(*cached)
    findings = ScrubFinding.objects.filter(scrub=scrub).order_by()
    in_turns = findings.exclude(turn_index=None).values("session", "turn_index").distinct()
    counts = FindingCounts(
        dict(findings.annotate(part=PART_EXPRESSION).values_list("part").annotate(Count("pk"))),
        findings.aggregate(n=Count("session", distinct=True))["n"],
        in_turns.count(),
    )
    if key:
        cache.set(key, tuple(counts), _CACHE_SECONDS)
    return counts


class FindingFilter(NamedTuple):
    """The type and the part of the findings to list; empty for all."""

    kind: str
    part: str


def parse_filter(query: QueryDict) -> FindingFilter:
    part = query.get("part", "")
    return FindingFilter(query.get("class", "")[:100], part if part in PART_LABELS else "")


def paginate_findings(scrub: ScrubRun, finding_filter: FindingFilter, query: QueryDict) -> Page:
    """A page of findings by type, then by id. Findings have no values."""
    findings = ScrubFinding.objects.filter(scrub=scrub, session__dataset=scrub.dataset_id)
    findings = findings.select_related("session")
    if finding_filter.kind:
        findings = findings.filter(kind=finding_filter.kind)
    if finding_filter.part:
        findings = findings.annotate(part=PART_EXPRESSION).filter(part=finding_filter.part)
    page = paginate_by_field_and_id(findings, "kind", parse_page_request(query))
    _label_sessions(scrub, page.rows)
    return page


def _label_sessions(scrub: ScrubRun, rows: list[Any]) -> None:
    """Set ``session_label`` to the session's id, or to its key if personal data was found in the id."""
    keys = {row.session_id for row in rows}
    in_ids = ScrubFinding.objects.filter(session__in=keys, scrub=scrub, turn_index=None, field="session_id")
    sensitive = set(in_ids.values_list("session_id", flat=True)) if scrub.dry_run else set()
    for row in rows:
        hide = row.session_id in sensitive
        row.session_label = f"number {row.session_id}" if hide else _short_session_id(row.session)


def _short_session_id(session: Session) -> str:
    """The start of a hashed id is enough to recognize it."""
    return f"{session.session_id[:MAX_HASH_CHARACTERS]}…" if session.id_hashed else session.session_id


def _withhold_findings(rows: list[Any]) -> None:
    """Ids of sessions and names of keys come from the file."""
    for row in rows:
        if not row.session.id_hashed:
            row.session_label = f"number {row.session_id}"
        row.field = row.field if row.field in PART_LABELS else "metadata"


def result_context(scrub: ScrubRun, query: QueryDict, *, withheld: bool, may_list: bool) -> dict[str, Any]:
    """The context of the page for one finished run; ``withheld`` if its user may not read raw text, and
    ``may_list`` if they may see the findings."""
    finding_filter = parse_filter(query)
    counts = count_findings(scrub)
    page = paginate_findings(scrub, finding_filter, query)
    by_value = scrub.dry_run and not withheld and query.get("view") == "values"
    if withheld:
        _withhold_findings(page.rows)
    elif not by_value:
        found = proposals.load_snippets(scrub.dataset_id, (row.pk for row in page.rows))
        for row in page.rows:
            row.snippet, row.placeholder = found.get(row.pk), format_placeholder(row.kind)
    policy = Policy.from_json(scrub.policy)
    return {
        "scrub": scrub,
        "charts": [
            _make_chart("Type", "class", scrub.totals, query, may_list),
            _make_chart("Location", "part", counts.parts, query, may_list),
        ],
        "session_share": counts.sessions / scrub.session_count if scrub.session_count else 0,
        "turn_share": counts.turns / scrub.turn_count if scrub.turn_count else 0,
        "finding_filter": finding_filter,
        "part_label": PART_LABELS.get(finding_filter.part, ""),
        "page": page,
        "values": proposals.list_values(scrub, finding_filter.kind) if by_value else None,
        "max_values": proposals.MAX_VALUES,
        "pattern_kinds": PATTERN_KINDS,
        "policy_words": policy.describe(),
        "policy": policy,
        "ignored_terms": len(policy.allow) + len(policy.allow_names) + len(policy.exempt_marks),
        **_describe_verification(scrub.verification or {}, policy.prefer),
        "skipped_kinds": [kind for kind in KINDS if kind not in policy.kinds],
    }


def _describe_verification(verification: dict[str, Any], prefer: str) -> dict[str, Any]:
    """In the words of every other statement about the dataset."""
    turns = verification.get("turns", 0)
    exempt = describe_exempt(read_exempt_counts(verification.get("exempt")))
    exceptions = join_exceptions(exempt, describe_unmeasured(verification.get("unmeasured", {}), turns))
    return {
        "exceptions": exceptions,
        "verified": say_verified(exceptions, format_count(turns, "turn")),
        "languages": say_languages(verification.get("languages"), prefer),
        "remaining": sorted(verification.get("remaining", {}).items()),
    }
