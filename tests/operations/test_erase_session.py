"""A session that is asked to go is gone from the dataset and its releases; who was handed it is told."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.core.management import call_command

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_dataset
from datasets_app.jobs import runs
from datasets_app.management.retention_summary import recipient_lines
from datasets_app.models import (
    AuditEvent,
    Dataset,
    JobFile,
    JobRun,
    OutgoingEvent,
    Release,
    ReleaseFile,
    Session,
    Turn,
)
from datasets_app.releasing.load_release import load_release
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.retention import erase_session as erasure
from datasets_app.retention import holds
from datasets_app.retention.erase_session import erase_session, erase_session_by_id
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.retention.find_person import find_everywhere, find_person
from datasets_app.retention.parameters import EraseParameters
from datasets_app.retention.session_identity import find_session
from tests.api.calls import make_user
from tests.campaigns import find_inconsistencies, label_all_replies, make_campaign
from tests.factories import (
    import_file,
    make_dataset,
    make_session,
    make_sessions,
    make_turn,
    run_task,
    write_jsonl,
)

pytestmark = pytest.mark.django_db(transaction=True)


def released(stored: Dataset, folder: Path) -> Release:
    release_dataset(stored, folder=folder, actor=None, override="a test")
    return Release.objects.order_by("-id")[0]


def ids_in(release: Release) -> list[str]:
    data = release.files.get(kind=ReleaseFile.Kind.DATA)
    lines = gzip.decompress(data.file.read()).splitlines()
    return list(dict.fromkeys(json.loads(line)["session_id"] for line in lines))


def test_it_goes_from_dataset_and_releases_and_the_trail_keeps_a_digest(
    tmp_path: Path, media_root: Path
) -> None:
    stored = make_dataset(tmp_path, make_sessions(4))
    made = make_campaign(stored, "ana")
    label_all_replies(made, "ana")
    first = released(stored, tmp_path)
    audit.record("download", actor=None, dataset_name="support", release=first.version, kind="data")
    audit.record("download", actor=None, dataset_name="support", release="9.9.9", kind="data")
    JobRun.objects.create(
        operation="import_dataset", dataset=stored, state="done", result={"problems": ["s2"], "turns": 8}
    )
    session = find_session(stored, "s2")
    assert session is not None
    said = preview_erasure(session)
    assert (said["turns"], said["labels"], said["releases"]) == (2, 1, ["1.0.0"])
    assert [told["release"] for told in said["handed_out"]] == ["1.0.0"]

    result = erase_session(session, "Asked for by letter.")

    assert (result["turns"], result["labels"]) == (2, 1)
    assert result["releases"] == {"support": ["1.0.0"]}
    assert [told["release"] for told in result["handed_out"]] == ["1.0.0"]
    assert not Turn.objects.filter(session_id=session.pk).exists()
    assert Annotation.objects.count() == 3
    assert not find_inconsistencies()
    assert Campaign.objects.get().item_count == 3
    new = Release.objects.get(destroyed_at=None)
    assert (new.version, new.replaces, ids_in(new)) == ("1.0.1", first, ["s1", "s3", "s4"])
    first.refresh_from_db()
    assert first.destroyed_at is not None
    assert all(not file.file for file in first.files.all())
    event = AuditEvent.objects.get(action="erase_session")
    assert event.details["reason"] == "Asked for by letter."
    assert len(event.details["digest"]) == 64
    assert "s2" not in json.dumps(event.details)
    assert JobRun.objects.get(operation="import_dataset").result == {"turns": 8}
    stored.refresh_from_db()
    assert (stored.session_count, stored.turn_count) == (3, 6)


def test_who_has_a_copy_is_told_of_all_that_left(tmp_path: Path, media_root: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3))
    released(stored, tmp_path)
    events = [
        ("download", {"release": "1.0.0"}),
        ("export", {"release": "0.9.0"}),  # a version that this session was not in
        ("export_annotations", {"labels": 3}),
        ("judge", {"state": "begun", "endpoint": "models.example.org"}),
        ("judge", {"state": "ended", "endpoint": "models.example.org"}),
        ("judge", {"state": "begun", "endpoint": "offline"}),
        ("check", {}),
    ]
    for action, details in events:
        audit.record(action, actor=None, dataset_name="support", **details)
    erase_session_by_id("support", "s1", "Asked for.")
    # What replaced 1.0.0 was handed to nobody, but whoever has 1.0.0 has s2 as well.
    result = erase_session_by_id("support", "s2", "Asked for.")
    assert result["releases"] == {"support": ["1.0.1"]}
    copies = [(copy["release"], copy["endpoint"]) for copy in result["handed_out"]]
    assert copies == [(None, "models.example.org"), (None, None), ("1.0.0", None)]
    lines = "\n".join(recipient_lines(result["handed_out"]))
    assert "3 copies" in lines
    assert "texts of support sent to models.example.org" in lines
    # Programs that follow the versions are told of those that an erasure made.
    told = OutgoingEvent.objects.filter(kind="release.created").order_by("pk")
    assert [event.data["version"] for event in told] == ["1.0.0", "1.0.1", "1.0.2"]


def test_a_version_is_replaced_once_however_many_of_its_sessions_go(tmp_path: Path, media_root: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(4))
    released(stored, tmp_path)
    audit.record("download", actor=None, dataset_name="support", release="1.0.0")
    first, *others = stored.sessions.order_by("pk")[:3]
    result = erase_session(first, "Asked for.", everywhere=others)
    assert (result["sessions"], result["turns"], result["erased_from"]) == (3, 6, ["support"])
    assert result["releases"] == {"support": ["1.0.0"]}
    assert len(result["handed_out"]) == 1
    assert ids_in(Release.objects.get(destroyed_at=None)) == ["s4"]
    assert [release.version for release in Release.objects.all()] == ["1.0.1", "1.0.0"]
    events = [event.details for event in AuditEvent.objects.filter(action="erase_session").order_by("pk")]
    assert len({event["digest"] for event in events}) == 3
    assert [event["deleted"].get("sessions") for event in events] == [3, None, None]
    assert [event["releases"] for event in events] == [["1.0.0"]] * 3


def test_one_whose_id_was_hashed_is_found_by_the_id_it_had(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    before = released(stored, tmp_path)
    Session.objects.filter(session_id="s1").update(
        session_id=hash_session_id("s1", hash_key()), id_hashed=True
    )
    erase_session_by_id("support", "s1", "Asked for.")
    assert Session.objects.count() == 1
    assert ids_in(Release.objects.get(replaces=before)) == ["s2"]
    with pytest.raises(UserError, match="was erased from support on"):
        erase_session_by_id("support", "s1", "Asked for again.")
    with pytest.raises(UserError, match="no session of that id"):
        erase_session_by_id("support", "s9", "Asked for.")


def test_copies_are_named_and_erased_with_it_if_wanted(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    for name in ("copy-1", "copy-2"):
        sample_to_dataset(stored, name, SampleOptions(2))
    assert erase_session_by_id("support", "s1", "Asked for.")["also_in"] == ["copy-1", "copy-2"]
    result = erase_session_by_id("copy-1", "s1", "Asked for.", everywhere=True)
    assert (result["erased_from"], result["also_in"]) == (["copy-1", "copy-2"], [])
    assert set(Session.objects.values_list("session_id", flat=True)) == {"s2"}


@pytest.mark.parametrize("hashed", ["support", "support-1.0.0", ""])
def test_releases_that_were_loaded_are_named_and_erased_with_it(hashed: str, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, [*make_sessions(2), *make_session("s3", text="Ask Theodora Fontane.")])
    loaded = load_release(released(stored, tmp_path), actor=None)
    sample_to_dataset(stored, "copy", SampleOptions(3))
    if hashed:
        for session in Session.objects.filter(dataset__name=hashed):
            session.session_id, session.id_hashed = hash_session_id(session.session_id, hash_key()), True
            session.save()
    session = find_session(stored, "s1")
    assert session is not None
    assert "support-1.0.0" in preview_erasure(session)["also_in"]
    assert "support-1.0.0" in erase_session_by_id("support", "s2", "Asked for.")["also_in"]
    erase_session_by_id("support", "s1", "Asked for.", everywhere=True)
    assert sorted(loaded.sessions.values_list("turn_count", flat=True)) == [2, 2]
    assert find_session(loaded, "s1") is None
    # By the name of a person, also where a scrub took it out: of the dataset, or of the version.
    for named, scrubbed in ((stored, loaded), (loaded, stored)):
        texts = dict(scrubbed.turns.values_list("pk", "text"))
        scrubbed.turns.filter(text__contains="Fontane").update(text="Ask [NAME].")
        places = {match.session.dataset.name: match.places for match in find_person("Theodora Fontane")}
        assert places[named.name]["text"] == 2
        assert places[scrubbed.name] == {"made of their conversations": 1}
        for key, text in texts.items():
            scrubbed.turns.filter(pk=key).update(text=text)
    loaded.turns.filter(text__contains="Fontane").update(text="Ask [NAME].")
    call_command("erase_person", "Theodora Fontane", reason="Asked for.")
    assert (loaded.sessions.count(), stored.sessions.count()) == (1, 0)  # s2, of which it was only said
    assert "Theodora" not in str(list(Turn.objects.values_list("text", flat=True)))


def test_labels_that_keep_its_id_as_their_place_go_with_it(tmp_path: Path, media_root: Path) -> None:
    canary = "canary-7f3e"
    stored = make_dataset(tmp_path, make_sessions(2))
    lines = [
        {"text": "A reply whose conversation comes later.", "session_id": canary, "turn_index": 2},
        # Joins a turn of s1 by its text, and remembers where it came from.
        {"text": "What assistant says as number 2 of s1.", "session_id": canary, "turn_index": 4},
        {"text": "A reply of another conversation.", "session_id": "other", "turn_index": 2},
    ]
    labels = write_jsonl(
        tmp_path / "labels.jsonl", [{"label": 1, "persona_id": "p", **line} for line in lines]
    )
    import_annotations(labels, dataset_name="support")
    import_file(write_jsonl(tmp_path / "later.jsonl", make_session(canary)))
    release = released(stored, tmp_path)
    ids = {
        "session": canary,
        "label": Annotation.objects.get(turn__text=lines[0]["text"]).turn.session.session_id,
    }
    assert set(ids.values()) <= set(ids_in(release))
    session = find_session(stored, canary)
    assert session is not None
    assert preview_erasure(session)["sessions"] == 2

    result = erase_session(session, "Asked for by letter.")

    assert (result["sessions"], result["labels"]) == (2, 2)
    assert not set(ids.values()) & set(ids_in(Release.objects.get(destroyed_at=None)))
    assert [row.turn.text for row in Annotation.objects.all()] == [lines[2]["text"]]
    assert canary not in str(list(Annotation.objects.values_list("extra", flat=True)))
    assert not Turn.objects.filter(text=lines[0]["text"]).exists()
    stored.refresh_from_db()
    assert (stored.session_count, stored.turn_count) == (
        Session.objects.count(),
        Turn.objects.count(),
    )


def test_a_hold_and_a_running_job_stand_in_its_way(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    job = JobRun.objects.create(operation="export_dataset", dataset_name="support", state="running")
    with pytest.raises(UserError, match="is running on support"):
        erase_session_by_id("support", "s1", "Asked for.")
    JobRun.objects.filter(pk=job.pk).update(state="done")
    holds.change_hold(stored, "A claim.", held=True, actor=None)
    with pytest.raises(UserError, match="on legal hold"):
        erase_session_by_id("support", "s1", "Asked for.")
    with pytest.raises(UserError, match="Give a reason"):
        erase_session_by_id("support", "s1", " ")
    assert Session.objects.count() == 2


def test_a_job_that_died_at_any_step_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = make_dataset(tmp_path, make_sessions(3))
    released(stored, tmp_path)
    session = find_session(stored, "s2")
    assert session is not None
    job = runs.create_job(
        "erase_session",
        actor=None,
        dataset=stored,
        parameters=EraseParameters(session=session.pk, reason="Asked for."),
    )
    for step in ("_delete_sessions", "_sum_results", "remove_traces"):
        with monkeypatch.context() as broken:
            broken.setattr(erasure, step, _dies)
            with pytest.raises(KeyboardInterrupt):
                run_task(job)
        job.refresh_from_db()
    result = run_task(job)
    assert (result["sessions"], result["releases"]) == (1, {"support": ["1.0.0"]})
    assert AuditEvent.objects.filter(action="erase_session").count() == 1
    assert [release.version for release in Release.objects.filter(destroyed_at=None)] == ["1.0.1"]
    assert "s2" not in json.dumps(job.parameters)


def _dies(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_an_export_that_ends_while_releases_are_made_anew_goes_too(
    tmp_path: Path, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    really, looked_at = erasure._reissue_releases, []

    def reissue(*given: Any) -> set[int]:
        found = really(*given)
        if not looked_at:
            job = JobRun.objects.create(operation="export_dataset", dataset=stored, state="done")
            kept = JobFile(job_run=job, kind="export", name="support.jsonl", size=3)
            kept.file.save(f"{job.pk}/export/late", ContentFile(b"s1\n"))
        looked_at.append(found)
        return found

    monkeypatch.setattr(erasure, "_reissue_releases", reissue)
    assert erase_session_by_id("support", "s1", "Asked for.")["files"] == 1
    assert not JobFile.objects.exists()
    assert not [path for path in media_root.rglob("*") if path.is_file()]


def test_an_id_is_found_in_what_was_asked_for_however_it_is_written(tmp_path: Path) -> None:
    odd = 'a "b" \\ c'
    stored = make_dataset(tmp_path, [make_turn(odd), make_turn("s2")])
    job = JobRun.objects.create(operation="import_dataset", dataset=stored, parameters={"of": [odd], "n": 1})
    erase_session_by_id("support", odd, "Asked for.")
    job.refresh_from_db()
    assert job.parameters == {"n": 1}


def test_nor_is_told_by_what_it_was_looked_for(tmp_path: Path) -> None:
    only = {"tags": ["scenario:adoption of Wilma"], "persona_id": "wilma_v1"}
    stored = make_dataset(tmp_path, [make_turn("s1", **only), make_turn("s2")])
    export_to_path(stored, tmp_path / "wilma.jsonl", selection=Selection("wilma_v1", only["tags"][0]))
    asked: list[dict[str, Any]] = [{"tag": only["tags"][0], "n": 1}, {"persona": "wilma_v1", "n": 1}]
    for given in (*asked, {"tag": "scenario:other"}):
        JobRun.objects.create(
            operation="export_dataset",
            dataset=stored,
            state="done",
            parameters=given,
            error="It has: wilma_v1.",
        )
    erase_session_by_id("support", "s1", "Asked for.")
    jobs = JobRun.objects.order_by("pk").values_list("parameters", "error")
    assert list(jobs) == [({"n": 1}, ""), ({"n": 1}, ""), ({"tag": "scenario:other"}, "")]
    assert "wilma" not in json.dumps(list(AuditEvent.objects.values_list("details", flat=True))).lower()


def test_a_person_whom_only_a_version_names_is_found_and_erased_from_it(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, [*make_session("s1"), *make_session("s2", text="Ask Theodora Fontane.")])
    release = released(stored, tmp_path)
    stored.turns.filter(text__contains="Fontane").update(text="Ask [NAME].")
    named = Session.objects.get(session_id="s2")
    named.session_id, named.id_hashed = hash_session_id("s2", hash_key()), True
    named.save()
    found = find_everywhere("theodora fontane")
    assert [(match.session.pk, match.places) for match in found.sessions] == [
        (named.pk, {"released versions": 1})
    ]
    call_command("erase_person", "Theodora Fontane", reason="Asked for.")
    assert not find_everywhere("Theodora Fontane")
    (left,) = Release.objects.filter(dataset=stored, destroyed_at=None)
    assert left.version != release.version
    assert ids_in(left) == ["s1"]


def test_a_version_is_searched_only_for_people_who_may_read_it(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("s1", text="Ask Theodora Fontane."))
    release = released(stored, tmp_path)
    Release.objects.filter(pk=release.pk).update(raw=True)
    stored.turns.update(text="Ask us.")
    scan_new_text(stored)
    officer = make_user("privacy officer")
    officer.groups.get().permissions.remove(Permission.objects.get(codename="read_raw"))
    found = find_everywhere("Theodora Fontane", User.objects.get(pk=officer.pk))
    assert (found.sessions, found.not_searched) == ([], [f"support {release.version}"])


def test_a_version_whose_file_was_changed_is_named_and_hides_nothing_else(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("s1", text="Ask Theodora Fontane."))
    release = released(stored, tmp_path)
    data = release.files.get(kind="data")
    Path(data.file.path).write_bytes(b"no such bytes")
    found = find_everywhere("Theodora Fontane")
    assert [match.session.session_id for match in found.sessions] == ["s1"]
    assert found.describe_rest() == [
        "Not searched, because the file is missing or was changed: support "
        f"{release.version}. Restore it and search again."
    ]
