"""Sessions whose labels name a person: in notes, other fields, or as the annotator."""

import json
import re
from collections.abc import Iterator
from typing import Any

from annotations_app.models import Annotation, Decision


def search_labels(dataset: Any, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """(primary key of the session, place) of each finding."""
    labels = Annotation.objects.filter(dataset=dataset)
    for session, notes, extra in labels.values_list("turn__session_id", "notes", "extra").iterator(1000):
        said = f"{notes or ''}\n{json.dumps(extra, ensure_ascii=False) if extra else ''}"
        if pattern.search(said):
            yield session, "labels"
    place = "assignment__item__turn"
    decisions = Decision.objects.filter(**{f"{place}__dataset": dataset}).exclude(notes=None)
    for session, notes in decisions.values_list(f"{place}__session_id", "notes").iterator(1000):
        if pattern.search(notes):
            yield session, "labels"
