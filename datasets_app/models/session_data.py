"""What hangs on sessions and datasets, and what becomes of it.

Each app registers its models once, in its ``session_data.py``: every column with text, JSON, arrays or bytes.
Scrubs, erasures, deletions, the search for a person and the removal of old row versions go through what is
registered; backups take whole tables. ``tests/operations/test_session_data.py`` fails for a column that isn't
declared, and for a value that is still there where it was declared to go.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.models import JSONField, Model, Q, QuerySet

# By the primary key of a session: pairs of a reference to a row and what it says, as an object to scrub.
SaidBySession = dict[int, list[tuple[Any, dict[str, Any]]]]
# Triples of a reference, the object before the scrub and the one after it.
Changes = list[tuple[Any, dict[str, Any], dict[str, Any]]]
# Hashes session ids, if the scrub does that.
HashId = Callable[[str], str]


@dataclass(frozen=True)
class SessionData:
    """One model. Columns are named in a string, separated by spaces."""

    model: type[Model]
    # How certificates of deletion name its rows; empty: they don't count them.
    kind: str = ""
    # Paths from a row to its dataset and its session. Without a session, rows belong to the dataset as a
    # whole; without either, to the installation, or what deletes them does more than that.
    dataset: str = ""
    session: str = ""
    # Path to the number of the turn that a row is about: its text is scrubbed together with the session.
    turn: str = ""
    # Its rows are in the partitions of a dataset: see ``catalog/rows/partitions.py``.
    partitioned: bool = False
    # Columns with text that a scrub replaces: where a search for a person says that it has found one, if it
    # looks at the column.
    scrubbed: Mapping[str, str] = field(default_factory=dict)
    # Columns that quote sessions, in the rows that ``quoting`` selects: they are deleted when the dataset was
    # scrubbed, and when a session of it is erased.
    quoted: str = ""
    quoting: Q = field(default_factory=Q)
    # Columns with personal text that a scrub leaves, by the reason.
    left: Mapping[str, str] = field(default_factory=dict)
    # Columns that hold nothing personal, by what they hold. Those with choices need not be named.
    harmless: Mapping[str, str] = field(default_factory=dict)
    # Deleting the dataset keeps the rows, and empties these columns.
    emptied: str = ""

    @property
    def table(self) -> str:
        return self.model._meta.db_table

    @property
    def personal(self) -> set[str]:
        return {*self.scrubbed, *self.quoted.split(), *" ".join(self.left.values()).split()}

    @property
    def declared(self) -> set[str]:
        return self.personal | set(" ".join(self.harmless.values()).split())

    # --- deletion ------------------------------------------------------------------------------------

    def rows(self, dataset: Any, sessions: Iterable[int] | None = None) -> QuerySet[Any]:
        """Those of a dataset, or of some of its sessions (primary keys)."""
        rows = self.model._default_manager.filter(**{self.dataset: dataset}).order_by()
        return rows if sessions is None else rows.filter(**{f"{self.session}__in": list(sessions)})

    def delete(self, rows: QuerySet[Any], limit: int | None = None) -> int:
        if limit is not None:
            rows = self.model._default_manager.filter(pk__in=rows.values("pk")[:limit])
        return int(rows._raw_delete(rows.db))  # type: ignore[attr-defined]

    def delete_quoting(self, dataset: Any) -> int:
        return self.delete(self.rows(dataset).filter(self.quoting)) if self.quoted else 0

    def make_empty(self) -> dict[str, Any]:
        """The columns that a deletion empties, with what they hold then."""
        return {name: self.model._meta.get_field(name).get_default() for name in self.emptied.split()}

    def close(self, dataset: Any) -> None:
        """Called in the transaction that expires a dataset; prevents any new work on it."""

    def prepare_deletion(self, dataset: Any, sessions: Iterable[int] | None) -> None:
        """Called before anything of these sessions, or of an expired dataset, is deleted."""

    # --- erasure of rows that name a session without belonging to it -----------------------------------

    def find_naming(self, dataset: Any, matches: Callable[[str], bool]) -> set[int]:
        """Primary keys of sessions that were created only for such rows, and hold the erased one's text."""
        return set()

    def delete_naming(self, dataset: Any, matches: Callable[[str], bool]) -> int:
        """Called in the transaction that deletes the session."""
        return 0

    # --- scrub ---------------------------------------------------------------------------------------

    def read_said(self, dataset: int, sessions: Sequence[int]) -> SaidBySession:
        """What rows of these sessions say, to be scrubbed; locks them. One query."""
        said = Q(*[(f"{name}__isnull", False) for name in self.scrubbed], _connector=Q.OR)
        # Names the dataset of the turn, too: PostgreSQL then knows its partition.
        turn_dataset = f"{self.turn.removesuffix('turn_index')}dataset"
        rows = self.rows(dataset, sessions).filter(said, **{turn_dataset: dataset}).order_by("pk")
        found: SaidBySession = defaultdict(list)
        for session, pk, *values in rows.select_for_update(of=("self",)).values_list(
            self.session, "pk", self.turn, *self.scrubbed
        ):
            names = ("turn_index", *map(_name_in_object, self.scrubbed))
            item = {name: value for name, value in zip(names, values, strict=True) if value is not None}
            found[session].append((pk, item))
        return found

    def write_said(self, dataset: int, changes: Changes, hash_id: HashId | None) -> None:
        """Store what is left, in a fixed number of queries."""
        names = list(map(_name_in_object, self.scrubbed))
        changed = [(pk, *map(after.get, names)) for pk, before, after in changes if after != before]
        self.update_rows(list(self.scrubbed), changed)

    def scrub_columns(self, rows: QuerySet[Any], scrub_text: Callable[[str], str]) -> None:
        """Scrub texts of the dataset as a whole, such as names of files: of those too long by then, the end
        stays."""
        for pk, *values in rows.values_list("pk", *self.scrubbed).iterator() if self.scrubbed else ():
            limits = (self.model._meta.get_field(name).max_length or 0 for name in self.scrubbed)
            texts = [scrub_text(text)[-limit:] for text, limit in zip(values, limits, strict=True)]
            if texts != values:
                rows.filter(pk=pk).update(**dict(zip(self.scrubbed, texts, strict=True)))

    def drop_outdated(self, dataset: Any) -> int:
        """Drop what refers to places in texts that the scrub has changed; returns in how many rows."""
        return 0

    def update_rows(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Set text columns, given after the primary key; JSON is given as text."""
        if not rows:
            return
        types = {name: isinstance(self.model._meta.get_field(name), JSONField) for name in columns}
        values = ", ".join(f"{name} = n.{name}{'::jsonb' * is_json}" for name, is_json in types.items())
        arrays = ", ".join(["%s::bigint[]", *["%s::text[]"] * len(columns)])
        with connection.cursor() as cursor:
            cursor.execute(
                f"UPDATE {self.table} old SET {values} FROM unnest({arrays}) AS n (id, {', '.join(columns)})"
                " WHERE old.id = n.id",  # names from the models # nosec B608
                [list(column) for column in zip(*rows, strict=True)],
            )


def _name_in_object(column: str) -> str:
    """As findings name it: "text" would be the turn's."""
    return "notes" if column == "text" else column


_registered: list[SessionData] = []


def register(*models: SessionData) -> None:
    """In an order in which each model comes after those that it refers to."""
    _registered.extend(models)


def list_all() -> list[SessionData]:
    """Parents first."""
    return list(_registered)


def list_said() -> list[SessionData]:
    """What people say of turns: it is scrubbed with them."""
    return [data for data in _registered if data.turn]


def list_deleted(*, of_sessions: bool = False) -> list[SessionData]:
    """Whose rows are deleted with their session, or else with their dataset besides its partitions; in the
    order in which that can be done."""
    registered = reversed(_registered)
    if of_sessions:
        return [data for data in registered if data.session]
    return [data for data in registered if data.dataset and not data.emptied and not data.partitioned]


def list_tables(*, deleted: bool = False) -> list[str]:
    """Those in which a scrub leaves old row versions with personal text or, with ``deleted``, a deletion;
    partitions apart."""
    changed = (data for data in _registered if data.personal or (deleted and data.dataset))
    return [data.table for data in changed if not data.partitioned]


def find(model: type[Model]) -> SessionData:
    return next(data for data in _registered if data.model is model)
