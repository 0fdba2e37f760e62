"""Text from files is data: wherever it is shown, it is shown and does nothing."""

from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from datasets_app.core import audit
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
    JobFile,
    JobRun,
    ScrubFinding,
    ScrubMark,
    ScrubRun,
)
from tests import factories

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7|add:13300 }}"


@pytest.fixture
def hostile(tmp_path: Path, db: None) -> Dataset:
    line = factories.make_turn(
        EVIL,
        text=EVIL + " needle",
        tags=[EVIL],
        persona_id=EVIL,
        metadata={EVIL: EVIL},
        **{EVIL: EVIL},
    )
    dataset = factories.make_dataset(tmp_path, [line])
    Dataset.objects.filter(pk=dataset.pk).update(
        license=EVIL[:100], source=EVIL, attribution=EVIL, provenance={EVIL: [EVIL, {EVIL: EVIL}]}
    )
    dataset.source_files.update(name=EVIL)
    report = CheckReport.objects.create(dataset=dataset, turn_count=1, error_count=2, totals={"E301": 2})
    for turn_index in (1, None):
        CheckFinding.objects.create(
            report=report, code="E301", message=EVIL, session=dataset.sessions.get(), turn_index=turn_index
        )
    scrub = ScrubRun.objects.create(
        dataset=dataset,
        dry_run=True,
        policy=Policy(patterns=(("OWN", EVIL),), allow=(EVIL,)).as_json(),
        totals={"NAME": 2, EVIL: 1},
        error=EVIL,
        finished_at=timezone.now(),
    )
    for field, kind in (("text", "NAME"), (EVIL, EVIL)):
        ScrubFinding.objects.create(
            scrub=scrub,
            session=dataset.sessions.get(),
            turn_index=1,
            field=field,
            kind=kind[:100],
            start=2,
            length=30,
            original_length=30,
            score=1,
        )
    ScrubMark.objects.create(dataset=dataset, verdict="not_personal", term=EVIL)
    audit.record("import", actor=None, dataset_name=dataset.name, note=EVIL, nested={EVIL: EVIL})
    return dataset


def pages_of(dataset: Dataset) -> dict[str, str]:
    session = dataset.sessions.get()
    turns = reverse("admin:datasets_app_turn_changelist")
    job = JobRun.objects.create(
        operation="import_dataset",
        dataset=dataset,
        state="failed",
        error=EVIL,
        parameters={EVIL: EVIL},
        result={
            EVIL: EVIL,
            "problems": [{"line": 1, "code": "E101", "message": EVIL, "session_id": EVIL}],
            "files": [{"name": EVIL, "sessions": 1, "turns": 1}],
        },
    )
    JobFile.objects.create(job_run=job, kind="export", name=EVIL)
    return {
        **{
            page: reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])
            for page in ("change", "checks", "scrub", "sharing", "sessions", "history", "edit")
        },
        "session": reverse("admin:datasets_app_session_change", args=[session.pk]),
        "turn": reverse("admin:datasets_app_turn_change", args=[session.turns.get().pk]),
        "turns": turns,
        "search": f"{turns}?q=needle",
        "audit": reverse("admin:datasets_app_auditevent_changelist"),
        "job": reverse("admin:datasets_app_jobrun_change", args=[job.pk]),
        "start": reverse("admin:index"),
    }


def test_nothing_from_a_file_becomes_markup(sign_in: Any, hostile: Dataset) -> None:
    client = sign_in("superuser")
    for name, address in pages_of(hostile).items():
        page = client.get(address).content.decode()
        assert "<script>alert" not in page, name
        assert "<img src=x" not in page, name
        assert "13307" not in page, name
        if name == "session":
            assert "ad-found-found" in page
        if name in {"scrub", "session", "turn", "turns", "search", "checks", "change", "job", "history"}:
            assert "&lt;script&gt;alert(1)" in page, name


def test_what_is_asked_for_comes_back_escaped(sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("superuser")
    asked = {
        "q": EVIL,
        "tag": EVIL,
        "after": EVIL,
        "before": EVIL,
        "page": EVIL,
        "role": EVIL,
        "report": EVIL,
    }
    for name in ("turn_changelist", "dataset_sessions", "dataset_checks", "dataset_history"):
        arguments = [] if name == "turn_changelist" else [dataset.pk]
        response = client.get(reverse(f"admin:datasets_app_{name}", args=arguments), asked)
        assert response.status_code == 200
        assert "<script>alert" not in response.content.decode()


def test_searched_words_are_marked_within_escaped_text(sign_in: Any, tmp_path: Path) -> None:
    factories.make_dataset(tmp_path, [factories.make_turn(text="<b>needle</b> & <mark>fake</mark>")])
    address = reverse("admin:datasets_app_turn_changelist")
    page = sign_in("curator").get(address, {"q": "needle"}).content.decode()
    assert "&lt;b&gt;<mark>needle</mark>&lt;/b&gt; &amp; &lt;mark&gt;fake&lt;/mark&gt;" in page
