"""A judge is tested once for each version, on the test split; its certificate ends with what it rests on."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.judges.certify import certify_judge, describe_certificate, list_changes
from annotations_app.judges.judges import get_judge, import_judge
from annotations_app.judges.run_judge import run_judge
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign, JudgeCertificate, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Persona, Session
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("certify judge")]


@pytest.fixture(scope="module")
def labelled(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """120 replies of the test split; every second label is off-brand."""
    dataset = make_replies(tmp_path_factory.mktemp("labelled"), 120)
    Session.objects.filter(dataset=dataset).update(split="test")
    made = make_campaign(dataset, "ana", split="test", override="A test of the judge.")
    for number in range(120):
        current = lease_next(made, get_user("ana")).current
        assert current is not None
        submit(current, label=number % 2)
    return made.pk


@pytest.fixture
def campaign(labelled: int) -> Campaign:
    return Campaign.objects.get(pk=labelled)


def judge_with(campaign: Campaign, wrong: int, missing: int = 0) -> JudgeRun:
    """A run whose verdicts are wrong on every ``wrong``-th reply, and missing on the first ones."""
    judge = import_judge(
        '{"judge": "brand", "model": "openai:tiny", "endpoint": "https://models.example/v1"}'
    ).judge
    run = JudgeRun.objects.create(
        campaign=campaign,
        judge=judge,
        prompt_digest="0" * 64,
        persona_digest=campaign.persona.digest,
        guidelines_digest=campaign.guidelines_digest,
    )
    Verdict.objects.bulk_create(
        Verdict(
            dataset=campaign.dataset,
            turn_id=turn,
            run=run,
            codes={} if number < missing else {"on_brand": label ^ int(number % wrong == 0)},
            failure="refused" if number < missing else "",
        )
        for number, (turn, label) in enumerate(campaign.annotations.values_list("turn_id", "label"))
    )
    return run


def test_a_judge_that_agrees_is_certified_and_its_bounds_are_told(campaign: Campaign) -> None:
    certificate = certify_judge(judge_with(campaign, wrong=1000, missing=4))
    assert certificate.certified
    assert (certificate.result["replies"], certificate.result["not_judged"]) == (120, 4)
    assert 0.9 < certificate.result["true_positive"]["bound"] < 1
    assert describe_certificate(certificate)[0] == "brand@1 is certified for on_brand."
    assert AuditEvent.objects.filter(action="certify_judge").exists()


def test_a_judge_that_is_wrong_too_often_is_not_and_has_no_second_try(campaign: Campaign) -> None:
    run = judge_with(campaign, wrong=4)
    certificate = certify_judge(run)
    assert not certificate.certified
    assert any("it may be as low as" in sentence for sentence in describe_certificate(certificate))
    with pytest.raises(UserError, match="has been tested for on_brand before"):
        certify_judge(run, threshold=0.5)
    assert JudgeCertificate.objects.count() == 1


def test_a_certificate_ends_when_persona_guidelines_or_judge_change(campaign: Campaign) -> None:
    run = run_judge(campaign, get_judge("offline")).run
    certificate = certify_judge(JudgeRun.objects.get(pk=run))
    assert list_changes(certificate) == []
    campaign.guidelines = "Be strict."
    Persona.objects.filter(pk=campaign.persona_id).update(
        yaml=campaign.persona.yaml.replace("warm]", "cold]")
    )
    campaign.save()
    campaign.refresh_from_db()
    certificate = JudgeCertificate.objects.get()
    assert list_changes(certificate) == ["the persona", "the guidelines"]
    # This judge was never certified, so that nothing ends.
    assert describe_certificate(certificate)[-1] == "Since then the persona and the guidelines changed."


def test_only_the_test_split_and_yes_no_criteria_are_for_tests(campaign: Campaign, tmp_path: Path) -> None:
    run = judge_with(campaign, wrong=1000)
    with pytest.raises(UserError, match="Choose a yes/no criterion: on_brand"):
        certify_judge(run, criterion="tone")
    with pytest.raises(UserError, match="threshold must be"):
        certify_judge(run, threshold=0.2)
    Campaign.objects.update(split="")
    run.refresh_from_db()
    with pytest.raises(UserError, match="tested once, on the test split"):
        certify_judge(JudgeRun.objects.get())


def test_command_and_page_show_the_same(campaign: Campaign, client: Client, capsys: Any) -> None:
    judge_with(campaign, wrong=4)
    with pytest.raises(SystemExit) as exit_code:
        call_command("certify_judge", campaign.name, judge="brand")
    assert exit_code.value.code == 1
    said = describe_certificate(JudgeCertificate.objects.get())
    assert capsys.readouterr().out.split("\n  ") == [*said[:-1], f"{said[-1]}\n"]
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    assert "Not for “Does the reply sound like the persona?”" in page
    assert all(sentence in page for sentence in said[1:])
    with pytest.raises(CommandError, match="has judged no reply"):
        call_command("certify_judge", campaign.name, judge="other")


def test_the_page_tests_a_judge_once_and_other_campaigns_show_it(
    campaign: Campaign, client: Client, tmp_path: Path
) -> None:
    run = judge_with(campaign, wrong=1000)
    earlier = make_campaign(make_replies(tmp_path, 2, name="drafts"), "ana", name="drafts")
    JudgeRun.objects.create(
        campaign=earlier,
        judge=run.judge,
        prompt_digest=run.prompt_digest,
        persona_digest=run.persona_digest,
        guidelines_digest=run.guidelines_digest,
    )
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])
    elsewhere = reverse("admin:annotations_app_campaign_judges", args=[earlier.pk])
    assert "Test once" in client.get(page).content.decode()
    assert f"?like={earlier.pk}&amp;split=test" in client.get(elsewhere).content.decode()
    url = reverse("admin:annotations_app_campaign_certify", args=[campaign.pk, run.pk])
    assert "threshold from 50 to 99" in _post(client, url, criterion="on_brand", threshold=20)
    assert not JudgeCertificate.objects.exists()
    assert "was tested, and is certified" in _post(client, url, criterion="on_brand", threshold=85)
    assert "has been tested for on_brand before" in _post(client, url, criterion="on_brand", threshold=50)
    certificate = JudgeCertificate.objects.get()
    assert (certificate.threshold, certificate.created_by.username) == (0.85, "lena")
    trusted = "Yes, for “Does the reply sound like the persona?”"
    for address, said in ((page, trusted), (elsewhere, "certified for the dataset support")):
        html = client.get(address).content.decode()
        assert said in html
        assert "Test once" not in html
    client.force_login(make_user_with("annotations_app.view_campaign", name="vi"))
    assert client.post(url, {"criterion": "on_brand"}).status_code in (403, 404)


def test_the_api_tests_a_judge(campaign: Campaign) -> None:
    judge_with(campaign, wrong=1000)
    lead = Caller(make_user("lead"))
    options = {"judge": "brand", "threshold": 0.85}
    made = lead("POST", f"/campaigns/{campaign.name}/certificates", options)
    assert made.status_code == 201
    assert (made.json()["holds"], made.json()["threshold"]) == (True, 0.85)
    assert lead("POST", f"/campaigns/{campaign.name}/certificates", options).status_code == 409
    viewer = Caller(make_user("viewer", name="v"))
    assert viewer("POST", f"/campaigns/{campaign.name}/certificates", options).status_code in (403, 404)


def _post(client: Client, url: str, **fields: Any) -> str:
    return client.post(url, fields, follow=True).content.decode()
