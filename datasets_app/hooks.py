"""Extension points for other apps, so that this one never imports them.

An app appends its functions in ``AppConfig.ready()``; see ``annotations_app/apps.py`` for all of them in use.
"""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from datasets_app.domain.traces.label_rules import LabelRules

# Called with (dataset, first session pk, last session pk, LabelRules) in the transaction of an import, after
# the turns are stored; the dataset's sessions in that range are the new ones. The returned counts are added
# to the import's result.
after_import: list[Callable[[Any, int, int, LabelRules], dict[str, int]]] = []

# Called with (dataset, user) for the dataset page; returns {"title", "template", "context"} or None.
dataset_panels: list[Callable[[Any, Any], dict[str, Any] | None]] = []

# Called with (dataset, user); returns the pages of its tab "Labels" that the user may open: name, title, URL.
label_pages: list[Callable[[Any, Any], list[tuple[str, str, str]]]] = []

# Called with a dataset; returns whether it has labels, and how many campaigns are open.
label_progress: list[Callable[[Any], tuple[bool, int]]] = []

# Called with (dataset, user) for the header of a dataset's pages; returns the NextSteps of ``releasing``.
# This app registers it itself: ``core`` renders the header, and knows nothing of releases.
next_steps: list[Callable[[Any, Any], Any]] = []


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


# Called with a user for the home page; returns items for "Needs attention" in a fixed number of
# queries.
attention: list[Callable[[Any], list[AttentionItem]]] = []

# Called every minute by the scheduler: writes outgoing events about what no single change brings about.
announcements: list[Callable[[], None]] = []

# Called with the datasets that a user may see and a time; returns labels since then by the week's Monday.
weekly_labels: list[Callable[[Any, Any], dict[Any, int]]] = []

# The URL that loads the demonstration data, by the name of its page; the names of its datasets.
demo_pages: list[str] = []
demo_datasets: list[str] = []

# Called with (session, turns shown, user) for the session page; returns short notes to show under turns, by
# their primary keys, in a fixed number of queries.
turn_notes: list[Callable[[Any, Any, Any], dict[int, list[str]]]] = []

# Operation → permission to start its jobs, cancel them and download their files, for other apps' operations.
job_permissions: dict[str, str] = {}

# Called with a persona whose text is about to change; returns the number of its labels so far.
label_counters: list[Callable[[Any], int]] = []

# Called with a dataset; returns, by users' primary keys, why they can read some of its replies without access
# to the dataset.
reply_access_reasons: list[Callable[[Any], dict[int, list[str]]]] = []


# Called with a dataset and a time; returns whether labels were changed since by what the audit log doesn't
# record.
label_changes: list[Callable[[Any, datetime], bool]] = []

# Called with a dataset when a package is exported; returns the LabelFacts (domain/packages) of its labels, or
# None if it has none.
label_facts: list[Callable[[Any], Any]] = []

# Called with (dataset, folder, files of its turns, actor, override) when a package with labels is written;
# writes them into the folder. Returns (LabelFile of domain/packages for each file, notices).
package_labels: list[Callable[[Any, Path, Sequence[Path], Any, str], Any]] = []


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


session_labels: list[SessionLabels] = []

# Called with (dataset, selection, user) for the page of a selection; returns (title, URL) of what else
# can be done with them.
selection_links: list[Callable[[Any, Any, Any], list[tuple[str, str]]]] = []
