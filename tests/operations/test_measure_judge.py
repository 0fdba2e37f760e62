"""A judge against people: rates, confusion and agreement, counted again by hand."""

from pathlib import Path

import pytest

from annotations_app.judges.judges import get_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.run_judge import run_judge
from annotations_app.models import Annotation, Campaign, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.models import Session
from tests.campaigns import label_all_replies, make_campaign, make_replies

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("measure judge")]


@pytest.fixture(scope="module")
def judged(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """40 replies: people say yes to every second, the judge misses four of them and takes two others; the
    last two are not judged."""
    campaign = make_campaign(
        make_replies(tmp_path_factory.mktemp("judged"), 40), "ana", "ben", "cy", overlap=3
    )
    run_judge(campaign, get_judge("offline"), JudgeOptions(repeats=2))
    for name in ("ana", "ben", "cy"):
        label_all_replies(campaign, name)
    turns = list(campaign.items.order_by("turn_id").values_list("turn_id", flat=True))
    for place, turn in enumerate(turns):
        Annotation.objects.filter(turn_id=turn).update(label=place % 2)
        judge = place % 2 if place not in (1, 3, 5, 7, 0, 2) else 1 - place % 2
        failure = "no answer in time" if place >= 38 else ""
        codes = {} if failure else {"on_brand": judge}
        Verdict.objects.filter(turn_id=turn, repeat=0).update(codes=codes, failure=failure)
        Verdict.objects.filter(turn_id=turn, repeat=1).update(codes={"on_brand": 1 if place < 10 else judge})
        Session.objects.filter(turns__pk=turn, dataset=campaign.dataset).update(
            split=("train", "test")[place >= 20]
        )
    # One reply is a tie of two labels, and one has none.
    Annotation.objects.filter(turn_id=turns[20], annotator="ana").delete()
    Annotation.objects.filter(turn_id=turns[20], annotator="ben").update(label=1)
    Annotation.objects.filter(turn_id=turns[22]).delete()
    return JudgeRun.objects.get().pk


@pytest.fixture
def run(judged: int) -> JudgeRun:
    return JudgeRun.objects.select_related("judge", "campaign").get(pk=judged)


def test_rates_confusion_and_what_is_not_judged(run: JudgeRun) -> None:
    report = measure_judge(run)
    assert (report.judged, report.missing) == (78, 2)
    assert report.not_judged == {"no answer in time": 2}
    assert report.missing_share == pytest.approx(0.025)
    [measured] = report.criteria
    # 38 are judged; a tie and an unlabeled one are left out. People: 19 yes, 17 no.
    assert (measured.judged, measured.ties, measured.unlabeled) == (38, 1, 1)
    times = [(name, tuple(cell.times for cell in row)) for name, row in measured.confusion]
    assert times == [("Off-brand", (15, 2)), ("On-brand", (4, 15))]
    no, yes = measured.whole.rates
    assert (no.people, no.rate.value) == (17, pytest.approx(15 / 17))
    assert (yes.people, yes.rate.value) == (19, pytest.approx(15 / 19))
    assert yes.rate.low is not None
    assert yes.rate.high is not None
    assert yes.rate.low < 15 / 19 < yes.rate.high
    assert measured.whole.comparison.raw_agreement.value == pytest.approx(30 / 36)
    splits = {part.name: part.comparison.n for part in measured.parts["split"]}
    assert splits == {"train": 20, "test": 16}
    assert measured.itself is not None
    # Of the first ten, three say otherwise in the repeat than "yes": 4, 6, 8, and 1, 3, 5, 7.
    assert measured.itself.n == 38
    assert measured.itself.raw_agreement.value == pytest.approx(31 / 38)
    assert report.as_json()["criteria"][0]["agreement"]["n"] == 36


def test_without_labels_there_is_nothing_to_compare_and_the_report_says_so(tmp_path: Path) -> None:
    campaign: Campaign = make_campaign(make_replies(tmp_path, 5, name="unlabeled"), "ana", name="unlabeled")
    run_judge(campaign, get_judge("offline"))
    [measured] = measure_judge(JudgeRun.objects.get(campaign=campaign)).criteria
    assert measured.whole.comparison.n == 0
    assert measured.whole.rates[0].rate.value is None
    assert measured.unlabeled == 5


def test_it_is_told_whether_a_judge_may_replace_one_of_the_people(run: JudgeRun) -> None:
    """It agrees with 30 of 36; three people who always agree are beaten by nobody who is wrong that often."""
    [measured] = measure_judge(run).criteria
    assert measured.alternative is not None
    assert [one.annotator for one in measured.alternative.advantages] == ["ana", "ben", "cy"]
    assert {one.person for one in measured.alternative.advantages[:1]} == {1.0}
    assert measured.alternative.passes is False
    assert measured.alternative.sentence.startswith("It may not replace an annotator")
    [generous] = measure_judge(run, epsilon=0.5).criteria
    assert generous.alternative is not None
    assert generous.alternative.passes
    assert generous.as_json()["alternative_annotator"]["epsilon"] == 0.5
    with pytest.raises(UserError, match="Epsilon must be"):
        measure_judge(run, epsilon=0.9)


def test_a_version_is_compared_with_the_one_before_on_the_same_replies(run: JudgeRun) -> None:
    """The later one is right where the first was wrong, but for one reply that only the first had right."""
    assert measure_judge(run).criteria[0].change is None
    later = JudgeRun.objects.create(
        campaign=run.campaign, judge=run.judge, prompt_digest="f" * 64, persona_digest=run.persona_digest
    )
    labels = dict(Annotation.objects.filter(annotator="cy").values_list("turn_id", "label"))
    for place, turn in enumerate(sorted(labels)[:30]):
        said = labels[turn] if place != 12 else 1 - labels[turn]
        Verdict.objects.create(
            dataset=run.campaign.dataset, turn_id=turn, run=later, codes={"on_brand": said}
        )
    [measured] = measure_judge(later).criteria
    change = measured.change
    assert change is not None
    assert (change.earlier, change.gained, change.lost) == ("offline@1", 6, 1)
    assert (change.now - change.before, change.replies) == (5, measured.whole.comparison.n)
    assert change.difference.value == pytest.approx(5 / change.replies)
    assert change.difference.low is not None
    assert change.difference.low < 5 / change.replies < change.difference.high  # type: ignore[operator]
    assert measured.as_json()["earlier_version"]["gained"] == 6
    by_length = measured.parts["length"]
    assert sum(part.comparison.n for part in by_length) == measured.whole.comparison.n
    assert by_length[0].name.startswith("up to ")
