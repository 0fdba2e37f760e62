"""What is known about a dataset and its text, and what that means. Pure: no queries, no clock, no forms.

``gates.py`` loads the facts; ``policies.py`` decides by them; pages, documents and events say what they say.
"""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, NamedTuple

from datasets_app.domain.pii.canary.survival_text import describe_survival
from datasets_app.domain.pii.detector import DETECTION_VERSION, JUDGED_KINDS, KINDS, NAME
from datasets_app.domain.pii.exemptions import ExemptCount, describe_exempt
from datasets_app.domain.pii.network.languages import describe_shares, describe_unmeasured
from datasets_app.domain.pii.policy import KIND_DESCRIPTIONS
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset


class Remedy(StrEnum):
    """What resolves a refusal or a blocker; each caller words it or links to it."""

    NONE = ""
    SCRUB = "scrub"
    CHECKS = "checks"
    SHARING = "sharing"
    WAIT = "wait"
    OVERRIDE = "override"
    ATTEST = "attest"
    SESSIONS = "sessions"


ADVICE = {
    Remedy.CHECKS: "Run the checks first.",
    Remedy.SCRUB: "Scrub it first.",
    Remedy.ATTEST: "Have people read it, then attest that it may stay as it is.",
}


def format_kinds(counts: Mapping[str, int]) -> str:
    """``e-mail addresses: 3, credentials: 1``."""
    return ", ".join(f"{KIND_DESCRIPTIONS[kind]}: {count:,}" for kind, count in counts.items())


class AuditFacts(NamedTuple):
    """What people found in a sample of the scrubbed turns: see :mod:`datasets_app.domain.pii.audit_estimate`.

    ``languages``: at most how many in each, of how many, if there are several. ``scrubbed_since``: what they
    marked has been scrubbed.
    """

    read: int
    turns: int
    estimate: float
    low: float
    high: float
    languages: dict[str, tuple[int, int]] = {}
    scrubbed_since: bool = False


class TextFacts(NamedTuple):
    """What is known about the text: see :class:`TextScan`. ``missed`` are values that people marked as missed
    since the last scrub; ``earlier_version`` is that of the detection which alone has searched it, or 0."""

    last_session: int = 0
    scanned_to: int = 0
    scrubbed_to: int = 0
    turn_count: int = 0
    found: dict[str, int] = {}
    exempt: dict[str, ExemptCount] = {}
    unmeasured: dict[str, int] = {}
    missed: int = 0
    names_searched: bool = False
    earlier_version: int = 0
    audit: AuditFacts | None = None
    canary: dict[str, Any] | None = None

    @property
    def names_unknown(self) -> str:
        """The languages in which a scrub can't vouch for names: see :func:`describe_unmeasured`."""
        return describe_unmeasured(self.unmeasured, self.turn_count)

    @property
    def survival(self) -> str:
        """How many planted values a scrub leaves, as a sentence; empty if it wasn't measured on this text."""
        if self.canary is None or self.canary["last_session"] < self.last_session:
            return ""
        return describe_survival(self.canary)

    @property
    def has_failed_canary(self) -> bool:
        """Whether more planted values may survive than the limit that the measurement was made with."""
        return bool(self.survival and self.canary and self.canary["upper"] > self.canary.get("limit", 1))


class AttestationFacts(NamedTuple):
    """That the text may stay as it is: who said so, when and why."""

    by: str
    on: date
    reason: str


STATE_LABELS = {
    "raw": "Raw",
    "clear": "Clear",
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

        What a format or a checksum decides counts, whatever the origin. What is judged counts in production
        data; but names, which a verified scrub has replaced as the model finds them, only until then.
        """
        text = self.text
        if not text.last_session or self.attestation:
            return ""
        if self.is_production and not self.is_scrubbed:
            return "production data without a verified scrub"
        if self.is_unscanned:
            return self._unsearched_text
        found = {kind: count for kind, count in self._findings.items() if self._closes_gates(kind)}
        if found:
            return f"personal data ({format_kinds(found)})"
        if text.missed:
            return f"{format_count(text.missed, 'value')} that a reviewer marked as missed"
        return self._unvouched_text

    @property
    def _unsearched_text(self) -> str:
        if not self.text.earlier_version and self.is_scrubbed:
            return (
                "text that has to be searched again, because sessions were deleted or kept terms changed "
                "since its scrub was verified"
            )
        if not self.text.earlier_version:
            return "sessions that have not been searched for personal data"
        did = "verified" if self.is_scrubbed else "searched"
        return (
            f"text that version {self.text.earlier_version} of the detection has {did}, and version "
            f"{DETECTION_VERSION}, which is here now, has not searched yet"
        )

    @property
    def _unvouched_text(self) -> str:
        """Production text of which only people can say that it names nobody; empty without any."""
        is_unvouched = self.is_production and self.text.names_unknown
        return f"text whose scrub was {self.verified_except}" if is_unvouched else ""

    @property
    def verified_except(self) -> str:
        """What a verified scrub doesn't vouch for; empty if there is nothing."""
        languages = self.text.names_unknown
        return join_exceptions(describe_exempt(self.text.exempt), languages)

    @property
    def to_review(self) -> dict[str, int]:
        """Findings that close no gate, as they may be wrong: for people to judge."""
        return {kind: count for kind, count in self._findings.items() if not self._closes_gates(kind)}

    @property
    def _findings(self) -> dict[str, int]:
        return {kind: self.text.found[kind] for kind in KINDS if self.text.found.get(kind)}

    def must_be_gone(self, kind: str) -> bool:
        """Whether values of this class may not leave. What is judged may be wrong, so that it is a list to
        review, but for production data."""
        return kind not in JUDGED_KINDS or self.is_production

    def _closes_gates(self, kind: str) -> bool:
        return self.must_be_gone(kind) and kind != NAME

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
        return "scrubbed" if self.is_scrubbed else "clear"

    @property
    def state_label(self) -> str:
        return STATE_LABELS[self.state]

    @property
    def description(self) -> str:
        """What is known about the text, in a sentence or two. Every page, document and event that says
        something about it says this."""
        if self.is_expired or not self.text.last_session:
            return ""
        said = (_describe_search(self), self.text.survival, describe_audit(self.text.audit))
        return " ".join(filter(None, said))

    @property
    def remedy(self) -> Remedy:
        """What opens the gates of a raw dataset."""
        if self.is_unscanned and (self.is_scrubbed or not self.is_production):
            return Remedy.CHECKS
        if self._unvouched_text and self.raw_because == self._unvouched_text:
            return Remedy.ATTEST
        return Remedy.SCRUB

    @property
    def advice(self) -> str:
        return ADVICE[self.remedy]


def join_exceptions(exempt: str, languages: str) -> str:
    """ "verified except 3 ignored terms (18 occurrences) and names in Amharic (412 turns)"; empty without
    any."""
    said = " and ".join(filter(None, (exempt, f"names in {languages}" if languages else "")))
    return said and f"verified except {said}"


def say_verified(exceptions: str, where: str) -> str:
    """The sentence about a verified scrub of what ``where`` names; see :func:`join_exceptions`."""
    if not exceptions:
        return f"Verified: no pattern matches remain in {where}."
    return f"{exceptions[0].upper()}{exceptions[1:]}: no other pattern matches remain in {where}."


def describe_audit(audit: AuditFacts | None) -> str:
    """What a sample says about all turns; empty without one."""
    if audit is None:
        return ""
    since = " before the last scrub" if audit.scrubbed_since else ""
    shares = describe_shares(audit.languages)
    return (
        f"People read {format_count(audit.read, 'turn')}{since}: an estimated {audit.estimate:,.0f} "
        f"({audit.low:,.0f} to {audit.high:,.0f}) of {audit.turns:,} still held something personal."
        f"{f' At most, by language: {shares}.' if shares else ''}"
    )


def _describe_search(facts: DatasetFacts) -> str:
    text, turns = facts.text, format_count(facts.text.turn_count, "turn")
    if facts.attestation:
        by, on, reason = facts.attestation
        return f"{by} attested on {on:%-d %B %Y} that the text may stay as it is: {reason}"
    if facts.is_raw:
        return f"Raw: it contains {facts.raw_because}."
    exempt = describe_exempt(text.exempt)
    review = f" To review: {format_kinds(facts.to_review)}." if facts.to_review else ""
    if facts.is_scrubbed:
        return f"{say_verified(facts.verified_except, turns)}{review}"
    names = "by rules and by a model for names" if text.names_searched else "by rules, not for names"
    nothing = "nothing that a format or a checksum decides" if facts.to_review else "no personal data"
    return f"Searched {names}: {nothing} found in {turns}{f', except {exempt}' if exempt else ''}.{review}"
