"""The list that must hold before a dataset leaves the house, each item worked out where it can be."""

from collections.abc import Callable, Collection
from typing import NamedTuple

from django.utils import timezone
from django.utils.formats import date_format

from datasets_app.domain.pii.detector import CREDENTIAL, EMAIL, HOST, KINDS, NAME, PATH, PHONE
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, ScrubMark, ScrubRun, Session, Turn

YES, NO, UNKNOWN, UNSIGNED = "yes", "no", "unknown", "unsigned"
_WORDS = {YES: "yes", NO: "no", UNKNOWN: "can't be told", UNSIGNED: "not yet signed"}
# Which page mends it.
SCRUB, NOTHING = "scrub", ""


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
        _scrubbed("Metadata identifies no one", known, set(KINDS)),
        SharingItem(
            "Legal review is signed",
            UNSIGNED,
            "A person signs it, with a name, when a version is released.",
        ),
    ]


class _Known:
    """What scrubs and previews tell of a dataset: the newest first."""

    def __init__(self, dataset: Dataset) -> None:
        runs = list(ScrubRun.objects.filter(dataset=dataset))
        self.complete = [(run, Policy.from_json(run.policy)) for run in runs if run.verified_at]
        self.preview = next((run for run in runs if run.dry_run and run.finished_at), None)
        last = Session.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", flat=True).first()
        self.last_session = last or 0
        missed = ScrubMark.objects.filter(dataset=dataset, verdict=ScrubMark.Verdict.MISSED)
        self.missed = list(missed.values_list("kind", "created_at"))

    def newest(self, does: Callable[[Policy], bool]) -> tuple[ScrubRun, Policy] | None:
        """The newest complete scrub under a policy of which this is true."""
        return next(((run, policy) for run, policy in self.complete if does(policy)), None)

    def has_grown_since(self, run: ScrubRun) -> bool:
        return self.last_session > run.last_session

    def missed_since(self, run: ScrubRun, kinds: Collection[str]) -> int:
        return sum(kind in kinds and at > run.created_at for kind, at in self.missed)

    def found_by_preview(self, kinds: Collection[str]) -> int:
        return sum(self.preview.totals.get(kind, 0) for kind in kinds) if self.preview else 0


def _scrubbed(title: str, known: _Known, kinds: set[str]) -> SharingItem:
    """Whether values of these classes are gone, by the newest scrub that looked for all of them."""
    newest = known.newest(lambda policy: kinds <= set(policy.kinds))
    found = known.found_by_preview(kinds)
    since_scrub = newest is None or (known.preview is not None and known.preview.pk > newest[0].pk)
    if found and since_scrub:
        return SharingItem(title, NO, f"The last preview has found {found:,} in {_looked_at(known)}.", SCRUB)
    if newest is None:
        reason = "The dataset has not been scrubbed of them." if known.complete else _NEVER
        return SharingItem(title, UNKNOWN, reason, SCRUB)
    run, policy = newest
    if missed := known.missed_since(run, kinds):
        what = "1 value was" if missed == 1 else f"{missed:,} values were"
        return SharingItem(title, NO, f"{what} marked as missed since the last scrub.", SCRUB)
    if known.has_grown_since(run):
        return SharingItem(title, UNKNOWN, _GROWN, SCRUB)
    return SharingItem(title, YES, _how(run, policy, kinds))


_NEVER = "The dataset has never been scrubbed."
_GROWN = "Sessions have been added since the last scrub."


def _how(run: ScrubRun, policy: Policy, kinds: set[str]) -> str:
    turns = (run.verification or {}).get("turns", run.turn_count)
    when = date_format(timezone.localtime(run.verified_at), "j M Y H:i") if run.verified_at else ""
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
    if not Turn.objects.filter(session__dataset=dataset).exclude(timestamp=None).exists():
        return SharingItem(title, YES, "No turn has one.")
    return SharingItem(title, NO, _GROWN if newest else "Turns have the timestamps they came with.", SCRUB)
