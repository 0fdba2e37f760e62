"""The way of a dataset from its import to sharing, as steps. Pure: no queries, no clock, no forms.

What is done and what is missing follows from the facts that the gates decide by, so a step never says
anything else than the page behind it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from datasets_app import hooks
from datasets_app.catalog.dataset_facts import DatasetFacts, Remedy
from datasets_app.catalog.policies import Blocker
from datasets_app.domain.wording import format_count

DONE, OPEN, LATER = "done", "open", "later"
# The blocker that names errors of the checks.
CHECKS_TITLE = "Checks without error"


class StepFacts(NamedTuple):
    """``report``: "none", "outdated", "current", or "same_text" if only tags or terms to keep have changed.
    ``blockers`` are those of a release. ``labels``: whether
    there are any. ``version`` is the latest one, ``version_changed``: the dataset has changed since.
    ``review_signed`` and ``shared``: the legal review holds, and a copy of the version has left."""

    dataset: DatasetFacts
    report: str = "none"
    blockers: Sequence[Blocker] = ()
    is_split: bool = False
    labels: bool = False
    open_campaigns: int = 0
    version: str = ""
    version_changed: bool = False
    review_signed: bool = False
    shared: bool = False


@dataclass
class Step:
    """``state``: DONE; OPEN, it can be taken now; LATER, another step comes first.

    ``page`` is the page of the dataset that takes the step, ``action`` its button; ``posts`` tells a button
    that starts a job from a link. ``permission`` lets someone take it; ``needed``: a release or sharing waits
    for it. The caller fills in what depends on the person: ``allowed``, whether they ``may_view`` the page
    that tells about it, ``who`` can take it and whether they were asked.
    """

    name: str
    title: str
    state: str
    text: str
    action: str
    page: str
    permission: str
    posts: bool = False
    needed: bool = True
    allowed: bool = False
    # Whether somebody has been asked today to take it.
    is_requested: bool = False
    may_view: bool = True
    who: list[str] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        return self.state == DONE


def decide_steps(facts: StepFacts) -> list[Step]:
    """The seven steps in order."""
    return list(_decide_steps(facts))


def _decide_steps(facts: StepFacts) -> Iterator[Step]:
    dataset = facts.dataset
    has_turns, may_leave = dataset.turn_count > 0, not dataset.is_raw
    imported = format_count(dataset.turn_count, "turn") + " imported." if has_turns else "No turns yet."
    yield Step(
        "import", "Import", _state(has_turns), imported, "Add file", "import", "datasets_app.import_dataset"
    )
    yield _decide_check(facts)
    yield _decide_scrub(facts)
    yield Step(
        "split",
        "Split",
        _state(facts.is_split, ready=has_turns),
        "Every session has its split."
        if facts.is_split
        else "Not split into training, validation and test. A release works without it.",
        "Split",
        "splits",
        "datasets_app.split_dataset",
        needed=False,
    )
    yield _decide_label(facts, ready=has_turns and may_leave)
    yield _decide_release(facts, ready=has_turns and not dataset.scrub_job)
    yield _decide_share(facts, ready=has_turns and may_leave)


def _state(is_done: bool, *, ready: bool = True) -> str:
    return DONE if is_done else OPEN if ready else LATER


def _decide_check(facts: StepFacts) -> Step:
    errors = next((each for each in facts.blockers if each.title == CHECKS_TITLE), None)
    unsearched = _waits_for_search(facts)
    is_checked = facts.report in {"current", "same_text"} and not errors and not unsearched
    step = Step(
        "check",
        "Check",
        _state(is_checked, ready=facts.dataset.turn_count > 0 and facts.dataset.scrub_job is None),
        "Checked, without an error.",
        "Run checks",
        "run_checks",
        "datasets_app.check_dataset",
        posts=True,
    )
    if facts.dataset.scrub_job is not None and not is_checked:
        step.text = "The scrub has to end first."
    elif facts.report == "none":
        step.text = "Not checked yet."
    elif facts.report == "outdated" or unsearched:
        step.text = "Not checked since the last change."
    elif errors:
        # The remedy is in the data, not in another run.
        step.text, step.action, step.page, step.posts = errors.reason, "View findings", "checks", False
    return step


def _waits_for_search(facts: StepFacts) -> bool:
    """Whether only a search tells what the text holds. Terms to keep don't add to what the checks found."""
    dataset = facts.dataset
    is_old_report = bool(dataset.text.earlier_version) or facts.report != "same_text"
    return dataset.is_raw and dataset.remedy == Remedy.CHECKS and is_old_report


def _decide_scrub(facts: StepFacts) -> Step:
    dataset = facts.dataset
    waits_for_checks = _waits_for_search(facts)
    ready = dataset.turn_count > 0 and not waits_for_checks
    text = dataset.description if dataset.turn_count else "Nothing to scrub yet."
    if dataset.scrub_job is not None:
        text = f"Being scrubbed by job {dataset.scrub_job}."
    elif waits_for_checks:
        text = "The checks search the text first."
    done = dataset.turn_count > 0 and not dataset.is_raw and dataset.scrub_job is None
    if ready and not done and dataset.scrub_job is None and dataset.remedy == Remedy.ATTEST:
        text, permission = f"{text} {dataset.advice}", "datasets_app.override_gate"
        return Step("scrub", "Scrub", OPEN, text, "Attest that it may stay", "attest", permission)
    action = "View progress" if dataset.scrub_job is not None else "Scrub"
    return Step(
        "scrub", "Scrub", _state(done, ready=ready), text, action, "scrub", "datasets_app.scrub_dataset"
    )


def _decide_label(facts: StepFacts, *, ready: bool) -> Step:
    running = f"{format_count(facts.open_campaigns, 'open campaign')}." if facts.open_campaigns else ""
    text = "Labeled." if facts.labels else "No labels yet. A release works without them."
    return Step(
        "label",
        "Label",
        _state(facts.labels, ready=ready),
        f"Labeled; {running}" if facts.labels and running else running or text,
        "View campaigns" if running else "New campaign",
        "labels" if running else "new_campaign",
        hooks.panels.ADD_CAMPAIGN,
        needed=False,
    )


def _decide_release(facts: StepFacts, *, ready: bool) -> Step:
    done = bool(facts.version) and not facts.version_changed
    if done:
        text = f"Released as {facts.version}."
    elif facts.blockers:
        text = " ".join(each.reason for each in facts.blockers)
    elif facts.version:
        text = f"Changed since {facts.version}."
    else:
        text = "No version yet. A version never changes and can be downloaded byte for byte."
    return Step(
        "release",
        "Release",
        _state(done, ready=ready and not facts.blockers),
        text,
        "Release",
        "releases",
        "datasets_app.release_dataset",
    )


def _decide_share(facts: StepFacts, *, ready: bool) -> Step:
    done = facts.shared and facts.review_signed
    step = Step(
        "share",
        "Share",
        _state(done, ready=ready),
        f"{facts.version or 'A package'} has been exported or downloaded.",
        "Export",
        "export",
        "datasets_app.export_dataset",
    )
    if not facts.review_signed:
        step.text = "The legal review isn't signed."
        step.action, step.page, step.permission = "Sign review", "sharing", "datasets_app.sign_review"
    elif not done:
        step.text = "The legal review is signed: export a package."
    return step


def find_next(steps: Sequence[Step]) -> Step | None:
    """The first open step that this person may take; None if there is none."""
    return next((step for step in steps if step.state == OPEN and step.allowed), None)


def find_waiting(steps: Sequence[Step]) -> list[Step]:
    """The open steps that a release or sharing waits for and this person may not take, up to the first that
    they may take themselves."""
    needed = [step for step in steps if step.state == OPEN and step.needed]
    return list(takewhile(lambda step: not step.allowed, needed))
