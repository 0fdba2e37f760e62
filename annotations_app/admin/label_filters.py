"""Filters and pages of the list of labels, which may have millions of rows."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest
from django.utils.functional import cached_property

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.rows.partitions import split_datasets
from datasets_app.models import Persona, Turn

# Counting millions of rows takes longer than reading a page: further pages are reached by filters.
MAX_COUNTED_ROWS = 10_000
MAX_FILTER_VALUES = 100
MAX_TEXT_CHARACTERS = 80


class BoundedPaginator(Paginator):
    """Counts no further than anybody turns pages."""

    @cached_property
    def count(self) -> int:
        return int(self.object_list.order_by()[:MAX_COUNTED_ROWS].count())


class RecentValuesFilter(admin.SimpleListFilter):
    """The values of a field among the latest labels: all distinct ones would read the whole table."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        visible = self.narrow(request, model_admin.get_queryset(request)).order_by()
        latest = visible.filter(pk__in=visible.order_by("-id").values("pk")[:MAX_COUNTED_ROWS])
        found = latest.values_list(self.parameter_name, flat=True).distinct()[:MAX_FILTER_VALUES]
        values = {value for value in found if value}
        if chosen := request.GET.get(self.parameter_name):
            values.add(chosen)
        return [(value, value) for value in sorted(values)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        if not wanted:
            return queryset
        return self.narrow(request, queryset).filter(**{self.parameter_name: wanted})

    def narrow(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The labels whose values the user may choose from."""
        return queryset


class PersonaFilter(RecentValuesFilter):
    title = "persona"
    parameter_name = "persona_id"

    def narrow(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """In raw text, only personas that exist here: other ids come from the file."""
        if gates.can_read_raw(request.user):
            return queryset
        readable = Q(dataset__in=raw_access.list_readable(request.user))
        return queryset.filter(readable | Q(persona_id__in=Persona.objects.values("persona_id")))


class AnnotatorFilter(RecentValuesFilter):
    title = "annotator"
    parameter_name = "annotator"


def find_turns_of_session(datasets: QuerySet[Any], session_id: str) -> list[int]:
    """Primary keys of the turns of all sessions with this id in these datasets."""
    return [
        key
        for some in split_datasets(datasets.values_list("pk", flat=True))
        for key in Turn.objects.filter(
            dataset__in=some, session__dataset__in=some, session__session_id=session_id
        ).values_list("pk", flat=True)
    ]


def load_turns(labels: Sequence[Any]) -> None:
    """Set the ``turn`` of each label, with the ``start`` of its text: the rest stays where it is."""
    datasets = {label.dataset_id for label in labels}
    turns = (
        Turn.objects.filter(dataset__in=datasets, session__dataset__in=datasets)
        .filter(pk__in=[label.turn_id for label in labels])
        .select_related("session")
        .only("dataset_id", "session_id", "turn_index", "session__session_id", "session__id_hashed")
        .annotate(start=Left("text", 2 * MAX_TEXT_CHARACTERS))
        .in_bulk()
    )
    for label in labels:
        label.turn = turns[label.turn_id]
