"""What the home page shows: counts, what is running, and what needs attention."""

from collections import Counter
from typing import Any

from django.db.models import Count, Q, Sum

from datasets_app import hooks
from datasets_app.admin.attention import add_states, list_assignees
from datasets_app.admin.attention_items import list_attention_items
from datasets_app.admin.dataset_pages import list_active_jobs
from datasets_app.admin.first_steps import find_first_steps
from datasets_app.admin.trends import build_trends
from datasets_app.catalog.dataset_facts import STATE_LABELS, DatasetFacts
from datasets_app.catalog.gates import load_all_facts
from datasets_app.models import Dataset
from datasets_app.models.check_report import with_last_check

MAX_ITEMS = 6


def home_context(request: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Counts, trends and what needs attention, in a fixed number of queries."""
    has = request.user.has_perm
    datasets = Dataset.objects.visible_to(request.user)
    may_see = has("datasets_app.view_dataset")
    facts = load_all_facts(datasets) if may_see else {}
    shows_snoozed = "snoozed" in request.GET
    attention = add_states(list_attention_items(request.user, datasets, facts), request.user)
    return {
        **context,
        "title": "Home",
        "may_see": may_see,
        "is_annotator_only": not may_see and has(hooks.panels.ANNOTATE),
        **(_dataset_context(datasets, facts) if may_see else {}),
        **({"active_jobs": list_active_jobs(request.user)} if has("datasets_app.view_jobrun") else {}),
        "attention": [entry for entry in attention if shows_snoozed or not entry.is_snoozed],
        "snoozed_count": sum(entry.is_snoozed for entry in attention),
        "shows_snoozed": shows_snoozed,
        "assignees": list_assignees() if attention else [],
        "trends": build_trends(datasets) if facts else [],
        "first_steps": find_first_steps(request.user, datasets, facts) if may_see else [],
        "demo_page": hooks.panels.DEMO_PAGE if not facts else None,
    }


def _dataset_context(datasets: Any, facts: dict[int, DatasetFacts]) -> dict[str, Any]:
    kinds = {f"origin_{value}": Count("pk", filter=Q(origin=value)) for value in Dataset.Origin.values}
    states = Counter(known.state for known in facts.values())
    counts = datasets.aggregate(
        datasets=Count("pk"), turns=Sum("turn_count"), sessions=Sum("session_count"), **kinds
    )
    return {
        "counts": counts,
        "by_status": [(state, label, states[state]) for state, label in STATE_LABELS.items()],
        "by_origin": [(key, label, counts[f"origin_{key}"]) for key, label in Dataset.Origin.choices],
        "recent": with_last_check(datasets).order_by("-updated_at")[:MAX_ITEMS],
    }
