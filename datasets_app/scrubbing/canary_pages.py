"""What a measurement with planted values has found, on the "Scrub" page, and the button that starts one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates
from datasets_app.core.web.pages import get_visible_dataset, require_permissions
from datasets_app.domain.pii.canary.survival_text import format_percent
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.parameters import CanaryParameters
from datasets_app.models import Dataset


@require_POST
def start_measurement(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "scrub_dataset")
    return start_and_show_job(request, "canary_dataset", get_visible_dataset(request, pk), CanaryParameters())


def canary_context(dataset: Dataset) -> dict[str, Any]:
    """The result, types of which most is left first; empty before a measurement of the current text."""
    text = gates.load_facts(dataset).text
    if text.canary is None or not text.survival:
        return {}
    kinds = sorted(text.canary["classes"].items(), key=lambda item: (-item[1]["survived"], item[0]))
    rows = [{"kind": name, **kind, "upper": format_percent(kind["upper"])} for name, kind in kinds]
    return {"canary": {"text": text.survival, "rows": rows}}
