"""Sessions whose labels name a person: in notes, other fields, or as the annotator."""

from collections.abc import Callable, Iterator
from typing import Any

from annotations_app.models import Annotation, Decision


def search_labels(dataset: Any, names_person: Callable[[Any], bool]) -> Iterator[tuple[int, str]]:
    """(primary key of the session, place) of each finding."""
    labels = Annotation.objects.filter(dataset=dataset)
    for session, notes, extra in labels.values_list("turn__session_id", "notes", "extra").iterator(1000):
        if names_person([notes or "", extra or ""]):
            yield session, "labels"
    place = "assignment__item__turn"
    decisions = Decision.objects.filter(**{f"{place}__dataset": dataset}).exclude(notes=None)
    for session, notes in decisions.values_list(f"{place}__session_id", "notes").iterator(1000):
        if names_person(notes):
            yield session, "labels"
