"""Tables of campaigns and labels."""

from annotations_app.models.annotation import Annotation
from annotations_app.models.assignment import Assignment, CampaignItem, Decision, PairedReply
from annotations_app.models.campaign import Campaign, CampaignMember
from annotations_app.models.failure_mode import FailureMode, GroupedNote
from annotations_app.models.judge import Judge, JudgeCertificate, JudgeRun, Verdict
from annotations_app.models.judgment import Judgment, Rater
from annotations_app.models.label_schema import LabelSchema

__all__ = [
    "Annotation", "Assignment", "Campaign", "CampaignItem", "CampaignMember", "Decision", "FailureMode",
    "GroupedNote", "Judge", "JudgeCertificate", "JudgeRun", "Judgment", "LabelSchema", "PairedReply", "Rater",
    "Verdict",
]  # fmt: skip
