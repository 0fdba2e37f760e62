"""Every rule about what may be done with the contents of a dataset. Pure: no queries, no clock, no forms.

A rule takes facts and answers a verdict. ``gates.py`` loads the facts, raises what is refused and records
overrides. Pages, commands and jobs call ``gates.py``; tests of rules need no database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from datasets_app.catalog.dataset_facts import ADVICE, DatasetFacts, Remedy, format_kinds
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS
from datasets_app.domain.wording import MAX_REASON_CHARACTERS, format_count, normalize_reason
from datasets_app.models import Dataset

# Labels for calibration must not come from the split that the calibration is tested on.
LOCKED_SPLIT = "test"


# --- facts ----------------------------------------------------------------------------------------------


class OverrideRequest(NamedTuple):
    """The reason as it was typed, and whether the person has the permission to override."""

    reason: str = ""
    permitted: bool = False


class VersionFacts(NamedTuple):
    """A stored version: whether it was ``raw``, the classes of values ``found`` in it or ``exempt`` then, and
    how many values a reviewer marked as ``missed`` since."""

    raw: bool
    found: frozenset[str]
    exempt: frozenset[str]
    missed: int


class Blocker(NamedTuple):
    """What a release lacks. ``title`` is kept in the audit log."""

    title: str
    reason: str
    remedy: Remedy

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


# --- verdicts -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Allowed:
    """No rule objects."""


@dataclass(frozen=True)
class Overridden:
    """Allowed, because someone with the permission gave a reason; it must be recorded."""

    purpose: str
    reason: str


@dataclass(frozen=True)
class Refused:
    """``message`` is for people; ``details`` is JSON for scripts and job pages."""

    message: str
    remedy: Remedy = Remedy.NONE
    details: dict[str, list[str]] | None = None


Verdict = Allowed | Overridden | Refused


# --- overrides ------------------------------------------------------------------------------------------


class Gate(NamedTuple):
    """A rule that a reason can override. The audit log keeps ``purpose``. ``locked`` gates are always closed,
    others only while the text is raw."""

    purpose: str
    action: str
    closed: str = ""
    locked: bool = False


_RAW = "{name} contains {raw}, so it can't be %s. {advice}"
EXPORT = Gate("export", "export raw text", _RAW % "exported")
ANNOTATE = Gate("annotate", "have raw text annotated", _RAW % "annotated")
JUDGE = Gate("judge", "have raw text judged by a model", _RAW % "sent to a model")
_LOCKED = "The test split of {name} is locked: labels for calibration must not come from it."
EXPORT_TEST_SPLIT = Gate("export test split", "export labels of the test split", _LOCKED, locked=True)
ANNOTATE_TEST_SPLIT = Gate("annotate test split", "have the test split annotated", _LOCKED, locked=True)
RESPLIT = Gate(
    "split",
    "split a dataset again, which unlocks its test split",
    "{name} is already split. Splitting it again may move sessions of the locked test split into training.",
    locked=True,
)
BRING_BACK_ERASED = Gate("bring back erased sessions", "bring back erased sessions", locked=True)
CHANGE_ORIGIN = Gate("change origin", "change the origin of a dataset", locked=True)
RELEASE = Gate("release", "release a version that has blockers")
ATTEST = Gate("attest", "attest that a dataset may stay as it is")
EXEMPT = Gate("exempt", "exempt a value that looks like personal data")
SHARE = Gate("share", "share data without a complete sharing checklist")


def decide_override(
    gate: Gate, request: OverrideRequest, closed: str, unmet: Sequence[Blocker] = ()
) -> Verdict:
    """Whether ``request`` opens a closed gate; ``closed`` says why it is closed, ``unmet`` lists it."""
    reason = normalize_reason(request.reason)
    if not reason:
        message = f"{closed} Or give a reason, which takes the permission to override."
        details = {"unmet": [str(each) for each in unmet]} if unmet else None
        return Refused(message, Remedy.OVERRIDE, details)
    if not request.permitted:
        return Refused(f"You don't have permission to {gate.action}; ask a privacy officer.")
    if len(reason) > MAX_REASON_CHARACTERS:
        return Refused(f"The reason is too long: give at most {MAX_REASON_CHARACTERS} characters.")
    return Overridden(gate.purpose, reason)


# --- rules ----------------------------------------------------------------------------------------------


def decide_use(facts: DatasetFacts) -> Verdict:
    """Any work on a dataset: not once its contents are deleted."""
    if not facts.is_expired:
        return Allowed()
    day = f" on {facts.deleted_on:%-d %B %Y}" if facts.deleted_on else ""
    return Refused(
        f"The contents of {facts.name} were deleted{day} and can't be restored. Its name stays taken: choose "
        "another name for a new dataset."
    )


def decide_copy(facts: DatasetFacts) -> Verdict:
    """Reading texts to keep a copy, or adding some: not during a scrub either, as half a scrub is neither."""
    verdict = decide_use(facts)
    if isinstance(verdict, Refused) or facts.scrub_job is None:
        return verdict
    return Refused(
        f"{facts.name} is being scrubbed (job {facts.scrub_job}); try again when that job has ended.",
        Remedy.WAIT,
    )


def decide_gate(gate: Gate, facts: DatasetFacts, request: OverrideRequest) -> Verdict:
    """Texts leave the dataset for a file or for annotators, or its test split is unlocked."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused) or not (facts.is_raw or gate.locked):
        return verdict
    closed = gate.closed.format(name=facts.name, raw=facts.raw_because, advice=facts.advice)
    return decide_override(gate, request, closed)


def decide_judge(
    facts: DatasetFacts, base_url: str | None, allowed: Sequence[str], request: OverrideRequest
) -> Verdict:
    """Texts are judged by the model at ``base_url``, or offline (None), where they don't leave the machine.
    The dataset must name the endpoint, which no reason replaces, and raw text takes an override."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused) or base_url is None:
        return verdict
    if base_url not in allowed:
        return Refused(
            f"{facts.name} doesn't allow its texts to be sent to {base_url}. Add this endpoint to the "
            "metadata of the dataset, under the endpoints of judges."
        )
    return decide_gate(JUDGE, facts, request)


def decide_label_export(facts: DatasetFacts, found: Mapping[str, int], request: OverrideRequest) -> Verdict:
    """Labels leave with what people wrote beside them, such as notes; ``found`` are values in it by class."""
    found = {kind: count for kind, count in found.items() if facts.must_be_gone(kind)}
    if not found or facts.attestation:
        return Allowed()
    closed = (
        f"Notes or other fields of these labels contain personal data ({format_kinds(found)}), so they can't "
        f"be exported. Scrub {facts.name} again, which replaces it there as well."
    )
    return decide_override(EXPORT, request, closed)


def decide_attestation(facts: DatasetFacts, request: OverrideRequest) -> Verdict:
    """Someone states that raw text may stay as it is: public data, or invented numbers."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused):
        return verdict
    if not facts.is_raw:
        return Refused(f"{facts.name} is not raw: there is nothing to attest.")
    if facts.is_unscanned:
        return Refused(f"{facts.name} contains {facts.raw_because}. {ADVICE[Remedy.CHECKS]}", Remedy.CHECKS)
    return decide_override(ATTEST, request, f"{facts.name} contains {facts.raw_because}.")


def decide_exemption(name: str, kind: str, request: OverrideRequest) -> Verdict:
    """A term stays in the text of ``name`` although the pattern class ``kind`` matches it."""
    closed = (
        f"This value is one of the {KIND_DESCRIPTIONS[kind]} that a scrub of {name} replaces. It can stay "
        "only by an exemption."
    )
    return decide_override(EXEMPT, request, closed)


def decide_release(facts: DatasetFacts, blockers: Sequence[Blocker], request: OverrideRequest) -> Verdict:
    """A new version: there must be turns, and blockers take an override."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused):
        return verdict
    if not facts.turn_count:
        return Refused(f"{facts.name} has no turns; there is nothing to release.")
    if not blockers:
        return Allowed()
    listed = " ".join(f"{each.title}: {each.reason[:1].lower()}{each.reason[1:]}" for each in blockers)
    closed = f"{facts.name} can't be released because of {format_count(len(blockers), 'blocker')}. {listed}"
    return decide_override(RELEASE, request, closed, blockers)


def decide_import_origin(facts: DatasetFacts, origin: str | None) -> Verdict:
    """An import into a dataset that exists: it can't bring another ``origin``, whatever the dataset holds."""
    if origin in (None, "", facts.origin):
        return Allowed()
    return Refused(
        f"{facts.name} has the origin {facts.origin}, not {origin}. Use separate datasets for different "
        "origins. If the dataset's origin is wrong, ask a privacy officer to change it."
    )


def decide_stated_origin(origin: str, stated: str | None, source: str, request: OverrideRequest) -> Verdict:
    """``source`` (an upload, a metadata file) states an origin for lines that are imported as ``origin``.

    It may become production, the strictest; anything else counts as a change of origin.
    """
    if stated in (None, "", origin) or origin == Dataset.Origin.PRODUCTION:
        return Allowed()
    closed = f"{source} states the origin {stated}, so it can't be imported as {origin}."
    return decide_override(CHANGE_ORIGIN, request, closed)


def decide_erased_sessions(count: int, request: OverrideRequest) -> Verdict:
    """Sessions that were erased at somebody's request come back only by an override."""
    if not count:
        return Allowed()
    were, them = ("session was", "it") if count == 1 else ("sessions were", "them")
    closed = f"Nothing was added: {count:,} {were} erased and must not come back. Leave {them} out."
    return decide_override(BRING_BACK_ERASED, request, closed)


def decide_origin_change(facts: DatasetFacts, origin: str, request: OverrideRequest) -> Verdict:
    """The origin decides which rules apply, so it changes only by an override."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused):
        return verdict
    if origin == facts.origin:
        return Refused(f"{facts.name} already has the origin {origin}.")
    closed = f"The origin of {facts.name} decides which rules apply to it."
    return decide_override(CHANGE_ORIGIN, request, closed)


def decide_idle(name: str, running: tuple[str, int] | None, advice: str) -> Verdict:
    """Work that needs the dataset to itself: ``running`` is what another job does, and its number; ``advice``
    ends the sentence."""
    if running is None:
        return Allowed()
    work, number = running
    return Refused(f"{work} is running on {name} (job {number}); {advice}", Remedy.WAIT)


def decide_deletion(facts: DatasetFacts) -> Verdict:
    """Deleting any of the contents: not while a legal hold is set."""
    return _decide_destruction(facts, "Nothing in it can be deleted until the hold is lifted.")


def decide_scrub(facts: DatasetFacts) -> Verdict:
    """Replacing texts in place destroys what a legal hold protects."""
    return _decide_destruction(
        facts,
        "A scrub would destroy the text that the hold protects. Scrub it after the hold is lifted. A preview "
        "changes nothing, so it is allowed.",
    )


def _decide_destruction(facts: DatasetFacts, advice: str) -> Verdict:
    verdict = decide_use(facts)
    if isinstance(verdict, Refused) or not facts.legal_hold:
        return verdict
    reason = f" ({facts.hold_reason})" if facts.hold_reason else ""
    return Refused(f"{facts.name} is on legal hold{reason}. {advice}")


def decide_package(name: str, unmet: Sequence[Blocker], request: OverrideRequest) -> Verdict:
    """A package is made for people outside: it needs the whole sharing checklist, or an override."""
    if not unmet:
        return Allowed()
    return decide_override(SHARE, request, _describe_unmet(name, unmet), unmet)


def decide_release_copy(
    label: str, *, raw: bool, may_override: bool, may_read: bool, unmet: Sequence[Blocker]
) -> Verdict:
    """Files of a stored version: of one that was released raw only for people who could release it so."""
    if raw and not may_override:
        return Refused(
            f"{label} was released raw by an override, so its files take the permission to override: ask a "
            "privacy officer."
        )
    return decide_copy_for_reader(label, may_read=may_read, unmet=unmet)


def decide_copy_for_reader(name: str, *, may_read: bool, unmet: Sequence[Blocker]) -> Verdict:
    """A copy for somebody who may not read raw text is a copy for somebody outside."""
    if may_read or not unmet:
        return Allowed()
    return Refused(_describe_unmet(name, unmet), Remedy.SHARING)


def _describe_unmet(name: str, unmet: Sequence[Blocker]) -> str:
    listed = "; ".join(blocker.title for blocker in unmet)
    return f"{name} can't be shared until the sharing checklist is complete. Missing: {listed}."


def decide_read(name: str, *, raw: bool, permitted: bool) -> Verdict:
    """Showing texts of a dataset, or anything that would reveal some of them."""
    if not raw or permitted:
        return Allowed()
    return Refused(
        f"{name} contains raw text, and you don't have permission to read it. Ask a curator to do this, "
        "or to scrub the dataset.",
        Remedy.SCRUB,
    )


def is_version_raw(facts: DatasetFacts, version: VersionFacts) -> bool:
    """Whether a stored version counts as raw text: also if what was attested, exempt or missed when it was
    released no longer is, though a scrub has since replaced it in the dataset itself."""
    if version.raw or facts.is_raw:
        return True
    if facts.attestation:
        return False
    found = any(map(facts.must_be_gone, version.found))
    return bool(found or version.missed or version.exempt - facts.text.exempt.keys())


def decide_job_results(*, overridden: bool, permitted: bool) -> Verdict:
    """Repeating a job that overrode a gate, or downloading its files: only with the override permission."""
    if overridden and not permitted:
        return Refused("This job overrode a gate; its files take the override permission.")
    return Allowed()


def decide_upload_access(*, own: bool, permitted: bool) -> Verdict:
    """An uploaded file, its preview or its quarantined lines: raw text that no dataset's rules cover yet. For
    the person who uploaded it, and for people who may limit access and read raw text."""
    if own or permitted:
        return Allowed()
    return Refused("This file belongs to the person who uploaded it; ask them, or a privacy officer.")


def decide_job_start(starter: str, *, permitted: bool, visible: bool, token_revoked: bool = False) -> Verdict:
    """A worker begins a job: the person who started it must still be allowed to."""
    if not permitted:
        return Refused(f"{starter}, who started this job, no longer has the permission for it.")
    if token_revoked:
        return Refused("The API token that started this job was revoked before the job began.")
    if not visible:
        return Refused(f"{starter}, who started this job, no longer has access to the dataset.")
    return Allowed()


def decide_stored_release(label: str, deleted_on: date | None, successor: str = "") -> Verdict:
    """Copies of a stored version: it passed the gates when it was made, unless its files were destroyed."""
    if deleted_on is None:
        return Allowed()
    instead = f" Version {successor} replaces it." if successor else ""
    return Refused(f"The files of {label} were destroyed on {deleted_on:%Y-%m-%d}.{instead}")
