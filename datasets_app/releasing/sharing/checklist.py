"""The list that must hold before a dataset leaves the house, each item worked out where it can be.

What can be shown by the last complete scrub is told by it; else by a report of the checks, if it speaks of
the turns as they stand. Synthetic conversations are nobody's: their ids and times tell of no one.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format

from datasets_app.checking.check_dataset import report_in_force
from datasets_app.domain.pii.detector import CREDENTIAL, EMAIL, HOST, KINDS, NAME, PATH, PHONE
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
    ScrubMark,
    ScrubRun,
    Session,
    SharingReview,
    Turn,
)

YES, NO, UNKNOWN, UNSIGNED = "yes", "no", "unknown", "unsigned"
_WORDS = {YES: "yes", NO: "no", UNKNOWN: "can't be told", UNSIGNED: "not yet signed"}
# Which page mends it.
SCRUB, SIGN, NOTHING = "scrub", "sign", ""
# By which code the checks tell a class.
_CODES = {
    EMAIL: "E401",
    PHONE: "E402",
    "SSN": "E403",
    "CREDIT_CARD": "E404",
    "IP": "E405",
    NAME: "W406",
    CREDENTIAL: "E407",
    PATH: "E408",
    HOST: "E409",
}


class SharingItem(NamedTuple):
    """``answer`` is one of the four above; ``reason`` is a sentence, and holds no value of a person."""

    title: str
    answer: str
    reason: str
    remedy: str = NOTHING

    @property
    def answer_words(self) -> str:
        return _WORDS[self.answer]


def sharing_list(dataset: Dataset) -> list[SharingItem]:
    """The eight items, in the order of the list. A fixed number of queries."""
    known = _Known(dataset)
    return [
        _scrubbed("No e-mail address or telephone number is left", known, {EMAIL, PHONE}),
        _ids_hashed(dataset, known),
        _scrubbed("Names are scrubbed", known, {NAME}),
        _timestamps(dataset, known),
        _scrubbed("No internal path or host name is left", known, {PATH, HOST}),
        _scrubbed("No key, token or other credential is left", known, {CREDENTIAL}),
        _metadata(dataset, known),
        _review(known),
    ]


def review_in_force(dataset: Dataset) -> SharingReview | None:
    """The newest signature, if it is for the dataset as it stands."""
    known = _Known(dataset)
    return known.review if known.review and not known.why_review_is_void else None


class _Known:
    """What scrubs and previews tell of a dataset: the newest first."""

    def __init__(self, dataset: Dataset) -> None:
        runs = list(ScrubRun.objects.filter(dataset=dataset))
        self.complete = [(run, Policy.from_json(run.policy)) for run in runs if run.verified_at]
        self.preview = next((run for run in runs if run.dry_run and run.finished_at), None)
        last = Session.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", flat=True).first()
        self.last_session = last or 0
        self.report = report_in_force(dataset)
        self.is_synthetic = dataset.origin == Dataset.Origin.SYNTHETIC
        self.review = SharingReview.objects.filter(dataset=dataset).first()
        missed = ScrubMark.objects.filter(dataset=dataset, verdict=ScrubMark.Verdict.MISSED)
        self.missed = list(missed.values_list("kind", "created_at"))

    def newest(self, does: Callable[[Policy], bool]) -> tuple[ScrubRun, Policy] | None:
        """The newest complete scrub under a policy of which this is true."""
        return next(((run, policy) for run, policy in self.complete if does(policy)), None)

    def has_grown_since(self, run: ScrubRun) -> bool:
        return self.last_session > run.last_session

    def missed_since(self, run: ScrubRun, kinds: Collection[str]) -> int:
        return sum(kind in kinds and at > run.created_at for kind, at in self.missed)

    @property
    def last_scrub(self) -> int | None:
        return self.complete[0][0].pk if self.complete else None

    @property
    def why_review_is_void(self) -> str:
        """Why the newest signature no longer holds; empty if it does, or if there is none."""
        if self.review is None:
            return ""
        if self.last_session > self.review.last_session:
            return "sessions have been added since"
        return "a scrub has changed it since" if self.last_scrub != self.review.last_scrub else ""

    def found_by_checks(self, kinds: Collection[str]) -> dict[str, int]:
        """Findings by code."""
        totals = self.report.totals if self.report else {}
        codes = sorted(_CODES[kind] for kind in kinds)
        return {code: totals[code] for code in codes if totals.get(code)}

    def is_clean_by_checks(self, kinds: Collection[str]) -> bool:
        if self.report is None or (NAME in kinds and not self.report.names_looked_for):
            return False
        return not self.found_by_checks(kinds)

    def found_by_preview(self, kinds: Collection[str]) -> int:
        return sum(self.preview.totals.get(kind, 0) for kind in kinds) if self.preview else 0


def _scrubbed(title: str, known: _Known, kinds: set[str]) -> SharingItem:
    """Whether values of these classes are gone, by the newest scrub that looked for all of them."""
    newest = known.newest(lambda policy: kinds <= set(policy.kinds))
    found = known.found_by_preview(kinds)
    since_scrub = newest is None or (known.preview is not None and known.preview.pk > newest[0].pk)
    if found and since_scrub:
        return SharingItem(title, NO, f"The last preview has found {found:,} in {_looked_at(known)}.", SCRUB)
    if newest is None or known.has_grown_since(newest[0]):
        return _checked(title, known, kinds, grown=newest is not None)
    run, policy = newest
    if missed := known.missed_since(run, kinds):
        what = "1 value was" if missed == 1 else f"{missed:,} values were"
        return SharingItem(title, NO, f"{what} marked as missed since the last scrub.", SCRUB)
    return SharingItem(title, YES, _how(run, policy, kinds))


def _checked(title: str, known: _Known, kinds: set[str], *, grown: bool) -> SharingItem:
    """What the checks say where no scrub does."""
    if found := known.found_by_checks(kinds):
        codes = ", ".join(f"{code}: {count:,}" for code, count in found.items())
        return SharingItem(title, NO, f"The checks have found {sum(found.values()):,} ({codes}).", SCRUB)
    if known.report is not None and known.is_clean_by_checks(kinds):
        return SharingItem(title, YES, _how_checked(known.report, kinds))
    if grown:
        return SharingItem(title, UNKNOWN, _GROWN, SCRUB)
    reason = "The dataset has not been scrubbed of them." if known.complete else _NEVER
    return SharingItem(title, UNKNOWN, reason, SCRUB)


def _how_checked(report: CheckReport, kinds: set[str]) -> str:
    turns = f"{report.turn_count:,} turn{'s' * (report.turn_count != 1)}"
    model = " by rules and by a model, which misses some" if NAME in kinds else ""
    return f"Checked on {_day(report.created_at)}{model}: none was found in {turns}."


def _day(at: datetime) -> str:
    return str(date_format(timezone.localtime(at), "j M Y H:i"))


_NEVER = "The dataset has never been scrubbed, nor checked as it stands."
_NOBODYS = "They need not be: the conversations are synthetic, and nobody's."
_GROWN = "Sessions have been added since the last scrub."


def _how(run: ScrubRun, policy: Policy, kinds: set[str]) -> str:
    turns = (run.verification or {}).get("turns", run.turn_count)
    when = _day(run.verified_at) if run.verified_at else ""
    if kinds == {NAME}:
        others = ", ".join(name for name in policy.name_models if name != "builtin")
        models = f"a model ({others})" if others else "the application's own model"
        return f"Scrubbed on {when} by rules and by {models}; a model misses some. Look through a sample."
    if kinds == set(KINDS):
        return (
            f"Scrubbed on {when}: all classes, in texts, tags, metadata and unknown keys, and whatever "
            "stood under keys that identify people."
        )
    return f"Verified on {when}: none is left in {turns:,} turn{'s' * (turns != 1)}."


def _looked_at(known: _Known) -> str:
    run = known.preview
    count = run.session_count if run else 0
    return "1 session" if count == 1 else f"{count:,} sessions"


def _ids_hashed(dataset: Dataset, known: _Known) -> SharingItem:
    title = "Session ids are hashed"
    if not known.last_session:
        return SharingItem(title, UNKNOWN, "There are no sessions.")
    if known.is_synthetic:
        return SharingItem(title, YES, _NOBODYS)
    plain = Session.objects.filter(dataset=dataset, id_hashed=False).count()
    if not plain:
        return SharingItem(title, YES, "Each is an HMAC-SHA-256 under this installation's key.")
    return SharingItem(
        title, NO, f"Not hashed are those of {plain:,} of {dataset.session_count:,} sessions.", SCRUB
    )


def _timestamps(dataset: Dataset, known: _Known) -> SharingItem:
    title = "Timestamps are removed or moved"
    newest = known.newest(lambda policy: policy.drop_timestamps or policy.fuzz_seconds > 0)
    if newest and not known.has_grown_since(newest[0]):
        run, policy = newest
        if policy.drop_timestamps:
            return SharingItem(title, YES, "They were removed.")
        return SharingItem(
            title, YES, f"Moved by up to {policy.fuzz_seconds:,} seconds, one offset a session."
        )
    if known.is_synthetic:
        return SharingItem(title, YES, _NOBODYS)
    if not Turn.objects.filter(session__dataset=dataset).exclude(timestamp=None).exists():
        return SharingItem(title, YES, "No turn has one.")
    return SharingItem(title, NO, _GROWN if newest else "Turns have the timestamps they came with.", SCRUB)


def _metadata(dataset: Dataset, known: _Known) -> SharingItem:
    """A scrub knows the keys that identify people. The checks do not: they are enough where there are no
    keys, or nobody to identify."""
    title = "Metadata identifies no one"
    item = _scrubbed(title, known, set(KINDS))
    if item.answer == YES and known.newest(lambda policy: set(KINDS) <= set(policy.kinds)):
        return item
    if item.answer == NO and known.report is not None and known.found_by_checks(set(KINDS)):
        item = _beside_texts(title, known, known.report) or item
    if item.answer != YES:
        return item
    keyed = Turn.objects.filter(session__dataset=dataset).exclude(Q(metadata=None) & Q(extra=None))
    if not known.is_synthetic and keyed.exists():
        reason = "Turns have metadata or unknown keys, and no scrub has seen to those that identify people."
        return SharingItem(title, UNKNOWN, reason, SCRUB)
    return item


def _beside_texts(title: str, known: _Known, report: CheckReport) -> SharingItem | None:
    """What the checks have found stands in texts alone, if it does: of that, other lines of the list tell.

    None if some stands elsewhere, or if not every finding was kept with its place.
    """
    found = known.found_by_checks(set(KINDS))
    in_texts = CheckFinding.objects.filter(report=report, code__in=found, field="text").count()
    if in_texts != sum(found.values()) or not report.names_looked_for:
        return None
    return SharingItem(title, YES, f"Checked on {_day(report.created_at)}: what was found stands in texts.")


def _review(known: _Known) -> SharingItem:
    title, review = "Legal review is signed", known.review
    if review is None:
        return SharingItem(title, UNSIGNED, "Nobody has signed it. A person does, with their name.", SIGN)
    signed = f"{review.name} signed on {_day(review.signed_at)}"
    if void := known.why_review_is_void:
        return SharingItem(title, UNSIGNED, f"{signed}, but {void}: it has to be signed anew.", SIGN)
    return SharingItem(title, YES, f"{signed}.")
