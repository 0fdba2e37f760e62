"""The answers of a decision under a campaign's schema, stored and taken back with it."""

import hashlib
from datetime import datetime
from functools import lru_cache

from annotations_app.domain.submission import Submission
from annotations_app.models import Assignment, CampaignMember, Judgment, Rater


def sync_judgment(
    assignment: Assignment, member: CampaignMember, submission: Submission, now: datetime
) -> None:
    """Create, change or delete the assignment's judgment to match the decision."""
    own = Judgment.objects.filter(assignment=assignment)
    is_changed = assignment.state == Assignment.State.LABELLED
    if submission.kind != "label":
        if is_changed:
            own.delete()
        return
    campaign = member.campaign
    values = {
        "schema_id": campaign.schema_id,
        "codes": submission.codes or {},
        "texts": submission.texts or None,
        "notes": submission.notes,
        "confidence": submission.confidence,
        "seconds": submission.seconds,
        "persona_digest": assignment.persona_digest,
        "guidelines_digest": digest_guidelines(campaign.guidelines),
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    if is_changed:
        own.update(**values)
        return
    Judgment.objects.create(
        dataset_id=campaign.dataset_id,
        turn_id=assignment.item.turn_id,
        campaign=campaign,
        assignment=assignment,
        rater=find_person(campaign.dataset_id, member.user.get_username()),
        kind=Judgment.Kind.REPEAT if assignment.repeat else Judgment.Kind.LABEL,
        persona_id=campaign.persona.persona_id,
        **values,
    )


def find_person(dataset: int, name: str) -> Rater:
    """The rater of an account in a dataset."""
    rater, _ = Rater.objects.get_or_create(
        dataset_id=dataset, kind=Rater.Kind.PERSON, name=name, version="", prompt_digest=""
    )
    return rater


@lru_cache(maxsize=64)
def digest_guidelines(guidelines: str) -> str:
    return hashlib.sha256(guidelines.encode()).hexdigest() if guidelines else ""
