"""The label that an assignment has led to: made, changed or taken away."""

from datetime import datetime

from annotations_app.domain.submission import Submission
from annotations_app.models import Annotation, Assignment, CampaignMember


def sync_annotation(
    assignment: Assignment, member: CampaignMember, submission: Submission, now: datetime
) -> int | None:
    """Bring the annotation in line with what was pressed; the assignment is left to be saved.

    Returns the key of an annotation that is to go, once the assignment points to it no more.
    """
    if submission.kind != "label":
        gone, assignment.annotation = assignment.annotation_id, None
        return gone
    values = {
        "label": submission.label,
        "annotator": member.user.get_username(),
        "notes": submission.notes,
        "confidence": submission.confidence,
        "seconds": submission.seconds,
        "persona_digest": assignment.persona_digest,
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
    if assignment.annotation_id is not None:
        Annotation.objects.filter(pk=assignment.annotation_id).update(**values)
        return None
    assignment.annotation = Annotation.objects.create(
        dataset_id=member.campaign.dataset_id,
        turn_id=assignment.item.turn_id,
        campaign_id=member.campaign_id,
        kind=Annotation.Kind.REPEAT if assignment.repeat else Annotation.Kind.LABEL,
        persona_id=member.campaign.persona.persona_id,
        **values,
    )
    return None
