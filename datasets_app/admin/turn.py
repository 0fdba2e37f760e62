"""The admin of turns: their list, and the page of one turn."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from datasets_app.browsing import turn_pages
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.partitions import find_visible
from datasets_app.core.web.model_admin import ReadOnlyAdmin
from datasets_app.core.web.pages import dataset_breadcrumbs, parse_pk, render_page, require_permissions
from datasets_app.models import Dataset, Turn
from datasets_app.templatetags.datasets_display import turn_url


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    def get_queryset(self, request: HttpRequest) -> Any:
        """Limits the pages that Django adds, too."""
        visible = Dataset.objects.visible_to(request.user)
        return super().get_queryset(request).filter(dataset__in=visible)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_turn")
        return turn_pages.turns(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_turn")
        turns = find_visible(Turn, parse_pk(object_id), request.user).select_related("session__dataset")
        turn = get_object_or_404(turns)
        dataset, characters = turn.session.dataset, len(turn.text)
        withheld = not raw_access.may_read(request.user, dataset)
        if withheld:
            raw_access.withhold_turn(turn)
            raw_access.withhold_session(turn.session)
        else:
            raw_access.record_access(
                dataset, request.user, place="turn", session=turn.session_id, turn=turn.turn_index
            )
        crumbs = dataset_breadcrumbs(
            dataset,
            (turn.session.session_id, turn_url(turn.session_id, turn.turn_index)),
            (f"Turn {turn.turn_index}", None),
        )
        context = {"turn": turn, "characters": characters, "dataset": dataset, "withheld": withheld}
        return render_page(request, "datasets_app/turn.html", crumbs, context)
