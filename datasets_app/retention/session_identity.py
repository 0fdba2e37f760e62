"""Recognizes a session by its id, also where the id was hashed."""

import hmac
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.rows.partitions import find_dataset, split_datasets
from datasets_app.domain.generation.families import ORIGIN as CASE_ORIGIN
from datasets_app.domain.generation.families import spell_digest
from datasets_app.domain.pii.session_ids import hash_session_id, is_hashed_id
from datasets_app.models import Dataset, Release, Session, SourceFile, Turn
from datasets_app.models.session_data import list_all

_DIGEST_PREFIX = b"erased session\0"


def find_session(dataset: Dataset, session_id: str) -> Session | None:
    """The session with this id, or with the hash of it."""
    sessions = Session.objects.filter(dataset=dataset)
    return (
        sessions.filter(session_id=session_id).first()
        or sessions.filter(session_id=hash_session_id(session_id, hash_key())).first()
    )


def get_session(key: int) -> Session | None:
    """The session with this primary key, in whichever dataset it is."""
    dataset = find_dataset("session", key, list(Dataset.objects.values_list("pk", flat=True)))
    return Session.objects.select_related("dataset").filter(dataset=dataset, pk=key).first()


def find_copies(session: Session, datasets: QuerySet[Dataset] | None = None) -> list[Session]:
    """The session and its copies in other datasets, which have the same id or the hash of it, test cases that
    were made of it, and the same in other versions; only in those ``datasets`` if given."""
    ids = [session.session_id, hash_session_id(session.session_id, hash_key())]
    searched = (Dataset.objects.all() if datasets is None else datasets).order_by("pk")
    cases = Turn.objects.filter(
        metadata__contains={CASE_ORIGIN: {"conversation": mark_conversation(session)}}
    )
    found: list[Session] = []
    for part in split_datasets(searched.values_list("pk", flat=True)):
        made = cases.filter(dataset__in=part).values("session")
        is_copy = Q(session_id__in=ids) | Q(pk__in=made)
        found += Session.objects.select_related("dataset").filter(is_copy, dataset__in=part)
    known = {copy.pk for copy in found}
    return found + [other for other in find_versions([session], searched) if other.pk not in known]


def find_versions(sessions: Sequence[Session], datasets: QuerySet[Dataset]) -> list[Session]:
    """The same conversations in those of the ``datasets`` with a release that was loaded from theirs, or from
    which theirs was loaded. An id may have been hashed before or after the release."""
    by_dataset: dict[int, list[str]] = {}
    for session in sessions:
        by_dataset.setdefault(session.dataset_id, []).append(session.session_id)
    found: list[Session] = []
    for pk, ids in by_dataset.items():
        released = Release.objects.filter(dataset=pk).values("sha256")
        loaded = SourceFile.objects.filter(dataset=pk).values("sha256")
        others = {
            *SourceFile.objects.filter(sha256__in=released).values_list("dataset", flat=True),
            *Release.objects.filter(sha256__in=loaded).values_list("dataset", flat=True),
        }
        searched = datasets.filter(pk__in=others - {pk}).order_by("pk")
        for part in split_datasets(searched.values_list("pk", flat=True)):
            found += find_same(part, ids)
    return found


def find_same(datasets: Collection[int], ids: Sequence[str]) -> QuerySet[Session]:
    """The sessions of the datasets with one of the ids, its hash, or what it is the hash of."""
    rows = Session.objects.select_related("dataset").filter(dataset__in=datasets)
    key, keys = hash_key(), set[int]()
    if hashes := set(filter(is_hashed_id, ids)):
        raw = rows.filter(id_hashed=False).values_list("pk", "session_id").iterator()
        keys = {pk for pk, session_id in raw if hash_session_id(session_id, key) in hashes}
    same = [*ids, *(hash_session_id(session_id, key) for session_id in ids)]
    return rows.filter(Q(session_id__in=same) | Q(pk__in=keys)).order_by("pk")


def find_made(sessions: Sequence[Session], datasets: QuerySet[Dataset]) -> list[Session]:
    """Test cases in these ``datasets`` that were made of the sessions, the same conversations of other
    versions (see :func:`find_versions`), and what was made of those.

    Many files number their sessions: a case that names another dataset, which still exists, is of another
    session with the same id.
    """
    made: list[tuple[int, Any]] = []
    names = set(Dataset.objects.values_list("name", flat=True))
    for part in split_datasets(datasets.order_by("pk").values_list("pk", flat=True)):
        cases = Turn.objects.filter(dataset__in=part, metadata__has_key=CASE_ORIGIN)
        made += cases.values_list("session_id", f"metadata__{CASE_ORIGIN}")
    found: dict[int, Session] = {}
    new = list(sessions)
    while new:
        origins = {(session.dataset.name, mark_conversation(session)) for session in new}
        origins |= {("", mark) for _, mark in origins}
        keys = {key for key, origin in made if _read_origin(origin, names) in origins} - found.keys()
        of_them = Session.objects.select_related("dataset").filter(dataset__in=datasets, pk__in=keys)
        versions = (version for version in find_versions(new, datasets) if version.pk not in found)
        new = [*of_them.order_by("pk"), *versions]
        found |= {session.pk: session for session in new}
    return list(found.values())


def _read_origin(origin: Any, names: Collection[str]) -> tuple[Any, Any]:
    """(dataset, mark of the conversation); the dataset is empty if none of ``names`` is it."""
    facts = origin if isinstance(origin, dict) else {}
    dataset, mark = facts.get("dataset"), facts.get("conversation")
    return dataset if dataset in names else "", mark if isinstance(mark, str) else None


def mark_conversation(session: Session) -> str:
    """By which a test case names the conversation it was made of: the same for all copies of it."""
    return spell_digest(digest_session_id(session.session_id, id_hashed=session.id_hashed))


def list_other_datasets(session: Session) -> list[str]:
    """Names of the other datasets that have a copy."""
    return sorted({copy.dataset.name for copy in find_copies(session)} - {session.dataset.name})


def match_any(sessions: Iterable[Session]) -> Callable[[str], bool]:
    """Tells whether an id is the id of one of the sessions, its hash, or what theirs is the hash of."""
    key, ids = hash_key(), {session.session_id for session in sessions}
    known = ids | {hash_session_id(session_id, key) for session_id in ids}
    return lambda candidate: candidate in known or hash_session_id(candidate, key) in ids


def find_label_sessions(sessions: Sequence[Session]) -> list[Session]:
    """Others of the same dataset that were created for labels of these before they were imported."""
    dataset, matches = sessions[0].dataset, match_any(sessions)
    keys = {key for data in list_all() for key in data.find_naming(dataset, matches)}
    found = Session.objects.filter(dataset=dataset, pk__in=keys.difference(one.pk for one in sessions))
    return list(found.order_by("pk"))


def digest_session_id(session_id: str, *, id_hashed: bool) -> str:
    """Identifies an erased session in the audit log. Depends on the installation's key, not on whether the
    id was hashed."""
    canonical = session_id if id_hashed else hash_session_id(session_id, hash_key())
    return hmac.new(
        hash_key(), _DIGEST_PREFIX + canonical.encode("utf-8", "surrogatepass"), "sha256"
    ).hexdigest()
