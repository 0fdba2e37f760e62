"""Words that a scrub keeps because the whole dataset shows them to be brands."""

from pathlib import Path

import pytest
from django.db import connection

from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, Persona, ScrubMark, ScrubRun, Turn
from datasets_app.scrubbing.brands import compute_brand_key, list_brands, scrub_brand
from datasets_app.scrubbing.report import build_dataset_report
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.domain.test_brands import OF_A_RIVAL, OF_AN_AGENT
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def stored(tmp_path: Path) -> Dataset:
    yaml = "id: hollis\ndisplay_name: Hollis Home\n"
    Persona.objects.create(persona_id="hollis", display_name="Hollis Home", yaml=yaml)
    texts = [text.format("Purrina") for text in OF_A_RIVAL] + [text.format("Zheakin") for text in OF_AN_AGENT]
    lines = [make_turn(f"s{number}", 1, text=text, persona_id="hollis") for number, text in enumerate(texts)]
    return make_dataset(tmp_path, lines, origin="production")


def run(dataset: Dataset, *, dry_run: bool = False, policy: Policy | None = None) -> ScrubRun:
    facts = scrub_dataset(dataset, policy or Policy(), dry_run=dry_run, sample=2 if dry_run else None)
    return ScrubRun.objects.get(pk=facts["scrub"])


def read_texts() -> str:
    return "\n".join(Turn.objects.in_order().values_list("text", flat=True))


def test_brands_stay_in_a_scrub_and_the_preview_of_a_sample_lists_them(stored: Dataset) -> None:
    for dry_run in (True, False):
        scrub = run(stored, dry_run=dry_run)
        assert list_brands(scrub) == (("purrina", 9, 0, 7),)
        report = build_dataset_report(scrub)
        assert report["kept_brands"] == [{"sessions": 9, "by_assistant": 0, "as_thing": 7}]
        assert "purrina" not in str(report).lower()
    assert scrub.verified_at
    assert read_texts().count("Purrina") == len(OF_A_RIVAL)
    # A name that the model misses in some text is no matter of brands.
    assert read_texts().count("Zheakin") <= 2


def test_what_is_taken_back_is_forgotten_and_replaced_everywhere(stored: Dataset) -> None:
    preview = run(stored, dry_run=True)
    key = compute_brand_key("purrina")
    mark = scrub_brand(stored, key, actor=None)
    assert (mark.verdict, mark.kind, mark.term) == ("missed", "NAME", "")
    preview.refresh_from_db()
    assert list_brands(preview) == ()
    with pytest.raises(UserError, match="not kept as a brand any more"):
        scrub_brand(stored, key, actor=None)
    with connection.cursor() as cursor:
        for table in ("scrubrun", "scrubchunk", "scrubfinding", "jobrun", "auditevent", "scrubmark"):
            cursor.execute(f"SELECT t::text FROM datasets_app_{table} t")
            assert "purrina" not in str(cursor.fetchall()).lower(), table
    assert list_brands(run(stored)) == ()
    assert "purrina" not in read_texts().lower()


def test_an_unfinished_scrub_resumes_with_the_brands_it_found(stored: Dataset) -> None:
    class Stopped(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        scrub_dataset(stored, Policy(), report_progress=stop)
    [unfinished] = ScrubRun.objects.all()
    assert [brand.term for brand in list_brands(unfinished)] == ["purrina"]
    assert run(stored).pk == unfinished.pk
    assert not ScrubMark.objects.exists()


def test_without_the_search_nothing_is_kept(stored: Dataset) -> None:
    scrub = run(stored, policy=Policy(keeps_brands=False))
    assert scrub.policy["brands"] is None
    assert "asked [NAME] the same thing" in read_texts()


@pytest.mark.parametrize(("named", "kept"), [("hollis", True), ("another", False)])
def test_personas_of_other_datasets_keep_nothing(tmp_path: Path, named: str, kept: bool) -> None:
    yaml = "id: hollis\nbrand: Jane Miller\n"
    Persona.objects.create(persona_id="hollis", display_name="Hollis Home", yaml=yaml)
    line = make_turn("s1", 1, text="My name is Jane Miller.", persona_id=named)
    run(make_dataset(tmp_path, [line], origin="production"))
    assert ("Jane Miller" in read_texts()) is kept
