"""What was erased stays erased: whichever way it would come back, also with a backup."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.labels.import_annotations import import_annotations
from datasets_app.catalog import tombstones
from datasets_app.catalog.tombstones import ErasedSessions
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_dataset
from datasets_app.models import AuditEvent, Dataset, Session, Tombstone
from datasets_app.nightly.run_nightly import NIGHTLY_STEPS
from datasets_app.retention.erase_session import erase_session
from datasets_app.retention.reapply_erasures import reapply_erasures, verify_erasures
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import import_file, make_dataset, make_session, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

REASON = "Request of 3 May"
TEXT = "My parcel never came, and I have been waiting for three weeks by now."


def erase(dataset: Dataset, session_id: str) -> None:
    erase_session(dataset.sessions.get(session_id=session_id), REASON)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    """External, with the session "call-7" erased and "kept" left."""
    lines = [*make_session("kept"), *make_session("call-7", text=TEXT)]
    dataset = make_dataset(tmp_path, lines)
    erase(dataset, "call-7")
    return dataset


def import_lines(tmp_path: Path, lines: list[Any], name: str = "support", **options: Any) -> dict[str, Any]:
    return import_file(write_jsonl(tmp_path / "again.jsonl", lines), name, append=True, **options)


def list_refused(error: UserError) -> list[tuple[str, int, str]]:
    return [(each["code"], each["line"], each["session_id"]) for each in error.details["problems"]]


def stored_ids() -> set[str]:
    return set(Session.objects.values_list("session_id", flat=True))


def test_an_import_brings_no_erased_session_back(dataset: Dataset, tmp_path: Path) -> None:
    lines = [*make_session("new"), *make_session("call-7", text="Other words.")]
    with pytest.raises(UserError, match="1 session was erased and must not come back") as refusal:
        import_lines(tmp_path, lines)
    assert list_refused(refusal.value) == [("E208", 3, "call-7")]
    assert stored_ids() == {"kept"}


@pytest.mark.parametrize(
    ("name", "session_id", "text"),
    [
        ("support", "renamed", TEXT),
        ("elsewhere", "renamed", f"  {TEXT.upper()}\n"),
        ("support", "call-7 hashed", "Other words."),
    ],
)
def test_neither_a_new_name_nor_a_hashed_id_hides_it(
    dataset: Dataset, tmp_path: Path, name: str, session_id: str, text: str
) -> None:
    session_id = session_id.replace("call-7 hashed", hash_session_id("call-7", hash_key()))
    with pytest.raises(UserError, match="1 session was erased"):
        import_lines(tmp_path, make_session(session_id, text=text), name)


def test_an_invalid_line_within_it_does_not_hide_it(dataset: Dataset, tmp_path: Path) -> None:
    first, *others = make_session("renamed", text=TEXT)
    lines = [first, {"session_id": "another"}, *others]
    result = import_lines(tmp_path, lines, quarantine=True, quarantine_dir=tmp_path)
    assert (result["sessions"], result["erased_sessions"]) == (0, 1)
    assert stored_ids() == {"kept"}


def test_an_erasure_while_the_file_is_read_counts(dataset: Dataset, tmp_path: Path) -> None:
    lines = make_session("kept")

    def erase_meanwhile(done: int, total: int = 0) -> None:
        if done > total / 3 and "kept" in stored_ids():  # the first of three passes looks at no session
            erase(dataset, "kept")

    with pytest.raises(UserError, match="A session was erased while the file was read"):
        import_lines(tmp_path, lines, "elsewhere", report_progress=erase_meanwhile)
    assert not stored_ids()


@pytest.mark.parametrize("place", [{}, {"session_id": "renamed", "turn_index": 1}])
def test_the_text_of_a_label_does_not_bring_it_back(tmp_path: Path, place: dict[str, Any]) -> None:
    label = {"text": TEXT, "label": 1, "persona_id": "p"}
    file = write_jsonl(tmp_path / "l.jsonl", [label])
    dataset = import_annotations(file, dataset_name="labels", create=True).dataset
    erase(dataset, dataset.sessions.get().session_id)
    write_jsonl(file, [label | place])
    with pytest.raises(UserError, match="the texts of labels were erased"):
        import_annotations(file, dataset_name="labels")
    assert not dataset.sessions.exists()


def test_another_conversation_is_not_mistaken_for_it(dataset: Dataset, tmp_path: Path) -> None:
    """The same id in another dataset, a text that begins alike, and one that anybody writes."""
    erase(dataset, "kept")
    import_lines(tmp_path, make_session("call-7", text="Other words."), "elsewhere")
    import_lines(tmp_path, make_session("new", text=TEXT + " Please hurry."))
    lines = make_session("short", text="Hello?")
    short = make_dataset(tmp_path, lines, "short")
    erase(short, "short")
    import_lines(tmp_path, make_session("other", text="Hello?"), "third")
    assert stored_ids() == {"call-7", "new", "other"}


def test_the_id_of_production_data_counts_everywhere_also_after_a_scrub(tmp_path: Path) -> None:
    lines = make_session("call-7", text=f"{TEXT} Mail jo@example.org.")
    dataset = make_dataset(tmp_path, lines, origin="production")
    scrub_dataset(dataset, Policy(kinds=("EMAIL",), hash_session_ids=True))
    erase_session(dataset.sessions.get(), REASON)
    with pytest.raises(UserError, match="1 session was erased"):
        import_lines(tmp_path, lines, "elsewhere")


def test_with_quarantine_the_others_are_imported_and_no_line_of_it_is_kept(
    dataset: Dataset, tmp_path: Path
) -> None:
    lines = [*make_session("new"), *make_session("call-7", text=TEXT), make_turn("bad", 3)]
    result = import_lines(tmp_path, lines, quarantine=True, quarantine_dir=tmp_path)
    assert (result["sessions"], result["erased_sessions"], result["quarantined_sessions"]) == (1, 1, 1)
    assert stored_ids() == {"kept", "new"}
    quarantined = (tmp_path / "again.quarantine.jsonl").read_text()
    assert "bad" in quarantined
    assert "call-7" not in quarantined
    event = AuditEvent.objects.filter(action="import").order_by("-id")[0]
    assert event.details["files"][0]["erased_sessions"] == 1


def test_an_override_brings_it_back_is_recorded_and_lifts_the_tombstone(
    dataset: Dataset, tmp_path: Path
) -> None:
    lines = make_session("call-7", text=TEXT)
    curator = User.objects.create(username="carl")
    officer = User.objects.create(username="olga")
    officer.groups.add(Group.objects.get(name="privacy officer"))
    with pytest.raises(UserError, match="don't have permission to bring back erased sessions"):
        import_lines(tmp_path, lines, actor=curator, override="Erased by mistake")
    import_lines(tmp_path, lines, actor=officer, override="Erased by mistake")
    assert stored_ids() == {"kept", "call-7"}
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "bring back erased sessions", "reason": "Erased by mistake"}
    assert not Tombstone.objects.exists()
    assert tombstones.read() == {}


def test_a_sample_of_a_copy_and_labels_bring_nothing_back(dataset: Dataset, tmp_path: Path) -> None:
    copy = make_dataset(tmp_path, make_session("call-9", text="Something else, long enough to be told."), "b")
    Session.objects.filter(dataset=copy).update(session_id="call-7")
    copy.sessions.get().turns.update(text=TEXT)
    with pytest.raises(UserError, match="1 session was erased") as refusal:
        sample_to_dataset(copy, "sample", SampleOptions(1))
    assert list_refused(refusal.value) == [("E208", 0, "call-7")]
    assert not Dataset.objects.filter(name="sample").exists()
    sample_to_dataset(copy, "sample", SampleOptions(1), override="A copy that was not erased")

    Tombstone.objects.all().delete()
    lines = [*make_session("call-8", text=TEXT + " And more.")]
    other = make_dataset(tmp_path, lines, "labels")
    erase(other, "call-8")
    label = {"session_id": "call-8", "turn_index": 2, "text": TEXT, "label": 1, "persona_id": "p"}
    with pytest.raises(UserError) as refusal:
        import_annotations(write_jsonl(tmp_path / "l.jsonl", [label]), dataset_name="labels")
    assert list_refused(refusal.value) == [("E208", 1, "call-8")]
    assert not other.sessions.exists()


@pytest.fixture
def restored(dataset: Dataset, tmp_path: Path) -> Dataset:
    """The database as before the erasure, and the file of erasures as after it."""
    Tombstone.objects.all().delete()
    import_lines(tmp_path, make_session("call-7", text=TEXT))
    return dataset


def test_a_restored_backup_is_noticed_and_erased_again(restored: Dataset, manage: Any) -> None:
    assert "erasures" in dict(NIGHTLY_STEPS)
    with pytest.raises(UserError, match=r"2 erasures in .*erasures are not in the database"):
        verify_erasures()
    found = manage("reapply_erasures", "--dry-run")
    assert (found.returncode, found.stdout) == (1, "support: 1 erased session\n1 session would be erased.\n")
    assert stored_ids() == {"kept", "call-7"}
    done = manage("reapply_erasures")
    assert (done.returncode, done.stdout) == (0, "support: 1 erased session\n1 session erased.\n")
    assert stored_ids() == {"kept"}
    assert Tombstone.objects.count() == 2
    verify_erasures()


def test_a_copy_of_the_file_serves_as_well(restored: Dataset, tmp_path: Path) -> None:
    copy = tmp_path / "kept-elsewhere"
    shutil.move(tombstones.erasures_path(), copy)
    assert reapply_erasures()["sessions"] == 0
    assert reapply_erasures(copy)["sessions"] == 1
    assert stored_ids() == {"kept"}
    assert len(tombstones.read()) == 2


def test_a_hold_keeps_what_a_backup_brought_back(restored: Dataset, manage: Any) -> None:
    Dataset.objects.update(legal_hold=True)
    done = manage("reapply_erasures")
    assert (done.returncode, "support is on legal hold" in done.stderr) == (1, True)
    assert stored_ids() == {"kept", "call-7"}


def test_the_file_is_completed_at_night_and_holds_digests_only(dataset: Dataset) -> None:
    path = tombstones.erasures_path()
    assert path.stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [sorted(line) for line in lines] == [["digest", "erased_at"]] * 2
    path.unlink()
    verify_erasures()
    assert tombstones.read().keys() == set(Tombstone.objects.values_list("digest", flat=True))
    path.write_text("no JSON\n")
    with pytest.raises(UserError, match="Line 1 of erasures can't be read"):
        tombstones.read()


def test_without_erasures_nothing_is_compared(tmp_path: Path, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        erased = ErasedSessions("support")
        assert list(erased.watch(iter(["untouched"]))) == ["untouched"]
        assert not erased.check_id("call-7")
    Tombstone.objects.create(digest="0" * 64, erased_at=timezone.now())
    assert ErasedSessions("support")
