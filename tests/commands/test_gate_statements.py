"""attest_dataset and exempt_term: what operators state about a text, with a reason."""

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from datasets_app.catalog import gates
from datasets_app.models import AuditEvent, ScrubMark, Turn
from datasets_app.releasing.release_dataset import release_dataset
from tests.factories import import_file, make_dataset, make_session, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_text_is_attested_and_raw_again(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("a", text="Mail jo@example.org")])
    said = run("attest_dataset", "support", "--reason", "invented addresses")
    assert "attested on" in said
    assert said.endswith("that the text may stay as it is: invented addresses\n")
    assert "Raw: it contains personal data (e-mail addresses: 1)." in run(
        "attest_dataset", "support", "--withdraw"
    )
    with pytest.raises(CommandError, match="Or give a reason"):
        run("attest_dataset", "support", "--reason", " ")


def test_a_value_is_exempted_from_standard_input(tmp_path: Path, monkeypatch: Any) -> None:
    make_dataset(tmp_path, [make_turn("a", text="Mail jo@example.org")])
    monkeypatch.setattr("sys.stdin", io.StringIO("jo@example.org\n"))
    said = run("exempt_term", "support", "--reason", "our own address")
    assert said == "support: a value of 14 characters (EMAIL) is exempt from the next scrub on.\n"
    assert ScrubMark.objects.get().reason == "our own address"
    assert "jo@example.org" not in str(list(AuditEvent.objects.values_list("details", flat=True)))
    assert "Verified except 1 ignored term (1 occurrence)" in run_scrub()


def test_a_scrub_refuses_to_ignore_what_a_pattern_matches(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("a", text="Mail jo@example.org")])
    with pytest.raises(CommandError, match="see exempt_term") as refused:
        run("sanitize_dataset", "--dataset", "support", "--allow", "jo@example.org")
    assert "jo@" not in str(refused.value)


def run_scrub() -> str:
    run("sanitize_dataset", "--dataset", "support")
    return str(AuditEvent.objects.get(action="scrub").details["text"])


def test_terms_are_kept_in_a_dataset_or_in_all(tmp_path: Path) -> None:
    text = "Ask Fredo or Jelkmann, and tell Maria Garcia."
    stored = make_dataset(tmp_path, [make_turn(f"s{number}", text=text) for number in range(3)])
    (tmp_path / "terms.txt").write_text("fredo\t3\t3\t0%\t0%\n")
    (tmp_path / "all.txt").write_text("Jelkmann\n")
    out = tmp_path / "out.txt"
    with pytest.raises(SystemExit):
        run("sanitize_dataset", "--dataset", "support", "--dry-run", "--propose-terms", str(out))
    assert "fredo" in out.read_text().lower()
    with pytest.raises(CommandError, match="goes with --dry-run"):
        run("sanitize_dataset", "--dataset", "support", "--propose-terms", "out.txt")
    said = run("keep_terms", str(tmp_path / "all.txt"))
    assert said == "1 term kept in all datasets, from the next preview, check or scrub on.\n"
    run("keep_terms", str(tmp_path / "terms.txt"), "--dataset", "support")
    run("keep_terms", str(tmp_path / "terms.txt"), "--dataset", "support", "--remove")
    assert not ScrubMark.objects.filter(dataset=stored).exists()
    run("sanitize_dataset", "--dataset", "support", "--keep-terms", str(tmp_path / "terms.txt"))
    assert Turn.objects.values_list("text", flat=True)[0] == "Ask Fredo or Jelkmann, and tell [NAME]."
    # They count in the verdict from then on.
    assert "except 2 ignored terms (6 occurrences)" in gates.load_facts(stored).description


@pytest.mark.parametrize(
    "command",
    ["validate_dataset --dataset support", "compare_releases support", "release_dataset support --dry-run"],
)
def test_a_command_that_prints_session_ids_of_raw_text_records_it(command: str, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("s1"), origin="production")
    release_dataset(stored, folder=tmp_path, actor=None, override="a test")
    import_file(write_jsonl(tmp_path / "later.jsonl", make_session("s2")))
    with suppress(SystemExit, CommandError):
        run(*command.split())
    event = AuditEvent.objects.get(action="read_raw_text")
    assert (event.dataset_name, event.actor.startswith("command line")) == ("support", True)
