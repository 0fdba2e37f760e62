"""run_judge in processes of its own: killed, resumed, and silent about its key."""

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotations_app.models import Campaign, JudgeRun, Verdict
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.models import AuditEvent, JobRun, Turn
from tests import preloaded
from tests.campaigns import make_campaign, make_replies
from tests.judges import CANARY, answer_on_brand, make_judge
from tests.llm_server import LlmServer

FAULTS = ("429", "500", "hang", "cut", "not_http_json", "not_json", "wrong_schema", "refusal", "prose")
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return make_campaign(make_replies(tmp_path, 60), "ana")


def test_a_killed_command_is_resumed_and_nothing_says_the_key(
    campaign: Campaign,
    subprocess_environment: Any,
    wait_until: Any,
    manage: Any,
    monkeypatch: Any,
    client: Client,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    environment = {**os.environ, **subprocess_environment, "OPENAI_API_KEY": CANARY}
    with LlmServer(answer=answer_on_brand, latency=0.2, key=CANARY) as server:
        make_judge(server, allow=campaign.dataset)
        command = ["run_judge", campaign.name, "--judge", "brand", "--concurrency", "4"]
        process = preloaded.Popen(
            *command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        wait_until(lambda: Verdict.objects.count() >= 12)
        process.send_signal(signal.SIGKILL)
        said = "".join(process.communicate(timeout=30))
        kept = Verdict.objects.count()
        assert 12 <= kept < 60
        used = JudgeRun.objects.get().used
        resumed = manage(*command)
        assert resumed.returncode == 0, resumed.stderr
        assert f"brand@1: {60 - kept} judgments, {kept} before" in resumed.stdout
    assert Verdict.objects.filter(failure="").count() == 60
    # What was on its way, or came in the last half second, is paid for once more.
    answered = sum(asked.answered for asked in server.asked)
    assert answered - 60 <= 4 * 4
    assert used["prompt"] > 0
    rows = [*JobRun.objects.values(), *JudgeRun.objects.values(), *AuditEvent.objects.values("details")]
    client.force_login(User.objects.create_superuser("lena"))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    assert "60" in page
    everything = json.dumps(rows, default=str) + said + resumed.stdout + resumed.stderr + page
    assert CANARY not in everything


def test_faults_a_budget_and_a_kill_together_lose_nothing(
    campaign: Campaign,
    subprocess_environment: Any,
    wait_until: Any,
    manage: Any,
    monkeypatch: Any,
    client: Client,
    settings: Any,
) -> None:
    """429, 500, half an answer, half a JSON, a refusal, prose, and nothing for longer than the timeout."""
    settings.LLM_TIMEOUT, settings.LLM_RETRIES = 2, 1
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    limits = {"ALIGNMENTER_LLM_TIMEOUT": "2", "ALIGNMENTER_LLM_RETRIES": "1", "OPENAI_API_KEY": CANARY}
    environment = {**os.environ, **subprocess_environment, **limits}
    command = ["run_judge", campaign.name, "--judge", "brand", "--concurrency", "4"]
    faulty: Any = {"faults": FAULTS, "share": 0.05, "seed": 7, "latency": 0.1}
    with LlmServer(answer=answer_on_brand, key=CANARY, **faulty) as server:
        make_judge(server, allow=campaign.dataset)
        process = preloaded.Popen(
            *command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        wait_until(lambda: Verdict.objects.count() >= 12)
        process.send_signal(signal.SIGKILL)
        said = "".join(process.communicate(timeout=30))
        kept = dict(Verdict.objects.filter(failure="").values_list("turn_id", "codes"))
        limit = TokensUsed(**JudgeRun.objects.get().used).total + 4000
        stopped = manage(*command, "--max-tokens-total", str(limit))
        assert stopped.returncode == 1
        assert TokensUsed(**JudgeRun.objects.get().used).total <= limit
        assert "The token budget is spent" in stopped.stdout
        server.faults = ()
        resumed = manage(*command)
        assert resumed.returncode == 0, resumed.stderr
        assert {asked.fault for asked in server.asked} > {"", "429", "500"}
    verdicts = dict(Verdict.objects.filter(failure="").values_list("turn_id", "codes"))
    texts = Turn.objects.filter(dataset=campaign.dataset, pk__in=verdicts).values_list("pk", "text")
    assert verdicts == {pk: {"on_brand": 1 - len(text) % 2} for pk, text in texts}
    assert len(verdicts) == Verdict.objects.count() == 60
    assert kept.items() <= verdicts.items()
    client.force_login(User.objects.create_superuser("lena"))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    rows = [one.objects.values() for one in (JobRun, JudgeRun, AuditEvent, Verdict)]
    told = stopped.stdout + stopped.stderr + resumed.stdout + resumed.stderr
    everything = json.dumps([list(one) for one in rows], default=str) + said + told + page
    assert CANARY not in everything
    assert "sk-shown-by-the-server" not in everything


def test_what_is_not_judged_is_told_with_its_share(campaign: Campaign, manage: Any) -> None:
    with LlmServer(answer=answer_on_brand, first=["refusal"] * 6) as server:
        make_judge(server, allow=campaign.dataset)
        ended = manage("run_judge", campaign.name, "--judge", "brand", "--concurrency", "1")
    assert ended.returncode == 1
    assert "Not judged: 3 (5.0%)." in ended.stdout
    assert "3: the model declined to answer" in ended.stdout
    assert manage("run_judge", "nothing").returncode == 2
    assert "standard input is not a valid judge" in manage("import_judge", "-", input=b"[]").stderr
    exported = manage("export_judge", "brand").stdout
    assert "model: openai:tiny" in exported
