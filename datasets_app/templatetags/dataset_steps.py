"""Where the steps of a dataset lead."""

import re
from urllib.parse import urlencode

from django import template
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from datasets_app import hooks
from datasets_app.catalog.steps import Step
from datasets_app.models import Dataset

register = template.Library()


@register.simple_tag
def step_url(step: Step, dataset: Dataset) -> str:
    """Where the button of a step leads."""
    if step.page == "import":
        return f"{reverse('admin:datasets_app_dataset_import')}?{urlencode({'dataset': dataset.name})}"
    if step.name == "label":
        return hooks.panels.label_url(dataset, step.page)
    return reverse(f"admin:datasets_app_dataset_{step.page}", args=[dataset.pk])


# The button of the next step, in the header; see ``_step_button.html``.
_PRIMARY = re.compile(r'class="[^"]*\bad-primary\b')
_NEXT_CLASSES = 'class="ad-btn ad-primary ad-next"'


@register.tag
def one_primary(parser: template.base.Parser, token: template.base.Token) -> template.Node:
    """A block in which the button of the next step is primary only if the page has no primary button."""
    content = parser.parse(("endone_primary",))
    parser.delete_first_token()
    return _OnePrimary(content)


class _OnePrimary(template.Node):
    def __init__(self, nodelist: template.NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: template.Context) -> SafeString:
        html = self.nodelist.render(context)
        if len(_PRIMARY.findall(html)) > 1:
            html = html.replace(_NEXT_CLASSES, 'class="ad-btn"', 1)
        return mark_safe(html)  # rendered above # nosec B308 B703


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
        return hooks.panels.label_url(dataset, "labels")
    return reverse(f"admin:datasets_app_dataset_{_STEP_PAGES[step.name]}", args=[dataset.pk])


@register.filter
def role_list(roles: list[str]) -> str:
    """["curator", "privacy officer"] → a curator or a privacy officer."""
    return " or ".join(f"{'an' if role[0] in 'aeiou' else 'a'} {role}" for role in roles)
