"""Where another app joins in, so that this one never imports it. Filled in AppConfig.ready()."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# Called inside the import's transaction with (dataset, first session pk, last session pk), after
# the turns stand. The dataset's sessions between the two are the new ones. What is returned is
# added to the import's result.
after_import: list[Callable[[Any, int, int], dict[str, int]]] = []

# Called with (dataset, user) for the dataset page; returns {"title", "template", "context"} or None.
dataset_panels: list[Callable[[Any, Any], dict[str, Any] | None]] = []


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


# Called with a user for the home page; returns what needs their attention, in a fixed number of queries.
attention: list[Callable[[Any], list[AttentionItem]]] = []

# Called with (session, turns shown, user) for the session page; returns, by the turns' primary keys,
# short notes that stand under a turn, in no more than a fixed number of queries.
turn_notes: list[Callable[[Any, Any, Any], dict[int, list[str]]]] = []

# For operations of another app: the permission to start such a job, to stop it and to fetch its files.
job_permissions: dict[str, str] = {}

# Called with a persona whose text is about to change; returns how many labels were made under the one it has,
# which will no longer be that of the persona they were given by.
label_counters: list[Callable[[Any], int]] = []


# Called with a dataset; returns, by the keys of users, sentences that tell what lets them read some of its
# replies without seeing the dataset itself.
reply_access_reasons: list[Callable[[Any], dict[int, list[str]]]] = []


class ScrubHook(NamedTuple):
    """JSON objects that belong to sessions and are scrubbed with them, in the same transaction.

    ``read`` is given the primary keys of sessions, and locks what it returns: for each session pairs of
    something by which ``write`` knows the object again, and the object, which may have a "turn_index".
    ``write`` is given triples of that, the object as it was and as it is to be; and, where session ids are
    hashed, the function that does it. Both take a fixed number of queries.
    """

    read: Callable[[Sequence[int]], dict[int, list[tuple[Any, dict[str, Any]]]]]
    write: Callable[[list[tuple[Any, dict[str, Any], dict[str, Any]]], Callable[[str], str] | None], None]
    # What is rewritten on the disk once old versions of these rows are to be gone.
    tables: tuple[str, ...]


scrub_hooks: list[ScrubHook] = []


class DeletionHook(NamedTuple):
    """What belongs to the sessions of a dataset and is deleted with them, for good.

    Counts are by kind, in words that stand in certificates: {"labels": 12}.
    """

    # (dataset, primary keys of some of its sessions or None for all) → what there is.
    count: Callable[[Any, Sequence[int] | None], dict[str, int]]
    # In the transaction that deletes these sessions (primary keys), just before they go → what was deleted.
    delete: Callable[[Sequence[int]], dict[str, int]]
    # In the transaction that marks a dataset as expired: nobody is to begin anything on it any more.
    close: Callable[[Any], None]
    # When all its sessions are gone: what hangs on the dataset as a whole → what was deleted.
    finish: Callable[[Any], dict[str, int]]
    # What is rewritten on the disk once old versions of these rows are to be gone.
    tables: tuple[str, ...]


deletion_hooks: list[DeletionHook] = []


class ErasureHook(NamedTuple):
    """What names an erased session without belonging to it: labels that keep the place their file named.

    Both are given the dataset and whether an id is that of the erased session, hashed or not.
    """

    # Primary keys of the sessions that were made for such labels only: they hold its text.
    find_sessions: Callable[[Any, Callable[[str], bool]], set[int]]
    # In the transaction that deletes the session → what was deleted, as of DeletionHook.
    delete: Callable[[Any, Callable[[str], bool]], dict[str, int]]


erasure_hooks: list[ErasureHook] = []

# Called with a dataset for the package it is handed over in; returns the LabelFacts (domain/package.py) of
# its labels, or None if it has none.
label_facts: list[Callable[[Any], Any]] = []
