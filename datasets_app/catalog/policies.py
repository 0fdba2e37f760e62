"""Every rule about what may be done with the contents of a dataset. Pure: no queries, no clock, no forms.

A rule takes facts and answers a verdict. ``gates.py`` loads the facts, raises what is refused and records
overrides. Pages, commands and jobs call ``gates.py``; tests of rules need no database.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from datasets_app.domain.pii.detector import KINDS, NAME
from datasets_app.domain.pii.exemptions import ExemptCount, describe_exempt
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS
from datasets_app.domain.reasons import MAX_REASON_CHARACTERS, normalize_reason
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

# Labels for calibration must not come from the split that the calibration is tested on.
LOCKED_SPLIT = "test"


class Remedy(StrEnum):
    """What resolves a refusal or a blocker; each caller words it or links to it."""

    NONE = ""
    SCRUB = "scrub"
    CHECKS = "checks"
    SHARING = "sharing"
    WAIT = "wait"
    OVERRIDE = "override"


# --- facts ----------------------------------------------------------------------------------------------


def format_kinds(counts: Mapping[str, int]) -> str:
    """``e-mail addresses: 3, credentials: 1``."""
    return ", ".join(f"{KIND_DESCRIPTIONS[kind]}: {count:,}" for kind, count in counts.items())


class TextFacts(NamedTuple):
    """What is known about the text: see :class:`TextScan`. ``missed`` are values that people marked as missed
    since the last scrub."""

    last_session: int = 0
    scanned_to: int = 0
    scrubbed_to: int = 0
    turn_count: int = 0
    found: dict[str, int] = {}
    exempt: dict[str, ExemptCount] = {}
    missed: int = 0
    names_searched: bool = False
    scanned_on: date | None = None


class AttestationFacts(NamedTuple):
    """That the text may stay as it is: who said so, when and why."""

    by: str
    on: date
    reason: str


STATE_LABELS = {
    "raw": "Raw",
    "checked": "Checked",
    "attested": "Attested",
    "scrubbed": "Scrubbed",
    "released": "Released",
    "expired": str(Dataset.Status.EXPIRED.label),
    "empty": "Empty",
}


class DatasetFacts(NamedTuple):
    """What a dataset is at one moment. ``scrub_job`` is the job of an unverified scrub in progress."""

    name: str
    origin: str
    status: str
    turn_count: int = 0
    deleted_on: date | None = None
    legal_hold: bool = False
    hold_reason: str = ""
    scrub_job: int | None = None
    text: TextFacts = TextFacts()
    attestation: AttestationFacts | None = None

    @property
    def is_expired(self) -> bool:
        return self.status == Dataset.Status.EXPIRED

    @property
    def is_production(self) -> bool:
        return self.origin == Dataset.Origin.PRODUCTION

    @property
    def is_unscanned(self) -> bool:
        """Whether there are sessions that nothing has searched for personal data."""
        return self.text.scanned_to < self.text.last_session

    @property
    def is_scrubbed(self) -> bool:
        """Whether a verified scrub of all classes covers every session."""
        return bool(self.text.last_session) and self.text.scrubbed_to >= self.text.last_session

    @property
    def raw_because(self) -> str:
        """Why the text is raw, as what the dataset contains; empty if it may leave.

        Any value of a pattern class counts, whatever the origin. Names count in production data.
        """
        text = self.text
        if not text.last_session or self.attestation:
            return ""
        if self.is_production and not self.is_scrubbed:
            return "production data without a verified scrub"
        if self.is_unscanned:
            return "sessions that have not been checked for personal data"
        found = {kind: text.found[kind] for kind in KINDS if text.found.get(kind)}
        if not self.is_production:
            found.pop(NAME, None)
        if found:
            return f"personal data ({format_kinds(found)})"
        if text.missed:
            return f"{format_count(text.missed, 'value')} that a reviewer marked as missed"
        return ""

    @property
    def is_raw(self) -> bool:
        return bool(self.raw_because)

    @property
    def is_known_raw(self) -> bool:
        """Whether nothing but an override opens its gates now. Text that nothing has searched is searched
        where it would leave."""
        return self.is_raw and self.remedy != Remedy.CHECKS

    @property
    def state(self) -> str:
        """A key of :data:`STATE_LABELS`."""
        if self.is_expired:
            return "expired"
        if not self.text.last_session:
            return "empty"
        if self.is_raw:
            return "raw"
        if self.attestation:
            return "attested"
        if self.status == Dataset.Status.RELEASED:
            return "released"
        return "scrubbed" if self.is_scrubbed else "checked"

    @property
    def state_label(self) -> str:
        return STATE_LABELS[self.state]

    @property
    def description(self) -> str:
        return describe_text(self)

    @property
    def remedy(self) -> Remedy:
        """What opens the gates of a raw dataset."""
        if self.is_unscanned and not self.is_production:
            return Remedy.CHECKS
        return Remedy.SCRUB


class RunningJob(NamedTuple):
    label: str
    number: int


class OverrideRequest(NamedTuple):
    """The reason as it was typed, and whether the person has the permission to override."""

    reason: str = ""
    permitted: bool = False


class Blocker(NamedTuple):
    """What a release lacks. ``title`` is kept in the audit log."""

    title: str
    reason: str
    remedy: Remedy

    def __str__(self) -> str:
        return f"{self.title}: {self.reason}"


def describe_text(facts: DatasetFacts) -> str:
    """What is known about the text, in a sentence. Every page, document and event that says something about
    it says this."""
    text, turns = facts.text, format_count(facts.text.turn_count, "turn")
    if facts.is_expired or not text.last_session:
        return ""
    if facts.attestation:
        by, on, reason = facts.attestation
        return f"{by} attested on {on:%-d %B %Y} that the text may stay as it is: {reason}"
    if facts.is_raw:
        return f"Raw: it contains {facts.raw_because}."
    exempt = describe_exempt(text.exempt)
    if facts.is_scrubbed:
        if exempt:
            return f"Verified except {exempt}: no other pattern is left in {turns}."
        return f"Verified: no pattern is left in {turns}."
    names = (
        "by rules and by a model for names" if text.names_searched else "by rules; names were not looked for"
    )
    return f"Checked {names}: no personal data found in {turns}{f', except {exempt}' if exempt else ''}."


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


ADVICE = {Remedy.CHECKS: "Run the checks first.", Remedy.SCRUB: "Scrub it first."}


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
_LOCKED = "The test split of {name} is locked: labels for calibration must not come from it."
EXPORT_TEST_SPLIT = Gate("export test split", "export labels of the test split", _LOCKED, locked=True)
ANNOTATE_TEST_SPLIT = Gate("annotate test split", "have the test split annotated", _LOCKED, locked=True)
RESPLIT = Gate(
    "split",
    "split a dataset again, which unlocks its test split",
    "{name} is already split. Splitting it again may move sessions of the locked test split into training.",
    locked=True,
)
CHANGE_ORIGIN = Gate("change origin", "change the origin of a dataset", locked=True)
RELEASE = Gate("release", "release a version that has blockers")
ATTEST = Gate("attest", "attest that a dataset may stay as it is")
EXEMPT = Gate("exempt", "exempt a value that looks like personal data")


def decide_override(gate: Gate, request: OverrideRequest, closed: str) -> Verdict:
    """Whether ``request`` opens a closed gate; ``closed`` says why it is closed."""
    reason = normalize_reason(request.reason)
    if not reason:
        return Refused(f"{closed} Or give a reason, which takes the permission to override.", Remedy.OVERRIDE)
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
    closed = gate.closed.format(name=facts.name, raw=facts.raw_because, advice=ADVICE[facts.remedy])
    return decide_override(gate, request, closed)


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
    verdict = decide_override(RELEASE, request, closed)
    if isinstance(verdict, Refused) and verdict.remedy == Remedy.OVERRIDE:
        return Refused(verdict.message, verdict.remedy, {"unmet": [str(each) for each in blockers]})
    return verdict


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


def decide_origin_change(facts: DatasetFacts, origin: str, request: OverrideRequest) -> Verdict:
    """The origin decides which rules apply, so it changes only by an override."""
    verdict = decide_copy(facts)
    if isinstance(verdict, Refused):
        return verdict
    if origin == facts.origin:
        return Refused(f"{facts.name} already has the origin {origin}.")
    closed = f"The origin of {facts.name} decides which rules apply to it."
    return decide_override(CHANGE_ORIGIN, request, closed)


def decide_idle(name: str, running: RunningJob | None, advice: str) -> Verdict:
    """Work that needs the dataset to itself; ``advice`` ends the sentence."""
    if running is None:
        return Allowed()
    return Refused(f"{running.label} is running on {name} (job {running.number}); {advice}", Remedy.WAIT)


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


def decide_job_results(*, overridden: bool, permitted: bool) -> Verdict:
    """Repeating a job that overrode a gate, or downloading its files: only with the override permission."""
    if overridden and not permitted:
        return Refused("This job overrode a gate; its files take the override permission.")
    return Allowed()


def decide_job_start(starter: str, *, permitted: bool, visible: bool) -> Verdict:
    """A worker begins a job: the person who started it must still be allowed to."""
    if not permitted:
        return Refused(f"{starter}, who started this job, no longer has the permission for it.")
    if not visible:
        return Refused(f"{starter}, who started this job, no longer has access to the dataset.")
    return Allowed()


def decide_stored_release(label: str, deleted_on: date | None, successor: str = "") -> Verdict:
    """Copies of a stored version: it passed the gates when it was made, unless its files were destroyed."""
    if deleted_on is None:
        return Allowed()
    instead = f" Version {successor} replaces it." if successor else ""
    return Refused(f"The files of {label} were destroyed on {deleted_on:%Y-%m-%d}.{instead}")
