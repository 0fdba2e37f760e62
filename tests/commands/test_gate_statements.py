"""attest_dataset and exempt_term: what operators state about a text, with a reason."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from datasets_app.models import AuditEvent, ScrubMark
from tests.factories import make_dataset, make_turn

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
