"""A random audit of what the machine passed: drawn with known probabilities, and an estimate from it."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.domain.review_audit import choose_tasks, estimate_tasks
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign
from datasets_app.models import Dataset, Turn
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_annotators, make_persona, submit
from tests.everything import make_user_with
from tests.factories import write_jsonl


def make_task(number: int, *, passed: bool) -> dict[str, Any]:
    said = [
        {"role": "user", "content": f"Question {number}?"},
        {"role": "assistant", "content": f"Answer {number}."},
    ]
    return {
        "review_key": f"key-{number}",
        "evaluation_id": "6f6c1c51-9b5c-4f9b-a7b0-0f6ad3c0a001",
        "input": {"session_id": f"s{number}", "payload": {"conversation": said}},
        "criterion": {"id": "polite", "rubric": "Says please."},
        "machine_result": {"status": "met" if passed else "violated"},
        "annotation": {"schema_version": 1, "outcome": None},
    }


def test_the_estimate_is_right_on_average_and_its_interval_holds() -> None:
    """The machine misses a tenth of what it passes, and half of what it stops is fine."""
    tasks = [make_task(number, passed=number % 5 != 0) for number in range(500)]
    truth = {
        f"key-{number}": "violated" if number % (10 if number % 5 == 0 else 11) == 0 else "met"
        for number in range(500)
    }
    rate = sum(outcome == "violated" for outcome in truth.values()) / 500
    estimates, covered, seeds = [], 0, 300
    for seed in range(seeds):
        chosen = choose_tasks(tasks, 60, seed)["polite"]
        [one] = estimate_tasks(tasks, chosen, truth)
        assert (one.selected.probability, one.others.probability) == (1.0, 60 / 400)
        assert one.rate is not None
        estimates.append(one.rate)
        covered += one.interval[0] <= rate <= one.interval[1]
    assert abs(sum(estimates) / seeds - rate) < 0.004
    assert covered / seeds >= 0.95
    # What the tool selects alone says something else.
    selected = [truth[task["review_key"]] for task in tasks if task["machine_result"]["status"] != "met"]
    assert abs(selected.count("violated") / len(selected) - rate) > 0.2


def test_whatever_is_judged_in_full_has_no_interval() -> None:
    tasks = [make_task(number, passed=number > 2) for number in range(10)]
    truth = {f"key-{number}": "violated" if number < 2 else "met" for number in range(10)}
    [one] = estimate_tasks(tasks, set(truth), truth)
    assert (one.rate, one.interval) == (0.2, (0.2, 0.2))
    [one] = estimate_tasks(tasks, set(truth), {})
    assert (one.rate, one.interval) == (None, (0.0, 1.0))


@pytest.mark.django_db
def test_people_judge_what_was_selected_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tasks = write_jsonl(
        tmp_path / "tasks.jsonl", [make_task(number, passed=number > 3) for number in range(20)]
    )
    call_command("import_dataset", str(tasks), name="review", origin="synthetic")
    make_annotators("ana")
    make_persona()
    with pytest.raises(CommandError, match="No campaign of review asks about these tasks"):
        call_command("estimate_review", tasks, dataset="review")
    asked: Any = {"dataset": "review", "persona": "warm_v1", "annotators": "ana"}
    with pytest.raises(CommandError, match="can't be negative"):
        call_command("create_review", tasks, **asked, audit=-1)
    call_command("create_review", tasks, **asked, audit=8)
    campaign = Campaign.objects.get()
    assert campaign.item_count == 4 + 8
    while (current := lease_next(campaign, get_user("ana")).current) is not None:
        outcome = "violated" if current.item.turn.text in ("Answer 0.", "Answer 1.") else "met"
        submit(current, label=None, answers={"outcome": outcome, "rationale": "Read it."})
    capsys.readouterr()
    call_command("estimate_review", tasks, dataset="review", format="json")
    [one] = json.loads(capsys.readouterr().out)
    assert one["rate"] == 2 / 20
    assert one["low"] == 2 / 20 < one["high"] < 0.5
    assert one["others"] == {"total": 16, "included": 8, "judged": 8, "violated": 0, "probability": 0.5}
    call_command("estimate_review", tasks, dataset="review")
    assert "polite: 10.0% violated" in capsys.readouterr().out
    # The file goes back as ever: what nobody judged stays blank.
    call_command("export_review", tasks, dataset="review", out=str(tmp_path / "done.jsonl"))
    done = [json.loads(line) for line in (tmp_path / "done.jsonl").read_text().splitlines()]
    assert sum(line["annotation"]["outcome"] is None for line in done) == 8


@pytest.mark.django_db
def test_what_gets_no_campaign_and_what_is_there_twice_is_said(
    tmp_path: Path, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    brief = {"criterion": {"id": "brief", "rubric": "Few words."}}
    lines = [make_task(number, passed=number > 3) for number in range(6)]
    lines += [task | brief | {"review_key": f"brief-{task['review_key']}"} for task in lines[4:]]
    # As a file is after two people's annotations.
    lines += [lines[0], lines[5]]
    tasks = write_jsonl(tmp_path / "tasks.jsonl", lines)
    call_command("import_dataset", str(tasks), name="review", origin="synthetic")
    make_annotators("ana")
    make_persona()
    call_command("create_review", tasks, dataset="review", persona="warm_v1", annotators="ana", audit=0)
    said = capsys.readouterr()
    assert "review-polite is open: 4 replies." in said.out
    assert "No campaign for brief: the machine passed all of its tasks" in said.err
    campaign = Campaign.objects.get()
    while (current := lease_next(campaign, get_user("ana")).current) is not None:
        submit(current, label=None, answers={"outcome": "met", "rationale": "Read it."})
    call_command("estimate_review", tasks, dataset="review", format="json")
    said = capsys.readouterr()
    [polite, _] = json.loads(said.out)
    assert (polite["selected"]["total"], polite["others"]["total"]) == (4, 2)
    assert "Counted once: 2 lines" in said.err
    call_command("export_review", tasks, dataset="review", out=str(tmp_path / "done.jsonl"))
    said = capsys.readouterr()
    assert "4 tasks of 8 judged: 4 annotations" in said.err
    assert "Counted once: 2 lines" in said.err
    written = [json.loads(line)["review_key"] for line in (tmp_path / "done.jsonl").open()]
    # Who didn't judge here may have done so elsewhere.
    assert (written.count("key-0"), written.count("key-5")) == (1, 2)

    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    address = reverse("admin:annotations_app_campaign_dataset_review", args=[Dataset.objects.get().pk])
    fields: dict[str, Any] = {"persona": "warm_v1", "annotators": get_user("ana").pk, "audit": 0}
    Campaign.objects.update(name="before")
    for action, told in (("create", "No campaign for brief"), ("estimate", "Counted once: 2 lines")):
        upload = SimpleUploadedFile("tasks.jsonl", tasks.read_bytes())
        page = client.post(address, {**fields, "tasks": upload, "action": action}, follow=True)
        assert told in page.content.decode()
    upload = SimpleUploadedFile("tasks.jsonl", tasks.read_bytes())
    answer = client.post(address, {"tasks": upload, "action": "export"})
    assert answer.streaming
    assert b"".join(answer) == (tmp_path / "done.jsonl").read_bytes()
    assert "Counted once: 2 lines" in client.get(address).content.decode()


@pytest.mark.django_db
def test_page_and_api_exchange_the_same_file(tmp_path: Path, client: Client) -> None:
    tasks = write_jsonl(
        tmp_path / "tasks.jsonl", [make_task(number, passed=number > 3) for number in range(9)]
    )
    call_command("import_dataset", str(tasks), name="review", origin="synthetic")
    make_annotators("ana")
    make_persona()
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    address = reverse("admin:annotations_app_campaign_dataset_review", args=[Dataset.objects.get().pk])

    def send(action: str, **fields: Any) -> str:
        upload = SimpleUploadedFile("tasks.jsonl", tasks.read_bytes())
        return read(client.post(address, {"tasks": upload, "action": action, **fields}, follow=True))

    # As the command has it.
    form = client.get(address).context["form"]
    assert form["overlap"].initial == 1
    assert "ana" in [str(user) for user in form.fields["annotators"].queryset]
    ana = get_user("ana")
    assert "Choose the persona" in send("create", annotators=ana.pk)
    page = send("create", persona="warm_v1", annotators=ana.pk, overlap=1, audit=2)
    assert "Created 1 campaign." in page
    campaign = Campaign.objects.get()
    assert campaign.item_count == 4 + 2
    assert "has been judged" in send("export")
    while (current := lease_next(campaign, get_user("ana")).current) is not None:
        submit(current, label=None, answers={"outcome": "met", "rationale": "Read it."})
    assert "0.0% violated" in send("estimate")
    done = send("export")
    assert sum(json.loads(line)["annotation"]["outcome"] == "met" for line in done.splitlines()) == 6

    answer = Caller(make_user("lead"))("POST", "/datasets/review/review", {"tasks": tasks.read_text()})
    assert answer.status_code == 200, answer.content
    found = answer.json()
    assert (found["tasks"], found["judged"], found["estimates"][0]["rate"]) == (done, 6, 0.0)


def read(answer: Any) -> str:
    return (b"".join(answer) if answer.streaming else answer.content).decode()


@pytest.mark.django_db
def test_hostile_tasks_are_refused(tmp_path: Path, client: Client) -> None:
    task = make_task(1, passed=False)
    tasks = write_jsonl(tmp_path / "tasks.jsonl", [make_task(number, passed=False) for number in range(4)])
    call_command("import_dataset", str(tasks), name="review", origin="synthetic")
    make_annotators("ana")
    make_persona()
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    address = reverse("admin:annotations_app_campaign_dataset_review", args=[Dataset.objects.get().pk])
    api = Caller(make_user("lead"))

    def send(action: str, content: bytes) -> str:
        upload = SimpleUploadedFile("tasks.jsonl", content)
        fields = {"tasks": upload, "action": action, "persona": "warm_v1", "annotators": get_user("ana").pk}
        answer = client.post(address, fields, follow=True)
        assert answer.status_code == 200
        return read(answer)

    hostile: list[bytes] = [
        b"[" * 100_000,
        *(
            json.dumps(task | change).encode()
            for change in (
                {"evaluation_id": "none"},
                {"review_key": "\ud800"},
                {"criterion": {"id": "polite", "rubric": {"a": 1}}},
                {"criterion": {"id": "polite\0", "rubric": ""}},
                {"criterion": {"id": "x" * 5000, "rubric": ""}},
                {"criterion": {"id": "polite", "rubric": "\0"}},
            )
        ),
    ]
    for content in hostile:
        for action in ("create", "estimate", "export"):
            assert "ad-note ad-bad" in send(action, content)
        answer = api("POST", "/datasets/review/review", {"tasks": content.decode()})
        assert answer.status_code in (400, 409), answer.content
    assert api("POST", "/datasets/review/review", {"tasks": "\ud800"}).status_code == 400
    deep = json.dumps(task | {"input": {"request": {"prompt": "[" * 100_000}}})
    assert "ad-note ad-bad" in send("estimate", deep.encode())
    assert not Campaign.objects.exists()

    assert "Created 1 campaign." in send("create", tasks.read_bytes())
    campaign = Campaign.objects.get()
    while (current := lease_next(campaign, get_user("ana")).current) is not None:
        submit(current, label=None, answers={"outcome": "met", "rationale": "Read it."})
    replies = Turn.objects.filter(role="assistant").order_by("pk")
    for turn, keys in zip(replies, (["a"], {"polite": {"a": 1}}, "a"), strict=False):
        Turn.objects.filter(dataset=turn.dataset_id, pk=turn.pk).update(metadata={"review_keys": keys})
    assert "0.0% violated" in send("estimate", tasks.read_bytes())
    done = [json.loads(line) for line in send("export", tasks.read_bytes()).splitlines()]
    assert [line["annotation"]["outcome"] for line in done].count("met") == 1
