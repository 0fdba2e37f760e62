"""What people say of findings: this isn't personal data, and that was missed. Kept, and applied to all."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog import gates
from datasets_app.catalog.text_scans import discard_scan, discard_scans_of_kinds
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import KINDS, PATTERN_KINDS
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.pattern_kinds import find_pattern_kind
from datasets_app.domain.pii.pieces import Place, visit_turn
from datasets_app.domain.pii.policy import PolicyError, check_label
from datasets_app.models import Dataset, ScrubFinding, ScrubMark, Turn

MAX_TERM_CHARACTERS = 200


def mark_not_personal(
    dataset: Dataset | None,
    *,
    finding: ScrubFinding | None = None,
    term: str = "",
    actor: Any,
    override: str = "",
) -> ScrubMark:
    """Keep a term as it stands, wherever it stands in the dataset, or in all if there is none; also one that
    a preview has found.

    A term that a pattern class matches takes ``override``, a reason. Raises UserError, also for a finding
    whose value has been replaced: nobody knows it any more.
    """
    kind = finding.kind if finding is not None and finding.kind in PATTERN_KINDS else ""
    if finding is not None and dataset is not None:
        term = _read_previewed_term(dataset, finding)
    term = " ".join(term.split())
    if not 0 < len(term) <= MAX_TERM_CHARACTERS:
        raise UserError(f"Give the term that is not personal: 1 to {MAX_TERM_CHARACTERS} characters.")
    kind = kind or find_pattern_kind(term)
    with transaction.atomic():
        reason = gates.check_can_exempt(dataset, kind, actor=actor, override=override) if kind else ""
        mark = _save_mark(
            dataset, actor, verdict=ScrubMark.Verdict.NOT_PERSONAL, kind=kind, term=term, reason=reason
        )
        if dataset is not None:
            discard_scan(dataset)
    return mark


def remove_mark(mark: ScrubMark, *, actor: Any) -> list[Dataset]:
    """From the next scrub on the detectors alone decide again. Returns the datasets to search again."""
    dataset = mark.dataset
    with transaction.atomic():
        name = dataset.name if dataset else ""
        audit.record("remove_scrub_mark", actor=actor, dataset_name=name, **_audit_details(mark))
        mark.delete()
        if dataset is None:
            return discard_scans_of_kinds(exempt=[mark.kind] if mark.kind else [])
        discard_scan(dataset)
    return [dataset]


def mark_missed(
    dataset: Dataset, *, turn: Turn, field: str, start: int, end: int, kind: str, actor: Any
) -> ScrubMark:
    """Remember a value that no detector found, by its digest: the next scrub replaces it everywhere.

    ``start`` and ``end`` are places in the string ``field`` ("text", "tags[0]", "metadata.user") of
    ``turn``, in code points. Raises UserError.
    """
    _check_kind(kind)
    text = _find_string(turn, field)
    if not 0 <= start < end <= len(text):
        raise UserError("The marked place is not in the text (any more); read it again, and mark it then.")
    return mark_value_missed(dataset, text[start:end], kind, actor=actor)


def mark_value_missed(dataset: Dataset, value: str, kind: str, *, actor: Any) -> ScrubMark:
    """Remember ``value`` by its digest: the next scrub replaces it everywhere. Raises UserError."""
    mark = make_missed_mark(kind, value, hash_key())
    if mark is None:
        raise UserError("Mark a word or some, not more than twenty.")
    return _save_mark(
        dataset,
        actor,
        verdict=ScrubMark.Verdict.MISSED,
        kind=kind,
        digest=mark.digest,
        words=mark.words,
        length=mark.length,
    )


def _save_mark(dataset: Dataset | None, actor: Any, **said: Any) -> ScrubMark:
    """The same mark twice is one."""
    details: dict[str, Any] = {key: said.pop(key) for key in ("words", "length", "reason") if key in said}
    details["created_by"] = actor
    with transaction.atomic():
        mark, created = ScrubMark.objects.get_or_create(dataset=dataset, **said, defaults=details)
        if created:
            name = dataset.name if dataset is not None else ""
            audit.record("add_scrub_mark", actor=actor, dataset_name=name, **_audit_details(mark))
    return mark


def _audit_details(mark: ScrubMark) -> dict[str, Any]:
    """For the audit log: never the term itself."""
    return {"mark": mark.pk, "verdict": mark.verdict, "kind": mark.kind}


def _check_kind(kind: str) -> None:
    if kind not in KINDS:
        try:
            check_label(kind)
        except PolicyError as error:
            raise UserError(str(error)) from None


def _read_previewed_term(dataset: Dataset, finding: ScrubFinding) -> str:
    scrub = finding.scrub
    if not scrub.dry_run or scrub.dataset_id != dataset.pk or finding.turn_index is None:
        raise UserError("What stood there has been replaced, and nobody knows it any more; type the term.")
    turn = Turn.objects.filter(
        dataset=dataset, session=finding.session_id, turn_index=finding.turn_index
    ).first()
    text = _find_string(turn, finding.field) if turn else ""
    return text[finding.start : finding.start + finding.length]


def list_strings(turn: Turn) -> list[tuple[str, str]]:
    """(field, string) of all that a turn says, its text first."""
    found: list[tuple[str, str]] = []

    def collect(place: Place, text: str) -> str:
        found.append((place.field, text))
        return text

    record = TurnRecord(
        "", turn.turn_index, turn.role, turn.text, turn.tags, None, None, turn.metadata, turn.extra
    )
    visit_turn(record, collect)
    return found


def _find_string(turn: Turn, field: str) -> str:
    strings = [text for name, text in list_strings(turn) if name == field]
    if len(set(strings)) != 1:
        # Keys that may be personal are hidden, so some paths match several strings.
        raise UserError(
            f"{field} matches no string or several. Mark the term where it occurs in a text instead."
        )
    return strings[0]


MAX_TERMS = 10_000


def keep_terms(
    terms: Iterable[str], *, dataset: Dataset | None = None, actor: Any, override: str = ""
) -> list[Dataset]:
    """Keep terms wherever they stand, all or none. Returns the datasets to search again.

    A term that a pattern class matches takes ``override``, a reason of somebody with that permission. Of all
    datasets only those are searched in which a value of the class was found: a name opens no gate, and its
    occurrences are counted by the next search. Raises UserError.
    """
    terms = list(dict.fromkeys(terms))
    if len(terms) > MAX_TERMS:
        raise UserError(f"At most {MAX_TERMS:,} terms can be kept at once.")
    with transaction.atomic():
        marks = [mark_not_personal(dataset, term=term, actor=actor, override=override) for term in terms]
        if dataset is not None:
            return [dataset]
        kinds = sorted({mark.kind for mark in marks if mark.kind})
        return discard_scans_of_kinds(found=kinds)
