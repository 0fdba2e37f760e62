"""A signature holds exactly as long as a package has the same data and metadata."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.models import Campaign
from datasets_app.access.limit_access import restrict_dataset
from datasets_app.browsing.comments import add_comment
from datasets_app.catalog import text_gates
from datasets_app.catalog.import_persona import import_persona
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset
from datasets_app.releasing.sharing.checklist import current_review
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.retention.holds import change_hold
from datasets_app.scrubbing.marks import mark_not_personal, remove_mark
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.campaigns import make_campaign
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)

PERSONA = "id: warm_v1\ndisplay_name: Warm\nexemplars: [Happy to help.]\n"
NAME = "Jane Fonseca"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    import_persona(PERSONA, actor=None)
    turns = [
        make_turn("s1", text="Where is my order?", persona_id="warm_v1"),
        make_turn("s1", 2, "assistant", text=f"Ask {NAME} of Northwind Traders.", persona_id="warm_v1"),
    ]
    made = make_dataset(tmp_path, turns, origin="synthetic")
    mark_not_personal(made, term=NAME, actor=None)
    scrub_dataset(made, Policy())
    made.refresh_from_db()
    make_campaign(made, "ana")
    return made


def change_persona(dataset: Dataset) -> None:
    import_persona(f"{PERSONA}brand_names: [Northwind Traders]\n", actor=None)


def keep_a_term(dataset: Dataset) -> None:
    mark_not_personal(dataset, term="Northwind Traders", actor=None)


def keep_a_term_no_more(dataset: Dataset) -> None:
    remove_mark(dataset.scrub_marks.get(), actor=None)


CHANGES: dict[str, Callable[[Dataset], Any]] = {
    "persona": change_persona,
    "another persona": lambda dataset: import_persona("id: cold_v1\n", actor=None),
    "kept term": keep_a_term,
    "kept everywhere": lambda dataset: mark_not_personal(None, term="Northwind Traders", actor=None),
    "kept no more": keep_a_term_no_more,
    "comment": lambda dataset: add_comment(
        dataset.sessions.get(), "Odd.", turn_index=None, actor=User.objects.create_superuser("eve")
    ),
    "guidelines": lambda dataset: edit_campaign(
        Campaign.objects.get(), changes={"guidelines": "Be strict."}, actor=None
    ),
    "check": lambda dataset: check_dataset(dataset, actor=None),
    "restrict": lambda dataset: restrict_dataset(dataset, actor=None),
    "hold": lambda dataset: change_hold(dataset, "A lawsuit", held=True, actor=None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_signature_ends_exactly_when_the_package_changes(
    change: str, dataset: Dataset, tmp_path: Path
) -> None:
    sign_review(dataset, actor=User.objects.create_superuser("boss", first_name="Dana"))
    before = digest_package(dataset, tmp_path / "before")
    CHANGES[change](dataset)
    text_gates.scan_and_describe(dataset)
    holds = current_review(dataset) is not None
    differing = compare(before, digest_package(dataset, tmp_path / "after"))
    assert (holds, change) == (not differing, change), differing


def digest_package(dataset: Dataset, out: Path) -> dict[str, str]:
    export_package(Dataset.objects.get(), out, override="A test")
    # The others describe these, with the results of the latest checks.
    files = [path for path in out.rglob("*") if path.name.endswith((".jsonl", ".meta.yaml"))]
    return {str(path.relative_to(out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def compare(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
