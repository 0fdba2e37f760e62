"""Terms that scrubs keep: listed for one dataset or, where ``dataset`` is None, for all of them."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from datasets_app.catalog.text_scans import discard_scans_of_kinds
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, ScrubMark
from datasets_app.scrubbing.marks import mark_not_personal, remove_mark

MAX_TERMS = 10_000


def keep_terms(
    terms: Iterable[str], *, dataset: Dataset | None = None, actor: Any, override: str = ""
) -> list[Dataset]:
    """Keep terms wherever they stand, all or none. Returns the datasets to search again.

    A term that a pattern class matches takes ``override``, a reason of somebody with that permission. Of all
    datasets only those are searched in which a value of the class was found: a name opens no gate, and its
    occurrences are counted by the next search. Raises UserError.
    """
    terms = list(dict.fromkeys(terms))
    if len(terms) > MAX_TERMS:
        raise UserError(f"At most {MAX_TERMS:,} terms can be kept at once.")
    with transaction.atomic():
        marks = [mark_not_personal(dataset, term=term, actor=actor, override=override) for term in terms]
        if dataset is not None:
            return [dataset]
        kinds = sorted({mark.kind for mark in marks if mark.kind})
        return discard_scans_of_kinds(found=kinds)


def remove_term(mark: ScrubMark, *, actor: Any) -> list[Dataset]:
    """From the next scrub on the detectors alone decide again. Returns the datasets to search again."""
    with transaction.atomic():
        remove_mark(mark, actor=actor)
        if mark.dataset is not None:
            return [mark.dataset]
        return discard_scans_of_kinds(exempt=[mark.kind] if mark.kind else [])
