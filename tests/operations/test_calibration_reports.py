"""Reports of Alignmenter's calibration: read back, and the replies they name are asked about again."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.calibrating.assess import calibration_ready
from annotations_app.models import Annotation, Campaign
from datasets_app.models import AuditEvent, Dataset, Turn
from tests.api.calls import Caller, make_user
from tests.campaigns import label_all_replies, lease_for, make_campaign, make_replies
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db

DIAGNOSIS = {"total_errors": 1, "errors_analyzed": 1, "judge_cost": {"total_cost": 0.0, "calls_made": 1}}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    campaign = make_campaign(make_replies(tmp_path, 4), "ana")
    label_all_replies(campaign, "ana", label=1)
    return campaign


def write_validation(path: Path, *starts: str, more: int = 0) -> Path:
    wrong = [{"text": start[:100], "score": 0.31} for start in starts]
    report = {
        "validation_metrics": {"roc_auc": 0.8, "f1": 0.7, "optimal_threshold": 0.4},
        "error_analysis": {
            "false_positives": [],
            "false_negatives": wrong,
            "num_false_positives": 0,
            "num_false_negatives": len(wrong) + more,
        },
        "data_split": {"train_size": 0, "validation_size": 20, "train_split": 0.0},
    }
    path.write_text(json.dumps(report))
    return path


def test_a_false_negative_is_asked_about_again(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    turn = Turn.objects.filter(role="assistant").order_by("pk")[1]
    report = write_validation(tmp_path / "report.json", turn.text, "Never said", more=2)
    call_command("calibration_ready", "support", persona="warm_v1", report=str(report), requeue=True)
    shown = capsys.readouterr()
    assert "roc_auc: 0.8" in shown.out
    assert f"false negative, score 0.310: {turn.session.session_id} 2" in shown.out
    assert "not a labeled reply of the dataset" in shown.out
    assert "2 more errors" in shown.out
    assert "1 label queued again; 0 replies" in shown.err
    assert AuditEvent.objects.get(action="requeue_replies").details["labels"] == 1
    current = lease_for(campaign, "ana").current
    assert current is not None
    assert current.item.turn_id == turn.pk


def test_the_page_shows_what_blocks_reads_a_report_and_requeues(
    campaign: Campaign, client: Client, tmp_path: Path
) -> None:
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    address = reverse("admin:annotations_app_campaign_dataset_calibration", args=[campaign.dataset_id])
    page = client.get(address).content.decode()
    assert "Not ready for a calibration" in page
    assert "has no validation split" in page

    turns = list(Turn.objects.filter(role="assistant").order_by("pk"))
    report = write_validation(tmp_path / "report.json", turns[0].text, turns[2].text)
    upload = SimpleUploadedFile("report.json", report.read_bytes())
    page = client.post(f"{address}?persona=warm_v1", {"report": upload}).content.decode()
    assert turns[0].text in page
    assert "Queue 2 replies again" in page
    done = client.post(f"{address}?persona=warm_v1", {"turn": [turns[0].pk, turns[2].pk]}, follow=True)
    assert "Queued 2 labels again." in done.content.decode()
    assert Annotation.objects.filter(kind="withdrawn").count() == 2
    # They wait for their annotators: nothing is left to do.
    again = client.post(f"{address}?persona=warm_v1", {"turn": [turns[0].pk, turns[2].pk]}, follow=True)
    assert "Queued 0 labels again." in again.content.decode()
    assert "in no open campaign" not in again.content.decode()

    upload = SimpleUploadedFile("report.json", b"{}")
    page = client.post(f"{address}?persona=warm_v1", {"report": upload}).content.decode()
    assert "can&#x27;t be read" in page


def test_a_report_does_not_tell_raw_replies_letter_by_letter(
    campaign: Campaign, client: Client, tmp_path: Path
) -> None:
    Dataset.objects.update(origin="production")
    client.force_login(make_user_with(name="lena", excluded=("datasets_app.read_raw",)))
    address = reverse("admin:annotations_app_campaign_dataset_calibration", args=[campaign.dataset_id])
    pages = []
    for number, start in enumerate((Turn.objects.filter(role="assistant")[0].text[:1], "\u4e00")):
        report = write_validation(tmp_path / f"{number}.json", start)
        upload = SimpleUploadedFile("report.json", report.read_bytes())
        answer = client.post(f"{address}?persona=warm_v1", {"report": upload})
        assert answer.context["report"].errors
        pages.append((answer.context["wrong"], answer.context["turns"], answer.context["more"]))
    assert pages[0] == pages[1] == ([], [], 1)


def test_replies_of_a_closed_campaign_are_left(
    campaign: Campaign, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Campaign.objects.update(status="closed")
    turn = Turn.objects.filter(role="assistant").first()
    assert turn is not None
    report = write_validation(tmp_path / "report.json", turn.text)
    call_command("calibration_ready", "support", persona="warm_v1", report=str(report), requeue=True)
    assert "0 labels queued again; 1 reply in no open campaign" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("written", "figure"),
    [
        (
            {"weights": {}, "trait_model": {"bias": 0.5, "token_weights": {"a": 1.0, "b": -2.0}}},
            "words_for: 1",
        ),
        ({**DIAGNOSIS, "false_positives": [], "false_negatives": []}, "errors: 1"),
    ],
)
def test_weights_and_diagnoses_are_read(
    campaign: Campaign, tmp_path: Path, written: Any, figure: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report.json").write_text(json.dumps(written))
    call_command("calibration_ready", "support", persona="warm_v1", report=str(tmp_path / "report.json"))
    assert figure in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "7", '{"validation_metrics": {}}', '{"total_errors": 1}', "[" * 100_000,
        '{"trait_model": {"token_weights": {}, "bias": 1%s}}' % ("0" * 400),
        '{"total_errors": 1e400, "false_positives": [], "false_negatives": []}',
        '{"total_errors": 1, "false_negatives": [], "false_positives": '
        '[{"text": "\\u0000", "calibrated_score": 1}]}',
        '{"total_errors": 1, "false_negatives": [], "false_positives": '
        '[{"text": "\\ud800", "calibrated_score": 1}]}',
        '{"validation_metrics": {}, "error_analysis": {}, "data_split": {"train_size": Infinity}}',
    ],
)  # fmt: skip
def test_other_files_are_refused(campaign: Campaign, tmp_path: Path, text: str) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(CommandError, match="can't be read: it "):
        call_command("calibration_ready", "support", persona="warm_v1", report=str(tmp_path / "report.json"))


def test_command_and_api_say_the_same(campaign: Campaign, capsys: pytest.CaptureFixture[str]) -> None:
    expected = json.loads(json.dumps(calibration_ready(campaign.dataset, "warm_v1").as_json()))
    with pytest.raises(SystemExit) as ended:
        call_command("calibration_ready", "support", persona="warm_v1", format="json")
    assert ended.value.code == 1
    assert json.loads(capsys.readouterr().out) == expected
    answer = Caller(make_user("lead"))("GET", "/datasets/support/calibration?persona=warm_v1")
    assert answer.json() == {"dataset": "support", **expected}
