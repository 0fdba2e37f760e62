"""The checklist of a new installation, on the home page until it is done or hidden."""

from typing import Any, NamedTuple

from django.contrib.auth import get_user_model
from django.urls import reverse
from django.utils import timezone

from datasets_app import hooks
from datasets_app.catalog.dataset_facts import DatasetFacts
from datasets_app.catalog.personas import DEFAULT_ID
from datasets_app.core.web.pages import dataset_url
from datasets_app.models import AttentionState, CheckReport, Dataset, Persona, Release
from datasets_app.models.attention import FIRST_STEPS_KEY


class FirstStep(NamedTuple):
    title: str
    is_done: bool
    url: str


def find_first_steps(user: Any, datasets: Any, facts: dict[int, DatasetFacts]) -> list[FirstStep]:
    """The steps that this person may take; empty if all are done or they were hidden. What was done with the
    demonstration data doesn't count."""
    has = user.has_perm
    if not has("datasets_app.import_dataset"):
        return []
    states = AttentionState.objects.filter(key=FIRST_STEPS_KEY, user=user)
    if states.filter(snoozed_until__gt=timezone.now()).exists():
        return []
    own = datasets.exclude(name=hooks.panels.DEMO_DATASET)
    own_facts = [known for known in facts.values() if known.name != hooks.panels.DEMO_DATASET]
    first = own.order_by("created_at").first()
    steps = [
        FirstStep(
            "Import a conversation file", bool(own_facts), reverse("admin:datasets_app_dataset_import")
        ),
        FirstStep(
            "Run the checks",
            CheckReport.objects.filter(dataset__in=own.order_by().values("pk")).exists(),
            _page(first, "checks"),
        ),
        # Before the scrub, which keeps the brands and products that a persona names.
        FirstStep(
            "Add the persona that the replies should sound like",
            Persona.objects.exclude(persona_id=DEFAULT_ID).exists(),
            reverse("admin:datasets_app_persona_changelist"),
        ),
        FirstStep(
            "Make sure that no personal data is left",
            any(not known.is_raw and known.turn_count for known in own_facts),
            _page(first, "scrub"),
        ),
        FirstStep(
            "Have replies labeled",
            first is not None and hooks.labels.find_label_progress(first)[0],
            reverse(hooks.panels.CAMPAIGNS_PAGE),
        ),
        FirstStep(
            "Release a version",
            Release.objects.filter(dataset__in=own.order_by().values("pk")).exists(),
            _page(first, "releases"),
        ),
    ]
    if has("auth.add_user"):
        people = get_user_model().objects.filter(is_active=True)[:2]
        steps.append(
            FirstStep("Invite your colleagues", len(people) > 1, reverse("admin:auth_user_changelist"))
        )
    return [] if all(step.is_done for step in steps) else steps


def _page(dataset: Dataset | None, name: str) -> str:
    return dataset_url(dataset, name) if dataset else ""
