"""The command palette finds what a person may open, and nothing else."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from datasets_app.access import limit_access
from datasets_app.models import AuditEvent, Dataset, JobRun, Persona, Session
from tests import factories


def find(client: Any, words: str) -> list[tuple[str, str]]:
    response = client.get(reverse("palette"), {"q": words})
    assert response.status_code == 200
    assert "no-store" in response["Cache-Control"]
    return [(result["group"], result["title"]) for result in response.json()["results"]]


@pytest.fixture
def shelf(dataset: Dataset, tmp_path: Path) -> Dataset:
    factories.make_dataset(tmp_path, [factories.make_turn("chat-0001")], "web_support")
    Persona.objects.create(persona_id="calm", display_name="Calm assistant", yaml="id: calm")
    JobRun.objects.create(pk=77, operation="check_dataset", dataset=dataset, state="done")
    return dataset


def test_each_kind_is_found(sign_in: Any, shelf: Dataset) -> None:
    client = sign_in("superuser")
    for words, expected in {
        "supp": [("Datasets", "support"), ("Datasets", "web_support")],
        "SUPPORT spl": [("Datasets", "Splits")],
        "chat-0": [("Sessions", "chat-0001")],
        "calm": [("Personas", "Calm assistant")],
        "#77": [("Jobs", "Check dataset #77")],
        "ret rul": [("Pages", "Retention rules")],
        "new camp": [("Actions", "New campaign")],
        "invite": [("Actions", "Invite a person")],
        "superus": [("People", "superuser")],
        "nothing like it": [],
    }.items():
        assert find(client, words) == expected, words


def test_without_words_it_offers_where_to_go(sign_in: Any, shelf: Dataset) -> None:
    groups = {group for group, _ in find(sign_in("curator"), " ")}
    assert groups == {"Recently updated", "Actions", "Pages"}


@pytest.mark.parametrize("role", ["none", "viewer", "lead"])
def test_what_a_role_may_not_open_is_not_found(sign_in: Any, shelf: Dataset, role: str) -> None:
    client = sign_in(role)
    for words in ("", "support", "chat-0001", "calm", "77", "a", "e", "i", "new", "invite"):
        for result in client.get(reverse("palette"), {"q": words}).json()["results"]:
            assert client.get(result["url"], follow=True).status_code == 200, (role, words, result)
    assert ("People", "superuser") not in find(client, "superuser")


def test_annotators_and_strangers_have_no_palette(sign_in: Any, client: Any) -> None:
    assert sign_in("annotator").get(reverse("palette")).status_code == 403
    assert client.get(reverse("palette")).status_code == 302


def test_a_restricted_dataset_is_not_found(sign_in: Any, shelf: Dataset) -> None:
    limit_access.restrict_dataset(shelf, actor=None)
    viewer = sign_in("viewer")
    assert find(viewer, "supp") == [("Datasets", "web_support")]
    assert find(viewer, "support splits") == []
    assert not any(group == "Sessions" for group, _ in find(viewer, "s1x"))
    session = Session.objects.get(dataset=shelf, session_id="s1")
    Session.objects.filter(pk=session.pk, dataset=shelf).update(session_id="secret-1")
    assert find(viewer, "secret") == []


def test_ids_of_raw_sessions_are_for_readers_of_raw_text(sign_in: Any, shelf: Dataset) -> None:
    Dataset.objects.filter(name="web_support").update(origin="production")
    lead, curator = sign_in("lead"), sign_in("curator")
    assert find(lead, "chat-0001") == []
    assert find(curator, "chat-0001") == [("Sessions", "chat-0001")]
    event = AuditEvent.objects.get(action="read_raw_text")
    assert (event.dataset_name, event.details["place"], event.details["sessions"]) == (
        "web_support",
        "palette",
        1,
    )


def test_strange_words_are_only_words(sign_in: Any, shelf: Dataset) -> None:
    client = sign_in("superuser")
    for words in ("%", "_", "\\", "\0", "'", "x" * 5000, "🙂", "#" + "9" * 30):
        find(client, words)
    assert find(client, "%upport") == []
    assert Permission.objects.exists()
