"""Juries, and judges of pairs both ways round, at an endpoint that does what it likes, in processes that are
killed: nothing is lost, the budget holds, and nothing says the key."""

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

from annotations_app.judges.run_jury import NOBODY
from annotations_app.models import Campaign, JudgeRun, Verdict
from datasets_app.catalog.edit import edit_dataset
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.models import AuditEvent, JobRun, Turn
from tests import preloaded
from tests.judges import CANARY, make_judge
from tests.llm_server import LlmServer
from tests.operations import test_form_jury as juries
from tests.operations import test_judge_pairs as pairs

FAULTS = ("429", "500", "hang", "cut", "not_http_json", "not_json", "wrong_schema", "refusal", "prose")
FAULTY: dict[str, Any] = {"faults": FAULTS, "share": 0.04, "seed": 7, "latency": 0.03, "key": CANARY}
LIMITS = {"ALIGNMENTER_LLM_TIMEOUT": "2", "ALIGNMENTER_LLM_RETRIES": "1", "OPENAI_API_KEY": CANARY}
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


class Killed:
    """Runs commands that are killed; ``said`` is what all of them said."""

    def __init__(self, environment: dict[str, str], wait_until: Any) -> None:
        self._environment, self._wait_until = {**os.environ, **environment, **LIMITS}, wait_until
        self.said = ""

    def run(self, *command: str, enough: Any) -> None:
        process = preloaded.Popen(
            *command, env=self._environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._wait_until(enough, 60)
        process.send_signal(signal.SIGKILL)
        self.said += "".join(process.communicate(timeout=30))
        assert process.returncode == -signal.SIGKILL


@pytest.fixture
def killed(
    subprocess_environment: dict[str, str], wait_until: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Killed:
    settings.LLM_TIMEOUT, settings.LLM_RETRIES = 2, 1
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    return Killed(subprocess_environment, wait_until)


def assert_no_key(campaign: Campaign, client: Client, said: str) -> None:
    """In what was said, in rows and on the page."""
    client.force_login(User.objects.create_superuser("lena"))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    rows = [one.objects.values() for one in (JobRun, JudgeRun, AuditEvent, Verdict)]
    everything = json.dumps([list(one) for one in rows], default=str) + said + page
    assert CANARY not in everything
    assert "sk-shown-by-the-server" not in everything


def count_used() -> int:
    """Of members: a jury calls no model."""
    runs = JudgeRun.objects.exclude(judge__name="panel")
    return sum(TokensUsed(**run.used).total for run in runs)


def expect_answers(model: str) -> dict[int, int]:
    turns = Turn.objects.filter(role="assistant").values_list("pk", "text")
    wrong = juries.FAULTS[model]
    return {pk: int(("Gladly" in text) != (juries.draw(model, text) < wrong)) for pk, text in turns}


def read_answers(name: str, **of: Any) -> dict[int, int]:
    found = Verdict.objects.filter(run__judge__name=name, failure="", **of)
    return {turn: codes["on_brand"] for turn, codes in found.values_list("turn_id", "codes")}


def test_a_jury_at_a_faulty_endpoint_that_is_killed_loses_nothing(
    tmp_path: Path, killed: Killed, manage: Any, client: Client
) -> None:
    campaign = juries.make_labeled(tmp_path)
    form = ["form_jury", campaign.name, "--name", "panel", "--members", "small,large"]
    with LlmServer(answer=juries.answer, **FAULTY) as server:
        juries.make_members(server, campaign)
        killed.run(*form, enough=lambda: Verdict.objects.count() >= 12)
        kept = read_answers("small")
        limit = count_used() + 6000
        stopped = manage(*form, "--max-tokens-total", str(limit))
        assert stopped.returncode == 2
        assert "hasn't judged all labeled replies. The token budget is spent" in stopped.stderr
        assert count_used() <= limit
        assert kept.items() <= read_answers("small").items()
        formed = manage(*form)
        # A failure is no answer: it counts for nothing, and is counted.
        for name in juries.FAULTS:
            failed = Verdict.objects.filter(run__judge__name=name).exclude(failure="").count()
            missing = f", {failed} of them not judged" if failed else ""
            assert f"{name}@1: asked about {juries.REPLIES} replies{missing}\n" in formed.stdout
        nobody = Verdict.objects.filter(run__judge__name="panel", failure=NOBODY).count()
        assert formed.returncode == (1 if nobody else 0)
        # Under another prompt it runs anew.
        Campaign.objects.filter(pk=campaign.pk).update(guidelines="Be strict.")
        now = {"run__guidelines_digest": Campaign.objects.get(pk=campaign.pk).guidelines_digest}
        run = ["run_judge", campaign.name, "--judge", "panel"]
        killed.run(*run, enough=lambda: len(read_answers("small", **now)) >= 12)
        server.faults = ()
        resumed = manage(*run)
        assert resumed.returncode == 0, resumed.stderr
        assert {asked.fault for asked in server.asked} > {"", "429", "500", "hang"}
    for name in juries.FAULTS:
        assert read_answers(name, **now) == expect_answers(name)
    assert len(read_answers("panel", **now)) == juries.REPLIES
    told = [one.stdout + one.stderr for one in (stopped, formed, resumed)]
    assert_no_key(campaign, client, killed.said + "".join(told))


def test_pairs_judged_both_ways_round_at_a_faulty_endpoint_and_killed_are_all_judged(
    tmp_path: Path, killed: Killed, manage: Any, client: Client
) -> None:
    campaign = pairs.compare(pairs.make_versions(tmp_path, 40))
    command = ["run_judge", campaign.name, "--judge", "brand", "--swap", "--concurrency", "4"]
    with LlmServer(answer=pairs.prefer_first_where_june_is_short, **FAULTY) as server:
        for dataset in campaign.datasets:
            edit_dataset(dataset.pk, {"judge_endpoints": [server.url]}, actor=None)
        make_judge(server)
        killed.run(*command, enough=lambda: Verdict.objects.count() >= 12)
        answered = Verdict.objects.filter(failure="")
        kept = set(answered.values_list("turn_id", "swapped"))
        limit = count_used() + 4000
        stopped = manage(*command, "--max-tokens-total", str(limit))
        assert stopped.returncode == 1
        assert "The token budget is spent" in stopped.stdout
        assert count_used() <= limit
        assert manage(*command).returncode == 1
        server.faults = ()
        resumed = manage(*command)
        assert kept <= set(answered.values_list("turn_id", "swapped"))
        # Half of the pairs change with the sides, and nothing else is left.
        assert resumed.returncode == 1
        assert "Not judged: 20 pairs of which the answer changes with the sides." in resumed.stdout
        assert resumed.stdout.count("Not judged") == 1
        assert {asked.fault for asked in server.asked} > {"", "429", "500"}
    assert answered.count() == Verdict.objects.count() == 80
    assert answered.filter(swapped=True).count() == 40
    assert_no_key(campaign, client, killed.said + stopped.stdout + resumed.stdout)
