"""Recognizes a session by its id, also where the id was hashed."""

import hmac
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from django.db.models import Q, QuerySet

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.rows.partitions import find_dataset_of_session, split_datasets
from datasets_app.domain.generation.families import ORIGIN as CASE_ORIGIN
from datasets_app.domain.generation.families import spell_digest
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import Dataset, Session, Turn
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
    dataset = find_dataset_of_session(key, list(Dataset.objects.values_list("pk", flat=True)))
    return Session.objects.select_related("dataset").filter(dataset=dataset, pk=key).first()


def find_copies(session: Session, datasets: QuerySet[Dataset] | None = None) -> list[Session]:
    """The session and its copies in other datasets, which have the same id or the hash of it, and test cases
    that were made of it; only in those ``datasets`` if given."""
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
    return found


def find_cases(sessions: Sequence[Session], datasets: QuerySet[Dataset]) -> list[Session]:
    """Test cases in these ``datasets`` that were made of the sessions, and cases that were made of those.

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
        new = list(of_them.order_by("pk"))
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


def matches_session(session_id: str, candidate: str) -> bool:
    """Whether both ids are the same, or one is the hash of the other."""
    key = hash_key()
    return session_id in (candidate, hash_session_id(candidate, key)) or candidate == hash_session_id(
        session_id, key
    )


def match_any(sessions: Iterable[Session]) -> Callable[[str], bool]:
    """Tells whether an id is the id of one of the sessions, or its hash."""
    ids = [session.session_id for session in sessions]
    return lambda candidate: any(matches_session(session_id, candidate) for session_id in ids)


def find_label_sessions(session: Session) -> list[Session]:
    """Sessions of the same dataset that were created for labels of this one before it was imported."""
    matches = match_any([session])
    keys = {key for data in list_all() for key in data.find_naming(session.dataset, matches)}
    found = Session.objects.filter(dataset=session.dataset_id, pk__in=keys - {session.pk})
    return list(found.order_by("pk"))


def digest_session_id(session_id: str, *, id_hashed: bool) -> str:
    """Identifies an erased session in the audit log. Depends on the installation's key, not on whether the
    id was hashed."""
    canonical = session_id if id_hashed else hash_session_id(session_id, hash_key())
    return hmac.new(
        hash_key(), _DIGEST_PREFIX + canonical.encode("utf-8", "surrogatepass"), "sha256"
    ).hexdigest()
