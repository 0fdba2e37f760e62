"""Tables and their named reads."""

from datasets_app.models.access import DatasetGrant
from datasets_app.models.api_token import ApiAnswer, ApiToken
from datasets_app.models.attention import AttentionState
from datasets_app.models.audit_event import AuditEvent, AuditHeadPlace, AuditSeal
from datasets_app.models.browsing import SavedView, SessionComment, SessionSelection
from datasets_app.models.check_report import CheckFinding, CheckReport
from datasets_app.models.conversation import Session, Turn
from datasets_app.models.dataset import Dataset, SourceFile
from datasets_app.models.evaluation_run import EvaluationRun
from datasets_app.models.job_run import JobFile, JobRun
from datasets_app.models.outgoing import (
    Notification,
    NotificationPreference,
    OutgoingEvent,
    WebhookDelivery,
    WebhookEndpoint,
)
from datasets_app.models.partition import DatasetPartition, PartitionForeignKey
from datasets_app.models.persona import Persona
from datasets_app.models.preferences import Preferences
from datasets_app.models.release import Release, ReleaseFile, SharingReview
from datasets_app.models.retention import RetentionPolicy, Tombstone
from datasets_app.models.scrub import ScrubChunk, ScrubFinding, ScrubMark, ScrubRun
from datasets_app.models.scrub_audit import AuditedTurn, ScrubAudit
from datasets_app.models.source import ReceivedRequest, ReceivedSpan, SeenTrace, Source
from datasets_app.models.table_mapping import TableMapping
from datasets_app.models.text_scan import Attestation, TextScan

__all__ = [
    "ApiAnswer", "ApiToken", "Attestation", "AttentionState", "AuditEvent", "AuditHeadPlace", "AuditSeal",
    "AuditedTurn", "CheckFinding", "CheckReport", "Dataset", "DatasetGrant", "DatasetPartition",
    "EvaluationRun", "JobFile", "JobRun", "Notification", "NotificationPreference", "OutgoingEvent",
    "PartitionForeignKey", "Persona", "Preferences", "ReceivedRequest", "ReceivedSpan", "Release",
    "ReleaseFile", "RetentionPolicy", "SavedView", "ScrubAudit", "ScrubChunk", "ScrubFinding", "ScrubMark",
    "ScrubRun", "SeenTrace", "Session", "SessionComment", "SessionSelection", "SharingReview", "Source",
    "SourceFile", "TableMapping", "TextScan", "Tombstone", "Turn", "WebhookDelivery", "WebhookEndpoint",
]  # fmt: skip
