"""A gate looks at the text, not at the label somebody gave it; every statement says what the gate knows."""

import io
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from datasets_app.catalog import gates, steps, text_gates
from datasets_app.catalog.dataset_facts import Remedy
from datasets_app.catalog.facts import build_metadata
from datasets_app.catalog.text_scans import discard_scan, record_text_change, scan_new_text
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.command_line import validate
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.detector import DETECTION_VERSION
from datasets_app.exporting.export_dataset import export_dataset
from datasets_app.models import AuditEvent, Dataset, ScrubMark, ScrubRun, TextScan
from datasets_app.releasing.next_steps import load_step_facts
from datasets_app.releasing.readiness import assess_readiness
from datasets_app.releasing.sharing.checklist import build_checklist
from datasets_app.scrubbing.marks import mark_not_personal, remove_mark
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.factories import import_file, make_dataset, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
ORIGINS = ["synthetic", "external", "production"]


def make_mails(tmp_path: Path, origin: str = "external") -> Dataset:
    return make_dataset(tmp_path, [make_turn("a", text="Mail jo@example.org")], origin=origin)


def test_text_that_only_earlier_rules_have_searched_is_searched_again(tmp_path: Path) -> None:
    dataset = make_mails(tmp_path)
    scan_new_text(dataset)
    TextScan.objects.update(rules=1, found={})  # by an earlier version, which knew no addresses
    assert gates.load_facts(dataset).is_unscanned
    scan_new_text(dataset)
    facts = gates.load_facts(dataset)
    assert (facts.is_unscanned, facts.text.found) == (False, {"EMAIL": 1})


def test_text_that_an_earlier_version_verified_says_so_until_the_checks_search_it(tmp_path: Path) -> None:
    dataset = make_mails(tmp_path, "production")
    scrub_dataset(dataset, parse_policy(None))
    verified = gates.load_facts(dataset).description
    TextScan.objects.update(rules=DETECTION_VERSION - 1)
    facts = gates.load_facts(dataset)
    assert facts.description == (
        f"Raw: it contains text that version {DETECTION_VERSION - 1} of the detection has verified, and "
        f"version {DETECTION_VERSION}, which is here now, has not searched yet."
    )
    assert facts.remedy == Remedy.CHECKS
    [check] = [step for step in steps.decide_steps(load_step_facts(dataset)) if step.name == "check"]
    assert (check.action, check.state) == ("Run checks", steps.OPEN)
    check_dataset(dataset, actor=None)
    assert gates.load_facts(dataset).description == verified
    assert export(dataset)


def export(dataset: Dataset, **options: Any) -> bytes:
    out = io.BytesIO()
    export_dataset(dataset, out, **options)
    return out.getvalue()


def add(tmp_path: Path, session: str, text: str) -> None:
    import_file(write_jsonl(tmp_path / f"{session}.jsonl", [make_turn(session, text=text)]), append=True)


@pytest.mark.parametrize("origin", ORIGINS)
def test_patterns_close_the_gate_whatever_the_origin(tmp_path: Path, origin: str) -> None:
    dataset = make_mails(tmp_path, origin)
    for actor_reason in ("", "  "):
        with pytest.raises(UserError, match="so it can.t be exported"):
            export(dataset, override=actor_reason)
    scrub_dataset(dataset, parse_policy(None))
    assert b"[EMAIL]" in export(dataset)


def test_text_that_nothing_has_searched_is_searched_where_it_would_leave(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path, [make_turn("a", text="Hello")])
    assert gates.load_facts(dataset).raw_because == "sessions that have not been searched for personal data"
    assert b"Hello" in export(dataset)
    assert gates.load_facts(dataset).state == "clear"
    add(tmp_path, "b", "Mail jo@example.org")
    with pytest.raises(UserError, match=r"personal data \(e-mail addresses: 1\)"):
        export(dataset)
    scan = TextScan.objects.get()
    assert (scan.turn_count, scan.found) == (2, {"EMAIL": 1})


@pytest.mark.parametrize("searches", [scan_new_text, lambda dataset: check_dataset(dataset, actor=None)])
def test_a_gate_closes_for_whatever_a_scrub_would_replace(tmp_path: Path, searches: Any) -> None:
    texts = ["Write to jane (at) acme (dot) com please", "my password is letmein"]
    lines = [make_turn(f"s{len(text)}", text=text) for text in texts]
    dataset = make_dataset(tmp_path, [*lines, make_turn("list", metadata={"phone": ["5551234567"]})])
    searches(dataset)
    assert gates.load_facts(dataset).text.found == {"CREDENTIAL": 1, "EMAIL": 1, "PHONE": 1}


def test_a_search_looks_at_new_sessions_only_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("datasets_app.catalog.text_scans.TURNS_PER_BATCH", 1)
    dataset = make_dataset(tmp_path, [make_turn(name, text="Mail jo@example.org") for name in "abc"])

    def stop(done: int, total: int | None) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        scan_new_text(dataset, stop)
    assert TextScan.objects.get().found == {"EMAIL": 1}
    progress: list[tuple[int, int | None]] = []
    scan_new_text(dataset, lambda done, total: progress.append((done, total)))
    assert progress == [(2, 3), (3, 3)]
    assert TextScan.objects.get().found == {"EMAIL": 3}


def test_a_result_is_not_kept_for_text_that_has_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = make_mails(tmp_path)
    changes = iter([True])

    def read(*given: Any) -> Any:
        if next(changes, False):
            record_text_change(dataset)
        return really(*given)

    from datasets_app.catalog import text_scans

    really = text_scans.read_turns
    monkeypatch.setattr(text_scans, "read_turns", read)
    scan_new_text(dataset)
    scan = TextScan.objects.get()
    assert (scan.revision, scan.turn_count, scan.found) == (1, 1, {"EMAIL": 1})


def test_an_attestation_opens_the_gates_until_a_session_is_added(tmp_path: Path) -> None:
    dataset = make_mails(tmp_path)
    text_gates.attest(dataset, actor=None, reason="invented   addresses")
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "attest", "reason": "invented addresses"}
    assert b"jo@example.org" in export(dataset)
    assert not assess_readiness(dataset, None).blockers
    assert "invented addresses" in gates.load_facts(dataset).description
    with pytest.raises(UserError, match="not raw"):
        text_gates.attest(dataset, actor=None, reason="again")
    add(tmp_path, "b", "Nothing in it")
    with pytest.raises(UserError, match="personal data"):
        export(dataset)
    text_gates.attest(dataset, actor=None, reason="those too")
    gates.end_attestation(dataset, actor=None)
    assert gates.is_raw(dataset)
    assert AuditEvent.objects.filter(action="end_attestation").count() == 1


# --- exemptions ---------------------------------------------------------------------------------------


@pytest.fixture
def keys(tmp_path: Path) -> Dataset:
    turns = [make_turn("a", index, text=f"Use {KEY} for Jordan.") for index in range(1, 19)]
    return make_dataset(tmp_path, turns, origin="production")


def events(*actions: str) -> Sequence[dict[str, Any]]:
    rows = AuditEvent.objects.filter(action__in=actions).order_by("pk")
    return list(rows.values_list("details", flat=True))


def test_a_value_of_a_pattern_class_is_exempt_only_by_override(keys: Dataset) -> None:
    with pytest.raises(UserError, match="only by an exemption") as refused:
        mark_not_personal(keys, term=KEY, actor=None)
    assert KEY not in refused.value.message
    assert not ScrubMark.objects.exists()
    scrub_dataset(keys, parse_policy({"allow": [KEY], "allow_names": [KEY]}))
    assert KEY.encode() not in export(keys)


def test_what_is_exempt_is_part_of_every_statement(keys: Dataset) -> None:
    mark_not_personal(keys, term=KEY, actor=None, override="a key of the tutorial")
    scrub_dataset(keys, parse_policy(None))
    said = "Verified except 1 ignored term (18 occurrences)"
    facts = gates.load_facts(keys)
    assert facts.description.startswith(said)
    keys.refresh_from_db()
    assert "except 1 ignored term (18 occurrences)" in str(keys.provenance["anonymization"])
    [scrubbed] = events("scrub")
    assert scrubbed["text"].startswith(said)
    checklist = {item.title: item for item in build_checklist(keys)}
    item = checklist["No key, token or other credential is left"]
    assert (item.answer, item.reason) == (
        "no",
        "Left in the text on purpose: 1 ignored term (18 occurrences).",
    )
    assert (
        checklist["No e-mail address, telephone number or other way to reach a person is left"].answer
        == "yes"
    )
    report = check_dataset(keys, actor=None)
    assert "E407" not in report.totals
    assert gates.load_facts(keys).description.startswith(said)
    assert not assess_readiness(keys, None).blockers
    [override] = events("override")
    assert override == {"purpose": "exempt", "reason": "a key of the tutorial"}
    assert KEY not in str(events("add_scrub_mark", "check", "scrub", "override"))
    assert KEY not in str(list(ScrubRun.objects.values_list("policy", flat=True)))


def test_without_its_exemption_the_value_closes_the_gate_again(keys: Dataset) -> None:
    mark = mark_not_personal(keys, term=KEY, actor=None, override="a key of the tutorial")
    scrub_dataset(keys, parse_policy(None))
    assert KEY.encode() in export(keys)
    remove_mark(mark, actor=None)
    with pytest.raises(UserError, match="credentials: 18"):
        export(keys)


def test_a_term_that_is_no_pattern_needs_no_permission_but_is_counted(keys: Dataset) -> None:
    mark_not_personal(keys, term="Jordan", actor=None)
    scrub_dataset(keys, parse_policy(None))
    facts = gates.load_facts(keys)
    assert facts.description.startswith("Verified except 1 ignored term (18 occurrences)")
    assert b"Jordan" in export(keys)
    assert not events("override")


def test_an_exemption_from_before_permissions_exempts_no_pattern(keys: Dataset) -> None:
    ScrubMark.objects.create(dataset=keys, verdict="not_personal", term=KEY)
    scrub_dataset(keys, parse_policy(None))
    assert KEY.encode() not in export(keys)


def test_a_value_marked_as_missed_since_the_scrub_closes_the_gate(keys: Dataset) -> None:
    scrub_dataset(keys, parse_policy(None))
    later = timezone.now() + timedelta(seconds=1)
    mark = {"kind": "NAME", "digest": "ab", "words": 1, "length": 6, "created_at": later}
    ScrubMark.objects.create(dataset=keys, verdict="missed", **mark)
    with pytest.raises(UserError, match="1 value that a reviewer marked as missed"):
        export(keys)


def test_a_scrub_applies_what_was_marked_as_missed_before_it(keys: Dataset) -> None:
    mark = {"kind": "NAME", "digest": "ab", "words": 1, "length": 6}
    # Another key than the dataset's, by which a query must not find it.
    ScrubMark.objects.create(pk=keys.pk + 1, dataset=keys, verdict="missed", **mark)
    assert gates.load_facts(keys).text.missed == 1
    scrub_dataset(keys, parse_policy(None))
    assert not gates.load_facts(keys).text.missed
    assert not gates.is_raw(keys)


def test_provenance_claims_for_the_application_only_what_it_did(tmp_path: Path) -> None:
    claims = "anonymization: [all personal data removed]\nmodifications: [personal data scrubbed]\n"
    (tmp_path / "support.meta.yaml").write_text(claims)
    dataset = make_mails(tmp_path)
    stated = build_metadata(dataset, sessions=1, turns=1, sha256="")
    assert stated.anonymization == ["stated by an imported file: all personal data removed"]
    assert stated.modifications == ["stated by an imported file: personal data scrubbed"]
    scrub_dataset(dataset, parse_policy(None))
    names = write_jsonl(tmp_path / "ana@example.org.jsonl", [make_turn("b", text="Mail jo@example.org")])
    import_file(names, append=True, renumber=True)
    stated = build_metadata(Dataset.objects.get(), sessions=2, turns=2, sha256="")
    assert stated.anonymization[-1] == "not done to 1 session added later"
    assert stated.modifications[1:] == ["personal data scrubbed", "turns of [EMAIL] renumbered on import"]


def test_names_in_a_language_that_nobody_measured_keep_production_text_raw(tmp_path: Path) -> None:
    dataset = make_dataset(
        tmp_path, [make_turn("a", text="ሰላም እንዴት ነህ? ትዕዛዜ አልደረሰም። እባክህ እርዳኝ")], origin="production"
    )
    scrub_dataset(dataset, parse_policy(None))
    facts = gates.load_facts(dataset)
    assert facts.is_raw
    assert facts.description == (
        "Raw: it contains text whose scrub was verified except names in Ethiopic script (1 turn)."
    )
    [names] = [item for item in build_checklist(dataset) if item.title == "Names are scrubbed"]
    assert (names.answer, "names in Ethiopic script (1 turn)" in names.reason) == ("unknown", True)
    with pytest.raises(UserError, match="verified except names in Ethiopic script"):
        export(dataset)
    text_gates.attest(dataset, actor=None, reason="read by two people who know Amharic")
    assert export(dataset)


JUDGED_TEXT = "Ask @jane_doe, who was born on 12 March 1984"


@pytest.mark.parametrize("origin", ["synthetic", "external"])
def test_what_is_judged_is_a_list_to_review_at_every_door(
    tmp_path: Path, origin: str, manage: Any, capsys: Any
) -> None:
    dataset = make_dataset(tmp_path, [make_turn("a", text=JUDGED_TEXT)], origin=origin)
    assert manage("validate_dataset", "--dataset", dataset.name).returncode == 0
    report = dataset.check_reports.get()
    assert (report.error_count, report.totals["E410"], report.totals["E415"]) == (0, 1, 1)
    facts = gates.load_facts(dataset)
    assert (facts.is_raw, facts.to_review) == (False, {"DATE_OF_BIRTH": 1, "HANDLE": 1})
    assert {blocker.title for blocker in assess_readiness(dataset, None).blockers} == set()
    gates.check_label_export(dataset, {"HANDLE": 1}, actor=None)
    answers = {item.title: item for item in build_checklist(dataset)}
    reviewed = [item for item in answers.values() if "To review: " in item.reason]
    assert {item.answer for item in reviewed} == {"yes"}
    assert "user names: 1" in str(reviewed)
    path = tmp_path / "out.jsonl"
    path.write_bytes(export(dataset))
    for options in ([], ["--pii-only"]):
        assert validate.main([str(path), *options]) == 0
        assert "E410" in capsys.readouterr().out
        assert validate.main([str(path), *options, "--strict"]) == 1
        capsys.readouterr()


def test_what_is_judged_closes_the_gates_for_production_data(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path, [make_turn("a", text="Hello")], origin="production")
    scrub_dataset(dataset, parse_policy(None))
    assert b"Hello" in export(dataset)
    TextScan.objects.update(found={"HANDLE": 1})
    with pytest.raises(UserError, match=r"personal data \(user names: 1\)"):
        export(dataset)
    with pytest.raises(UserError, match="Notes or other fields"):
        gates.check_label_export(dataset, {"HANDLE": 1}, actor=None)
    assert "A search after the scrub found user names: 1." in {
        item.reason for item in build_checklist(dataset)
    }


def test_many_turns_are_searched_by_several_processes_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        make_turn(f"s{number}", text=f"Mail jo{number}@example.org or support@acme.example")
        for number in range(2_300)
    ]
    dataset = make_dataset(tmp_path, lines)
    ScrubMark.objects.create(
        dataset=dataset, term="support@acme.example", kind="EMAIL", verdict="not_personal"
    )
    scan_new_text(dataset)
    alone = TextScan.objects.get()

    monkeypatch.setattr("datasets_app.catalog.searching.MIN_TURNS", 0)
    monkeypatch.setattr("datasets_app.catalog.searching.available_cpus", lambda: 2)
    discard_scan(dataset)
    scan_new_text(dataset)

    shared = TextScan.objects.get()
    assert (shared.found, shared.exempt, shared.turn_count) == (alone.found, alone.exempt, 2_300)
    assert shared.found == {"EMAIL": 2_300}
    report = check_dataset(dataset, actor=None)
    assert report.totals["E401"] == 2_300
