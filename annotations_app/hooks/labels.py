"""The labels of a dataset: ``Labels`` of ``datasets_app/hooks.py``."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncWeek
from django.utils import timezone

from annotations_app.agreement.figures import persona_label_stats
from annotations_app.criteria.schemas import get_schema
from annotations_app.hooks.on_import import annotate_imported_turns
from annotations_app.hooks.session_data import make_pseudonym
from annotations_app.hooks.session_labels import SESSION_LABELS
from annotations_app.labels.decisions import LabelDecision, encode_decision, read_decisions, tally_decision
from annotations_app.labels.label_places import without_place
from annotations_app.models import Annotation, Campaign, CampaignMember, Decision, Judgment, LabelSchema
from datasets_app.catalog import gates, policies
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.domain.conversations.jsonl import decode_object
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.labels.schema_document import dump_schema
from datasets_app.domain.packages.package import LabelFile, LabelSummary
from datasets_app.domain.packages.quality_statement import QualityStatement
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count

_COEFFICIENTS = (
    ("raw_agreement", "Raw agreement"),
    ("krippendorff_alpha", "Krippendorff’s alpha"),
    ("gwet_ac1", "Gwet’s AC1"),
)


def build_label_facts(dataset: Any) -> LabelSummary | None:
    """Counted labels by persona, and inter-annotator agreement; None without labels."""
    from annotations_app.agreement.measure import measure_agreement  # loads numpy: not at every start

    personas = persona_label_stats(dataset.pk)
    if not personas:
        return None
    measured = measure_agreement(dataset=dataset, consensus=False).headline
    return LabelSummary(
        labels=sum(row.labels for row in personas),
        annotators=measured.annotators,
        by_persona=[(row.persona_id, row.labels - row.on_brand, row.on_brand) for row in personas],
        agreement=[
            (name, statistic.value, statistic.low, statistic.high, statistic.note)
            for field, name in _COEFFICIENTS
            for statistic in [getattr(measured, field)]
        ],
    )


def build_quality_statement(dataset: Any) -> QualityStatement:
    from annotations_app.estimates import statement  # loads numpy: not at every start

    return statement.build_quality_statement(dataset)


# --- the labels themselves -----------------------------------------------------------------------

LABELS_FOLDER = "labels"
BATCH_SIZE = 2_000
# Of what a label has beside the fields of the format: anything else may name people, as "worker" does.
SHARED_FIELDS = frozenset(("labeler", "split", "tags", "guidelines", "campaign"))
_UNSAFE_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_FIELDS = (
    "turn__text",
    "label",
    "persona_id",
    "turn__session__session_id",
    "turn__turn_index",
    "annotator",
    "notes",
    "timestamp",
    "confidence",
    "extra",
)


class PackagedLabels(NamedTuple):
    files: list[LabelFile]
    notices: list[str]


def write_label_files(
    dataset: Any, folder: Path, data: Sequence[Path], actor: Any, override: str
) -> PackagedLabels:
    """Write every label of the turns in ``data`` (files of turns), one file for each persona, with
    pseudonyms for annotators and days instead of times. Labels of the locked test split are left out.

    Raises UserError if notes hold personal data and ``override`` is no reason to share it.
    """
    labels = Annotation.objects.filter(dataset=dataset, kind=Annotation.Kind.LABEL)
    every: list[QuerySet[Any]] = [labels, Judgment.objects.filter(dataset=dataset, kind=Judgment.Kind.LABEL)]
    if not any(rows.exists() for rows in every):
        return PackagedLabels([], [])
    if actor is not None and not actor.has_perm("annotations_app.export_annotation"):
        return PackagedLabels([], ["Without labels: this account has no permission to export them."])
    shared = [rows.exclude(turn__session__split=policies.LOCKED_SPLIT) for rows in every]
    wanted = {_digest_turn(label.record) for label in _read_shared(shared)}
    present = _find_turns(data, wanted)
    tally = TextTally(list_exemptions(dataset))
    files = _write_files(_read_shared(shared, tally), present, folder)
    gates.check_label_export(dataset, tally.found, actor=actor, override=override)
    notices = []
    if fields := _count_other_fields(shared):
        values = format_count(sum(fields.values()), "value")
        names = format_count(len(fields), "field")
        notices.append(f"{names} of labels that the format doesn't have left out ({values}).")
    if locked := sum(rows.filter(turn__session__split=policies.LOCKED_SPLIT).count() for rows in every):
        notices.append(f"{format_count(locked, 'label')} of the locked test split left out.")
    if missing := sum(rows.count() for rows in shared) - sum(file.labels for file in files):
        notices.append(
            f"{format_count(missing, 'label')} of turns that this package doesn't contain left out."
        )
    return PackagedLabels(files, notices)


def _count_other_fields(every: list[QuerySet[Any]]) -> Counter[str]:
    """How many labels have each field that isn't shared."""
    counts: Counter[str] = Counter()
    for rows in every:
        said = rows.exclude(extra=None).values_list("extra", flat=True)
        for extra in said.iterator(chunk_size=BATCH_SIZE):
            counts.update(set(extra or ()) - SHARED_FIELDS)
    return counts


def _read_shared(every: list[QuerySet[Any]], tally: TextTally | None = None) -> Iterator[LabelDecision]:
    """In the order of personas, sessions and turns; after the labels the decisions under each schema."""
    labels, judgments = every
    ordered = labels.order_by("persona_id", "turn__session_id", "turn__turn_index", "id")
    rows = ordered.values_list(*_FIELDS).iterator(chunk_size=BATCH_SIZE)
    schemas = LabelSchema.objects.filter(pk__in=judgments.values("schema")).order_by("name", "version")
    under = (read_decisions(judgments.filter(schema=schema), hidden=True) for schema in schemas)
    plain = (LabelDecision(without_place(LabelRecord(*row))) for row in rows)
    for decision in chain(plain, chain.from_iterable(under)):
        shared = decision._replace(record=_select_shared(decision.record))
        if tally:
            tally_decision(tally, shared)
        yield shared


def _select_shared(record: LabelRecord) -> LabelRecord:
    """With pseudonyms for people, days, and only the other fields that may be shared."""
    extra = {key: value for key, value in (record.extra or {}).items() if key in SHARED_FIELDS}
    if isinstance(extra.get("labeler"), str):
        extra["labeler"] = make_pseudonym(extra["labeler"])
    is_model = record.rater is not None
    name = record.annotator if is_model or not record.annotator else make_pseudonym(record.annotator)
    day = round_to_day(record.timestamp) if record.timestamp else None
    return record._replace(annotator=name, timestamp=day, extra=extra or None)


def round_to_day(timestamp: str) -> str | None:
    """The day in UTC of a time in ISO 8601: the minute and the time zone would tell which person was at work.
    None for what isn't a time."""
    try:
        at = datetime.fromisoformat(timestamp)
        return (at.astimezone(UTC) if at.tzinfo else at).date().isoformat()
    except (ValueError, OverflowError):
        return None


def _digest_turn(record: LabelRecord) -> bytes:
    return _digest(record.session_id, record.turn_index, record.text)


def _digest(*values: Any) -> bytes:
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _find_turns(data: Sequence[Path], wanted: set[bytes]) -> set[bytes]:
    """Which of the ``wanted`` turns the files contain with the same text."""
    found = set()
    for path in data:
        with path.open("rb") as lines:
            for line in lines:
                turn = decode_object(line)
                digest = _digest(turn["session_id"], turn["turn_index"], turn["text"])
                if digest in wanted:
                    found.add(digest)
    return found


def _write_files(labels: Iterable[LabelDecision], present: set[bytes], folder: Path) -> list[LabelFile]:
    outs: dict[tuple[str, str], tuple[Path, IO[bytes]]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    with ExitStack() as stack:
        for label in labels:
            if _digest_turn(label.record) not in present:
                continue
            key = label.record.persona_id, label.schema.full_name if label.schema else ""
            if key not in outs:
                path = _choose_path(folder / LABELS_FOLDER, *key)
                outs[key] = path, stack.enter_context(path.open("xb"))
            outs[key][1].writelines(encode_decision(label))
            counts[key] += 1
    _write_schemas({schema for _, schema in outs if schema}, folder / LABELS_FOLDER)
    return [
        LabelFile(
            path.relative_to(folder).as_posix(),
            persona,
            counts[persona, schema],
            path.stat().st_size,
            hash_file(path),
            schema,
        )
        for (persona, schema), (path, _) in outs.items()
    ]


def _write_schemas(names: set[str], folder: Path) -> None:
    for name in names:
        text = dump_schema(get_schema(name).content)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8", newline="\n")


def _choose_path(folder: Path, persona: str, schema: str) -> Path:
    """A new file for a persona, whose id may hold anything."""
    folder.mkdir(exist_ok=True)
    name = _UNSAFE_IN_NAMES.sub("_", persona)[:100].strip(".") or "labels"
    name += f".{schema}" if schema else ""
    taken = {path.name.lower() for path in folder.iterdir()}
    number, path = 1, folder / f"{name}.jsonl"
    while path.name.lower() in taken:
        number += 1
        path = folder / f"{name}_{number}.jsonl"
    return path


__all__ = [
    "SESSION_LABELS",
    "annotate_imported_turns",
    "build_label_facts",
    "build_quality_statement",
    "write_label_files",
]

WEEKLY_LABELS_SECONDS = 600


def count_labels_for_persona(persona: Any) -> int:
    """How many labels of campaigns become stale if the persona changes."""
    made = Annotation.objects.countable().filter(campaign__persona=persona, persona_digest=persona.digest)
    return made.count()


def find_label_progress(dataset: Any) -> tuple[bool, int]:
    """Whether the dataset has labels, and how many campaigns are open: looks at indexes."""
    labels = (
        Annotation.objects.filter(dataset=dataset).order_by().exists()
        or Judgment.objects.filter(dataset=dataset).order_by().exists()
    )
    campaigns = Campaign.objects.filter(dataset=dataset).exclude(status=Campaign.Status.CLOSED)
    return labels, campaigns.count()


def count_weekly_labels(datasets: Any, since: datetime) -> dict[date, int]:
    """Labels since then by the Monday of their week. Kept for some minutes: a million take a moment."""
    keys = sorted(datasets.order_by().values_list("pk", flat=True))
    name = hashlib.sha256(f"{keys} {since:%Y-%m-%d}".encode()).hexdigest()[:32]
    known = cache.get(f"weekly-labels-{name}")
    if known is None:
        labels = Annotation.objects.filter(dataset__in=keys, created_at__gte=since).order_by()
        weeks = labels.annotate(week=TruncWeek("created_at")).values_list("week").annotate(n=Count("pk"))
        known = {timezone.localdate(week).isoformat(): count for week, count in weeks}
        cache.set(f"weekly-labels-{name}", known, WEEKLY_LABELS_SECONDS)
    return {date.fromisoformat(week): count for week, count in known.items()}


def list_campaign_readers(dataset: Any) -> dict[int, list[str]]:
    """User key → a sentence for each campaign in which the user may label."""
    may_label = Permission.objects.filter(content_type__app_label="annotations_app", codename="annotate")
    permitted = (
        Q(user__is_superuser=True)
        | Q(user__user_permissions__in=may_label)
        | Q(user__groups__permissions__in=may_label)
    )
    members = CampaignMember.objects.filter(campaign__dataset=dataset, active=True, user__is_active=True)
    rows = members.filter(permitted).values_list("user", "campaign__name", "campaign__status")
    sentences: dict[int, list[str]] = defaultdict(list)
    for user, name, status in rows.order_by("campaign__name").distinct():
        closed = " (closed)" if status == "closed" else ""
        sentences[user].append(
            f"Annotator of the campaign {name}{closed}: reads the replies assigned to them"
        )
    return sentences


def was_labeled_since(dataset: Any, since: datetime) -> bool:
    """Whether a decision that counts has added, changed or removed a label; those on replies that never had
    one have not."""
    later = Decision.objects.filter(at__gt=since, counted=True, assignment__campaign__dataset=dataset)
    return later.filter(assignment__decisions__kind=Decision.Kind.LABEL).exists()
