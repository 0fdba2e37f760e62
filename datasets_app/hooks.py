"""What this app takes from the one with labels, which it never imports: two protocols.

Modules with functions of these names fulfill them; that app's ``AppConfig.ready()`` says which.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from django.utils.functional import SimpleLazyObject

from datasets_app.domain.packages.package import LabelFile, LabelSummary
from datasets_app.domain.packages.quality_statement import QualityStatement
from datasets_app.domain.traces.label_rules import LabelRules


class AttentionItem(NamedTuple):
    """A line under "Needs attention" on the home page: ``name`` in bold, ``text`` after it, then a link.

    ``kind`` is "warn" or "bad"; with ``run_checks_url`` a button that runs the checks replaces the link.
    """

    kind: str
    icon: str
    name: str
    text: str
    url: str
    link_text: str
    detail: str = ""
    run_checks_url: str = ""

    @property
    def key(self) -> str:
        """Names the item as long as it is about the same thing."""
        return hashlib.sha256(f"{self.icon} {self.url}".encode()).hexdigest()[:32]


class SessionLabels(NamedTuple):
    """What another app knows about sessions, for the list of the sessions of a dataset.

    ``describe`` takes the primary key of a dataset and those of some of its sessions and returns badges of a
    few words for each, in a fixed number of queries. ``filters`` are by value: a label, a condition on a
    session ``s`` of the dataset ``%(dataset)s``, and a query of the ``session_id`` of all that meet it.
    """

    # Only people with this permission see it.
    permission: str
    describe: Callable[[int, Sequence[int]], dict[int, list[str]]]
    filters: dict[str, tuple[str, str, str]]


class Labels(Protocol):
    """The labels of a dataset."""

    SESSION_LABELS: SessionLabels

    def annotate_imported_turns(
        self, dataset: Any, first_session: int, last_session: int, rules: LabelRules
    ) -> dict[str, int]:
        """Called in the transaction of an import, after the turns of the sessions in this range of primary
        keys are stored. The returned counts are added to the import's result."""

    def find_label_progress(self, dataset: Any) -> tuple[bool, int]:
        """Whether the dataset has labels, and how many campaigns are open."""

    def count_weekly_labels(self, datasets: Any, since: datetime) -> dict[date, int]:
        """Labels since then by the week's Monday."""

    def count_labels_for_persona(self, persona: Any) -> int:
        """How many labels become stale if the persona's text changes."""

    def list_campaign_readers(self, dataset: Any) -> dict[int, list[str]]:
        """By users' primary keys, why they can read some replies without access to the dataset."""

    def was_labeled_since(self, dataset: Any, since: datetime) -> bool:
        """Whether labels were changed by what the audit log doesn't record."""

    def build_label_facts(self, dataset: Any) -> LabelSummary | None:
        """What a package says of the labels; None if there are none."""

    def build_quality_statement(self, dataset: Any) -> QualityStatement:
        """What releases and packages state of its judges, and of how good the assistant is."""

    def write_label_files(
        self, dataset: Any, folder: Path, data: Sequence[Path], actor: Any, override: str
    ) -> tuple[list[LabelFile], list[str]]:
        """Write the labels of the turns in ``data`` into the folder of a package; the files, and notices."""


class Panels(Protocol):
    """What pages show of labels and campaigns, and offer to do with them."""

    # Permissions to start a campaign, and to label.
    ADD_CAMPAIGN: str
    ANNOTATE: str
    CAMPAIGNS_PAGE: str
    # The page that loads the demonstration data, and the name of its dataset.
    DEMO_PAGE: str
    DEMO_DATASET: str

    def annotations_panel(self, dataset: Any, user: Any) -> dict[str, Any] | None:
        """For the dataset's overview: "title", "template" and "context"."""

    def label_url(self, dataset: Any, page: str) -> str:
        """Where the step of labeling leads: "labels" or "new_campaign"."""

    def list_label_pages(self, dataset: Any, user: Any) -> list[tuple[str, str, str]]:
        """The pages of the tab "Labels" that the user may open: name, title, URL."""

    def list_selection_links(self, dataset: Any, selection: Any, user: Any) -> list[tuple[str, str]]:
        """(title, URL) of what can be done with selected sessions or turns."""

    def list_session_links(self, session: Any, user: Any) -> list[tuple[str, str, str]]:
        """(key, title, URL) of what can be done with a session."""

    def list_job_links(self, job: Any, user: Any) -> list[tuple[str, str]]:
        """(title, URL) of the pages that show what a finished job made."""

    def turn_label_notes(self, session: Any, turns: Any, user: Any) -> dict[int, list[str]]:
        """Short notes to show under turns, by their primary keys, in a fixed number of queries."""

    def score_panel(self, run: Any, user: Any) -> dict[str, Any] | None:
        """How far the scores of a run's replies and people's labels agree, as ``annotations_panel`` does."""

    def list_campaign_attention(self, user: Any) -> list[AttentionItem]:
        """For the home page, in a fixed number of queries."""

    def announce_campaigns(self) -> None:
        """Called every minute: writes outgoing events about what no single change brings about."""


labels: Labels
panels: Panels


class Steps(Protocol):
    """What this app registers itself: ``core`` renders the header of a dataset's pages, and knows nothing of
    releases."""

    def find_next_steps(self, dataset: Any, user: Any) -> Any:
        """The ``NextSteps`` of a dataset, for this user."""


next_steps: Steps


def load_when_used(module: str) -> Any:
    """The module, imported when one of its attributes is first used: few commands use any."""
    return SimpleLazyObject(partial(import_module, module))
