"""What a scrub looks at in a label beside the reply that it is about."""

import re
from typing import Any

from annotations_app.labels.label_places import split_hashed_ids
from annotations_app.models import Annotation
from datasets_app.domain.conversations.records import LabelRecord

# What may be an e-mail address or a telephone number. Names of annotators are known to those who keep labels.
CONTACT = re.compile(r"@|[0-9]{3}")


def list_label_texts(label: LabelRecord | Annotation, personas: set[str]) -> dict[str, Any]:
    """Notes and unknown keys, a persona's id that is none of ``personas``, and an annotator that may be an
    address or a number; without those that are empty."""
    annotator = label.annotator or ""
    said = {
        "notes": label.notes,
        "extra": split_hashed_ids(label.extra)[1],
        "persona_id": label.persona_id if label.persona_id not in personas else "",
        "annotator": annotator if CONTACT.search(annotator) else "",
    }
    return {name: value for name, value in said.items() if value}
