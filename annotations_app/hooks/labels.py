"""The labels of a dataset: ``Labels`` of ``datasets_app/hooks.py``."""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db.models import Count, Q, QuerySet
from django.db.models.functions import TruncWeek
from django.utils import timezone

from annotations_app.agreement.figures import persona_label_stats
from annotations_app.hooks.on_import import annotate_imported_turns
from annotations_app.hooks.session_data import make_pseudonym
from annotations_app.hooks.session_labels import SESSION_LABELS
from annotations_app.labels.label_places import split_hashed_ids, without_place
from annotations_app.models import Annotation, Campaign, CampaignMember, Decision, Judgment
from datasets_app.catalog import gates, policies
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.domain.conversations.jsonl import decode_object
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.packages.package import LabelFile, LabelSummary
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
    notices = []
    if judged := Judgment.objects.filter(dataset=dataset, kind=Judgment.Kind.LABEL).count():
        notices.append(f"{format_count(judged, 'label')} of campaigns with a schema left out.")
    every = Annotation.objects.filter(dataset=dataset, kind=Annotation.Kind.LABEL)
    rows = every.exclude(turn__session__split=policies.LOCKED_SPLIT)
    if not every.exists():
        return PackagedLabels([], notices)
    if actor is not None and not actor.has_perm("annotations_app.export_annotation"):
        return PackagedLabels([], ["Without labels: this account has no permission to export them."])
    wanted = {_digest_turn(record) for record in _read_labels(rows)}
    present = _find_turns(data, wanted)
    tally = TextTally(list_exemptions(dataset))
    files = _write_files(rows, present, folder, tally)
    gates.check_label_export(dataset, tally.found, actor=actor, override=override)
    if fields := _count_other_fields(rows):
        labels = format_count(sum(fields.values()), "value")
        names = format_count(len(fields), "field")
        notices.append(f"{names} of labels that the format doesn't have left out ({labels}).")
    if locked := every.filter(turn__session__split=policies.LOCKED_SPLIT).count():
        notices.append(f"{format_count(locked, 'label')} of the locked test split left out.")
    if missing := rows.count() - sum(file.labels for file in files):
        notices.append(
            f"{format_count(missing, 'label')} of turns that this package doesn't contain left out."
        )
    return PackagedLabels(files, notices)


def _count_other_fields(rows: QuerySet[Annotation]) -> Counter[str]:
    """How many labels have each field that isn't shared."""
    counts: Counter[str] = Counter()
    for extra in rows.exclude(extra=None).values_list("extra", flat=True).iterator(chunk_size=BATCH_SIZE):
        counts.update(set(extra or ()) - SHARED_FIELDS)
    return counts


def _read_labels(rows: QuerySet[Annotation]) -> Iterator[LabelRecord]:
    """In the order of personas, sessions and turns."""
    ordered = rows.order_by("persona_id", "turn__session_id", "turn__turn_index", "id")
    for row in ordered.values_list(*_FIELDS).iterator(chunk_size=BATCH_SIZE):
        record = without_place(LabelRecord(*row))
        extra = {key: value for key, value in (record.extra or {}).items() if key in SHARED_FIELDS}
        if isinstance(extra.get("labeler"), str):
            extra["labeler"] = make_pseudonym(extra["labeler"])
        name = make_pseudonym(record.annotator) if record.annotator else None
        day = round_to_day(record.timestamp) if record.timestamp else None
        yield record._replace(annotator=name, timestamp=day, extra=extra or None)


def round_to_day(timestamp: str) -> str | None:
    """The day in UTC of a time in ISO 8601: the minute and the time zone would tell which person was at work.
    None for what is no time."""
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


def _write_files(
    rows: QuerySet[Annotation], present: set[bytes], folder: Path, tally: TextTally
) -> list[LabelFile]:
    outs: dict[str, tuple[Path, IO[bytes]]] = {}
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        for record in _read_labels(rows):
            if _digest_turn(record) not in present:
                continue
            if record.persona_id not in outs:
                path = _choose_path(folder / LABELS_FOLDER, record.persona_id)
                outs[record.persona_id] = path, stack.enter_context(path.open("xb"))
            tally.add_label(record._replace(extra=split_hashed_ids(record.extra)[1] or None))
            outs[record.persona_id][1].write(encode_label(record))
            counts[record.persona_id] = counts.get(record.persona_id, 0) + 1
    return [
        LabelFile(
            path.relative_to(folder).as_posix(),
            persona,
            counts[persona],
            path.stat().st_size,
            hash_file(path),
        )
        for persona, (path, _) in outs.items()
    ]


def _choose_path(folder: Path, persona: str) -> Path:
    """A new file for a persona, whose id may hold anything."""
    folder.mkdir(exist_ok=True)
    name = _UNSAFE_IN_NAMES.sub("_", persona)[:100].strip(".") or "labels"
    taken = {path.name.lower() for path in folder.iterdir()}
    number, path = 1, folder / f"{name}.jsonl"
    while path.name.lower() in taken:
        number += 1
        path = folder / f"{name}_{number}.jsonl"
    return path


__all__ = ["SESSION_LABELS", "annotate_imported_turns", "build_label_facts", "write_label_files"]

WEEKLY_LABELS_SECONDS = 600


def count_labels_for_persona(persona: Any) -> int:
    """How many labels of campaigns become stale if the persona changes."""
    made = Annotation.objects.countable().filter(campaign__persona=persona, persona_digest=persona.digest)
    return made.count()


def find_label_progress(dataset: Any) -> tuple[bool, int]:
    """Whether the dataset has labels, and how many campaigns are open: two looks at an index."""
    labels = Annotation.objects.filter(dataset=dataset).order_by().exists()
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
