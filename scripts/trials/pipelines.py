"""What people have the application do in the background: each pipeline is one dataset's life, job by job."""

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from io import BytesIO
from typing import Any
from uuid import uuid4

from scripts.trials.installation import retry_while_down

POLL_SECONDS = 0.5
# What a scrub has to find in every imported session.
PLANTED = "planted.{number}@mail.example.org"
TURNS_PER_SESSION = 6


@dataclass
class Pipeline:
    """``imported`` or generated, then searched, split, scrubbed, released, exported and, some, deleted."""

    name: str
    sessions: int
    imported: bool
    deleted: bool
    finished: list[str] = field(default_factory=list)

    @property
    def turns(self) -> int | None:
        """How many it has at its end; None if the writer decides."""
        if self.deleted:
            return 0
        return self.sessions * TURNS_PER_SESSION if self.imported else None

    def steps(self) -> list[str]:
        first = (
            ["import_dataset", "split_dataset", "scrub_dataset"] if self.imported else ["bootstrap_dataset"]
        )
        last = ["apply_retention"] if self.deleted else ["verify_releases"]
        return [*first, "check_dataset", "release_dataset", "export_dataset", *last]


def make_pipeline(number: int, *, seed: int, sessions: int) -> Pipeline:
    """Two of three import, every fourth deletes at its end."""
    size = random.Random(f"{seed}-{number}").randint(sessions // 2, sessions)
    return Pipeline(f"trial-{number}", size, imported=number % 3 != 0, deleted=number % 4 == 0)


def make_file(sessions: int, *, planted: bool = True) -> bytes:
    """Conversation JSONL; with an e-mail address in every session if ``planted``."""
    lines = []
    for number in range(sessions):
        for index in range(1, TURNS_PER_SESSION + 1):
            text = f"Reply {index} of {number}: the invoice was sent again today."
            if index == 1 and planted:
                text = f"Write to {PLANTED.format(number=number)}, please."
            role = "assistant" if index % 2 == 0 else "user"
            lines.append(
                {"session_id": f"s-{number:06d}", "turn_index": index, "role": role, "text": text, "tags": []}
            )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def run_pipelines(
    pipelines: Iterator[Pipeline], *, actor: Any, persona: str, stop: threading.Event, begun: list[Pipeline]
) -> None:
    """One pipeline after the other, each to its end, also after ``stop``; to be run in threads."""
    from django.db import connection

    while not stop.is_set():
        pipeline = next(pipelines)
        begun.append(pipeline)
        for operation in pipeline.steps():
            state = run_step(pipeline, operation, actor, persona)
            pipeline.finished.append(f"{operation}: {state}")
            if state != "done":
                break
    connection.close()


def run_step(pipeline: Pipeline, operation: str, actor: Any, persona: str) -> str:
    """The state in which the job has ended."""
    key = retry_while_down(lambda: _start(pipeline, operation, actor, persona))
    return wait_for_job(key)


def _start(pipeline: Pipeline, operation: str, actor: Any, persona: str) -> int:
    """The job's key. Harmless to repeat if the answer of the database was lost."""
    from datasets_app.jobs import runs
    from datasets_app.models import Dataset, JobRun

    row = JobRun.objects.filter(operation=operation, dataset_name=pipeline.name)
    if existing := row.exclude(state="prepared").first():
        return existing.pk
    if operation == "import_dataset":
        return _start_import(pipeline, actor)
    dataset = Dataset.objects.filter(name=pipeline.name).first()
    parameters = _make_parameters(operation, pipeline, persona)
    return runs.start_job(
        operation, actor=actor, dataset=dataset, dataset_name=pipeline.name, parameters=parameters
    ).pk


def _make_parameters(operation: str, pipeline: Pipeline, persona: str) -> Any:
    from datasets_app.domain.splits.splits import SplitSettings
    from datasets_app.jobs import parameters

    made: dict[str, Callable[[], Any]] = {
        "bootstrap_dataset": lambda: parameters.GenerationParameters(
            persona=persona, sessions=pipeline.sessions, seed=pipeline.sessions
        ),
        "split_dataset": lambda: parameters.SplitParameters(settings=SplitSettings().as_json()),
        "scrub_dataset": parameters.ScrubParameters,
        "release_dataset": lambda: parameters.ReleaseParameters(
            override="A trial" if not pipeline.imported else None
        ),
        "export_dataset": lambda: parameters.ExportParameters(format="turns"),
        "apply_retention": lambda: parameters.RetentionParameters(reason="The trial is over"),
    }
    return made.get(operation, parameters.NoParameters)()


def _start_import(pipeline: Pipeline, actor: Any) -> int:
    """As the upload page does, without the browser."""
    from django.core.files import File
    from django.db import transaction
    from django.utils import timezone

    from datasets_app.importing.parameters import ImportParameters
    from datasets_app.jobs import runs
    from datasets_app.models import JobFile

    content = make_file(pipeline.sessions)
    with transaction.atomic():
        job = runs.create_job(
            "import_dataset",
            actor=actor,
            dataset_name=pipeline.name,
            parameters=ImportParameters(origin="production"),
        )
        upload = JobFile(
            job_run=job,
            kind=JobFile.Kind.UPLOAD,
            name="trial.jsonl",
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            expires_at=timezone.now() + timedelta(days=1),
        )
        upload.file.save(f"{job.pk}/upload/{uuid4().hex}", File(BytesIO(content)), save=True)
        runs.enqueue_job(job)
    return int(job.pk)


def wait_for_job(key: int) -> str:
    """The state in which the job has ended. Its follow-ups, as a search, are waited for at the end."""
    from datasets_app.models import JobRun

    while True:
        row = retry_while_down(lambda: JobRun.objects.get(pk=key))
        if row.is_finished:
            return str(row.state)
        time.sleep(POLL_SECONDS)
