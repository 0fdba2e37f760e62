"""What may be shared: a stored version, and a package of a version or of the current data.

A version is for work in-house and needs no legal review. What is handed out does: a package, and a copy
for somebody who may not read raw text.
"""

from typing import Any

from datasets_app.catalog import gates, policies
from datasets_app.catalog.dataset_facts import Remedy
from datasets_app.catalog.policies import Blocker, Verdict
from datasets_app.models import Dataset, Release
from datasets_app.releasing.sharing.checklist import YES, build_checklist, build_release_checklist


def list_unmet(dataset: Dataset, release: Release | None = None) -> list[Blocker]:
    """The items of the sharing checklist that aren't answered with yes. Those of a version were answered when
    it was released, but its review may be signed later."""
    items = build_checklist(dataset) if release is None else build_release_checklist(release)
    return [
        Blocker(item.title, f"{item.answer_label.capitalize()}. {item.reason}", Remedy.SHARING)
        for item in items
        if item.answer != YES
    ]


def check_release_copy(release: Release, actor: Any) -> None:
    """Raises UserError unless ``actor`` (None for the command line) may have the files of a version."""
    may_read = gates.can_read_raw(actor)
    verdict = policies.decide_release_copy(
        str(release),
        raw=release.raw,
        may_override=gates.can_override(actor),
        may_read=may_read,
        unmet=[] if may_read else list_unmet(release.dataset, release),
    )
    gates.check(verdict)


def check_export_copy(dataset: Dataset, actor: Any) -> None:
    """The same for an exported file of a dataset."""
    may_read = gates.can_read_raw(actor)
    unmet = [] if may_read else list_unmet(dataset)
    gates.check(policies.decide_copy_for_reader(dataset.name, may_read=may_read, unmet=unmet))


def decide_package(dataset: Dataset, release: Release | None, *, actor: Any, override: str = "") -> Verdict:
    """Whether the sharing checklist is complete, or ``override`` a reason to share without."""
    request = gates.request_override(actor, override)
    return policies.decide_package(str(release or dataset), list_unmet(dataset, release), request)


def check_package(dataset: Dataset, release: Release | None, *, actor: Any, override: str = "") -> None:
    """Raises UserError if a package may not be made; records an override."""
    if release is not None:
        check_release_copy(release, actor)
    gates.enforce(decide_package(dataset, release, actor=actor, override=override), dataset, actor)
