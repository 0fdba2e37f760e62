"""The "Generate" page: who may open it, what its fields refuse, what it shows before and what it starts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

from datasets_app.catalog.import_persona import import_persona
from datasets_app.jobs.perform import perform
from datasets_app.models import Dataset, JobRun, Persona
from tests import factories
from tests.llm_server import LlmServer

ROLES = ["superuser", "curator", "annotator", "lead", "privacy officer", "viewer", "none", "outsider"]
GENERATES = {"superuser", "curator"}
PAGE = reverse("admin:datasets_app_dataset_generate")
PREVIEW = reverse("admin:datasets_app_dataset_generate_preview")
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
CONFIGURED = "https://models.example/v1"


@pytest.fixture(autouse=True)
def _endpoint(settings: Any) -> None:
    settings.LLM_ENDPOINTS = [CONFIGURED]


def asked(**more: Any) -> dict[str, Any]:
    return {
        "dataset_name": "eval",
        "sessions": "20",
        "turns": "4-6",
        "safety": "15",
        "brand": "20",
        "edge": "10",
        "seed": "7",
        "writer": "offline",
        **more,
    }


def by_model(**more: Any) -> dict[str, Any]:
    return asked(**{"writer": "model", "model": "tiny", "concurrency": "2", **more})


def errors_of(response: Any) -> dict[str, list[str]]:
    assert response.status_code == 200
    assert JobRun.objects.filter(operation="bootstrap_dataset").count() == 0
    return dict(response.context["form"].errors)


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


# --- who may ---


@pytest.mark.parametrize("role", ROLES)
def test_the_page_for_each_role(role: str, sign_in: Any, empty_queue: None) -> None:
    client, may = sign_in(role), role in GENERATES
    expected = {200} if may else {302, 403}
    assert client.get(PAGE).status_code in expected
    assert client.post(PREVIEW, asked()).status_code in expected
    client.post(PAGE, asked())
    assert JobRun.objects.exists() is may


def test_the_preview_needs_a_post(curator: Any) -> None:
    assert curator.get(PREVIEW).status_code == 405


@pytest.mark.parametrize("role", ["curator", "viewer"])
def test_the_way_to_it_is_shown_to_who_may(role: str, sign_in: Any, tmp_path: Path) -> None:
    client = sign_in(role)
    own = factories.make_dataset(tmp_path, factories.make_sessions(1), "made", origin="synthetic")
    other = factories.make_dataset(tmp_path, factories.make_sessions(2), "logs", origin="production")
    for page in (reverse("admin:index"), reverse("admin:datasets_app_dataset_changelist")):
        assert (PAGE in client.get(page).content.decode()) is (role == "curator")
    shown = {
        dataset.name: f"{PAGE}?dataset={dataset.name}"
        in client.get(reverse("admin:datasets_app_dataset_change", args=[dataset.pk])).content.decode()
        for dataset in (own, other)
    }
    assert shown == {"made": role == "curator", "logs": False}


@pytest.mark.parametrize("may", [True, False])
def test_a_job_is_stopped_and_run_again_by_who_may_generate(
    may: bool, sign_in: Any, empty_queue: None
) -> None:
    client = sign_in("curator" if may else "privacy officer")
    job = JobRun.objects.create(operation="bootstrap_dataset", dataset_name="eval", state="queued")
    for action, state in (("cancel", "cancelled"), ("retry", "queued")):
        response = client.post(reverse(f"admin:datasets_app_jobrun_{action}", args=[job.pk]))
        assert response.status_code == (302 if may else 403)
        job.refresh_from_db()
        assert job.state == (state if may else "queued")


# --- what is refused, and where that is said ---


@pytest.mark.parametrize(
    ("answers", "field", "sentence"),
    [
        ({"dataset_name": ""}, "dataset_name", "required"),
        ({"dataset_name": "../x"}, "dataset_name", "Use letters, digits"),
        ({"safety": "70", "brand": "40"}, "brand", "add up to 110 %"),
        ({"safety": "101"}, "safety", "less than or equal to 100"),
        ({"safety": "NaN"}, "safety", "Enter a number"),
        ({"edge": "-1"}, "edge", "greater than or equal to 0"),
        ({"turns": "1"}, "turns", "Enter 2 to 100"),
        ({"turns": "8-4"}, "turns", "Enter 2 to 100"),
        ({"turns": "six"}, "turns", "Enter 2 to 100"),
        ({"sessions": "0"}, "sessions", "greater than or equal to 1"),
        ({"seed": "9" * 30}, "seed", "less than or equal"),
        ({"persona": "nobody"}, "persona", "valid choice"),
        ({"writer": "model"}, "model", "Enter the model name"),
        ({"writer": "model", "model": "m", "temperature": "3"}, "temperature", "less than or equal to 2"),
        ({"writer": "model", "model": "m", "temperature": "nan"}, "temperature", "Enter a number"),
        ({"writer": "model", "model": "m", "base_url": "file:///etc"}, "base_url", "must begin with https"),
        (
            {"writer": "model", "model": "m", "base_url": "http://10.0.0.1"},
            "base_url",
            "configured addresses only",
        ),
        ({"writer": "model", "model": "m", "concurrency": "999"}, "concurrency", "less than or equal to 256"),
        ({"writer": "model", "model": "m", "max_tokens_total": "0"}, "max_tokens_total", "greater than or"),
    ],
)
def test_errors_stand_at_their_fields(
    answers: dict[str, str], field: str, sentence: str, curator: Any
) -> None:
    response = curator.post(PAGE, asked(**answers))
    errors = errors_of(response)
    assert list(errors) == [field]
    assert sentence in " ".join(errors[field])
    if field != "dataset_name":
        told = curator.post(PREVIEW, asked(**answers)).content.decode()
        assert "Fix these problems" in told
        assert JobRun.objects.count() == 0


def test_a_name_that_is_taken(curator: Any, tmp_path: Path, empty_queue: None) -> None:
    factories.make_dataset(tmp_path, factories.make_sessions(1), "made", origin="synthetic")
    factories.make_dataset(tmp_path, factories.make_sessions(2), "logs", origin="production")
    taken = errors_of(curator.post(PAGE, asked(dataset_name="made")))["dataset_name"]
    assert "This name is taken" in taken[0]
    other = errors_of(curator.post(PAGE, asked(dataset_name="logs", append="on")))["dataset_name"]
    assert "logs contains production data" in other[0]
    assert curator.post(PAGE, asked(dataset_name="made", append="on")).status_code == 302
    assert JobRun.objects.get(operation="bootstrap_dataset").dataset == Dataset.objects.get(name="made")


def test_a_persona_that_the_offline_writer_cannot_write_for(curator: Any, empty_queue: None) -> None:
    import_persona("id: mute\nexemplars: [Hello.]\nlexicon: {avoid: [the]}\n")
    told = errors_of(curator.post(PAGE, asked(persona="mute")))["persona"]
    assert "hardly a sentence does without" in told[0]
    shown = curator.post(PREVIEW, by_model(persona="mute")).content.decode()
    assert "No preview" in shown
    assert "Estimated model usage" in shown
    Persona.objects.filter(persona_id="mute").update(yaml="id: [")
    assert "is not a valid persona" in errors_of(curator.post(PAGE, asked(persona="mute")))["persona"][0]


def test_a_lexicon_too_long_for_a_preview_is_no_obstacle(curator: Any, empty_queue: None) -> None:
    avoided = ", ".join(f"word{number}" for number in range(1_500))
    import_persona(f"id: wordy\nexemplars: [Hello there.]\nlexicon: {{avoid: [{avoided}]}}\n")
    assert "samples would take too long" in curator.post(PREVIEW, asked(persona="wordy")).content.decode()
    assert curator.post(PAGE, asked(persona="wordy")).status_code == 302


def test_any_address_takes_its_permission(sign_in: Any, empty_queue: None) -> None:
    client = sign_in("curator")
    elsewhere = by_model(base_url="http://10.0.0.1/v1")
    assert "base_url" in errors_of(client.post(PAGE, elsewhere))
    client.user.user_permissions.add(Permission.objects.get(codename="generate_anywhere"))
    assert client.post(PAGE, elsewhere).status_code == 302
    assert JobRun.objects.get().parameters["base_url"] == "http://10.0.0.1/v1"


def test_no_model_is_offered_where_none_can_be_asked(curator: Any, settings: Any) -> None:
    settings.LLM_ENDPOINTS = []
    page = curator.get(PAGE).content.decode()
    assert 'value="model"' not in page
    assert "No model endpoint is configured" in page
    assert "writer" in errors_of(curator.post(PAGE, by_model()))


# --- what is shown before ---


def test_the_first_preview_comes_with_the_page(curator: Any) -> None:
    html = curator.get(PAGE).content.decode()
    assert "Three of the sessions, exactly as they will be written." in html
    assert html.count('class="gen-session"') == 3
    for expected in ("Ordinary", "Brand trap", "Safety trap", "intended on-brand", "trap:"):
        assert expected in html
    assert "<style" not in html.split('id="content-main"')[1]
    assert not re.search(r"\son[a-z]+=", html.split('id="generate-form"')[1])


@pytest.mark.django_db(transaction=True)
def test_what_is_previewed_is_what_is_written(curator: Any, empty_queue: None) -> None:
    html = curator.post(PREVIEW, asked()).content.decode()
    assert "intended off-brand" in html
    assert "<dt>Safety traps</dt><dd>3</dd>" in html
    assert "<dt>Brand traps</dt><dd>4</dd>" in html
    response = curator.post(PAGE, asked())
    job = JobRun.objects.get()
    assert response["Location"] == reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error, job.result["sessions"]) == ("done", "", 20)
    dataset = Dataset.objects.get(name="eval")
    assert job.dataset == dataset
    shown = re.findall(r'ad-hash ad-subtle">([^<]+)<', html)
    assert len(shown) == 3
    text = words(html).replace("&#x27;", "'")
    for session_id in shown:
        for turn in dataset.sessions.get(session_id=session_id).turns.all():
            assert re.sub(r"\s+", " ", turn.text).replace("&", "&amp;") in text
    page = curator.get(response["Location"]).content.decode()
    assert "Generate sessions" in page
    assert "Safety traps 15 %, Brand traps 20 %, Edge cases 10 %" in page
    assert "4 to 6" in page


def test_another_seed_other_sessions(curator: Any) -> None:
    first, again, other = (curator.post(PREVIEW, asked(seed=seed)).content for seed in ("7", "7", "8"))
    assert first == again
    assert first != other


def test_without_a_script_the_button_shows_the_preview(curator: Any) -> None:
    page = curator.post(PAGE, asked(dataset_name="", seed="9", look="1"))
    assert page.status_code == 200
    assert page.context["form"].errors == {}
    assert "exactly as they will be written" in page.content.decode()
    assert not JobRun.objects.exists()


def test_a_model_is_reckoned_and_not_asked(curator: Any, settings: Any) -> None:
    with LlmServer() as server:
        settings.LLM_ENDPOINTS = [server.url]
        prices = {"price_prompt": "10", "price_answer": "1000"}
        plain = words(curator.post(PREVIEW, by_model()).content.decode())
        priced = words(curator.post(PREVIEW, by_model(**prices, max_tokens_total="5000")).content.decode())
        assert server.asked == []
    assert "enter token prices" in plain
    sent, answered = (
        int(re.search(rf"{what}about ([\d,]+) tokens", priced.replace(" about", "about"))[1].replace(",", ""))  # type: ignore[index]
        for what in ("Input", "Output")
    )
    assert f"about {(10 * sent + 1000 * answered) / 1e6:.2f} at the prices you entered" in priced
    assert f"enough for about {5000 * 20 // (sent + answered)} of 20 sessions" in priced


def test_texts_of_a_persona_do_nothing(curator: Any) -> None:
    import_persona(f'id: {json.dumps(EVIL)}\nexemplars: ["You can check that <b>now</b>."]\n')
    evil = {"persona": EVIL, "dataset_name": EVIL, "model": EVIL, "turns": EVIL[:10]}
    for response in (
        curator.get(PAGE, {"persona": EVIL, "dataset": EVIL}),
        curator.post(PAGE, asked(**evil)),
        curator.post(PREVIEW, by_model(**evil)),
        curator.post(PREVIEW, asked(persona=EVIL)),
    ):
        html = response.content.decode()
        assert response.status_code == 200
        assert "<script>alert" not in html
        assert "<img src=x" not in html


# --- by a model ---


@pytest.mark.django_db(transaction=True)
def test_a_model_writes_within_its_budget_and_is_gone_on_with(
    curator: Any, settings: Any, empty_queue: None
) -> None:
    with LlmServer() as server:
        settings.LLM_ENDPOINTS = [server.url]
        curator.post(PAGE, by_model(max_tokens_total="9000"))
        job = JobRun.objects.get()
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error
        assert 0 < job.result["tokens"] <= 9000
        assert job.result["sessions_left"] > 0
        page = curator.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
        assert f"{PAGE}?again={job.pk}" in page
        form = curator.get(PAGE, {"again": job.pk}).context["form"]
        again = {name: form[name].value() for name in form.fields}
        again = {name: value for name, value in again.items() if value not in (None, "", False)}
        assert again["resume"] is True
        assert curator.post(PAGE, again | {"max_tokens_total": "900000"}).status_code == 302
        perform(JobRun.objects.latest("pk").pk)
        assert set(server.answered().values()) == {1}
    last = JobRun.objects.latest("pk")
    assert last.result["sessions_already_there"] == job.result["sessions"]
    assert Dataset.objects.get(name="eval").session_count == 20


def test_the_job_tells_its_tokens_while_it_runs(curator: Any) -> None:
    job = JobRun.objects.create(
        operation="bootstrap_dataset",
        dataset_name="eval",
        state="running",
        done=3,
        total=20,
        parameters={
            "model": "openai:tiny",
            "max_tokens_total": 50_000,
            "model_run": {"used": {"prompt": 1200, "completion": 345}, "sessions": 3},
        },
    )
    progress = reverse("admin:datasets_app_jobrun_progress", args=[job.pk])
    assert "1,545 of 50,000 tokens used" in words(curator.get(progress).content.decode())
    JobRun.objects.filter(pk=job.pk).update(state="cancelled")
    told = "1,545 tokens used and 3 sessions saved."
    assert told in words(curator.get(progress).content.decode())


@pytest.mark.parametrize(
    ("state", "result", "foreground", "told"),
    [
        ("failed", None, False, "Change options"),
        ("cancelled", None, False, "Change options"),
        (
            "done",
            {"sessions_left": 3, "stopped": "The budget is spent."},
            False,
            "Generate the remaining sessions",
        ),
        (
            "done",
            {"failed_sessions": 1, "failures": ["gen-1: refused"]},
            False,
            "Generate the remaining sessions",
        ),
        ("done", {"sessions": 20}, False, ""),
        ("failed", None, True, ""),
        ("running", None, False, ""),
    ],
)
def test_what_was_left_can_be_asked_for_again(
    state: str, result: Any, foreground: bool, told: str, sign_in: Any
) -> None:
    job = JobRun.objects.create(
        operation="bootstrap_dataset", dataset_name="eval", state=state, result=result, foreground=foreground
    )
    page = reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    html = sign_in("curator").get(page).content.decode()
    assert (f"{PAGE}?again={job.pk}" in html) is bool(told)
    assert told in html
    assert f"{PAGE}?again={job.pk}" not in sign_in("lead").get(page).content.decode()


def test_what_others_asked_for_is_shown_to_who_may_see_jobs(sign_in: Any) -> None:
    job = JobRun.objects.create(
        operation="bootstrap_dataset", dataset_name="theirs", parameters={"sessions": 5, "seed": 77}
    )
    client = sign_in("none")
    for name in ("generate_dataset", "view_dataset"):
        client.user.user_permissions.add(Permission.objects.get(codename=name))
    assert client.get(PAGE, {"again": job.pk}).context["form"]["seed"].value() == 42
    client.user.user_permissions.add(Permission.objects.get(codename="view_jobrun"))
    assert client.get(PAGE, {"again": job.pk}).context["form"]["seed"].value() == 77
    for nonsense in ("x", "9" * 40, "²", "-1"):
        assert client.get(PAGE, {"again": nonsense}).status_code == 200
