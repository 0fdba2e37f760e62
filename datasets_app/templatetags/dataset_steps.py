"""Where the steps of a dataset lead."""

from urllib.parse import urlencode

from django import template
from django.urls import reverse

from datasets_app.catalog.steps import Step
from datasets_app.models import Dataset

register = template.Library()


@register.simple_tag
def step_url(step: Step, dataset: Dataset) -> str:
    """Where the button of a step leads."""
    if step.page == "import":
        return f"{reverse('admin:datasets_app_dataset_import')}?{urlencode({'dataset': dataset.name})}"
    if step.page == "new_campaign":
        return f"{reverse('admin:annotations_app_campaign_add')}?dataset={dataset.pk}"
    if step.page == "labels":
        return reverse("admin:annotations_app_campaign_dataset_labels", args=[dataset.pk])
    return reverse(f"admin:datasets_app_dataset_{step.page}", args=[dataset.pk])


# The page of the dataset that tells about a step, also to those who can't take it.
_STEP_PAGES = {
    "import": "change",
    "check": "checks",
    "scrub": "scrub",
    "split": "splits",
    "release": "releases",
    "share": "sharing",
}


@register.simple_tag
def step_page_url(step: Step, dataset: Dataset) -> str:
    """The page that tells about a step."""
    if step.name == "label":
        return reverse("admin:annotations_app_campaign_dataset_labels", args=[dataset.pk])
    return reverse(f"admin:datasets_app_dataset_{_STEP_PAGES[step.name]}", args=[dataset.pk])


@register.filter
def role_list(roles: list[str]) -> str:
    """["curator", "privacy officer"] → a curator or a privacy officer."""
    return " or ".join(f"{'an' if role[0] in 'aeiou' else 'a'} {role}" for role in roles)
