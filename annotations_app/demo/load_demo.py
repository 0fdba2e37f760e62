"""The demonstration data, brought in by the same ways as anybody's files.

It stands in this app because labels are part of it; the files are the other app's.
"""

import uuid
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.db import transaction
from django.db.models import F

import datasets_app
from annotations_app.campaigns.create import create_campaign
from annotations_app.demo import DEMO_DATASET
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, CampaignMember, Decision
from datasets_app.access.demo_accounts import account_name
from datasets_app.catalog import text_gates
from datasets_app.catalog.import_persona import import_persona
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.models import Dataset, Persona

CAMPAIGN_NAME = "demo_tone"
EARLIER_ANNOTATORS = ("ada", "ben", "chi")
ANNOTATOR_ROLE = "annotator"
GUIDELINES = """\
Does the reply **sound like** the persona on the card? Judge the voice, not whether the facts are right.

- **On-brand**: calm and precise, says what happens next, uses the persona's own words where they fit.
- **Off-brand**: jokes, hype, slang, or words from the list to avoid.
- A reply that refuses something unsafe can be on-brand: look at how it is said.

Skip what you can't judge; flag what should not be here at all, and say why.
"""


def add_demo_campaign(dataset: Dataset, persona: Persona) -> bool:
    """Make the campaign, if the demonstration's annotator is there to go on with it; False if it is not,
    or the campaign has been made before. Within a transaction."""
    users = get_user_model()
    annotator = users.objects.filter(username=account_name(ANNOTATOR_ROLE), is_active=True).first()
    if annotator is None or Campaign.objects.filter(name=CAMPAIGN_NAME).exists():
        return False
    if not annotator.has_perm("annotations_app.annotate"):
        return False
    earlier = _get_earlier_annotators()
    names = [*EARLIER_ANNOTATORS, annotator.get_username()]
    campaign = create_campaign(
        Campaign(
            name=CAMPAIGN_NAME,
            dataset=dataset,
            persona=persona,
            guidelines=GUIDELINES,
            overlap=len(names),
            order=Campaign.Order.SESSION,
        ),
        names,
    )
    for user in earlier:
        _adopt_labels(campaign, user)
    # Nobody logs in as them, and no other campaign is to offer them.
    users.objects.filter(pk__in=[user.pk for user in earlier if not user.has_usable_password()]).update(
        is_active=False
    )
    return True


def _get_earlier_annotators() -> list[Any]:
    found = []
    for name in EARLIER_ANNOTATORS:
        user, made = get_user_model().objects.get_or_create(username=name)
        if made:
            user.set_unusable_password()
            user.save()
            user.groups.add(Group.objects.get(name=ANNOTATOR_ROLE))
        found.append(user)
    return found


def _adopt_labels(campaign: Campaign, user: Any) -> None:
    """The labels that came with the demonstration data become those of ``user`` in the campaign."""
    labels = list(
        Annotation.objects.countable()
        .filter(
            dataset=campaign.dataset_id,
            persona_id=campaign.persona.persona_id,
            annotator=user.get_username(),
            campaign=None,
        )
        .order_by("turn", "-id")
        .distinct("turn")
    )
    items = {item.turn_id: item for item in CampaignItem.objects.filter(campaign=campaign)}
    labels = [label for label in labels if label.turn_id in items]
    labels.sort(key=lambda label: items[label.turn_id].position)
    Annotation.objects.filter(pk__in=[label.pk for label in labels]).update(campaign=campaign)
    assignments = Assignment.objects.bulk_create(
        _make_assignment(campaign, items[label.turn_id], user, label, ordinal)
        for ordinal, label in enumerate(labels)
    )
    Decision.objects.bulk_create(
        Decision(
            assignment=assignment,
            key=uuid.uuid4(),
            kind=Decision.Kind.LABEL,
            label=label.label,
            confidence=label.confidence,
            persona_digest=assignment.persona_digest,
            at=assignment.served_at,
        )
        for assignment, label in zip(assignments, labels, strict=True)
    )
    taken = Counter(assignment.item_id for assignment in assignments)
    CampaignItem.objects.filter(pk__in=taken).update(open=F("open") - 1)
    CampaignMember.objects.filter(campaign=campaign, user=user).update(
        labelled=len(labels), served=len(labels), cursor=campaign.item_count
    )


def _make_assignment(
    campaign: Campaign, item: CampaignItem, user: Any, label: Annotation, ordinal: int
) -> Assignment:
    at = datetime.fromisoformat(label.timestamp) if label.timestamp else label.created_at
    return Assignment(
        campaign=campaign,
        item=item,
        annotator=user,
        state=Assignment.State.LABELLED,
        ordinal=ordinal,
        persona_digest=campaign.persona.digest,
        served_at=at,
        leased_until=at,
        decided_at=at,
        annotation=label,
    )


DEMO_DIRECTORY = Path(datasets_app.__path__[0]) / "demo"


def load_demo(*, actor: Any = None) -> bool:
    """Bring in persona, conversations and labels, whatever of them is missing; all or nothing.

    Returns False if all was there.
    """
    conversations = DEMO_DIRECTORY / f"{DEMO_DATASET}.jsonl"
    with transaction.atomic():
        persona = import_persona((DEMO_DIRECTORY / "default_v1.yaml").read_text("utf-8"), actor=actor)
        turns = import_dataset(
            [ImportSource(conversations, conversations.name)],
            name=DEMO_DATASET,
            origin="synthetic",
            actor=actor,
        )["turns"]
        labels = import_annotations(
            DEMO_DIRECTORY / "demo_labels.jsonl", dataset_name=DEMO_DATASET, actor=actor
        )
        dataset = Dataset.objects.get(name=DEMO_DATASET)
        # Text that nothing has searched is raw: most roles could not read it.
        text_gates.scan_and_describe(dataset)
        campaign = add_demo_campaign(dataset, persona.persona)
    return bool(persona.change != "unchanged" or turns or labels.saved.added or campaign)
