"""A third person is asked only where the first two differ, and agreement says whose labels it counts."""

from pathlib import Path

import pytest

from annotations_app.agreement.measure import measure_agreement
from annotations_app.agreement.unsure_replies import ask_where_unsure
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.settings import InvalidSetting
from annotations_app.criteria.schemas import import_schema
from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.judge_rows import read_raters
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Assignment, Campaign
from tests.campaigns import find_inconsistencies, get_user, make_campaign, make_replies, submit

pytestmark = pytest.mark.django_db
SCHEMA = "schema: safety\ncriteria:\n  - {key: safe, question: Is it safe?, kind: yes_no}\n"


def label_all(campaign: Campaign, name: str, wrong: int = 0) -> int:
    """Off-brand for the first ``wrong`` places of the campaign; returns how many."""
    count = 0
    while (current := lease_next(campaign, get_user(name)).current) is not None:
        said = int(current.item.position > wrong)
        answers = {"label": None, "answers": {"safe": said}} if campaign.schema else {"label": said}
        submit(current, **answers)
        count += 1
    return count


@pytest.fixture(params=["built-in", "schema"])
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Campaign:
    schema = import_schema(SCHEMA).schema if request.param == "schema" else None
    data = make_replies(tmp_path, 20)
    return make_campaign(data, "ana", "ben", "chi", overlap=2, max_overlap=3, schema=schema)


def test_a_third_person_gets_only_what_the_first_two_differ_on(campaign: Campaign) -> None:
    assert label_all(campaign, "ana") == 20
    assert label_all(campaign, "ben", wrong=4) == 20
    assert label_all(campaign, "chi", wrong=2) == 4
    assert Assignment.objects.filter(campaign=campaign, extra=True).count() == 4
    assert campaign.items.filter(extra=1).count() == 4
    assert label_all(campaign, "ana") == label_all(campaign, "ben") == 0
    assert find_inconsistencies() == []


def test_agreement_and_rates_count_the_first_two_alone_and_say_so(campaign: Campaign) -> None:
    label_all(campaign, "ana")
    label_all(campaign, "ben", wrong=4)
    before = estimate_quality(campaign).rates[0].people.value
    label_all(campaign, "chi", wrong=2)
    report = estimate_quality(campaign)
    assert report.rates[0].people.value == before == pytest.approx(0.9)
    assert "first 2 annotators" in report.notes[0]
    if campaign.schema is None:
        measured = measure_agreement(campaign=campaign)
        assert (measured.headline.labels, measured.headline.raw_agreement.value) == (40, pytest.approx(0.8))
        assert "4 labels of that kind aren’t counted here" in measured.notes[0]


def test_what_the_first_two_may_well_have_wrong_is_asked_again(campaign: Campaign) -> None:
    label_all(campaign, "ana")
    label_all(campaign, "ben", wrong=9)
    waiting = campaign.items.filter(open__gt=0).count()
    assert waiting == 9
    ask_where_unsure(campaign)
    assert find_inconsistencies() == []


def test_settings_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    data = make_replies(tmp_path, 5)
    for overlap, most in ((1, 3), (2, 2), (3, 2), (2, 51)):
        with pytest.raises(InvalidSetting, match="Where annotators differ"):
            make_campaign(data, "ana", "ben", "chi", overlap=overlap, max_overlap=most)
    with pytest.raises(InvalidSetting, match="Each reply needs 3 annotators"):
        make_campaign(data, "ana", "ben", overlap=2, max_overlap=3)
    campaign = make_campaign(data, "ana", "ben", "chi", "dan", overlap=2, max_overlap=3)
    with pytest.raises(InvalidSetting, match="already"):
        edit_campaign(campaign, changes={"overlap": 3}, actor=None)


def test_who_was_asked_because_others_differed_is_no_sample_of_people(campaign: Campaign) -> None:
    label_all(campaign, "ana")
    label_all(campaign, "ben", wrong=4)
    label_all(campaign, "chi", wrong=2)
    [criterion] = campaign.asked_schema.criteria
    raters = read_raters(campaign, criterion)
    assert {name: len(turn) for name, (turn, _) in raters.items()} == {"ana": 20, "ben": 20}
