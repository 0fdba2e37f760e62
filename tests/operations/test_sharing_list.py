"""The list before sharing: each item says yes only where that can be shown."""

from pathlib import Path

import pytest

from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, ScrubMark
from datasets_app.operations.scrub_dataset import scrub_dataset
from datasets_app.operations.sharing_list import SharingItem, sharing_list
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS = ["e-mail", "ids", "names", "timestamps", "path", "credential", "metadata", "legal"]
STRICT = Policy(hash_session_ids=True, drop_timestamps=True)


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    line = factories.turn(text="Mail jo@example.org.", timestamp="2026-05-01T10:00:00Z")
    return factories.dataset(tmp_path, [line], origin="production")


def listed(dataset: Dataset) -> dict[str, SharingItem]:
    return dict(zip(ITEMS, sharing_list(dataset), strict=True))


def answers(dataset: Dataset) -> dict[str, str]:
    return {name: item.answer for name, item in listed(dataset).items()}


def add(path: Path, name: str = "more", **fields: str) -> None:
    factories.imported(factories.write(path / f"{name}.jsonl", [factories.turn(name, **fields)]), append=True)


def test_what_was_never_scrubbed_cannot_be_told(dataset: Dataset) -> None:
    assert answers(dataset) == {
        "e-mail": "unknown",
        "ids": "no",
        "names": "unknown",
        "timestamps": "no",
        "path": "unknown",
        "credential": "unknown",
        "metadata": "unknown",
        "legal": "unsigned",
    }
    assert {item.remedy for name, item in listed(dataset).items() if name != "legal"} == {"scrub"}


def test_a_complete_scrub_answers_all_but_the_signature(dataset: Dataset) -> None:
    scrub_dataset(dataset, STRICT)
    items = listed(dataset)
    assert {name for name, item in items.items() if item.answer != "yes"} == {"legal"}
    assert "none is left in 1 turn" in items["e-mail"].reason
    assert "a model misses some" in items["names"].reason


def test_a_preview_that_found_something_says_no(dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy(), dry_run=True)
    found = listed(dataset)
    assert found["e-mail"].answer == "no"
    assert "1 in 1 session" in found["e-mail"].reason
    assert found["credential"].answer == "unknown"


def test_classes_left_out_are_not_answered(dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy(kinds=("EMAIL", "PHONE")))
    found = answers(dataset)
    assert (found["e-mail"], found["names"], found["metadata"]) == ("yes", "unknown", "unknown")
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


def test_moved_timestamps_and_none_at_all_are_both_fine(dataset: Dataset, tmp_path: Path) -> None:
    scrub_dataset(dataset, Policy(fuzz_seconds=3600))
    assert "3,600 seconds" in listed(dataset)["timestamps"].reason
    other = factories.dataset(tmp_path, [factories.turn()], "without")
    assert answers(other)["timestamps"] == "yes"


def test_an_empty_dataset_has_no_ids_to_tell_of(db: None) -> None:
    assert answers(Dataset.objects.create(name="empty"))["ids"] == "unknown"
