"""Retention and erasure from a terminal: what is printed, what it exits with."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from datasets_app.models import AuditEvent, Dataset, JobRun, RetentionPolicy, Session
from tests.factories import make_dataset, make_sessions

pytestmark = pytest.mark.django_db(transaction=True)

RULES = "policies: [{pattern: old_*, retention: 30 days}, {pattern: '*', retention: indefinite}]"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def command(*arguments: str) -> str:
        call_command(*arguments)
        return capsys.readouterr().out

    return command


def refused(*arguments: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command(*arguments)
    assert error.value.returncode == 2
    return str(error.value)


def test_from_rules_to_a_certificate(tmp_path: Path, run: Any) -> None:
    make_dataset(tmp_path, make_sessions(3), "old_prod")
    make_dataset(tmp_path, make_sessions(1), "new")
    Dataset.objects.update(created_at=timezone.now() - timedelta(days=31))
    (tmp_path / "retention.yaml").write_text(RULES)
    run("import_retention_rules", str(tmp_path / "retention.yaml"))
    assert run("apply_retention") == "0 datasets deleted.\n"

    shown = run("activate_retention", "--dry-run")
    assert "1 dataset due now:" in shown
    assert "old_prod: 3 sessions, 6 turns, 1 source file record" in shown
    digest = shown.split()[-1]
    assert "would delete other data" in refused("activate_retention", "--seen", "0" * 12)
    run("activate_retention", "--seen", digest)
    assert RetentionPolicy.objects.filter(active=True).count() == 2

    said = json.loads(run("apply_retention", "--dry-run", "--json"))
    (going,) = said["datasets"]
    assert (going["dataset"], going["when"]) == ("old_prod", "now")
    assert "old_prod: deleted 3 sessions, 6 turns" in run("apply_retention")
    assert AuditEvent.objects.get(action="retention").details["deleted"] == going["counts"]
    assert run("activate_retention", "1", "--deactivate") == "1 rule deactivated.\n"
    assert JobRun.objects.filter(operation="apply_retention", state="done").count() == 2


def test_one_dataset_by_hand_and_a_hold_against_it(tmp_path: Path, run: Any) -> None:
    make_dataset(tmp_path, make_sessions(1))
    run("hold_dataset", "support", "--reason", "A claim")
    wanted = ("apply_retention", "--dataset", "support", "--now", "--reason", "Contract ended")
    assert "on legal hold (A claim)" in refused(*wanted)
    run("hold_dataset", "support", "--lift", "--reason", "Settled")
    assert "use --dataset NAME --now --reason" in refused("apply_retention", "--dataset", "support", "--now")
    assert "support: deleted 1 session, 2 turns" in run(*wanted)
    assert "There is no dataset 'suport'" in refused("hold_dataset", "suport", "--reason", "A claim")


def test_a_session_is_erased_and_its_id_is_nowhere_in_what_is_kept(tmp_path: Path, run: Any) -> None:
    make_dataset(tmp_path, make_sessions(3))
    assert "Would erase: 1 session, 2 turns" in run("erase_session", "support", "s2", "--dry-run")
    assert Session.objects.count() == 3
    assert "Give the reason" in refused("erase_session", "support", "s2")
    out = run("erase_session", "support", "s2", "--reason", "Asked for")
    assert out == "Erased: 1 session, 2 turns.\n"
    assert "was erased from support on" in refused("erase_session", "support", "s2", "--reason", "Again")
    kept = [
        *AuditEvent.objects.values_list("details", flat=True),
        *JobRun.objects.values("parameters", "result"),
    ]
    assert '"s2"' not in json.dumps(kept)
