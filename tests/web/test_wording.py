"""What pages say, where they said too much, too little or the wrong thing."""

from typing import Any

import pytest
from django.urls import reverse

from datasets_app.admin.persona import NEW_PERSONA_YAML
from datasets_app.core import audit
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.personas.persona import check_persona, parse_persona
from datasets_app.domain.quality.e201_turn_numbers import TurnNumbers
from datasets_app.domain.quality.runner import run_checks
from datasets_app.models import AuditEvent, Dataset, JobRun, Persona, RetentionPolicy
from datasets_app.templatetags.audit_display import event_phrase
from datasets_app.templatetags.datasets_display import details_summary


def page(client: Any, name: str, *arguments: Any) -> str:
    return client.get(reverse(f"admin:{name}", args=arguments)).content.decode()


# --- the audit trail ---


def test_the_trail_is_linked_and_brief(sign_in: Any, dataset: Dataset) -> None:
    audit.record("download", actor=None, dataset_name=dataset.name, size=2_500_000, sha256="a" * 64)
    audit.record("other", actor=None, dataset_name="long gone", reason="why")
    client = sign_in("superuser")
    html = page(client, "datasets_app_auditevent_changelist")
    assert "2.4\xa0MB" in html
    assert "a" * 64 not in html
    assert f'href="{reverse("admin:datasets_app_dataset_change", args=[dataset.pk])}"' in html
    assert "long gone" in html
    event = AuditEvent.objects.get(action="download")
    assert "a" * 64 in page(client, "datasets_app_auditevent_change", event.pk)
    filtered = client.get(reverse("admin:datasets_app_auditevent_changelist"), {"action": "other"})
    assert [row.action for row in filtered.context["page"].rows] == ["other"]


def test_details_are_said_as_one_would_say_them() -> None:
    told = details_summary(
        {
            "turns": 1200,
            "release": "1.0.0",
            "size": 2_500_000,
            "again": False,
            "text": "Nothing is left.",
            "job": 7,
        }
    )
    assert told == "1,200 turns · Release 1.0.0 · Size 2.4\xa0MB · Again: no · Nothing is left. · Job 7"


@pytest.mark.parametrize(
    ("action", "phrase"),
    [
        ("draw_scrub_audit", "drew a scrub audit in"),
        ("keep_variant", "kept a variant in"),
        ("make_case", "made a case in"),
        ("cancel_job", "canceled a job in"),
        ("retry_job", "retried a job in"),
        ("add_annotation", "added a label in"),
    ],
)
def test_actions_are_told_in_the_past(action: str, phrase: str) -> None:
    assert event_phrase(action) == phrase


# --- personas ---


def test_a_persona_is_begun_from_a_skeleton(curator: Any) -> None:
    assert "# Single words" in page(curator, "datasets_app_persona_add")
    findings = check_persona(parse_persona(NEW_PERSONA_YAML.replace("id:", "id: mine", 1)))
    assert [finding.code for finding in findings] == ["W704"]


def test_yaml_that_cannot_be_read_says_only_where_and_why(curator: Any) -> None:
    persona = Persona.objects.create(persona_id="p", yaml="id: p\n")
    address = reverse("admin:datasets_app_persona_change", args=[persona.pk])
    html = curator.post(address, {"yaml": "id: p\nx: [\n"}).content.decode()
    assert "line 3, column 1: not valid YAML" in html
    assert "expected a YAML mapping" not in html
    assert html.index("not valid YAML") < html.index('<textarea name="yaml"')
    assert "The preview appears once the YAML is valid." in html


# --- jobs ---


def test_a_job_that_is_done_is_all_done() -> None:
    assert JobRun(state="done", done=0, total=None).percent == 100
    assert JobRun(state="done", done=7, total=10).percent == 100
    assert JobRun(state="failed", done=7, total=10).percent == 70


def test_a_preview_is_no_job_yet(sign_in: Any, dataset: Dataset) -> None:
    JobRun.objects.create(operation="import_dataset", dataset=dataset, state="prepared")
    client = sign_in("superuser")
    for html in (
        page(client, "datasets_app_jobrun_changelist"),
        page(client, "datasets_app_dataset_jobs", dataset.pk),
    ):
        assert "Preview, not imported" in html
        assert "command line" in html


def test_what_was_asked_for_is_told_in_the_words_of_the_form(curator: Any) -> None:
    parameters = {
        "origin": "production",
        "persona": "",
        "format": "openai",
        "on_error": "quarantine",
        "renumber": True,
        "append": False,
    }
    job = JobRun.objects.create(operation="import_dataset", state="done", parameters=parameters)
    html = page(curator, "datasets_app_jobrun_progress", job.pk)
    for told in ("If there are problems", "quarantine the others", "Renumber turns", "OpenAI chat JSONL"):
        assert told in html
    assert "Skip existing sessions" not in html


def test_problems_are_told_once_and_for_the_web(curator: Any) -> None:
    [found] = run_checks([TurnRecord("s1", 0, "user", "hi", [], line=1)], [TurnNumbers])
    problem = found._asdict()
    job = JobRun.objects.create(
        operation="import_dataset", state="failed", result={"problems": [problem], "problem_total": 1}
    )
    html = page(curator, "datasets_app_jobrun_progress", job.pk)
    assert found.message.replace("'", "&#x27;") in html
    assert "--renumber" not in html
    assert "Select “Renumber turns” to fix this." in html
    assert ".." not in html


# --- retention and signing in ---


def test_a_retention_policy_comes_after_the_others(sign_in: Any) -> None:
    client = sign_in("privacy officer")
    html = page(client, "datasets_app_retentionpolicy_changelist")
    assert "No retention rules yet" in html
    assert "Without rules, nothing is deleted." in html
    RetentionPolicy.objects.create(position=30, pattern="*", retention="90 days")
    assert 'value="40"' in page(client, "datasets_app_retentionpolicy_add")


@pytest.mark.django_db
def test_signing_in_fails_with_one_sentence(client: Any) -> None:
    address = reverse("login")
    html = client.post(address, {"username": "x", "password": "y"}).content.decode()
    assert "Wrong user name or password." in html
    assert "Please" not in html


def test_the_first_link_skips_to_the_content(curator: Any) -> None:
    html = page(curator, "index")
    assert html.index("Skip to content") < html.index("nav-sidebar")
