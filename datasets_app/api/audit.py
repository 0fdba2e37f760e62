"""The audit log, for privacy officers."""

from datetime import date
from typing import Any

from ninja import Query, Router

from datasets_app.api.datasets import After, Limit
from datasets_app.api.problems import ApiError
from datasets_app.api.routing import page_latest, route
from datasets_app.api.schemas import AuditPage
from datasets_app.auditing.events import filter_events
from datasets_app.auditing.parameters import AuditExportParameters
from datasets_app.models.dataset_queryset import get_token_datasets

router = Router(tags=["Audit log"])

Text: Any = Query("", max_length=200)


@route(router, "GET", "/audit", AuditPage, needs=("datasets_app.view_auditevent",))
def list_events(
    request: Any,
    action: str = Text,
    dataset: str = Text,
    actor: str = Text,
    since: date | None = None,
    until: date | None = None,
    after: str = After,
    limit: int = Limit,
) -> Any:
    """The latest first. The log names all datasets, so a token that is limited to some can't read it."""
    if get_token_datasets(request.person) is not None:
        raise ApiError(403, "outside_token", "This token is limited to datasets, and the log is of all.")
    chosen = AuditExportParameters(action=action, dataset=dataset, actor=actor, since=since, until=until)
    return page_latest(filter_events(chosen), after, limit)
