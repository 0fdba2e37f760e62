"""Accounts for a trial, and a campaign that annotators label."""

import random
from pathlib import Path
from typing import Any

from scripts.trials import pipelines
from scripts.trials.annotators import Annotator, Visitor
from scripts.trials.installation import Installation

CAMPAIGN = "trial"
PASSWORD = "a passphrase of the trial"  # of accounts that end with it # nosec B105


def prepare(
    installation: Installation, *, count: int, replies: int, pause: tuple[float, float], seed: int
) -> tuple[Any, str, list[Annotator]]:
    """An administrator, the id of a persona, and annotators of a campaign with at least ``replies``
    replies, who pause for so many seconds before each decision."""
    from django.contrib.auth.models import User

    from annotations_app.campaigns.create import create_campaign
    from annotations_app.models import Campaign
    from annotations_app.models.campaign import MAX_LEASE_MINUTES
    from datasets_app.models import Dataset, Persona

    actor, persona = User.objects.get(username="admin"), Persona.objects.order_by("pk")[0]
    users = [make_account(f"annotator-{number}", "annotator") for number in range(1, count + 1)]
    make_labeled_dataset(installation.folder, replies)
    campaign = Campaign(
        name=CAMPAIGN,
        dataset=Dataset.objects.get(name=CAMPAIGN),
        persona=persona,
        overlap=min(2, count),
        lease_minutes=MAX_LEASE_MINUTES,
    )
    create_campaign(campaign, [user.username for user in users], actor=actor)
    chance = random.Random(seed)
    annotators = [
        Annotator(
            Visitor(installation.address, user.username, PASSWORD),
            user.pk,
            CAMPAIGN,
            pause,
            random.Random(chance.random()),
        )
        for user in users
    ]
    return actor, persona.persona_id, annotators


def make_account(name: str, role: str) -> Any:
    from django.contrib.auth.models import Group, User

    user = User.objects.create_user(name, password=PASSWORD, is_staff=role != "annotator")
    user.groups.add(Group.objects.get(name=role))
    return user


def make_labeled_dataset(folder: Path, replies: int) -> None:
    """Nothing in it is personal, so that it can be labeled at once."""
    from datasets_app.catalog import text_gates
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset

    path = folder / "labeled.jsonl"
    content = pipelines.make_file(max(10, replies * 2 // pipelines.TURNS_PER_SESSION), planted=False)
    path.write_bytes(content)
    import_dataset([ImportSource(path, path.name)], name=CAMPAIGN, origin="synthetic")
    text_gates.scan_and_describe(Dataset.objects.get(name=CAMPAIGN))
