"""The demonstration data, brought in by the same ways as anybody's files.

It stands in this app because labels are part of it; the files are the other app's.
"""

from pathlib import Path
from typing import Any

from django.db import transaction

import datasets_app
from annotations_app.demo import DEMO_DATASET
from annotations_app.demo.demo_campaign import add_demo_campaign
from annotations_app.labels.import_annotations import import_annotations
from datasets_app.catalog import gates
from datasets_app.catalog.import_persona import import_persona
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.models import Dataset

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
        gates.scan_and_describe(dataset)
        campaign = add_demo_campaign(dataset, persona.persona)
    return bool(persona.change != "unchanged" or turns or labels.saved.added or campaign)
