"""Searches stored text for personal data, and keeps what was found by class.

Gates ask about the result. A search covers the sessions that no earlier one has covered, so what is added to
a dataset closes its gates until it was searched.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Max, Q
from django.db.models.functions import Greatest
from django.utils import timezone

from datasets_app.catalog.personas import list_persona_terms
from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.catalog.scrubbers import find_preference
from datasets_app.catalog.searching import open_searching
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.pii.detector import DETECTION_VERSION
from datasets_app.domain.pii.exemptions import ExemptCount, Exemption, add_exempt_counts, read_exempt_counts
from datasets_app.domain.quality.kept_terms import KeptTerms
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.models import Attestation, Dataset, ScrubMark, Session, TextScan

# Searched in one go; each is saved by itself, so that a search that was stopped continues.
TURNS_PER_BATCH = 50_000
SESSIONS_PER_BATCH = 50_000


class ScanStart(NamedTuple):
    """The state of the text before a search: what is found later must not count for other text."""

    revision: int
    last_session: int


def list_exemptions(dataset: Dataset) -> list[Exemption]:
    """Terms that people marked as not personal, in this dataset or in all."""
    marks = ScrubMark.objects.applied_to(dataset).filter(verdict=ScrubMark.Verdict.NOT_PERSONAL)
    return [Exemption(term, kind) for term, kind in marks.values_list("term", "kind").order_by("pk")]


def start_scan(dataset: Dataset) -> ScanStart:
    return ScanStart(_open_scan(dataset).revision, _find_last_session(dataset))


def _open_scan(dataset: Dataset) -> TextScan:
    """The dataset's row, without what earlier rules have found."""
    scan, _ = TextScan.objects.get_or_create(dataset=dataset, defaults={"rules": DETECTION_VERSION})
    if scan.rules != DETECTION_VERSION:
        discard_scan(dataset, rules=DETECTION_VERSION)
        scan.refresh_from_db()
    return scan


def _find_last_session(dataset: Dataset) -> int:
    return Session.objects.filter(dataset=dataset).aggregate(last=Max("pk"))["last"] or 0


def scan_new_text(dataset: Dataset, report_progress: ProgressCallback = ignore_progress) -> None:
    """Search the sessions that no scan, check or scrub has searched. Progress is in turns of the dataset."""
    exemptions = list_exemptions(dataset)
    scan = _open_scan(dataset)
    with open_searching(dataset.turn_count - scan.turn_count) as search_batches:
        while scan.scanned_to < _find_last_session(dataset):
            last = _choose_batch(dataset, scan.scanned_to)
            tally = TextTally(exemptions)
            tally.add(read_turns(dataset, Selection(keys=(scan.scanned_to, last))), search_batches)
            _add_batch(scan, last, tally)
            done = scan.turn_count + tally.turn_count
            report_progress(done, max(done, dataset.turn_count))
            scan = _open_scan(dataset)


def _choose_batch(dataset: Dataset, after: int) -> int:
    """The key of the last session of the next batch."""
    sessions = Session.objects.filter(dataset=dataset, pk__gt=after).order_by("pk")
    last = turns = 0
    for key, turn_count in sessions.values_list("pk", "turn_count")[:SESSIONS_PER_BATCH]:
        last, turns = key, turns + turn_count
        if turns >= TURNS_PER_BATCH:
            break
    return last


def _add_batch(scan: TextScan, last: int, tally: TextTally) -> None:
    """Add a batch to ``scan``, unless another search or a change of the text came first."""
    with transaction.atomic():
        row = TextScan.objects.select_for_update().get(pk=scan.pk)
        if (row.revision, row.scanned_to) != (scan.revision, scan.scanned_to):
            return
        row.scanned_to = last
        row.turn_count += tally.turn_count
        row.found = dict(sorted((tally.found + Counter(row.found)).items()))
        row.exempt = add_exempt_counts(read_exempt_counts(row.exempt), tally.exempt)
        row.names_searched, row.scanned_at = False, timezone.now()
        row.save()


def record_check(
    dataset: Dataset,
    start: ScanStart,
    *,
    turn_count: int,
    found: Mapping[str, int],
    exempt: Mapping[str, ExemptCount],
    names_searched: bool,
) -> None:
    """Keep the result of a check of all sessions, unless the text has changed since ``start``."""
    TextScan.objects.filter(dataset=dataset, revision=start.revision).update(
        scanned_to=start.last_session,
        turn_count=turn_count,
        found=dict(sorted(found.items())),
        exempt=exempt,
        names_searched=names_searched,
        scanned_at=timezone.now(),
    )


def record_scrub(
    dataset: Dataset,
    *,
    last_session: int,
    turn_count: int,
    exempt: Mapping[str, ExemptCount],
    unmeasured: Mapping[str, int],
) -> None:
    """Keep the result of a scrub of all classes whose verification found nothing."""
    audit = TextScan.objects.filter(dataset=dataset).values_list("audit", flat=True).first()
    TextScan.objects.update_or_create(
        dataset=dataset,
        defaults={
            "rules": DETECTION_VERSION,
            "audit": audit and {**audit, "scrubbed_since": True},
            "scanned_to": last_session,
            "scrubbed_to": last_session,
            "turn_count": turn_count,
            "found": {},
            "written": None,
            "exempt": exempt,
            "unmeasured": unmeasured,
            "names_searched": True,
            "scanned_at": timezone.now(),
        },
    )


def record_written(dataset: Dataset, found: Mapping[str, int]) -> None:
    """Add values by class in what was written beside the text, which no attestation covers. The next verified
    scrub of all classes removes them."""
    if found:
        scan = TextScan.objects.select_for_update().get(pk=_open_scan(dataset).pk)
        scan.written = dict(sorted((Counter(scan.written or {}) + Counter(found)).items()))
        scan.save(update_fields=["written"])
        _end_attestations(dataset)


def record_canary(dataset: Dataset, start: ScanStart, survival: Mapping[str, Any]) -> None:
    """Keep how many planted values a scrub leaves, unless the text has changed since ``start``."""
    TextScan.objects.filter(dataset=dataset, revision=start.revision).update(
        canary={**survival, "last_session": start.last_session}
    )


def record_deletion(dataset: Dataset, *, turns: int) -> None:
    """Sessions were deleted. If something was found, the rest has to be searched again."""
    clean = TextScan.objects.filter(dataset=dataset, found={}, exempt={})
    if not clean.update(turn_count=Greatest(F("turn_count") - turns, 0)):
        discard_scan(dataset)


def discard_scans_of_kinds(*, found: Iterable[str] = (), exempt: Iterable[str] = ()) -> list[Dataset]:
    """Have all datasets searched again in which a value of these classes was ``found``, or stayed by an
    exemption. Returns them."""
    affected = TextScan.objects.filter(
        Q(found__has_any_keys=list(found)) | Q(exempt__has_any_keys=list(exempt))
    )
    datasets = [scan.dataset for scan in affected.select_related("dataset").order_by("dataset")]
    for dataset in datasets:
        discard_scan(dataset)
    return datasets


def record_text_change(dataset: Dataset) -> None:
    """Stored text is about to change: forget what was found, and end the attestation that covered it."""
    discard_scan(dataset, scrubbed_to=0)
    _end_attestations(dataset)


def _end_attestations(dataset: Dataset) -> None:
    Attestation.objects.filter(dataset=dataset, ended_at=None).update(ended_at=timezone.now())


def discard_scan(dataset: Dataset, **fields: Any) -> None:
    """All text has to be searched again, such as when what is exempt has changed."""
    TextScan.objects.filter(dataset=dataset).update(
        revision=F("revision") + 1, scanned_to=0, turn_count=0, found={}, exempt={}, canary=None, **fields
    )


def load_kept_terms(dataset: Dataset) -> KeptTerms:
    """The exemptions of people, the terms of its personas, and what its scrubs prefer."""
    exemptions = list_exemptions(dataset)
    return KeptTerms(
        tuple(exemption.term for exemption in exemptions if exemption.kind),
        tuple(exemption.term for exemption in exemptions if not exemption.kind),
        tuple(list_persona_terms(dataset)),
        find_preference(dataset),
    )
