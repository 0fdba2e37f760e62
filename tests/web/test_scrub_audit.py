"""People read a sample of what a scrub left: what they mark is scrubbed, what they find is stated."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.catalog import gates
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditedTurn, AuditEvent, Dataset, JobRun, ScrubAudit
from datasets_app.retention.erase_session import erase_session
from datasets_app.scrubbing import audits
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories
from tests.factories import run_task

pytestmark = pytest.mark.django_db(transaction=True)

LEFT = "blorptic"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """Thirty sessions of two turns, scrubbed; no detector finds what is left in two of them."""
    lines = factories.make_sessions(30)
    for line in (lines[4], lines[40]):
        line["text"] = f"my {LEFT} is late"
    stored = factories.make_dataset(tmp_path, lines)
    scrub_dataset(stored, Policy())
    return stored


def address(dataset: Dataset, page: str = "scrub_audit") -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


def read_all(client: Any, dataset: Dataset) -> None:
    """Read the sample as a person would: mark what is left, press "clean" else."""
    audit = ScrubAudit.objects.latest("pk")
    while (item := audits.find_next(audit)) is not None:
        text = client.get(f"{address(dataset)}?turn={item.position}").context["turn"].text
        said = {"leak": 1, "words": LEFT, "kind": "OTHER"} if LEFT in text else {"clean": 1}
        assert client.post(address(dataset), {"turn": item.position, **said}).status_code == 302


def test_from_a_sample_to_a_statement_and_a_clean_text(
    sign_in: Any, dataset: Dataset, manage: Any, empty_queue: None
) -> None:
    client = sign_in("curator")
    assert manage("scrub_audit", "support").returncode == 2
    assert 'name="draw"' in client.get(address(dataset)).content.decode()
    client.post(address(dataset), {"draw": 1, "wanted": 60})
    audit = ScrubAudit.objects.get()
    assert (audit.turn_count, sum(audit.strata), audit.turns.count()) == (60, 60, 60)
    read_all(client, dataset)

    found = json.loads(manage("scrub_audit", "support", "--format", "json").stdout)
    assert (found["read"], found["leaking"]) == (60, 2)
    assert found["estimate"] == {"texts": 2, "low": 2, "high": 2}  # all were read
    told = gates.load_facts(dataset).description
    assert "marked as missed" in told
    assert "People read 60 turns: an estimated 2 (2 to 2) of 60 still held something personal." in told
    page = client.get(address(dataset)).content.decode()
    assert "All turns of this sample have been read" in page
    assert "Scrub what was found" in page
    events = list(AuditEvent.objects.values_list("action", "details"))
    assert {"draw_scrub_audit", "finish_scrub_audit"} <= {action for action, _ in events}
    assert LEFT not in json.dumps(events)

    client.post(address(dataset), {"scrub": 1})
    run_task(JobRun.objects.get(operation="scrub_dataset"))
    assert not any(LEFT in text for text in dataset.sessions.values_list("turns__text", flat=True))
    told = gates.load_facts(dataset).description
    assert told.startswith("Verified")
    assert "read 60 turns before the last scrub" in told
    assert "before the last scrub" in client.get(address(dataset, "change")).content.decode()


def test_a_part_of_the_sample_gives_a_wider_interval_and_growth_ends_it(
    dataset: Dataset, tmp_path: Path, manage: Any
) -> None:
    shown = manage("scrub_audit", "support", "--n", "40", "--seed", "1")
    assert "0 of 40 turns read" in shown.stdout
    assert address(dataset) in shown.stdout
    audit = ScrubAudit.objects.get()
    for item in audit.turns.all()[:20]:
        audits.record_verdict(item, AuditedTurn.Verdict.CLEAN, actor=None)
    some = audits.describe_audit(audit).estimate
    for item in audit.turns.filter(verdict=""):
        audits.record_verdict(item, AuditedTurn.Verdict.CLEAN, actor=None)
    whole = audits.describe_audit(audit).estimate
    assert some
    assert whole
    assert some.high > whole.high > 0 == whole.texts
    assert "an estimated 0 (0 to" in gates.load_facts(dataset).description
    again = audits.draw_audit(dataset, wanted=40, seed=1, actor=None)
    same = [list(a.turns.values_list("session", "turn_index", "stratum")) for a in (audit, again)]
    assert same[0] == same[1]

    factories.import_file(
        factories.write_jsonl(tmp_path / "m.jsonl", factories.make_session("new")), append=True
    )
    assert "People read" not in gates.load_facts(dataset).description
    refused = manage("scrub_audit", "support", "--n", "40")
    assert refused.returncode == 2
    assert "was not scrubbed" in refused.stderr


def test_what_is_wrong_is_said(sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("curator")
    assert "less than or equal" in client.post(address(dataset), {"draw": 1, "wanted": 9999}).content.decode()
    audit = audits.draw_audit(dataset, wanted=10, actor=None)
    for words in ("", "not in there", "x" * 600):
        said = {"turn": 1, "leak": 1, "words": words, "kind": "NAME"}
        page = client.post(address(dataset), said, follow=True)
        assert [message.level_tag for message in page.context["messages"]] == ["error"]
    assert not audit.turns.exclude(verdict="").exists()
    assert client.post(address(dataset), {"turn": 99, "clean": 1}).status_code == 404
    assert sign_in("viewer").get(address(dataset)).status_code == 403


def test_of_a_dataset_in_several_languages_it_is_said_for_each(
    sign_in: Any, tmp_path: Path, manage: Any
) -> None:
    texts = {
        "de": "Guten Tag, meine Bestellung ist leider noch nicht angekommen.",
        "fr": "Bonjour, je n'ai toujours pas reçu ma commande, pouvez-vous vérifier ?",
        "th": "สวัสดีค่ะ สินค้าของฉันยังไม่มาถึงเลย ช่วยตรวจสอบให้หน่อยได้ไหมคะ",
    }
    languages = ["de"] * 24 + ["fr"] * 15 + ["th"]
    stored = factories.make_dataset(
        tmp_path,
        [factories.make_turn(f"s{n}", 1, text=texts[language]) for n, language in enumerate(languages)],
    )
    scrub_dataset(stored, Policy())
    audit = audits.draw_audit(stored, wanted=20, seed=1, actor=None)
    assert audit.languages == ["de", "fr", ""]
    assert sum(audit.strata) == 40
    assert audits.describe_audit(audit).estimate is None
    first = audit.turns.first()
    for item in audit.turns.all():
        verdict = AuditedTurn.Verdict.LEAK if item == first else AuditedTurn.Verdict.CLEAN
        audits.record_verdict(item, verdict, actor=None)
    state = audits.describe_audit(audit)
    assert [(part.label, part.size) for part in state.languages] == [
        ("German", 24),
        ("French", 15),
        ("Other languages", 1),
    ]
    for parts in (state.languages, state.strata):
        assert (sum(part.read for part in parts), sum(part.leaking for part in parts)) == (20, 1)
    told = gates.load_facts(stored).description
    assert "still held something personal. At most, by language: German " in told
    assert " of 24, French " in told
    assert "German" in manage("scrub_audit", "support").stdout
    found = json.loads(manage("scrub_audit", "support", "--format", "json").stdout)
    assert [part["turns"] for part in found["languages"]] == [24, 15, 1]
    assert 'data-label="Language">French' in sign_in("curator").get(address(stored)).content.decode()

    # A sample of an earlier version says nothing of languages.
    ScrubAudit.objects.update(languages=None, strata=[10, 10, 10, 10])
    AuditedTurn.objects.update(stratum=1)
    audit.refresh_from_db()
    old = audits.describe_audit(audit)
    assert (old.languages, old.read, old.strata[1].read) == ([], 20, 20)


def test_an_erased_session_leaves_the_sample(dataset: Dataset) -> None:
    audit = audits.draw_audit(dataset, wanted=60, actor=None)
    session = dataset.sessions.first()
    erase_session(session, "asked")
    assert audit.turns.count() == 58
