"""From notes to failure modes: a lead groups the notes of a campaign; a mode becomes a criterion or a tag."""

import re
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet

from annotations_app.campaigns.members import lock_campaign
from annotations_app.criteria.schemas import SchemaImport, save_schema
from annotations_app.models import Campaign, FailureMode, GroupedNote, LabelSchema
from datasets_app.catalog import gates
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema_document import InvalidSchema, read_document, write_document

MAX_MODES = 60
MAX_NAME_LENGTH = 100
# The criterion whose tags are the modes of a campaign.
TAGS_KEY = "failure_modes"
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def list_notes(campaign: Campaign) -> QuerySet[Any]:
    """Labels with notes, the newest first."""
    noted = campaign.own_labels.filter(kind="label", notes__isnull=False)
    return noted.select_related("turn__session", "grouped__mode")  # type: ignore[no-any-return]


def list_modes(campaign: Campaign) -> QuerySet[Any]:
    """With the number of their ``noted`` labels."""
    counted = f"notes__{'judgment' if campaign.schema_id else 'annotation'}"
    return FailureMode.objects.filter(campaign=campaign).annotate(noted=Count(counted)).order_by("pk")


def group_notes(campaign: Campaign, labels: Sequence[int], name: str, *, actor: Any) -> FailureMode | None:
    """Put the notes of these labels (primary keys) into the mode of this name, made if there is none; an
    empty name takes them out of theirs. Raises UserError."""
    name = _join_words(name)
    chosen = list(list_notes(campaign).filter(pk__in=labels).values_list("pk", flat=True))
    if not chosen:
        raise UserError("Choose at least one note.")
    # Scrubs leave names as people wrote them.
    for dataset in campaign.datasets:
        check_written(dataset, {"name": name}, always=True)
    field = "judgment" if campaign.schema_id else "annotation"
    with transaction.atomic():
        lock_campaign(campaign)
        GroupedNote.objects.filter(**{f"{field}__in": chosen}).delete()
        if not name:
            return None
        modes = FailureMode.objects.filter(campaign=campaign)
        if not modes.filter(name=name).exists() and modes.count() >= MAX_MODES:
            raise UserError(f"A campaign has at most {MAX_MODES} failure modes.")
        mode: FailureMode
        mode, _ = modes.get_or_create(campaign=campaign, name=name, defaults={"created_by": actor})
        GroupedNote.objects.bulk_create(GroupedNote(mode=mode, **{f"{field}_id": pk}) for pk in chosen)
    return mode


def _join_words(text: str) -> str:
    """On one line. Raises UserError for more than a name."""
    words = " ".join(_CONTROL_CHARACTERS.sub(" ", text).split())
    if len(words) > MAX_NAME_LENGTH:
        raise UserError(f"The name of a failure mode has at most {MAX_NAME_LENGTH} characters.")
    return words


def needs_wording(campaign: Campaign) -> bool:
    """Whether fewer people may read what its replies say than see schemas, which all leads and viewers do: a
    mode is named after notes, which quote replies."""
    return any(dataset.restricted or gates.is_raw(dataset) for dataset in campaign.datasets)


def promote_mode(mode: FailureMode, *, as_tag: bool, actor: Any, wording: str = "") -> SchemaImport:
    """Ask about a mode: the next version of the campaign's schema has it as a tag of the criterion
    "failure_modes", or as a criterion of its own, in the words of ``wording`` or else under the mode's name.
    Raises UserError."""
    campaign = mode.campaign
    text = _join_words(wording)
    if not text and needs_wording(campaign):
        raise UserError(
            f"Everyone who sees campaigns can read a schema, but not what {campaign.dataset.name} says. Give "
            "the words under which the schema may name the failure mode."
        )
    text = text or mode.name
    for dataset in campaign.datasets:
        check_written(dataset, {"wording": text}, always=True)
    document = _find_document(campaign)
    criteria: list[dict[str, Any]] = document["criteria"]
    if as_tag:
        tags = next((one for one in criteria if one["key"] == TAGS_KEY), None)
        if tags is None:
            tags = {
                "key": TAGS_KEY,
                "question": "What is wrong with the reply?",
                "kind": "tags",
                "answers": [],
            }
            criteria.append(tags)
        if any(_value_of(answer) == text for answer in tags["answers"]):
            raise UserError(f"The schema has the tag {text} already.")
        tags["answers"].append({"value": text, "name": text})
    else:
        key = _make_key(text, mode)
        if any(one["key"] == key for one in criteria):
            raise UserError(f"The schema has the criterion {key} already.")
        criteria.append({"key": key, "question": f"{text}?", "kind": "yes_no"})
    try:
        saved = save_schema(read_document(document), actor=actor)
    except InvalidSchema as error:
        raise UserError(f"The mode can't be added: {error}.") from None
    audit.record(
        "promote_failure_mode",
        actor=actor,
        dataset_name=campaign.dataset.name,
        campaign=campaign.name,
        schema=saved.schema.full_name,
        mode=mode.pk,
    )
    return saved


def _find_document(campaign: Campaign) -> dict[str, Any]:
    """Of the latest version of its schema; a campaign without one begins a schema, which doesn't tell the
    campaign's name: more people see schemas."""
    name = campaign.schema.name if campaign.schema else f"failure-modes-{campaign.pk}"
    latest = LabelSchema.objects.filter(name=name).order_by("-version").first()
    if latest is None:
        return {"schema": name, "description": "Failure modes of a campaign", "criteria": []}
    return write_document(latest.content)


def _value_of(answer: Any) -> Any:
    return answer["value"] if isinstance(answer, dict) else answer


def _make_key(text: str, mode: FailureMode) -> str:
    """A key from the words, or by the mode's number if they give none."""
    words = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:50].rstrip("_")
    return words if re.match("[a-z]", words) else f"mode_{mode.pk}"
