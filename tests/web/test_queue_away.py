"""What comes to the queue late, from a page that was away, or from somebody who looks for what is hidden."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.models import Annotation, Campaign, Decision
from datasets_app.models import Persona
from tests import factories
from tests.web.test_queue import annotator, current, lease, make, page, press


@pytest.fixture
def voice(db: None, tmp_path: Path) -> Campaign:
    return make(tmp_path, factories.make_sessions(5), ("anna", "ben"))


def test_what_was_pressed_before_somebody_went_is_kept(voice: Campaign) -> None:
    anna = annotator("anna")
    first, second = current(anna), current(anna)
    press(anna, "on")
    boss = User.objects.create_superuser("boss")
    pk = current(anna)
    edit_campaign(voice, changes={"status": "closed"}, actor=boss)
    assert (
        "This campaign is closed. Your decision is saved" in press(anna, "on", assignment=pk).content.decode()
    )
    annotator("cy")
    edit_campaign(voice, changes={"status": "open", "annotators": ["ben", "cy"]}, actor=boss)
    said = press(anna, "off", assignment=pk).content.decode()
    assert "You are no longer an annotator of this campaign. Your decision is saved" in said
    assert 'data-state="closed"' in said
    assert "What assistant says" not in said + lease(anna)
    assert anna.get("/annotate/voice/").status_code == 404
    assert press(anna, "on", assignment=pk, script=False)["Location"] == "/annotate/"
    assert first == second
    assert list(Decision.objects.filter(assignment=pk).values_list("counted", flat=True)) == [False] * 3
    assert Annotation.objects.count() == 1


def test_a_label_is_of_the_persona_that_was_shown(voice: Campaign) -> None:
    anna = annotator("anna")
    held = page(anna).split('data-order="')[1].split('"')[0].split(",")
    shown = Persona.objects.get().digest
    persona = Persona.objects.get()
    persona.yaml += "# another\n"
    persona.save()
    # Pressed without a network: the first of them renews the leases of the others.
    for pk in held:
        press(anna, "on", assignment=pk, shown=shown)
    assert set(Annotation.objects.values_list("persona_digest", flat=True)) == {shown}
    press(anna, "off", assignment=held[0], shown=persona.digest)
    assert Annotation.objects.filter(persona_digest=persona.digest).count() == 1
    refused = press(anna, "on", shown="x" * 64)
    assert refused.status_code == 409
    assert page(anna).count(f'name="shown" value="{persona.digest}"') == 1


def test_no_progress_tells_what_is_a_gold_item_or_comes_again(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(30), ("anna",), repeat_share=0.5, overlap=1)
    anna = annotator("anna")
    seen = []
    for _ in range(24):
        found = re.search(r'q-track-all" width="(\d+)"', press(anna, "on").content.decode())
        assert found
        seen.append(int(found[1]))
    assert Annotation.objects.filter(kind="repeat").exists()
    assert len(set(seen)) == 24


def test_a_name_that_can_be_none_is_not_found(voice: Campaign) -> None:
    anna = annotator("anna")
    assert anna.get("/annotate/%00/").status_code == 404
