"""What ends a signature: changes of what exports and packages of a dataset hold."""

from datetime import datetime

from django.db.models import Exists, OuterRef, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from datasets_app import hooks
from datasets_app.models import AuditEvent, Dataset, Session

# Which terms are kept, as .meta.yaml says: of a dataset or, without its name, of all.
KEEPING_ACTIONS = ("add_scrub_mark", "remove_scrub_mark")
# So do the terms of personas, which are edited for themselves.
PERSONA_ACTIONS = ("import_persona", "delete_persona")
# What changes a version, besides imports and scrubs, of which more is known.
CONTENT_ACTIONS = (
    "edit_dataset",
    "change_origin",
    "tag_sessions",
    "untag_sessions",
    "include_sessions",
    "exclude_sessions",
    "keep_variant",
    "split",
    "erase_session",
    "retention",
)
# The same of exports and packages, which have labels and state kept terms, judges and rates as well.
CHANGING_ACTIONS = (
    *CONTENT_ACTIONS,
    "add_annotation",
    "edit_annotation",
    "delete_annotation",
    "import_annotations",
    "adjudicate",
    "promote_failure_mode",
    "requeue_replies",
    "requeue_stale",
    "judge",
    "certify_judge",
    "improve_judge",
    *KEEPING_ACTIONS,
)


def was_edited_since(dataset: Dataset, at: datetime) -> bool:
    """Whether what a package holds was changed: metadata, tags, labels, splits, kept terms, personas, or
    which sessions."""
    events = AuditEvent.objects.filter(at__gt=at)
    own = events.filter(dataset_name=dataset.name, action__in=CHANGING_ACTIONS)
    of_all = events.filter(dataset_name="", action__in=KEEPING_ACTIONS)
    persona = Cast(KeyTextTransform("persona_id", OuterRef("details")), TextField())
    users = Session.objects.filter(dataset=dataset, persona_id=persona)
    of_personas = events.filter(Exists(users), action__in=PERSONA_ACTIONS)
    changes = (own, of_all, of_personas)
    return any(found.exists() for found in changes) or hooks.labels.was_labeled_since(dataset, at)
