from datasets_app.models.audit_event import AuditEvent
from datasets_app.models.check_report import CheckFinding, CheckReport
from datasets_app.models.conversation import Session, Turn
from datasets_app.models.dataset import Dataset, SourceFile
from datasets_app.models.job_run import JobFile, JobRun
from datasets_app.models.persona import Persona
from datasets_app.models.retention import RetentionPolicy
from datasets_app.models.scrub import ScrubChunk, ScrubFinding, ScrubMark, ScrubRun

__all__ = [
    "AuditEvent",
    "CheckFinding",
    "CheckReport",
    "Dataset",
    "JobFile",
    "JobRun",
    "Persona",
    "RetentionPolicy",
    "ScrubChunk",
    "ScrubFinding",
    "ScrubMark",
    "ScrubRun",
    "Session",
    "SourceFile",
    "Turn",
]
