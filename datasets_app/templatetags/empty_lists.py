"""What a list without rows says, and its buttons."""

from typing import Any

from django import template
from django.urls import reverse

register = template.Library()

_EMPTY_LIST_TEXTS = {
    "retentionpolicy": (
        "No retention rules yet",
        "Without rules, nothing is deleted. Add one, preview what it would delete, then activate it.",
    ),
    "annotation": (
        "No labels yet",
        "Create a campaign to have replies labeled, or import a label file.",
    ),
    "campaign": (
        "No campaigns yet",
        "In a campaign, annotators label whether each reply of a dataset sounds like the persona.",
    ),
    "persona": ("No personas yet", "Add one or import its YAML. Labels and checks refer to it by its id."),
    "dataset": (
        "No datasets yet",
        "Import a conversation file, or generate conversations to try things out.",
    ),
    "source": ("No sources yet", "Add one to sample conversations from production every night."),
    "group": ("No roles yet", "Add one, choose its permissions, and give it to people under Users."),
    "jobrun": (
        "No jobs yet",
        "Import a file, check or scrub a dataset: what runs and what it did is listed here.",
    ),
    "auditevent": ("No events yet", "Who changes, exports or reads something is recorded here from now on."),
}


# What fills an empty list, where that is not its own "Add": (button, name of the URL, permission), the first
# one first.
ACTIONS = {
    "dataset": [
        ("Import a file", "datasets_app_dataset_import", "datasets_app.import_dataset"),
        ("Generate conversations", "datasets_app_dataset_generate", "datasets_app.generate_dataset"),
    ],
    "jobrun": [("Import a file", "datasets_app_dataset_import", "datasets_app.import_dataset")],
}


@register.simple_tag
def empty_list_actions(changelist: Any) -> list[tuple[str, str]]:
    """(label, URL) of the buttons of an empty list that its reader may use."""
    reader = getattr(changelist, "reader", None)  # set by core/web/model_admin.py
    return [
        (label, reverse(f"admin:{name}"))
        for label, name, permission in ACTIONS.get(changelist.opts.model_name, ())
        if reader is not None and reader.has_perm(permission)
    ]


@register.filter
def empty_list_text(model_name: str) -> tuple[str, str]:
    """The heading and text of an empty list."""
    return _EMPTY_LIST_TEXTS.get(model_name, ("Nothing here yet", "New entries are listed here."))
