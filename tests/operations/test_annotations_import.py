"""Labels find their turns, all come in or none, and what goes in comes out."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from annotations_app.labels.export_annotations import LABEL_SELECTIONS, export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.models import AuditEvent, Dataset, Session, Turn
from tests.factories import encode_jsonl, import_file, make_dataset, make_session, make_turn, write_jsonl
from tests.strategies import EXAMPLES_FACTOR, encode_json, names, texts, timestamps, values

pytestmark = pytest.mark.django_db

with_database = settings(
    max_examples=25 * EXAMPLES_FACTOR,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def label(text: str, value: int = 1, **fields: Any) -> dict[str, Any]:
    return {"text": text, "label": value, "persona_id": "p", **fields}


def labelled(tmp_path: Path, lines: list[Any], **given: Any) -> Any:
    given.setdefault("dataset_name", "support")
    return import_annotations(write_jsonl(tmp_path / "labels.jsonl", lines), **given)


def refusal(tmp_path: Path, lines: list[Any], **given: Any) -> UserError:
    with pytest.raises(UserError) as refused:
        labelled(tmp_path, lines, **given)
    return refused.value


def places() -> list[tuple[str, int]]:
    rows = Annotation.objects.order_by("id").values_list("turn__session__session_id", "turn__turn_index")
    return list(rows)


# --- joining ----------------------------------------------------------------------------------


def test_a_label_is_joined_by_its_place(tmp_path: Path) -> None:
    make_dataset(tmp_path, [*make_session("a", 4), *make_session("b", 4)])
    labelled(tmp_path, [label("What assistant says as number 2 of b.", session_id="b", turn_index=2)])
    assert places() == [("b", 2)]


def test_the_place_counts_more_than_the_text_and_the_difference_is_told(tmp_path: Path) -> None:
    make_dataset(
        tmp_path,
        [
            make_turn("a", 1),
            make_turn("a", 2, text="new words"),
            make_turn("b", 1),
            make_turn("b", 2, text="old words"),
        ],
    )
    done = labelled(tmp_path, [label("old words", session_id="a", turn_index=2)])
    assert places() == [("a", 2)]
    assert done.saved.text_differs == 1


def test_without_a_place_the_exact_text_decides(tmp_path: Path) -> None:
    make_dataset(
        tmp_path,
        [make_turn("a", 1, text="Yes."), make_turn("a", 2, text="Yes. "), make_turn("a", 3, text="yes.")],
    )
    labelled(tmp_path, [label("Yes. "), label("yes.")])
    assert places() == [("a", 2), ("a", 3)]


def test_an_assistants_turn_is_preferred_then_the_one_imported_first(tmp_path: Path) -> None:
    make_dataset(
        tmp_path,
        [
            make_turn("a", 1, text="Hi"),
            make_turn("b", 1),
            make_turn("b", 2, text="Hi"),
            make_turn("c", 1),
            make_turn("c", 2, text="Hi"),
        ],
    )
    labelled(tmp_path, [label("Hi")])
    assert places() == [("b", 2)]


def test_the_session_a_label_names_comes_before_the_rest_of_the_dataset(tmp_path: Path) -> None:
    make_dataset(
        tmp_path,
        [make_turn("a", 1), make_turn("a", 2, text="Hi"), make_turn("b", 1), make_turn("b", 2, text="Hi")],
    )
    labelled(tmp_path, [label("Hi", session_id="b"), label("Hi", session_id="b", turn_index=9)])
    assert places() == [("b", 2), ("b", 2)]


def test_labels_are_not_joined_to_another_dataset(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("a", 1), make_turn("a", 2, text="Hi")], name="other")
    make_dataset(tmp_path, make_session("z"))
    labelled(tmp_path, [label("Hi", session_id="a", turn_index=2)])
    assert places()[0][0].startswith("label-")
    assert Annotation.objects.get().dataset.name == "support"


def test_a_label_that_matches_no_turn_becomes_a_session_of_its_own(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    done = labelled(
        tmp_path,
        [
            label("Unheard of"),
            label("Unheard of", 0, annotator="ben"),
            label("Other", session_id="x", turn_index=3),
        ],
    )
    assert done.saved.sessions_added == 2
    stored.refresh_from_db()
    assert (stored.session_count, stored.turn_count) == (3, 4)
    own = Session.objects.exclude(session_id="a").order_by("id")
    assert [(item.persona_id, item.turn_count) for item in own] == [("p", 1), ("p", 1)]
    turns = Turn.objects.filter(session__in=own).order_by("id")
    assert list(turns.values_list("role", "turn_index", "text")) == [
        ("assistant", 1, "Unheard of"),
        ("assistant", 1, "Other"),
    ]
    assert Annotation.objects.count() == 3


def test_where_a_label_stood_is_kept_if_it_is_joined_elsewhere(tmp_path: Path) -> None:
    make_dataset(tmp_path, [make_turn("a", 1), make_turn("a", 2, text="Hi")])
    labelled(
        tmp_path, [label("Hi", session_id="x", turn_index=3), label("Hi", session_id="a", turn_index=7, k=1)]
    )
    first, second = Annotation.objects.order_by("id")
    assert first.extra == {"original_session_id": "x", "original_turn_index": 3}
    assert second.extra == {"original_turn_index": 7, "k": 1}


# Nothing of these is stored: two places of one conversation, one text at two places, two annotators.
UNSTORED = [
    label("First", annotator="ada", session_id="x", turn_index=2),
    label("First", annotator="ben", session_id="x", turn_index=2),
    label("Second", annotator="ada", session_id="x", turn_index=4),
    label("Second", 0, annotator="ada", session_id="y", turn_index=4),
]


@pytest.mark.parametrize("choice", LABEL_SELECTIONS)
def test_the_place_of_a_label_that_matches_no_turn_is_given_back(tmp_path: Path, choice: str) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    # One annotator's file after the other's: what is said of a place belongs together all the same.
    labelled(tmp_path, UNSTORED[:1])
    labelled(tmp_path, UNSTORED[1:])
    lines = [json.loads(line) for line in exported(stored, choice).splitlines()]
    said = [(line["session_id"], line["turn_index"], line["text"], line["label"]) for line in lines]
    each = [("x", 2, "First", 1), ("x", 4, "Second", 1), ("y", 4, "Second", 0)]
    assert said == (each[:1] + each if choice == "all" else each)
    assert not any(key.startswith("original_") for line in lines for key in line)


def test_a_place_is_found_again_in_an_export_and_with_another_text(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_session("a"))
    assert labelled(tmp_path, UNSTORED).saved.sessions_added == 3
    path = tmp_path / "again.jsonl"
    path.write_bytes(exported(stored))
    assert import_annotations(path, dataset_name="support").saved.added == 0
    later = labelled(tmp_path, [label("first ", 0, annotator="cy", session_id="x", turn_index=2)]).saved
    assert (later.added, later.sessions_added, later.text_differs) == (1, 0, 1)
    # The queue's labels name no place: the turn has it.
    Annotation.objects.filter(annotator="cy").update(extra=None)
    assert {json.loads(line)["session_id"] for line in exported(stored).splitlines()} == {"x", "y"}


def test_a_conversation_that_comes_after_its_labels_is_imported_and_labeled(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    labelled(tmp_path, UNSTORED)
    lines = [make_turn("x", 1), make_turn("x", 2, text="First")]
    assert import_file(write_jsonl(tmp_path / "x.jsonl", lines))["sessions"] == 1
    Annotation.objects.all().delete()
    labelled(tmp_path, UNSTORED[:1])
    assert places() == [("x", 2)]


def test_new_text_makes_a_scrubbed_dataset_raw_again(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    Dataset.objects.update(status="scrubbed")
    labelled(tmp_path, [label("What assistant says as number 2 of a.")])
    assert Dataset.objects.get().status == "scrubbed"
    labelled(tmp_path, [label("Unheard of")])
    assert Dataset.objects.get().status == "raw"


# --- all or none, and once --------------------------------------------------------------------


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    lines = [
        label(
            "Unheard of", notes="n", labeler="ada", confidence=0.3, timestamp="2025-01-01", k={"b": [1, None]}
        ),
        label("What assistant says as number 2 of a.", session_id="x", turn_index=5),
    ]
    assert labelled(tmp_path, lines).saved.added == 2
    before = list(Annotation.objects.order_by("id").values())
    again = labelled(tmp_path, lines).saved
    assert (again.added, again.known, again.sessions_added) == (0, 2, 0)
    assert list(Annotation.objects.order_by("id").values()) == before
    assert Session.objects.count() == 2


def test_a_label_whose_turn_was_scrubbed_since_is_still_known(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    labelled(tmp_path, [label("Call Ana")])
    Turn.objects.filter(text="Call Ana").update(text="Call [NAME]")
    again = labelled(tmp_path, [label("Call Ana")]).saved
    assert (again.added, again.known, again.text_differs) == (0, 1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"label": 0},
        {"annotator": "ben"},
        {"notes": "n"},
        {"confidence": 0.5},
        {"timestamp": "2025-01-01"},
        {"k": 1},
    ],
)
def test_labels_that_differ_in_anything_are_both_kept(tmp_path: Path, change: dict[str, Any]) -> None:
    make_dataset(tmp_path, make_session("a"))
    labelled(tmp_path, [label("Hi")])
    assert labelled(tmp_path, [label("Hi") | change]).saved.added == 1


def test_one_bad_line_and_nothing_is_saved(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    bad = [
        label("x"),
        {"text": "y", "label": 2, "persona_id": "p"},
        b"{",
        label("z", annotator="a" * 201),
        {"text": "w", "label": 1},
    ]
    refused = refusal(tmp_path, bad)
    assert [(item["line"], item["code"]) for item in refused.details["problems"]] == [
        (2, "E102"),
        (3, "E101"),
        (4, "E102"),
        (5, "E102"),
    ]
    assert refused.details["problem_total"] == 4
    assert not Annotation.objects.exists()
    assert Session.objects.count() == 1
    assert not AuditEvent.objects.filter(action="import_annotations").exists()


def test_the_first_hundred_problems_are_listed_and_all_are_counted(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    refused = refusal(tmp_path, [label("x", 7)] * 250)
    assert (len(refused.details["problems"]), refused.details["problem_total"]) == (100, 250)


def test_no_message_repeats_what_people_said(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    secret = "my number is 555-0100, call me"
    refused = refusal(
        tmp_path,
        [label(secret, 3), {"text": secret, "label": secret, "persona_id": "p"}, encode_jsonl([secret])[:-1]],
    )
    assert secret not in json.dumps([refused.message, refused.details])


def test_an_import_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))

    def stop(done: int, total: int | None = None) -> None:
        raise OperationCanceled

    with pytest.raises(OperationCanceled), transaction.atomic():
        labelled(tmp_path, [label(str(number)) for number in range(3000)], report_progress=stop)
    assert not Annotation.objects.exists()


# --- datasets and personas --------------------------------------------------------------------


def test_a_missing_dataset_is_refused_or_made_on_request(tmp_path: Path) -> None:
    assert "no dataset" in refusal(tmp_path, [label("x")], dataset_name="new").message
    done = labelled(tmp_path, [label("x")], dataset_name="new", create=True)
    assert (done.created, done.dataset.turn_count) == (True, 1)
    assert labelled(tmp_path, [label("y")], dataset_name="new", create=True).created is False


def test_without_a_name_the_file_gives_it(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "calibration.jsonl", [label("x")])
    assert import_annotations(path, create=True).dataset.name == "calibration"


@pytest.mark.parametrize("name", ["a/b", "", "ä", "-x"])
def test_a_name_that_can_be_none_is_refused_with_a_sentence(tmp_path: Path, name: str) -> None:
    path = write_jsonl(tmp_path / f"{name.replace('/', '_') or 'x'}.jsonl", [label("x")])
    with pytest.raises(UserError):
        import_annotations(path, dataset_name=name or " ", create=True)


def test_an_expired_dataset_takes_no_labels(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    Dataset.objects.update(status="expired")
    assert "expired" in refusal(tmp_path, [label("x")]).message


def test_a_persona_given_for_the_file_stands_in_where_a_line_has_none(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    without = {"text": "x", "label": 1}
    labelled(tmp_path, [without, without | {"persona_id": None, "label": 0}, label("z")], persona="p")
    assert set(Annotation.objects.values_list("persona_id", flat=True)) == {"p"}
    refused = refusal(tmp_path, [without, label("y") | {"persona_id": "q"}], persona="p")
    assert [item["line"] for item in refused.details["problems"]] == [2]


def test_the_trail_holds_counts_and_the_digest_and_no_text(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_session("a"))
    labelled(tmp_path, [label("Secret words")])
    event = AuditEvent.objects.get(action="import_annotations")
    assert event.dataset_name == "support"
    assert (event.details["labels"], event.details["added"]) == (1, 1)
    assert len(event.details["sha256"]) == 64
    assert "Secret" not in json.dumps(event.details)


def test_files_as_people_have_them_are_read(tmp_path: Path) -> None:
    import gzip

    make_dataset(tmp_path, make_session("a"))
    path = tmp_path / "labels.jsonl.gz"
    path.write_bytes(
        gzip.compress(b"\xef\xbb\xbf" + encode_jsonl([label("x")]).replace(b"\n", b"\r\n") + b"\n\n")
    )
    assert import_annotations(path, dataset_name="support").saved.added == 1
    for broken in (b"", b"\n\n", b"PK\x03\x04", gzip.compress(encode_jsonl([label("x")]))[:-9]):
        path.write_bytes(broken)
        with pytest.raises(UserError):
            import_annotations(path, dataset_name="support")


# --- labels within conversations --------------------------------------------------------------


def test_a_conversation_line_with_a_label_becomes_an_annotation(tmp_path: Path) -> None:
    lines = [
        make_turn("a", 1, persona_id="p"),
        make_turn(
            "a",
            2,
            persona_id="p",
            label=0,
            confidence=0.7,
            notes="stiff",
            labeler="ada",
            timestamp="2025-01-01",
        ),
    ]
    assert import_file(write_jsonl(tmp_path / "a.jsonl", lines))["annotations"] == 1
    made = Annotation.objects.get()
    assert (made.label, made.persona_id, made.annotator, made.notes) == (0, "p", "ada", "stiff")
    assert (made.confidence, made.timestamp) == (0.7, "2025-01-01")


@pytest.mark.parametrize("value", [1.0, 1, True, "1", "intent", None, [1], {"a": 1}, 2, 1e300])
def test_whatever_a_label_key_holds_the_conversation_comes_in(tmp_path: Path, value: Any) -> None:
    odd = {"annotator": "x" * 300, "notes": {"a": 1}, "confidence": "high"}
    lines = [make_turn("a", 1, persona_id="p", label=value, **odd)]
    import_file(write_jsonl(tmp_path / "a.jsonl", lines))
    made = list(Annotation.objects.values_list("label", "annotator", "notes", "confidence"))
    assert made == ([(1, None, None, None)] if value in (1,) and value is not True else [])


# --- there and back ---------------------------------------------------------------------------

KNOWN = {
    "text",
    "label",
    "persona_id",
    "session_id",
    "turn_index",
    "annotator",
    "labeler",
    "notes",
    "timestamp",
    "confidence",
    "original_session_id",
    "original_turn_index",
}
optional = {
    "session_id": names,
    "turn_index": st.integers(0, 2**31 - 1),
    "annotator": names,
    "notes": texts,
    "timestamp": timestamps,
    "confidence": st.floats(0, 1),
}


@st.composite
def labels(draw: st.DrawFn) -> list[dict[str, Any]]:
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        line = draw(st.dictionaries(texts.filter(lambda key: key not in KNOWN), values, max_size=2))
        # Without one, only a turn of the dataset could be meant.
        line |= {"text": draw(texts.filter(bool)), "label": draw(st.integers(0, 1)), "persona_id": "p"}
        line |= {key: draw(strategy) for key, strategy in optional.items() if draw(st.booleans())}
        lines.append(line)
    return lines


class _Undo(Exception):
    pass


def exported(stored: Dataset, labels: str = "all") -> bytes:
    out = io.BytesIO()
    # Made-up numbers may happen to be somebody's.
    export_annotations(stored, persona="p", out=out, labels=labels, override="Made up")
    return out.getvalue()


def says(line: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether an exported line has all that was given: the place, too, in its own or its original fields."""
    line = dict(line)
    assert line.pop("labeler", None) == line.get("annotator")
    for key in ("session_id", "turn_index"):
        place = line.pop(key)
        if key in given:
            line[key] = line.pop(f"original_{key}", place)
    return encode_canonical(line) == encode_canonical(given)


def encode_canonical(value: Any) -> str:
    """With one zero: PostgreSQL's numbers have no negative one."""
    return re.sub(r"(?<![\w.])-0\.0(?![\d.e])", "0.0", json.dumps(value, sort_keys=True))


def _meant(given: dict[str, Any]) -> dict[str, Any]:
    return given if "session_id" in given else {"turn_index": 1, **given}


@with_database
@given(lines=labels(), ascii_only=st.booleans())
@example(lines=[{"text": "-", "label": 0, "persona_id": "p", "": 4151128154658031.0}], ascii_only=False)
def test_what_goes_in_comes_out(tmp_path: Path, lines: list[dict[str, Any]], ascii_only: bool) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(encode_jsonl(encode_json(line, ascii_only) for line in lines))
    try:
        with transaction.atomic():
            stored = import_annotations(path, create=True).dataset
            data = exported(stored)
            assert len(data.decode().splitlines()) == data.count(b"\n")
            written = [json.loads(line) for line in data.splitlines()]
            assert all(any(says(line, given) for line in written) for given in lines)
            # Nor is anything there that nobody gave. Two lines may say the same: of a text without a session,
            # that it is turn 1 goes without saying.
            assert all(any(says(line, given) for given in lines) for line in written)
            assert len(written) == len({encode_canonical(_meant(given)) for given in lines})
            # And what came out goes in again without a trace.
            path.write_bytes(data)
            assert import_annotations(path).saved.added == 0
            raise _Undo
    except _Undo:
        pass
