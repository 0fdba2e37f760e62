"""The sharing checklist of a dataset, answered from its scrubs, previews and checks.

The last complete scrub answers what it can, otherwise a report of the checks, if it covers the current turns.
Ids and times of synthetic conversations identify no one.
"""

from collections.abc import Callable, Collection
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone
from django.utils.formats import date_format

from datasets_app.catalog import gates
from datasets_app.catalog.dataset_facts import DatasetFacts, format_kinds
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.checking.check_dataset import current_report
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detector import (
    ADDRESS,
    CREDENTIAL,
    EMAIL,
    HANDLE,
    HOST,
    KINDS,
    NAME,
    PATH,
    PHONE,
    URL,
)
from datasets_app.domain.pii.exemptions import ORDINARY, ExemptCount, describe_exempt, read_exempt_counts
from datasets_app.domain.pii.network.languages import say_languages
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.personal_data_codes import CODE_BY_KIND
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
    Release,
    ScrubMark,
    ScrubRun,
    Session,
    SharingReview,
    Turn,
)
from datasets_app.releasing.sharing.changes import was_edited_since
from datasets_app.releasing.sharing.measurements import Measurement, list_measurements

REVIEW_TITLE = "Legal review is signed"
# What reaches a person, names a machine or opens something; all other classes are numbers that identify.
_CONTACTS = {EMAIL, PHONE, ADDRESS, HANDLE, URL}
_MACHINES, _SECRETS = {PATH, HOST}, {CREDENTIAL}
_NUMBERS = set(KINDS) - {NAME} - _CONTACTS - _MACHINES - _SECRETS
YES, NO, UNKNOWN, UNSIGNED = "yes", "no", "unknown", "unsigned"
_ANSWER_LABELS = {YES: "yes", NO: "no", UNKNOWN: "unknown", UNSIGNED: "not yet signed"}
# The page that fixes it.
SCRUB, SIGN, NO_REMEDY = "scrub", "sign", ""


class ChecklistItem(NamedTuple):
    """``answer`` is one of the four above; ``reason`` is a sentence without personal data."""

    title: str
    answer: str
    reason: str
    remedy: str = NO_REMEDY

    @property
    def answer_label(self) -> str:
        return _ANSWER_LABELS[self.answer]


def build_checklist(dataset: Dataset) -> list[ChecklistItem]:
    """The items in order, with a fixed number of queries."""
    known = _DatasetEvidence(dataset)
    return [
        _scrub_item(
            "No e-mail address, telephone number or other way to reach a person is left", known, _CONTACTS
        ),
        _scrub_item("No number that identifies a person is left", known, _NUMBERS),
        _session_id_item(dataset, known),
        _scrub_item("Names are scrubbed", known, {NAME}),
        _timestamp_item(dataset, known),
        _scrub_item("No internal path or host name is left", known, _MACHINES),
        _scrub_item("No key, token or other credential is left", known, _SECRETS),
        _metadata_item(dataset, known),
        *map(_measurement_item, list_measurements(dataset, known.facts.text)),
        _review_item(known),
    ]


def current_review(dataset: Dataset) -> SharingReview | None:
    """The newest signature, if it still covers the dataset."""
    if not SharingReview.objects.filter(dataset=dataset).exists():
        return None  # as for most datasets, whose pages all ask for it
    known = _DatasetEvidence(dataset)
    return known.review if known.review and not known.review_void_reason else None


def build_release_checklist(release: Release) -> list[ChecklistItem]:
    """The answers that a release was made with, and what has been signed and required since."""
    items = [ChecklistItem(**item) for item in release.sharing]
    answered = {item.title for item in items}
    later = "Required since, and not measured for this version: measure it, then release another version."
    items += [
        ChecklistItem(measurement.title, UNKNOWN, later, SCRUB)
        for measurement in list_measurements(release.dataset, gates.load_facts(release.dataset).text)
        if measurement.is_required and measurement.title not in answered
    ]
    if all(item.answer == YES for item in items if item.title == REVIEW_TITLE):
        return items
    review = current_review(release.dataset)
    if review is None:
        return items
    reason = f"{_describe_signature(review)}, after the release of {release.version}."
    signed = ChecklistItem(REVIEW_TITLE, YES, reason)
    return [signed if item.title == REVIEW_TITLE else item for item in items]


class _DatasetEvidence:
    """What is known about a dataset, from one query for each source; scrubs are newest first."""

    def __init__(self, dataset: Dataset) -> None:
        runs = list(ScrubRun.objects.filter(dataset=dataset))
        self.verified_scrubs = [(run, Policy.from_json(run.policy)) for run in runs if run.verified_at]
        self.preview = next((run for run in runs if run.dry_run and run.finished_at), None)
        last = Session.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", flat=True).first()
        self.last_session = last or 0
        self.report = current_report(dataset)
        self.facts = gates.load_facts(dataset)
        self.is_synthetic = dataset.origin == Dataset.Origin.SYNTHETIC
        self.review = SharingReview.objects.filter(dataset=dataset).first()
        missed = ScrubMark.objects.filter(dataset=dataset, verdict=ScrubMark.Verdict.MISSED)
        self.missed = list(missed.values_list("kind", "created_at"))

    def newest_scrub(self, does: Callable[[Policy], bool]) -> tuple[ScrubRun, Policy] | None:
        """The newest complete scrub whose policy meets the condition."""
        return next(((run, policy) for run, policy in self.verified_scrubs if does(policy)), None)

    def has_grown_since(self, run: ScrubRun) -> bool:
        return self.last_session > run.last_session

    def missed_since(self, run: ScrubRun | None, kinds: Collection[str]) -> int:
        return sum(kind in kinds and (run is None or at > run.created_at) for kind, at in self.missed)

    @property
    def last_scrub(self) -> int | None:
        return self.verified_scrubs[0][0].pk if self.verified_scrubs else None

    @property
    def review_void_reason(self) -> str:
        """Why the newest signature is void; empty if it holds, or if there is none."""
        if self.review is None:
            return ""
        if self.last_session > self.review.last_session:
            return "sessions have been added since"
        if self.last_scrub != self.review.last_scrub:
            return "a scrub has changed it since"
        if was_edited_since(self.review.dataset, self.review.signed_at):
            return "its data, metadata, labels, kept terms or personas have been changed since"
        return ""

    def found_by_checks(self, kinds: Collection[str]) -> dict[str, int]:
        """Findings by code, without those to review."""
        totals = self.report.totals if self.report else {}
        codes = sorted(CODE_BY_KIND[kind] for kind in kinds if self.facts.must_be_gone(kind))
        return {code: totals[code] for code in codes if totals.get(code)}

    def found_in_text(self, kinds: Collection[str], *, to_review: bool = False) -> dict[str, int]:
        """Values by class, by the latest search: those that must be gone, or those to review."""
        wanted = [kind for kind in KINDS if kind in kinds and self.facts.must_be_gone(kind) != to_review]
        return {kind: count for kind in wanted if (count := self.facts.text.found.get(kind))}

    def describe_review(self, kinds: Collection[str]) -> str:
        """What the latest search found for people to review; empty without any."""
        judged = self.found_in_text(kinds, to_review=True)
        return f" To review: {format_kinds(judged)}." if judged else ""

    def find_exempt(self, scrub: ScrubRun | None) -> dict[str, ExemptCount]:
        """What was left on purpose, by the latest search; until there is one since ``scrub``, by that."""
        if scrub is None or not self.facts.is_unscanned:
            return self.facts.text.exempt
        return read_exempt_counts((scrub.verification or {}).get("exempt"))

    def is_clean_in_checks(self, kinds: Collection[str]) -> bool:
        if self.report is None or (NAME in kinds and not self.report.names_looked_for):
            return False
        if self.facts.is_unscanned and set(kinds) != {NAME}:
            return False  # what is exempt has changed since
        return not self.found_by_checks(kinds)


def _scrub_item(title: str, known: _DatasetEvidence, kinds: set[str]) -> ChecklistItem:
    """Whether values of these classes are gone, by the newest scrub for all of them."""
    newest = known.newest_scrub(lambda policy: kinds <= set(policy.kinds))
    previewed_count = sum(known.preview.totals.get(kind, 0) for kind in kinds) if known.preview else 0
    since_scrub = newest is None or (known.preview is not None and known.preview.pk > newest[0].pk)
    if previewed_count and since_scrub:
        previewed = format_count(known.preview.session_count if known.preview else 0, "session")
        return ChecklistItem(title, NO, f"The last preview found {previewed_count:,} in {previewed}.", SCRUB)
    exempt = known.find_exempt(newest[0] if newest else None)
    if left := {kind: exempt[kind] for kind in kinds if kind in exempt}:
        return ChecklistItem(title, NO, f"Left in the text on purpose: {describe_exempt(left)}.", SCRUB)
    if newest is None or known.has_grown_since(newest[0]):
        return _check_item(title, known, kinds, grown=newest is not None)
    run, policy = newest
    if found := known.found_in_text(kinds):
        return ChecklistItem(title, NO, f"A search after the scrub found {format_kinds(found)}.", SCRUB)
    if missed := known.missed_since(run, kinds):
        reason = f"{format_count(missed, 'value')} marked as missed since the last scrub."
        return ChecklistItem(title, NO, reason, SCRUB)
    languages = known.facts.text.names_unknown
    if kinds == {NAME} and languages and not known.facts.attestation:
        reason = f"Verified except names in {languages}: somebody who reads it must vouch for them."
        return ChecklistItem(title, UNKNOWN, reason, SCRUB)
    reason = _describe_scrub(run, policy, kinds)
    if NAME in kinds and ORDINARY in exempt:
        reason = f"{reason} Except {describe_exempt({ORDINARY: exempt[ORDINARY]})}."
    return ChecklistItem(title, YES, reason + known.describe_review(kinds))


def _check_item(title: str, known: _DatasetEvidence, kinds: set[str], *, grown: bool) -> ChecklistItem:
    """The answer of the checks, where no scrub has one."""
    if found := known.found_by_checks(kinds):
        codes = ", ".join(f"{code}: {count:,}" for code, count in found.items())
        return ChecklistItem(title, NO, f"The checks found {sum(found.values()):,} ({codes}).", SCRUB)
    if found := known.found_in_text(kinds):
        return ChecklistItem(title, NO, f"A search of the text found {format_kinds(found)}.", SCRUB)
    newest = known.newest_scrub(lambda policy: kinds <= set(policy.kinds))
    if missed := known.missed_since(newest[0] if newest else None, kinds):
        return ChecklistItem(title, NO, f"{format_count(missed, 'value')} marked as missed.", SCRUB)
    if known.report is not None and known.is_clean_in_checks(kinds):
        return ChecklistItem(title, YES, _describe_check(known.report, kinds, known.describe_review(kinds)))
    if grown:
        return ChecklistItem(title, UNKNOWN, _SESSIONS_ADDED, SCRUB)
    reason = "No scrub has looked for them." if known.verified_scrubs else _NEVER_SCRUBBED
    return ChecklistItem(title, UNKNOWN, reason, SCRUB)


def _describe_check(report: CheckReport, kinds: set[str], review: str) -> str:
    model = " by rules and by a model, which misses some" if NAME in kinds else ""
    found = f"{'' if review else 'none found in '}{format_count(report.turn_count, 'turn')}.{review}"
    return f"Checked on {_format_time(report.created_at)}{model}: {found}"


def _format_time(at: datetime) -> str:
    return str(date_format(timezone.localtime(at), "j M Y H:i"))


_NEVER_SCRUBBED = "Not scrubbed or checked since the last change."
_SYNTHETIC = "Not needed: the conversations are synthetic."
_SESSIONS_ADDED = "Sessions have been added since the last scrub."


def _describe_scrub(run: ScrubRun, policy: Policy, kinds: set[str]) -> str:
    turns = (run.verification or {}).get("turns", run.turn_count)
    when = _format_time(run.verified_at) if run.verified_at else ""
    if kinds == {NAME}:
        others = ", ".join(name for name in policy.name_models if name != "builtin")
        models = f"a model ({others})" if others else "the application's own model"
        languages = say_languages((run.verification or {}).get("languages"), policy.prefer)
        reason = f"Scrubbed on {when} by rules and by {models}; a model misses some, so review a sample."
        return f"{reason} {languages}".rstrip()
    if kinds == set(KINDS):
        return (
            f"Scrubbed on {when}: all classes, in texts, tags, metadata and unknown keys, and all values of "
            "keys that identify people."
        )
    remaining = f"no pattern matches remain in {format_count(turns, 'turn')}"
    return f"Verified on {when}: {remaining}. Patterns miss some forms, so review a sample."


def _session_id_item(dataset: Dataset, known: _DatasetEvidence) -> ChecklistItem:
    title = "Session ids are hashed"
    if not known.last_session:
        return ChecklistItem(title, UNKNOWN, "There are no sessions.")
    if known.is_synthetic:
        return ChecklistItem(title, YES, _SYNTHETIC)
    plain = Session.objects.filter(dataset=dataset, id_hashed=False).count()
    if not plain:
        return ChecklistItem(title, YES, "Each is an HMAC-SHA-256 under this installation's key.")
    return ChecklistItem(
        title, NO, f"{plain:,} of {dataset.session_count:,} session ids are not hashed.", SCRUB
    )


def _timestamp_item(dataset: Dataset, known: _DatasetEvidence) -> ChecklistItem:
    title = "Timestamps are removed or moved"
    newest = known.newest_scrub(lambda policy: policy.drop_timestamps or policy.fuzz_seconds > 0)
    if newest and not known.has_grown_since(newest[0]):
        run, policy = newest
        if policy.drop_timestamps:
            return ChecklistItem(title, YES, "They were removed.")
        return ChecklistItem(
            title, YES, f"Moved by up to {policy.fuzz_seconds:,} seconds, one offset a session."
        )
    if known.is_synthetic:
        return ChecklistItem(title, YES, _SYNTHETIC)
    if not Turn.objects.filter(dataset=dataset).exclude(timestamp=None).exists():
        return ChecklistItem(title, YES, "No turn has one.")
    return ChecklistItem(
        title, NO, _SESSIONS_ADDED if newest else "Turns have their original timestamps.", SCRUB
    )


def _metadata_item(dataset: Dataset, known: _DatasetEvidence) -> ChecklistItem:
    """A scrub knows the keys that identify people. The checks don't: they are enough where there are no keys,
    or no one to identify."""
    title = "Metadata identifies no one"
    if found := _find_in_stated_metadata(dataset, known.facts):
        reason = f"The source or provenance of the dataset itself contains {format_kinds(found)}."
        return ChecklistItem(title, NO, reason)
    item = _scrub_item(title, known, set(KINDS))
    if item.answer == YES and known.newest_scrub(lambda policy: set(KINDS) <= set(policy.kinds)):
        return item
    if item.answer == NO and known.report is not None and known.found_by_checks(set(KINDS)):
        item = _text_only_item(title, known, known.report) or item
    if item.answer != YES:
        return item
    keyed = Turn.objects.filter(dataset=dataset).exclude(Q(metadata=None) & Q(extra=None))
    if not known.is_synthetic and keyed.exists():
        reason = "Turns have metadata or unknown keys, and no scrub has handled those that identify people."
        return ChecklistItem(title, UNKNOWN, reason, SCRUB)
    return item


def _find_in_stated_metadata(dataset: Dataset, facts: DatasetFacts) -> dict[str, int]:
    """Values that must be gone by class in what metadata files and people state, as every export has it."""
    tally = TextTally(list_exemptions(dataset))
    tally.add([TurnRecord("", 1, "user", dataset.source, [], metadata=dataset.provenance)])
    return {kind: count for kind, count in tally.found.items() if facts.must_be_gone(kind)}


def _text_only_item(title: str, known: _DatasetEvidence, report: CheckReport) -> ChecklistItem | None:
    """Yes, if the checks found values in texts alone, which other items report; else None, also if not every
    finding was kept with its place."""
    found = known.found_by_checks(set(KINDS))
    in_texts = CheckFinding.objects.filter(report=report, code__in=found, field="text").count()
    if in_texts != sum(found.values()) or not report.names_looked_for:
        return None
    return ChecklistItem(
        title, YES, f"Checked on {_format_time(report.created_at)}: values were found in texts only."
    )


def _measurement_item(measurement: Measurement) -> ChecklistItem:
    answer = UNKNOWN if measurement.is_met is None else YES if measurement.is_met else NO
    return ChecklistItem(measurement.title, answer, measurement.reason, NO_REMEDY if answer == YES else SCRUB)


def _review_item(known: _DatasetEvidence) -> ChecklistItem:
    title, review = REVIEW_TITLE, known.review
    if review is None:
        return ChecklistItem(title, UNSIGNED, "No one has signed it yet.", SIGN)
    signed = _describe_signature(review)
    if void := known.review_void_reason:
        return ChecklistItem(title, UNSIGNED, f"{signed}, but {void}: sign it again.", SIGN)
    return ChecklistItem(title, YES, f"{signed}.")


def _describe_signature(review: SharingReview) -> str:
    return f"{review.name} signed on {_format_time(review.signed_at)}"
