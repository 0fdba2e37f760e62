"""A dataset with everything that hangs on one, made by the operations themselves from a file that names
somebody wherever a file can: for tests that search every door for it."""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import msgspec
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from annotations_app.agreement.failure_modes import group_notes, list_notes
from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.evidence import digest_text
from annotations_app.judges.judges import import_judge
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.labels.parameters import LabelExportParameters
from annotations_app.models import Annotation, Assignment, Campaign, JudgeRun, Verdict
from datasets_app.browsing.comments import add_comment
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import runs
from datasets_app.jobs.parameters import JobParameters, NoParameters
from datasets_app.models import Dataset, JobFile, JobRun, SavedView, SessionSelection, Turn
from datasets_app.releasing.parameters import CompareParameters, ReleaseParameters
from datasets_app.scrubbing.marks import mark_not_personal
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from datasets_app.splitting.parameters import SplitParameters
from tests import factories
from tests.campaigns import label_all_replies, lease_for, make_campaign, submit

OVERRIDE = "a test"
_SCHEMA = """
schema: told
criteria:
  - {key: right, question: Right?, kind: yes_no}
  - {key: why, question: Why?, kind: text}
"""


class RawCase(NamedTuple):
    """``word`` is part of every planted value, each of which is an e-mail address that a scrub replaces."""

    word: str
    dataset: Dataset
    campaign: Campaign
    upload: JobRun

    def plant(self, place: str) -> str:
        return plant(self.word, place)


def plant(word: str, place: str) -> str:
    return f"{place}@{word}.org"


def planted_lines(word: str) -> list[dict[str, Any]]:
    fields = {
        "tags": [f"scenario:{plant(word, 'tag')}"],
        "metadata": {"comment": plant(word, "value"), plant(word, "key"): 1},
        plant(word, "otherkey"): plant(word, "othervalue"),
        "persona_id": plant(word, "persona"),
    }
    lines = [
        factories.make_turn(
            plant(word, f"session{number}"),
            index,
            text=f"Please write to {plant(word, 'text')}, number {number}.{index}.",
            **fields,
        )
        for number in (1, 2)
        for index in (1, 2)
    ]
    return [*lines, {**lines[0], "session_id": plant(word, "bad"), "turn_index": 7}]


def make_raw_case(path: Path, origin: str, importer: User) -> RawCase:
    word = f"zwex{origin}"
    folder = path / origin
    folder.mkdir()
    (folder / f"{plant(word, 'file')}.meta.yaml").write_text(
        f"source: from {plant(word, 'source')}\nnote: of {plant(word, 'note')}\n"
    )
    file = factories.write_jsonl(folder / f"{plant(word, 'file')}.jsonl", planted_lines(word))
    job = _start_job(
        "import_dataset", ImportParameters(origin=origin, on_error="quarantine"), importer, origin
    )
    result = factories.import_file(
        file, origin, origin=origin, quarantine=True, quarantine_dir=folder, actor=importer
    )
    dataset = Dataset.objects.get(name=origin)
    _finish_job(job, result, dataset)
    for quarantined in sorted(folder.glob("*.quarantine*")):
        _keep_file(job, "quarantine", quarantined.name, quarantined.read_bytes())
    campaign = _label(folder, dataset, word)
    _label_by_criteria(dataset, word)
    _run_jobs(dataset, importer, word)
    upload = _start_job("import_dataset", ImportParameters(origin=origin), importer, origin)
    JobRun.objects.filter(pk=upload.pk).update(state="prepared")
    _keep_file(upload, "upload", f"{plant(word, 'upload')}.jsonl", file.read_bytes())
    _fail_import(word, origin, importer)
    return RawCase(word, dataset, campaign, upload)


def _start_job(operation: str, parameters: JobParameters, actor: User, name: str) -> JobRun:
    return runs.create_job(operation, actor=actor, dataset_name=name, parameters=parameters)


def _finish_job(job: JobRun, result: Any, dataset: Dataset) -> None:
    JobRun.objects.filter(pk=job.pk).update(
        state="done", result=msgspec.to_builtins(result), dataset=dataset, finished_at=timezone.now()
    )


def _keep_file(job: JobRun, kind: str, name: str, content: bytes) -> None:
    kept = JobFile(job_run=job, kind=kind, name=name, size=len(content))
    kept.file.save(f"{job.pk}/{kind}/{kept.name.replace('@', '-')}", ContentFile(content), save=True)


def _fail_import(word: str, name: str, actor: User) -> None:
    job = _start_job("import_dataset", ImportParameters(), actor, name)
    problem = {"line": 1, "code": "E207", "message": f"session '{plant(word, 'session1')}' is there"}
    JobRun.objects.filter(pk=job.pk).update(
        state="failed",
        error=f"{plant(word, 'file')}.jsonl: E100 nothing",
        result={"problems": [{**problem, "session_id": plant(word, "session1")}], "problem_total": 1},
        finished_at=timezone.now(),
    )


def _label(folder: Path, dataset: Dataset, word: str) -> Campaign:
    """Labels from a file for a persona that exists nowhere, and a campaign with a disagreement and a flag."""
    labels = [
        {
            "session_id": plant(word, "session1"),
            "turn_index": 2,
            "text": f"Please write to {plant(word, 'text')}, number 1.2.",
            "label": label,
            "persona_id": plant(word, "persona"),
            "annotator": f"labeler {label}",
            "notes": f"says {plant(word, 'labelnote')}",
            "hint": plant(word, "labelkey"),
        }
        for label in (0, 1)
    ]
    import_annotations(factories.write_jsonl(folder / "labels.jsonl", labels), dataset_name=dataset.name)
    campaign = make_campaign(
        dataset, "ana", "ben", overlap=2, order="session", name=f"{dataset.name}-voice", override=OVERRIDE
    )
    label_all_replies(campaign, "ana", 1, limit=1)
    label_all_replies(campaign, "ben", 0, limit=1)
    current = lease_for(campaign, "ben").current
    assert current
    submit(current, "flag", None, notes=f"names {plant(word, 'flag')}")
    Annotation.objects.filter(campaign=campaign).update(notes=f"mentions {plant(word, 'decision')}")
    return campaign


def _label_by_criteria(dataset: Dataset, word: str) -> None:
    """A campaign with a schema: answers in words, marked words, a failure mode, and what a judge says."""
    campaign = make_campaign(
        dataset, "ana", "ben", overlap=2, order="session", name=f"{dataset.name}-criteria",
        schema=import_schema(_SCHEMA).schema, override=OVERRIDE,
    )  # fmt: skip
    for name, right in (("ana", 1), ("ben", 0)):
        current = lease_for(campaign, name).current
        assert current
        text = Turn.objects.get(dataset=dataset, pk=current.item.turn_id).text
        submit(
            current,
            label=None,
            answers={"right": right, "why": f"It names {plant(word, 'answer')}"},
            notes=f"mentions {plant(word, 'criterionnote')}",
            evidence={"digest": digest_text(text), "spans": [[0, 6]]},
        )
    notes = list(list_notes(campaign).values_list("pk", flat=True))
    group_notes(campaign, notes, "Names somebody", actor=None)
    judge = import_judge("judge: by_rules\nmodel: offline\n").judge
    run = JudgeRun.objects.create(
        campaign=campaign,
        judge=judge,
        prompt_digest="0" * 64,
        persona_digest="0" * 64,
        ended_at=timezone.now(),
    )
    for item in campaign.items.all():
        said = f"Quotes {plant(word, 'rationale')}"
        Verdict.objects.create(
            dataset=dataset, turn_id=item.turn_id, run=run, codes={"right": 0}, rationale=said
        )


def _run_jobs(dataset: Dataset, actor: User, word: str) -> None:
    # No gate asks about the person: the override of each has been recorded as theirs.
    officer = User.objects.filter(is_superuser=True).first()
    assert officer
    tag = f"scenario:{plant(word, 'tag')}"
    split = SplitSettings.parse("50,50", 1, "scenario", 0.5)
    parameters: list[tuple[str, JobParameters]] = [
        ("check_dataset", NoParameters()),
        ("release_dataset", ReleaseParameters(override=OVERRIDE)),
        (
            "split_dataset",
            SplitParameters(settings=split.as_json()),
        ),
        (
            "export_dataset",
            ExportParameters(format="turns", tag=tag, override=OVERRIDE),
        ),
        ("compare_releases", CompareParameters(before="1.0.0")),
        (
            "export_annotations",
            LabelExportParameters(
                campaign=f"{dataset.name}-voice", persona="warm_v1", labels="all", override=OVERRIDE
            ),
        ),
    ]
    for operation, asked in parameters:
        if operation == "compare_releases":
            Turn.objects.filter(session__dataset=dataset, turn_index=1).update(
                text=f"Changed for {plant(word, 'text')}."
            )
        job = runs.create_job(operation, actor=officer, dataset=dataset, parameters=asked)
        _finish_job(job, factories.run_task(job), dataset)
    session = dataset.sessions.order_by("pk")[0]
    add_comment(session, f"Quotes {plant(word, 'comment')}", turn_index=1, actor=officer)
    SavedView.objects.create(
        dataset=dataset,
        owner=officer,
        name=f"View {word}",
        query=urlencode({"q": plant(word, "view")}),
        has_text=True,
        shared=True,
    )
    SessionSelection.objects.create(dataset=dataset, owner=officer, keys=[session.pk])
    scrub_dataset(dataset, parse_policy(None), dry_run=True)
    mark_not_personal(dataset, term=f"{word} limited", actor=officer)


def list_assignments(case: RawCase) -> list[int]:
    return list(Assignment.objects.filter(campaign=case.campaign).values_list("pk", flat=True))
