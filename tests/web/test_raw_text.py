"""Whoever is shown raw text of production is in the audit trail, wherever it was; the text itself is not."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.models import Annotation, Campaign
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, Dataset, JobRun
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories
from tests.campaigns import get_user, label_all_replies, lease_for, make_campaign, make_replies, submit

WORD = "zebracanary"


@pytest.fixture
def own(db: None, tmp_path: Path) -> Campaign:
    """A disputed reply, a flagged one, and the others to be labelled; the text is raw, from production."""
    data = make_replies(tmp_path, 4, turns=4, text=f"Please call {WORD} now.")
    made = make_campaign(data, "ana", "ben", overlap=2, order="session")
    label_all_replies(made, "ana", 1, limit=7)
    label_all_replies(made, "ben", 0, limit=1)
    current = lease_for(made, "ben").current
    assert current
    submit(current, "flag", None)
    Dataset.objects.filter(pk=data.pk).update(origin="production", status="raw")
    Campaign.objects.filter(pk=made.pk).update(overridden=True)
    made.refresh_from_db()
    return made


def pages(own: Campaign) -> dict[str, tuple[str, str]]:
    """By the place that the trail names: who looks (lead, or the annotator), and at which address."""
    turn = Annotation.objects.get(annotator="ben").turn
    session = turn.session
    current = lease_for(own, "ana").current
    assert current
    label = Annotation.objects.get(turn=turn, annotator="ana")
    ours = "admin:datasets_app_"
    theirs = "admin:annotations_app_"
    by_persona = f"?persona={own.persona.persona_id}"
    return {
        "session": ("lead", reverse(f"{ours}session_change", args=[session.pk])),
        "turn": ("lead", reverse(f"{ours}turn_change", args=[turn.pk])),
        "turns": ("lead", reverse(f"{ours}turn_changelist")),
        "search": ("lead", reverse(f"{ours}turn_changelist") + f"?q={WORD}"),
        "annotations": ("lead", reverse(f"{theirs}annotation_changelist")),
        "annotation": ("lead", reverse(f"{theirs}annotation_change", args=[label.pk])),
        "flagged": ("lead", reverse(f"{theirs}campaign_flagged", args=[own.pk])),
        "agreement": ("lead", reverse(f"{theirs}campaign_measured", args=[own.pk])),
        "adjudication": (
            "lead",
            reverse(f"{theirs}campaign_adjudicate") + f"{by_persona}&campaign={own.pk}&turn={turn.pk}",
        ),
        "annotation queue": ("ana", reverse("annotate:queue", args=[own.name])),
        "more turns": ("ana", reverse("annotate:turns", args=[own.name, current.pk]) + "?after=1"),
        "a whole turn": ("ana", reverse("annotate:whole_turn", args=[own.name, current.pk, 2])),
        "a reply again": ("ana", reverse("annotate:reply", args=[own.name, label.assignment.pk])),
    }


def test_every_page_that_shows_it_leaves_an_event(sign_in: Any, own: Campaign) -> None:
    clients = {"lead": sign_in("lead"), "ana": Client()}
    clients["lead"].user.user_permissions.add(Permission.objects.get(codename="read_raw"))
    clients["ana"].force_login(get_user("ana"))
    for place, (who, address) in pages(own).items():
        before = AuditEvent.objects.order_by("-id").values_list("id", flat=True).first()
        page = clients[who].get(address)
        assert page.status_code == 200, place
        assert WORD in page.content.decode(), place
        event = AuditEvent.objects.get(action="read_raw_text", id__gt=before)
        named = place if who == "lead" else "annotation queue"
        assert (event.details["place"], event.actor, event.dataset_name) == (named, who, "support")
        told = {key: value for key, value in event.details.items() if key not in {"place", "source_address"}}
        assert told
        assert event.details["source_address"] == "127.0.0.1"
        assert all(isinstance(value, int) for value in told.values()), told
    assert WORD not in json.dumps(list(AuditEvent.objects.values_list("details", flat=True)))


@pytest.mark.django_db(transaction=True)
def test_what_a_scrub_has_verified_or_is_nobodys_leaves_none(sign_in: Any, own: Campaign) -> None:
    reader, ana = sign_in("lead"), Client()
    ana.force_login(get_user("ana"))
    data = Dataset.objects.filter(pk=own.dataset_id)
    scrub_dataset(own.dataset, Policy())
    for origin in ("production", "synthetic"):
        data.update(origin=origin)
        for who, address in pages(own).values():
            assert (ana if who == "ana" else reader).get(address).status_code == 200
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()


def test_a_page_without_text_leaves_none_and_addresses_are_not_for_everybody(
    sign_in: Any, own: Campaign
) -> None:
    page = {
        name: reverse(f"admin:datasets_app_dataset_{name}", args=[own.dataset_id])
        for name in ("releases", "history")
    }
    viewer, officer = sign_in("viewer"), sign_in("privacy officer")
    for client in (viewer, officer):
        assert client.get(page["releases"]).status_code == 200
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()
    officer.get(reverse("admin:datasets_app_turn_changelist"), REMOTE_ADDR="192.0.2.77")
    assert "192.0.2.77" in officer.get(page["history"]).content.decode()
    seen = viewer.get(page["history"]).content.decode()
    assert "read raw text" in seen.lower()
    assert "192.0.2.77" not in seen


def test_a_key_pressed_that_brings_the_next_reply_leaves_one(own: Campaign) -> None:
    ben = Client()
    ben.force_login(get_user("ben"))
    current = lease_for(own, "ben").current
    assert current
    pressed = {
        "assignment": current.pk,
        "key": "6a6a2b0e-7a4b-4c38-9d1f-0f8de9f1f001",
        "decision": "on",
    }
    address = reverse("annotate:decide", args=[own.name])
    page = ben.post(address, pressed, headers={"X-Queue": str(get_user("ben").pk)})
    assert page.status_code == 200
    event = AuditEvent.objects.get(action="read_raw_text")
    assert (event.actor, event.details["campaign"]) == ("ben", own.pk)


@pytest.mark.parametrize("origin", ["production", "external"])
def test_the_preview_of_a_file_is_a_reading_too(curator: Any, origin: str) -> None:
    file = SimpleUploadedFile(
        "logs.jsonl", factories.encode_jsonl(factories.make_session("s1", 3, text=WORD))
    )
    address = reverse("admin:datasets_app_dataset_import")
    asked = {"dataset_name": "support", "format": "auto", "origin": origin, "on_error": "abort"}
    page = curator.post(address, {**asked, "file": file}, follow=True)
    assert WORD in page.content.decode()
    events = AuditEvent.objects.filter(action="read_raw_text")
    if origin == "external":
        assert not events.exists()
        return
    assert events.get().details == {
        "place": "import preview",
        "job_run": JobRun.objects.get().pk,
        "turns": 3,
        "source_address": "127.0.0.1",
    }
    assert events.get().dataset_name == "support"


def test_a_table_of_labels_that_leaves_names_each_dataset(sign_in: Any, own: Campaign) -> None:
    Dataset.objects.filter(pk=own.dataset_id).update(origin="synthetic")
    turn = Annotation.objects.get(annotator="ben").turn
    adjudicate(turn, own.persona.persona_id, label=1, reason="", campaign=own, actor=get_user("ana"))
    lead = sign_in("lead")
    fields = {f"annotationresource_{name}": "on" for name in ("text", "label")}
    address = reverse("admin:annotations_app_annotation_export")
    page = lead.post(address, {"format": "0", "resource": "", **fields})
    assert page.status_code == 200
    event = AuditEvent.objects.get(action="export")
    assert (event.actor, event.dataset_name) == ("lead", "support")
