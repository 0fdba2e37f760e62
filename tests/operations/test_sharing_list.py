"""The list before sharing: each item says yes only where that can be shown."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from datasets_app.browsing.change_sessions import tag_sessions
from datasets_app.catalog.edit import change_origin, edit_dataset
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.checking.check_dataset import check_dataset, why_outdated
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, Dataset, ScrubMark, Session
from datasets_app.models.check_report import with_last_check
from datasets_app.releasing.sharing.checklist import ChecklistItem, build_checklist, current_review
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.scrubbing.marks import mark_not_personal, remove_mark
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = ["e-mail", "numbers", "ids", "names", "timestamps", "path", "credential", "metadata", "legal"]
STRICT = Policy(hash_session_ids=True, drop_timestamps=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    line = factories.make_turn(text="Mail jo@example.org.", timestamp="2026-05-01T10:00:00Z")
    return factories.make_dataset(tmp_path, [line], origin="production")


def listed(dataset: Dataset) -> dict[str, ChecklistItem]:
    return dict(zip(ITEMS, build_checklist(dataset), strict=True))


def answers(dataset: Dataset) -> dict[str, str]:
    return {name: item.answer for name, item in listed(dataset).items()}


def add(path: Path, name: str = "more", to: str = "support", **fields: str) -> None:
    factories.import_file(
        factories.write_jsonl(path / f"{name}.jsonl", [factories.make_turn(name, **fields)]), to, append=True
    )


def test_what_was_never_scrubbed_cannot_be_told(dataset: Dataset) -> None:
    assert answers(dataset) == {
        "e-mail": "unknown",
        "numbers": "unknown",
        "ids": "no",
        "names": "unknown",
        "timestamps": "no",
        "path": "unknown",
        "credential": "unknown",
        "metadata": "unknown",
        "legal": "unsigned",
    }
    assert {item.remedy for name, item in listed(dataset).items() if name != "legal"} == {"scrub"}
    assert listed(dataset)["legal"].remedy == "sign"


def test_a_complete_scrub_answers_all_but_the_signature(dataset: Dataset) -> None:
    scrub_dataset(dataset, STRICT)
    items = listed(dataset)
    assert {name for name, item in items.items() if item.answer != "yes"} == {"legal"}
    assert "no pattern matches remain in 1 turn. Patterns miss some forms" in items["e-mail"].reason
    assert "a model misses some" in items["names"].reason


def test_a_preview_that_found_something_says_no(dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy(), dry_run=True)
    found = listed(dataset)
    assert found["e-mail"].answer == "no"
    assert "1 in 1 session" in found["e-mail"].reason
    assert found["credential"].answer == "unknown"


def test_classes_left_out_are_not_answered(dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy(kinds=("EMAIL", "PHONE", "ADDRESS", "HANDLE", "URL")))
    found = answers(dataset)
    assert (found["e-mail"], found["names"], found["metadata"]) == ("yes", "unknown", "unknown")
    assert found["numbers"] == "unknown"
    assert (found["ids"], found["timestamps"]) == ("no", "no")


def test_an_earlier_scrub_counts_as_long_as_nothing_was_added(dataset: Dataset, tmp_path: Path) -> None:
    scrub_dataset(dataset, STRICT)
    scrub_dataset(dataset, Policy(kinds=("EMAIL",)))
    assert answers(dataset)["timestamps"] == answers(dataset)["names"] == "yes"
    add(tmp_path, timestamp="2026-05-02T10:00:00Z")
    dataset.refresh_from_db()
    found = answers(dataset)
    assert (found["e-mail"], found["names"], found["metadata"]) == ("unknown", "unknown", "unknown")
    assert (found["ids"], found["timestamps"]) == ("no", "no")


def test_what_was_marked_as_missed_is_not_scrubbed_yet(dataset: Dataset) -> None:
    scrub_dataset(dataset, STRICT)
    ScrubMark.objects.create(
        dataset=dataset, verdict="missed", kind="NAME", digest="0" * 64, words=1, length=4
    )
    found = answers(dataset)
    assert (found["names"], found["metadata"], found["e-mail"]) == ("no", "no", "yes")


@pytest.mark.parametrize("scrubs", [True, False])
def test_what_is_exempt_is_never_answered_with_yes(dataset: Dataset, scrubs: bool) -> None:
    mark = mark_not_personal(dataset, term="jo@example.org", actor=None, override="Our own address")
    scrub_dataset(dataset, STRICT) if scrubs else check_dataset(dataset, actor=None)
    item = listed(dataset)["e-mail"]
    assert (item.answer, "1 ignored term (1 occurrence)" in item.reason) == ("no", True)
    remove_mark(mark, actor=None)
    assert answers(dataset)["e-mail"] == ("no" if scrubs else "unknown")
    scan_new_text(dataset)
    assert "found e-mail addresses: 1" in listed(dataset)["e-mail"].reason
    assert answers(dataset)["e-mail"] == answers(dataset)["metadata"] == "no"


def test_moved_timestamps_and_none_at_all_are_both_fine(dataset: Dataset, tmp_path: Path) -> None:
    scrub_dataset(dataset, Policy(fuzz_seconds=3600))
    assert "3,600 seconds" in listed(dataset)["timestamps"].reason
    other = factories.make_dataset(tmp_path, [factories.make_turn()], "without")
    assert answers(other)["timestamps"] == "yes"


def test_the_metadata_of_the_dataset_itself_identifies_no_one(dataset: Dataset) -> None:
    provenance = {"contact: jo@example.org": {"phone": 5551234567.0}, "anonymization": ["by jo@example.org"]}
    digests = {"plan": "0f" * 32, "persona": {"id": "p", "sha256": "9a" * 32}, "created": "2026-05-01"}
    Dataset.objects.update(source="Mail of jo@example.org", provenance=provenance | digests)
    dataset.refresh_from_db()
    assert listed(dataset)["metadata"].reason == (
        "The source or provenance of the dataset itself contains e-mail addresses: 3, telephone numbers: 1."
    )
    scrub_dataset(dataset, STRICT)
    dataset.refresh_from_db()
    assert answers(dataset)["metadata"] == "yes"
    assert "jo@example.org" not in (stated := f"{dataset.source}{dataset.provenance}")
    assert "5551234567" not in stated
    assert dataset.provenance | digests == dataset.provenance


def test_an_empty_dataset_has_no_ids_to_tell_of(db: None) -> None:
    assert answers(Dataset.objects.create(name="empty"))["ids"] == "unknown"


# --- by checks -----------------------------------------------------------------------------------


def checked(tmp_path: Path, *lines: dict[str, object], names: bool = True, **given: str) -> Dataset:
    made = factories.make_dataset(tmp_path, list(lines), "checked", **given)
    check_dataset(made, actor=None, name_models=("builtin",) if names else ())
    return made


def test_clean_checks_answer_what_no_scrub_has(tmp_path: Path) -> None:
    made = checked(tmp_path, *factories.make_sessions(2))
    found = answers(made)
    assert {name for name, answer in found.items() if answer == "yes"} == {
        *("e-mail", "numbers", "names", "timestamps", "path", "credential", "metadata")
    }
    assert (found["ids"], found["legal"]) == ("no", "unsigned")
    assert "none found in 4 turns" in listed(made)["e-mail"].reason
    later = factories.write_jsonl(tmp_path / "later.jsonl", [factories.make_turn("later")])
    factories.import_file(later, "checked", append=True)
    assert answers(made)["e-mail"] == answers(made)["names"] == "unknown"


def test_checks_that_found_something_say_where(tmp_path: Path) -> None:
    made = checked(tmp_path, factories.make_turn(text="Mail jo@example.org.", metadata={"host": "x"}))
    items = listed(made)
    assert (items["e-mail"].answer, items["path"].answer) == ("no", "yes")
    assert "E401: 1" in items["e-mail"].reason
    # What was found stands in a text; but nobody has seen to the keys.
    assert items["metadata"].answer == "unknown"


def test_names_are_not_answered_by_checks_that_did_not_look(tmp_path: Path) -> None:
    found = answers(checked(tmp_path, *factories.make_session(), names=False))
    assert (found["e-mail"], found["names"], found["metadata"]) == ("yes", "unknown", "unknown")


def test_synthetic_ids_and_times_are_nobodys(tmp_path: Path) -> None:
    lines = factories.make_session(timestamp="2026-05-01T10:00:00Z", metadata={"user_id": "u1"})
    found = answers(checked(tmp_path, *lines, origin="synthetic"))
    assert {name for name, answer in found.items() if answer != "yes"} == {"legal"}


# --- signed --------------------------------------------------------------------------------------


def test_a_signature_holds_until_something_comes_or_changes(dataset: Dataset, tmp_path: Path) -> None:
    scrub_dataset(dataset, STRICT)
    dana = make_officer()
    sign_review(dataset, statement=" Seen. ", actor=dana)
    assert listed(dataset)["legal"].answer == "yes"
    assert listed(dataset)["legal"].reason.startswith("Dana Ortiz (dana) signed on")
    assert current_review(dataset) is not None
    scrub_dataset(dataset, STRICT)
    assert "a scrub has changed it since" in listed(dataset)["legal"].reason
    sign_review(dataset, actor=dana)
    edit_dataset(dataset.pk, {"license": "CC0-1.0"}, actor=None)
    assert "its data, metadata, labels, kept terms or personas" in listed(dataset)["legal"].reason
    sign_review(dataset, actor=dana)
    tag_sessions(dataset, list(Session.objects.values_list("pk", flat=True)), "reviewed")
    assert current_review(dataset) is None
    sign_review(dataset, actor=dana)
    change_origin(dataset, "external", override="Agreed", actor=None)
    assert current_review(dataset) is None
    sign_review(dataset, actor=dana)
    add(tmp_path)
    item = listed(dataset)["legal"]
    assert (item.answer, item.remedy) == ("unsigned", "sign")
    assert "sessions have been added since" in item.reason
    assert current_review(dataset) is None
    told = AuditEvent.objects.filter(action="sign_review").order_by("id").first()
    assert told is not None
    assert told.details == {"name": "Dana Ortiz (dana)", "statement": "Seen.", "turns": 1}


def test_nothing_can_be_signed_for_where_nothing_is(db: None) -> None:
    with pytest.raises(UserError, match="has no sessions"):
        sign_review(Dataset.objects.create(name="empty"), actor=make_officer())


def make_officer() -> User:
    user = User.objects.create_user(
        "dana", password="a long password", first_name="Dana", last_name="Ortiz", is_staff=True
    )
    user.groups.add(Group.objects.get(name="privacy officer"))
    return user


def test_the_command_signs_with_an_account(dataset: Dataset, manage: Any) -> None:
    make_officer()
    User.objects.create_user("carl", password="a long password", is_staff=True)
    for refused, password, why in (
        ("dana", b"wrong", "The user name or the password of dana is wrong"),
        ("carl", b"a long password", "carl doesn't have the permission datasets_app.sign_review"),
    ):
        done = manage("sign_review", "support", "--as", refused, input=password + b"\n")
        assert (done.returncode, why in done.stderr) == (2, True)
    assert answers(dataset)["legal"] == "unsigned"
    done = manage("sign_review", "support", "--as", "dana", input=b"a long password\n")
    assert "Dana Ortiz (dana) has signed" in done.stdout
    assert answers(dataset)["legal"] == "yes"
    assert AuditEvent.objects.get(action="sign_review").actor == "dana"
    done = manage("sign_review", "none", "--as", "dana", input=b"")
    assert "no dataset 'none'" in done.stderr


def test_checks_answer_nothing_for_what_a_reviewer_marked_as_missed(tmp_path: Path) -> None:
    made = checked(tmp_path, factories.make_turn())
    assert answers(made)["path"] == "yes"
    ScrubMark.objects.create(dataset=made, verdict="missed", kind="PATH", digest="0" * 64, words=1, length=4)
    assert (answers(made)["path"], answers(made)["credential"]) == ("no", "yes")


def test_checks_are_clean_until_the_text_changes(tmp_path: Path) -> None:
    def is_outdated() -> list[bool]:
        row = with_last_check(Dataset.objects.all()).get()
        return [row.is_outdated, bool(why_outdated(report, row))]

    made = checked(tmp_path, factories.make_turn())
    report = made.check_reports.get()
    assert is_outdated() == [False, False]
    add(tmp_path, to=made.name, text="Mail jo@example.org.")
    assert is_outdated() == [True, True]
