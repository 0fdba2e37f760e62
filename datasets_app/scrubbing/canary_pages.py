"""What a measurement with planted values has found, on the "Scrub" page, and the button that starts one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates
from datasets_app.catalog.sharing_requirements import load_requirements
from datasets_app.core.web.pages import get_visible_dataset, require_permissions
from datasets_app.domain.intervals import count_needed
from datasets_app.domain.pii.canary.measure import MAX_VALUES
from datasets_app.domain.pii.canary.survival_text import DEFAULT_VALUES, format_percent
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset
from datasets_app.scrubbing.parameters import CanaryParameters

MAX_FORMS_SHOWN = 3


@require_POST
def start_measurement(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "scrub_dataset")
    dataset = get_visible_dataset(request, pk)
    limit = load_requirements(dataset).canary_limit
    # As many values as show the limit if none is left.
    count = min(max(DEFAULT_VALUES, count_needed(limit)), MAX_VALUES)
    parameters = CanaryParameters(count=count, limit=limit)
    return start_and_show_job(request, "canary_dataset", dataset, parameters)


def canary_context(dataset: Dataset) -> dict[str, Any]:
    """The result: types of which something is left, most first, and the names of the others; empty before a
    measurement of the current text."""
    text = gates.load_facts(dataset).text
    if text.canary is None or not text.survival:
        return {}
    kinds = sorted(text.canary["classes"].items(), key=lambda item: (-item[1]["survived"], item[0]))
    return {
        "canary": {
            "text": text.survival,
            "rows": [_build_row(name, kind) for name, kind in kinds if kind["survived"]],
            "clean_kinds": [name for name, kind in kinds if not kind["survived"]],
            "clean_upper": format_percent(
                max((kind["upper"] for _, kind in kinds if not kind["survived"]), default=0)
            ),
        }
    }


def _build_row(name: str, kind: dict[str, Any]) -> dict[str, Any]:
    forms = sorted(kind["forms"].items(), key=lambda item: (-item[1], item[0]))
    return {
        "kind": name,
        "planted": kind["planted"],
        "survived": kind["survived"],
        "upper": format_percent(kind["upper"]),
        "forms": forms[:MAX_FORMS_SHOWN],
        "more_forms": len(forms[MAX_FORMS_SHOWN:]),
    }
