"""What this app stores about sessions and datasets, column by column: see ``models/session_data.py``."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q, QuerySet

from datasets_app import models
from datasets_app.models.session_data import SessionData, register

DIGEST, COUNTS, KEYS = "a digest", "numbers by class or setting", "primary keys"
TIME = "a time, which a scrub moves or drops if its policy says so"
ACCOUNT, NAME = "the name of an account", "a name as file systems allow it"
_RELEASED = "notes changelog override_reason fault checks sharing fields splits"
WRITTEN = "people wrote it about the dataset; it was looked at when they did"


class _Received(SessionData):
    """What waits for a dataset that may not exist yet."""

    def rows(self, dataset: Any, sessions: Iterable[int] | None = None) -> QuerySet[Any]:
        return super().rows(dataset.name)


def register_models() -> None:
    register(*_CONVERSATIONS, *_FINDINGS, *_RELEASES, *_SOURCES, *_OTHERS)


_CONVERSATIONS = (
    # Its row stays after a deletion, for the certificate.
    SessionData(
        models.Dataset,
        scrubbed={"source": "", "provenance": ""},
        left={"it is owed to those it names": "license attribution", WRITTEN: "hold_reason"},
        harmless={NAME: "name", COUNTS: "split_settings", "addresses of services": "judge_endpoints"},
        emptied="license source attribution hold_reason provenance split_settings",
    ),
    SessionData(
        models.SourceFile,
        "source_files",
        "dataset",
        scrubbed={"name": ""},
        harmless={DIGEST: "sha256", COUNTS: "format"},
    ),
    SessionData(
        models.Session,
        "sessions",
        "dataset",
        "pk",
        partitioned=True,
        scrubbed={"session_id": "session ID", "persona_id": "metadata"},
    ),
    SessionData(
        models.Turn,
        "turns",
        "dataset",
        "session",
        partitioned=True,
        scrubbed={"text": "text", "tags": "tags", "metadata": "metadata", "extra": "metadata"},
        harmless={TIME: "timestamp"},
    ),
    SessionData(
        models.SessionComment,
        "comments",
        "dataset",
        "session",
        "turn_index",
        scrubbed={"text": "comments"},
        harmless={ACCOUNT: "author_name", KEYS: "mentions"},
    ),
    SessionData(models.SavedView, "saved_views", "dataset", quoted="name query", quoting=Q(has_text=True)),
    SessionData(models.SessionSelection, "selections", "dataset", harmless={KEYS: "keys turns"}),
    # Jobs of datasets are found by name, too; their files are in the storage: see delete_contents.py.
    SessionData(
        models.JobRun,
        scrubbed={"parameters": "", "result": "", "error": ""},
        harmless={NAME: "operation dataset_name worker", "an address": "source_address"},
        emptied="parameters result error",
    ),
    SessionData(
        models.JobFile, scrubbed={"name": ""}, harmless={DIGEST: "sha256", "a key of the storage": "file"}
    ),
)

_FINDINGS = (
    SessionData(models.CheckReport, "check_reports", "dataset", harmless={COUNTS: "totals"}),
    SessionData(
        models.CheckFinding,
        "check_findings",
        "report__dataset",
        "session",
        quoted="message field",
        harmless={"a code of the checks": "code"},
    ),
    SessionData(
        models.ScrubRun,
        "scrubs",
        "dataset",
        harmless={
            DIGEST: "key_fingerprint",
            COUNTS: "policy totals proposals",
            "places, never values": "verification traces error",
        },
    ),
    SessionData(
        models.ScrubChunk, dataset="scrub__dataset", harmless={KEYS: "session_keys", COUNTS: "totals"}
    ),
    SessionData(
        models.ScrubFinding,
        "scrub_findings",
        "scrub__dataset",
        "session",
        left={"where a value is; keys that are personal are left out": "field"},
        harmless={COUNTS: "kind"},
    ),
    SessionData(
        models.ScrubMark,
        "marks",
        "dataset",
        left={"it stays in the conversations, too": "term", WRITTEN: "reason"},
        harmless={DIGEST: "digest", COUNTS: "kind"},
    ),
    SessionData(models.ScrubAudit, "scrub_audits", "dataset", harmless={COUNTS: "strata languages"}),
    SessionData(models.AuditedTurn, "audited_turns", "audit__dataset", "session"),
    SessionData(
        models.TextScan, dataset="dataset", harmless={COUNTS: "found written exempt unmeasured canary audit"}
    ),
    SessionData(
        models.Attestation,
        "attestations",
        "dataset",
        left={WRITTEN: "reason"},
        harmless={ACCOUNT: "created_by_name"},
    ),
)

_RELEASES = (
    SessionData(
        models.Release,
        dataset="dataset",
        left={"a version doesn't change": _RELEASED},
        harmless={DIGEST: "sha256 content_digest", ACCOUNT: "created_by_name", COUNTS: "destroyed_reason"},
        emptied=_RELEASED,
    ),
    # The files themselves are destroyed by ``releasing/files.py``.
    SessionData(
        models.ReleaseFile,
        dataset="release__dataset",
        harmless={NAME: "name", DIGEST: "sha256", "a key of the storage": "file"},
        emptied="file",
    ),
    SessionData(
        models.EvaluationRun,
        "evaluation_runs",
        "release__dataset",
        left={"a version doesn't change, nor what was measured on it": "groups"},
        harmless={
            DIGEST: "dataset_digest persona_digest",
            "names of models and packages": "model package_version",
            "numbers": "whole turn_indexes reply_scores",
            KEYS: "session_keys",
        },
    ),
    SessionData(models.SharingReview, "reviews", "dataset", left={WRITTEN: "name statement"}),
)

_SOURCES = (
    SessionData(
        models.Source,
        harmless={
            NAME: "name dataset_name",
            "settings of a source": "location project only_models only_tags",
            "encrypted": "credential",
            DIGEST: "token_digest",
        },
    ),
    SessionData(models.SeenTrace, harmless={DIGEST: "digest"}),
    _Received(
        models.ReceivedRequest,
        "received_requests",
        "source__dataset_name",
        left={"it is not part of the dataset yet": "body"},
        harmless={"one of two": "content_type"},
    ),
    _Received(
        models.ReceivedSpan,
        "received_spans",
        "source__dataset_name",
        left={"it is not part of the dataset yet": "content"},
        harmless={DIGEST: "trace conversation"},
    ),
)

# They belong to the installation or its people.
_OTHERS = (
    SessionData(
        models.ApiToken,
        harmless={"settings of a token": "name prefix scopes last_used_from", DIGEST: "digest"},
    ),
    SessionData(
        models.ApiAnswer, harmless={DIGEST: "key request", "what a page of a job shows, for a day": "body"}
    ),
    SessionData(models.AttentionState, harmless={DIGEST: "key"}),
    SessionData(
        models.AuditEvent,
        harmless={ACCOUNT: "actor", NAME: "action dataset_name", "what was done, without text": "details"},
    ),
    SessionData(models.AuditSeal, harmless={DIGEST: "previous digest"}),
    SessionData(models.AuditHeadPlace, harmless={DIGEST: "digest", "a place for digests": "label failure"}),
    SessionData(
        models.OutgoingEvent, harmless={NAME: "dataset_name", COUNTS: "data key", KEYS: "recipients"}
    ),
    SessionData(
        models.WebhookEndpoint,
        harmless={"settings of a webhook": "url kinds", "encrypted": "secret previous_secret"},
    ),
    SessionData(models.WebhookDelivery, harmless={"times and answers of a server": "log"}),
    SessionData(models.NotificationPreference),
    SessionData(models.Preferences, harmless={"a language": "language"}),
    SessionData(
        models.Persona,
        harmless={"a voice, not a person": "persona_id display_name description yaml", DIGEST: "digest"},
    ),
    SessionData(models.RetentionPolicy, harmless={"a rule of the installation": "pattern retention reason"}),
    SessionData(models.TableMapping, harmless={"columns of a table": "name columns"}),
    SessionData(models.Tombstone, harmless={DIGEST: "digest"}),
)
