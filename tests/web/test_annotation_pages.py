"""Labels where they are looked for: their list, the import's preview, the session they are of."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations_app.demo.load_demo import DEMO_DIRECTORY, load_demo
from annotations_app.models import Annotation
from datasets_app.models import Dataset, Session

ANNOTATIONS = "admin:annotations_app_annotation"


def preview(client: Any, dataset: Dataset) -> Any:
    file = SimpleUploadedFile("labels.jsonl", (DEMO_DIRECTORY / "demo_labels.jsonl").read_bytes())
    data = {"import_file": file, "format": "0", "resource": "0", "dataset": dataset.pk}
    return client.post(reverse(f"{ANNOTATIONS}_import"), data)


def test_labels_of_another_dataset_are_seen_before_they_make_sessions(curator: Any, dataset: Dataset) -> None:
    page = preview(curator, dataset)
    html = page.content.decode()
    told = "0 of 90 labels match a turn of support; 30 one-turn sessions will be made."
    assert told in html
    assert html.index(told) < html.index("Confirm import")
    assert html.count(">New session<") == 90
    form = page.context["confirm_form"]
    data = {name: getattr(form[name].value(), "pk", form[name].value()) or "" for name in form.fields}
    done = curator.post(reverse(f"{ANNOTATIONS}_process_import"), data, follow=True).content.decode()
    assert "0 of 90 labels match a turn of support; 30 one-turn sessions were made." in done
    assert Session.objects.filter(dataset=dataset, session_id__startswith="label-").count() == 30


def test_labels_that_find_their_turns_are_told_to(curator: Any) -> None:
    load_demo()
    html = preview(curator, Dataset.objects.get()).content.decode()
    assert "90 of 90 labels match a turn of demo_conversations (90 by session and turn number" in html
    assert ">New session<" not in html


def listed(client: Any, **query: str) -> str:
    return client.get(reverse(f"{ANNOTATIONS}_changelist"), query).content.decode()


def test_the_list_shows_what_was_judged_and_leads_there(curator: Any) -> None:
    load_demo()
    newest = Annotation.objects.order_by("-id").select_related("turn__session")[0]
    turn = newest.turn
    html = listed(curator).replace("&#x27;", "'")
    assert turn.text[:40] in html
    assert turn.text not in html
    address = reverse("admin:datasets_app_session_change", args=[turn.session_id])
    assert f'href="{address}?turn={turn.turn_index}#turn-{turn.turn_index}"' in html


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"q": "inquiry-plans"}, Annotation.objects.filter(turn__session__session_id="inquiry-plans")),
        ({"q": "ada"}, Annotation.objects.filter(annotator="ada")),
        ({"annotator": "ben"}, Annotation.objects.filter(annotator="ben")),
        ({"label__exact": "0"}, Annotation.objects.filter(label=0)),
        ({"persona_id": "nobody"}, Annotation.objects.none()),
        ({"q": "inquiry"}, Annotation.objects.none()),
    ],
)
def test_labels_are_found(curator: Any, query: dict[str, str], count: Any) -> None:
    load_demo()
    response = curator.get(reverse(f"{ANNOTATIONS}_changelist"), query)
    assert response.context["cl"].result_count == count.all().count()


def test_an_empty_search_says_so(curator: Any, dataset: Dataset) -> None:
    assert "No results for “zzz”" in listed(curator, q="zzz")
    assert "No labels yet" in listed(curator)


def test_a_session_shows_the_labels_of_its_turns_to_who_may_see_them(sign_in: Any) -> None:
    load_demo()
    label = Annotation.objects.select_related("turn").first()
    address = reverse("admin:datasets_app_session_change", args=[label.turn.session_id])
    client = sign_in("lead")
    with CaptureQueriesContext(connection) as few:
        html = client.get(address).content.decode()
    assert f"{label.get_label_display().lower()} · {label.annotator}" in html
    assert reverse("admin:datasets_app_persona_changelist") in html
    assert "-brand · " not in sign_in("viewer").get(address).content.decode()
    for _ in range(20):
        Annotation.objects.create(
            dataset=label.dataset, turn=label.turn, label=1, persona_id="p", annotator="x"
        )
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


def test_a_table_has_no_labels_of_the_test_split(curator: Any) -> None:
    load_demo()
    locked = Annotation.objects.order_by("id")[0].turn.session
    Session.objects.filter(pk=locked.pk).update(split="test")
    here = Annotation.objects.filter(turn__session=locked).count()
    fields = {f"annotationresource_{name}": "on" for name in ("session_id", "label")}
    table = curator.post(reverse(f"{ANNOTATIONS}_export"), {"format": "1", "resource": "", **fields})
    lines = table.content.decode().splitlines()
    assert len(lines) == 1 + Annotation.objects.count() - here
    assert locked.session_id not in {line.split(",")[0] for line in lines}
    assert f"{here} labels are of the locked test split" in listed(curator)


def test_a_table_has_no_personal_data_in_notes(curator: Any) -> None:
    load_demo()
    table = {"format": "1", "resource": "", "annotationresource_notes": "on"}
    address = reverse(f"{ANNOTATIONS}_export")
    assert b"notes" in curator.post(address, table).content
    Annotation.objects.filter(pk=Annotation.objects.latest("pk").pk).update(notes="Mail jo@example.org")
    refused = curator.post(address, table).content.decode()
    assert "contain personal data (e-mail addresses: 1)" in refused
    assert "jo@example.org" not in refused


def test_a_label_on_legal_hold_stays_as_it_is(sign_in: Any) -> None:
    load_demo()
    label = Annotation.objects.latest("pk")
    Dataset.objects.update(legal_hold=True)
    lead = sign_in("lead")
    address = reverse(f"{ANNOTATIONS}_change", args=[label.pk])
    answers = {"label": str(1 - label.label), "annotator": "me", "notes": "Never said"}
    assert lead.post(address, answers).status_code == 403
    assert Annotation.objects.get(pk=label.pk).label == label.label
