"""The queue over HTTP: what is shown and what is not, and that the same press is one decision."""

import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations_app import urls as queue_urls
from annotations_app.campaigns.create import create_campaign
from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.flag_reasons import FLAG_REASONS
from annotations_app.models import Annotation, Assignment, Campaign, Decision, Judgment
from datasets_app.catalog.rows.partitions import require_partition
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, Persona, Session, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7|add:13300 }}"
STRICT = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
YAML = """
id: calm
display_name: Calm assistant
exemplars: [Let us check together.]
lexicon: {preferred: [check, thank you, yes], avoid: [obviously]}
style_rules: {sentence_length: {max_avg: 18}, emojis: {allowed: false}, tone: [calm, direct]}
"""


def annotator(name: str) -> Client:
    user, is_new = User.objects.get_or_create(username=name)
    if is_new:
        user.groups.add(Group.objects.get(name="annotator"))
    client = Client()
    client.force_login(user)
    client.user = user  # type: ignore[attr-defined]
    return client


def make(folder: Path, lines: list[Any], names: tuple[str, ...] = ("anna",), **given: Any) -> Campaign:
    for name in names:
        annotator(name)
    dataset = factories.make_dataset(folder, lines, given.pop("dataset", "support"))
    persona, _ = Persona.objects.get_or_create(persona_id="calm", defaults={"yaml": given.pop("yaml", YAML)})
    given = {"overlap": len(names), **given}
    return create_campaign(Campaign(name="voice", dataset=dataset, persona=persona, **given), names)


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    return make(tmp_path, factories.make_sessions(5), ("anna", "ben"))


@pytest.fixture
def anna(campaign: Campaign) -> Any:
    return annotator("anna")


def lease(client: Any, **fields: Any) -> str:
    """What the page's script asks at load."""
    headers = {"X-Queue": str(client.user.pk)}
    return client.post(reverse("annotate:lease", args=["voice"]), fields, headers=headers).content.decode()


def page(client: Any, name: str = "queue", *more: Any, **query: Any) -> str:
    """A page with the replies that are leased, as after a reload."""
    lease(client)
    return client.get(reverse(f"annotate:{name}", args=["voice", *more]), query).content.decode()


def current(client: Any) -> int:
    found = re.search(r'data-order="(\d+)', lease(client))
    assert found
    return int(found[1])


def press(client: Any, decision: str, *, script: bool = True, **more: Any) -> Any:
    sent = {"assignment": more.pop("assignment", None) or current(client), "decision": decision}
    headers = {"X-Queue": str(client.user.pk)} if script else {}
    return client.post(
        reverse("annotate:decide", args=["voice"]), {"key": uuid.uuid4(), **sent, **more}, headers=headers
    )


# --- what is shown ---


def test_the_page_and_what_comes_with_it(anna: Any, campaign: Campaign) -> None:
    html = page(anna)
    assert html.count('<article class="q-item"') == 3
    assert html.count("hidden>") >= 2
    assert "Calm assistant" in html
    assert "Let us check together." in html
    assert "Sentences of at most 18 words on average" in html
    assert "Emojis are not allowed" in html
    assert "Tone: calm, direct" in html
    assert "This campaign has no guidelines" in html


def test_a_strict_policy_for_what_browsers_run(anna: Any, campaign: Campaign) -> None:
    def policy(address: str, client: Any = anna) -> set[str]:
        return set(client.get(address)["Content-Security-Policy"].split("; "))

    strict = set(STRICT.split("; "))
    for address in (
        "/annotate/?all",
        "/annotate/voice/",
        "/annotate/voice/lease/",
        "/password/",
        "/nowhere/",
    ):
        assert policy(address) == strict
    assert policy("/login/", Client()) == strict
    assert policy("/admin/") == strict  # the refusal is a page of our own
    boss = Client()
    boss.force_login(User.objects.create_superuser("boss"))
    in_admin = strict - {"script-src 'self'", "style-src 'self'"}
    in_admin |= {"script-src 'self' 'unsafe-eval'", "style-src 'self' 'unsafe-inline'"}
    assert policy("/admin/", boss) == in_admin


@pytest.mark.parametrize("address", ["/annotate/voice/", "/annotate/?all", "/login/", "/password/"])
def test_no_script_and_no_style_stands_in_a_page(address: str, anna: Any) -> None:
    html = (Client() if address == "/login/" else anna).get(address).content.decode()
    assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", html)
    assert all("src=" in script for script in re.findall(r"<script[^>]*>", html))
    assert not re.search(r'(src|href|action)="(https?:)?//', html)


def test_words_of_the_persona_are_marked(db: None, tmp_path: Path) -> None:
    text = "Obviously, CHECK it. Thank\nyou; recheck."
    make(tmp_path, [factories.make_turn(), factories.make_turn("s1", 2, text=text)])
    html = page(annotator("anna"))
    marked = re.findall(r'<mark class="ad-word ad-word-(\w+)" title="([^"]+)">([^<]+)</mark>', html)
    assert marked == [
        ("avoid", "To avoid", "Obviously"),
        ("preferred", "Preferred", "CHECK"),
        ("preferred", "Preferred", "Thank\nyou"),
    ]
    assert 'class="q-sr">: Obviously<' in html


def test_text_from_elsewhere_does_nothing(db: None, tmp_path: Path) -> None:
    lines = [factories.make_turn(text=EVIL), factories.make_turn("s1", 2, text=EVIL + " check")]
    quoted = EVIL.replace("'", "''")
    yaml = f"id: calm\ndisplay_name: '{quoted}'\ndescription: '{quoted}'\nexemplars: ['{quoted}']\n"
    yaml += f"lexicon: {{preferred: [check, '{quoted}'], avoid: ['{quoted}']}}\n"
    yaml += f"style_rules: {{'{quoted}': '{quoted}'}}\nsafety_rules: {{brand_notes: '{quoted}'}}\n"
    guidelines = f"{EVIL}\n\n[a](javascript:alert(1)) <b onclick=x>y</b> [b](https://example.org)\n\n![c](x)"
    make(tmp_path, lines, yaml=yaml, guidelines=guidelines)
    anna = annotator("anna")
    pk = current(anna)
    pages = [page(anna), page(anna, "turns", pk, before=2), page(anna, "whole_turn", pk, 2)]
    pages += [press(anna, "flag", reason="other", words=EVIL).content.decode(), page(anna)]
    pages += [
        press(anna, "on", assignment=pk, notes=EVIL).content.decode(),
        page(anna),
        page(anna, "reply", pk),
    ]
    for html in pages:
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "13307" not in html
        assert 'href="javascript:' not in html
    assert '<a href="https://example.org" target="_blank" rel="noopener noreferrer nofollow">' in pages[0]
    assert Annotation.objects.get().notes == EVIL


def test_annotators_are_blind(db: None, tmp_path: Path) -> None:
    """Nothing of others, and nothing that tells a gold item or a repeat from any other."""
    campaign = make(
        tmp_path,
        factories.make_sessions(30),
        ("anna", "benedict"),
        repeat_share=0.5,
        gold_share=0,
        lease_minutes=7,
    )
    campaign.items.filter(position__lte=3).update(gold=True, open=0)
    Campaign.objects.filter(pk=campaign.pk).update(gold_share=0.2, gold_count=3)
    anna, ben = annotator("anna"), annotator("benedict")
    for number in range(13):
        if number < 3:
            press(ben, "off", notes="a secret of benedict")
        said = press(anna, "on").content.decode()
        seen = said + page(anna) + anna.get("/annotate/?all").content.decode()
        for hidden in ("benedict", "secret", "gold", "repeat", "q-said-off"):
            assert hidden not in seen
    own = Assignment.objects.filter(annotator=anna.user)
    assert own.filter(repeat=True).exists()
    assert own.filter(item__gold=True).exists()
    shapes = {re.sub(r"\d+", "0", tag) for tag in re.findall(r"<article[^>]*>", page(anna))}
    own_values = re.compile(r'data-(?:snippet|digest)="[^"]*"')
    assert len({own_values.sub("", shape).replace(" hidden", "") for shape in shapes}) == 1
    assert "You <b>13</b>" in page(anna)
    assert "13 labeled by you" in anna.get("/annotate/?all").content.decode()


# --- reading writes nothing ---

WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|pg_advisory\w*)\b")


def queue_addresses(anna: Any, campaign: Campaign) -> list[str]:
    """Every route of the queue, with a reply of anna's wherever one is named."""
    names = [pattern.name for pattern in queue_urls.urlpatterns]
    own = Assignment.objects.filter(annotator=anna.user).order_by("pk").first()
    parts = {"turn_index": 1, "pk": own.pk if own else 1, "name": campaign.name}
    addresses = []
    for pattern in queue_urls.urlpatterns:
        named = {name: parts[name] for name in pattern.pattern.converters}
        addresses.append(reverse(f"annotate:{pattern.name}", kwargs=named))
    assert {"campaigns", "queue", "lease", "decide", "reply", "turns", "whole_turn"} == set(names)
    return addresses


@pytest.mark.parametrize("state", ["nothing leased", "leased", "expired", "decided"])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_reading_requests_write_nothing(state: str, headers: Any, anna: Any, campaign: Campaign) -> None:
    """No GET or HEAD leases, renews or gives back a reply, its own or anybody else's."""
    if state != "nothing leased":
        assert current(anna)
        assert current(annotator("ben"))
    if state == "expired":
        Assignment.objects.update(leased_until="2020-01-01T00:00Z")
    if state == "decided":
        press(anna, "on")
    before = list(Assignment.objects.order_by("pk").values())
    statuses = set()
    for address in queue_addresses(anna, campaign):
        for ask in (anna.get, anna.head):
            with CaptureQueriesContext(connection) as queries:
                statuses.add(ask(address, headers=headers).status_code)
            assert not [query["sql"] for query in queries if WRITES.search(query["sql"])]
    assert 200 in statuses
    assert list(Assignment.objects.order_by("pk").values()) == before


def test_reading_raw_text_writes_the_audit_log_only(anna: Any, campaign: Campaign) -> None:
    assert current(anna)
    Dataset.objects.filter(pk=campaign.dataset_id).update(origin="production")
    Campaign.objects.filter(pk=campaign.pk).update(overridden=True)
    with CaptureQueriesContext(connection) as queries:
        assert "What assistant says" in anna.get("/annotate/voice/").content.decode()
    writes = [query["sql"] for query in queries if WRITES.search(query["sql"])]
    assert writes
    assert all("datasets_app_audit" in sql or "pg_advisory" in sql for sql in writes), writes


def test_an_expired_lease_is_shown_until_it_is_taken(anna: Any, campaign: Campaign) -> None:
    first = current(anna)
    Assignment.objects.update(leased_until="2020-01-01T00:00Z")
    assert f'id="a{first}"' in anna.get("/annotate/voice/").content.decode()
    assert Assignment.objects.get(pk=first).leased_until.year == 2020
    assert current(anna) == first
    assert Assignment.objects.get(pk=first).leased_until.year > 2020


def test_without_the_script_a_button_gets_replies(anna: Any) -> None:
    assert "Get next reply" in anna.get("/annotate/voice/").content.decode()
    assert anna.post("/annotate/voice/lease/")["Location"] == "/annotate/voice/"
    html = anna.get("/annotate/voice/").content.decode()
    assert "Get next reply" not in html
    assert html.count('<article class="q-item"') == 3
    for _ in range(5):
        press(anna, "on", script=False)
    assert "There is nothing left for you to label" in anna.get("/annotate/voice/").content.decode()


# --- deciding ---


def test_the_same_press_twice_is_one_decision(anna: Any) -> None:
    key, pk = uuid.uuid4(), current(anna)
    answers = [press(anna, "on", assignment=pk, key=key, notes="why", seconds="2.5") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert Decision.objects.get().key == key
    label = Annotation.objects.get()
    assert (label.label, label.notes, label.seconds, label.annotator) == (1, "why", 2.5, "anna")
    assert current(anna) != pk


def test_an_answer_brings_only_what_the_page_lacks(anna: Any, campaign: Campaign) -> None:
    html = page(anna)
    held = re.findall(r'<article class="q-item" id="a(\d+)"', html)
    digest = campaign.persona.digest
    said = press(anna, "on", have=",".join(held), persona=digest).content.decode()
    assert said.count("<article") == 1
    assert 'id="persona"' not in said
    assert "On-brand</span>" in said
    campaign.persona.yaml = YAML.replace("Calm", "Calmer")
    campaign.persona.save()
    said = press(anna, "off", have=",".join(held), persona=digest).content.decode()
    assert "Calmer assistant" in said
    assert Annotation.objects.latest("pk").persona_digest in {digest, campaign.persona.digest}


def test_by_form_without_the_script(anna: Any) -> None:
    html = page(anna)
    key = re.search(r'name="key" value="([^"]+)"', html)
    assert key
    first = current(anna)
    sent = {"key": key[1], "notes": "a note", "script": False}
    assert press(anna, "off", **sent)["Location"] == "/annotate/voice/"
    # Sent again by a reload: known, and no second decision.
    press(anna, "off", assignment=first, **sent)
    assert (Decision.objects.get().label, Annotation.objects.get().notes) == (0, "a note")
    revisited = page(anna, "reply", first)
    assert f'name="assignment" value="{first}"' in revisited
    assert ">a note</textarea>" in revisited
    press(anna, "undo", assignment=first, script=False)
    assert current(anna) == first
    refused = press(anna, "flag", script=False)
    assert refused["Location"] == "/annotate/voice/"
    assert "Say why you flag this reply." in page(anna)


def test_what_was_typed_without_the_script_is_shown_again(anna: Any, campaign: Campaign) -> None:
    """Whatever refuses a decision, the words that came with it are on the answer, to be copied."""
    scrub_dataset(campaign.dataset, Policy())
    mine, theirs, words = current(anna), current(annotator("ben")), "<b>too</b> curt for Calm"
    shown = "&lt;b&gt;too&lt;/b&gt; curt for Calm</textarea>"
    typed: dict[str, Any] = {"script": False, "assignment": mine, "notes": words}
    personal = press(anna, "on", **{**typed, "notes": "mail jane.roe@example.org"})
    assert (personal.status_code, "mail jane.roe@example.org" in personal.content.decode()) == (409, True)
    for refused, told in (
        (press(anna, "undo", **typed), "Nothing to undo"),
        (press(anna, "on", **{**typed, "assignment": theirs}), "not assigned to you"),
        (press(anna, "flag", **{**typed, "notes": "", "words": words}), "Say why you flag"),
    ):
        answer = refused.content.decode()
        assert (refused.status_code, shown in answer, told in answer) == (409, True, True), told
    anna.user.groups.clear()
    forbidden = press(anna, "on", **typed)
    assert (forbidden.status_code, shown in forbidden.content.decode()) == (403, True)
    anna.logout()
    late = press(anna, "on", **typed)
    assert (late.status_code, shown in late.content.decode()) == (401, True)
    assert "/login/?next=%2Fannotate%2Fvoice%2F" in late.content.decode()
    assert press(anna, "on", **{**typed, "notes": ""})["Location"].endswith("?next=/annotate/voice/")
    assert not Decision.objects.exists()


def test_what_can_not_be_is_refused_with_a_sentence(anna: Any) -> None:
    for wrong, sentence in (
        ({"decision": "maybe"}, "Decision:"),
        ({"decision": "on", "key": "no"}, "Key:"),
        ({"decision": "on", "assignment": "x"}, "Assignment:"),
        ({"decision": "on", "confidence": "7"}, "Confidence is a number from 0 to 1."),
        ({"decision": "on", "seconds": "nan"}, "Seconds:"),
        ({"decision": "on", "notes": "x" * 2001}, "at most 2,000 characters"),
        ({"decision": "on", "notes": "a\0b"}, "Notes:"),
        ({"decision": "flag"}, "Say why you flag this reply."),
        ({"decision": "flag", "reason": "other"}, "in a few words"),
        ({"decision": "undo"}, "Nothing to undo"),
    ):
        answer = press(anna, **wrong)
        assert answer.status_code == 409, wrong
        assert answer["X-Queue"] == "refused"
        assert sentence in answer.content.decode()
    assert Decision.objects.count() == 0


def test_flags_have_a_reason_and_words(anna: Any) -> None:
    press(anna, "flag", reason="personal-data", words="a phone number")
    press(anna, "flag", reason="broken", notes="not taken")
    notes = list(Decision.objects.order_by("pk").values_list("notes", flat=True))
    assert notes == ["Personal data: a phone number", FLAG_REASONS["broken"]]


def test_only_the_last_ten_can_be_opened_again(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(15))
    anna = annotator("anna")
    first = current(anna)
    for _ in range(11):
        press(anna, "on")
    assert page(anna).count("q-said-on") == 10
    script = {"X-Queue": str(anna.user.pk)}
    answer = anna.get(reverse("annotate:reply", args=["voice", first]), headers=script)
    assert (answer.status_code, answer["X-Queue"]) == (409, "refused")
    assert anna.get(reverse("annotate:reply", args=["voice", first])).status_code == 302


def test_the_script_is_told_who_is_logged_in(anna: Any, campaign: Campaign) -> None:
    """What was kept for one person is never taken as another's."""
    pk = current(anna)
    of_ben = str(User.objects.get(username="ben").pk)
    address = reverse("annotate:decide", args=["voice"])
    sent = {"assignment": pk, "key": str(uuid.uuid4()), "decision": "on"}
    assert anna.post(address, sent, headers={"X-Queue": of_ben}).status_code == 401
    assert Client().post(address, sent, headers={"X-Queue": str(anna.user.pk)}).status_code == 401
    assert Client().post(address, sent)["Location"].startswith("/login/")
    anna.user.groups.clear()
    refused = anna.post(address, sent, headers={"X-Queue": str(anna.user.pk)})
    assert (refused.status_code, refused["X-Queue"]) == (403, "held")
    checking = Client(enforce_csrf_checks=True)
    checking.force_login(anna.user)
    forged = checking.post(address, sent, headers={"X-Queue": str(anna.user.pk)})
    assert (forged.status_code, "X-Queue" in forged) == (403, False)
    assert Decision.objects.count() == 0


# --- states ---


@pytest.mark.parametrize(
    ("status", "words"), [("paused", "Paused"), ("closed", "Closed"), ("preparing", "being prepared")]
)
def test_a_campaign_that_is_not_open_shows_no_text(
    status: str, words: str, anna: Any, campaign: Campaign
) -> None:
    pk = current(anna)
    Campaign.objects.filter(pk=campaign.pk).update(status=status)
    html = page(anna)
    assert words in html
    script = {"X-Queue": str(anna.user.pk)}
    for name, more in (("reply", []), ("turns", []), ("whole_turn", [1])):
        address = reverse(f"annotate:{name}", args=["voice", pk, *more])
        assert anna.get(address, headers=script).status_code == 409
        html += anna.get(address, follow=True).content.decode()
    assert "What assistant says" not in html
    assert "What user says" not in html


def test_done_and_nothing_now(anna: Any, campaign: Campaign) -> None:
    for _ in range(5):
        answer = press(anna, "on").content.decode()
    assert "All done" in answer
    assert "q-said-on" in page(anna)


def test_others_hold_what_is_left(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(2), ("anna", "ben"), overlap=1)
    anna, ben = annotator("anna"), annotator("ben")
    assert current(anna)
    answer = lease(ben)
    assert "Nothing for you right now" in answer
    assert 'data-state="nothing_now"' in answer


def test_late_is_told_in_words(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(1), ("anna", "ben"), overlap=1)
    anna, ben = annotator("anna"), annotator("ben")
    pk = current(anna)
    Assignment.objects.filter(pk=pk).update(leased_until="2020-01-01T00:00Z")
    assert current(ben)
    said = press(anna, "on", assignment=pk).content.decode()
    assert "This reply was already reassigned" in said
    assert "Not counted" in said
    assert (
        "This reply was already reassigned"
        in press(anna, "off", assignment=pk, script=False).client.get("/annotate/voice/").content.decode()
    )
    assert Annotation.objects.count() == 0


def test_the_list_of_campaigns(anna: Any, campaign: Campaign) -> None:
    assert anna.get("/annotate/")["Location"] == "/annotate/voice/"
    other = Campaign.objects.create(
        name="second", dataset=campaign.dataset, persona=campaign.persona, status="closed"
    )
    other.members.create(user=anna.user)
    html = anna.get("/annotate/").content.decode()
    assert html.index("voice") < html.index("second")
    assert "Your campaigns" in page(anna)


# --- sizes ---


def test_a_long_session_and_long_texts_are_shown_in_part(db: None, tmp_path: Path) -> None:
    lines = factories.make_session("deep", 300)
    lines[1]["text"] = "beginning " + "word " * 40_000 + "ending"
    campaign = make(tmp_path, lines)
    campaign.items.exclude(turn__turn_index=142).update(open=0)
    anna = annotator("anna")
    pk = current(anna)
    html = page(anna)
    assert re.findall(r">\s*turn (\d+)[ <]", html) == [str(number) for number in range(130, 145)]
    assert "?before=130" in html
    assert "?after=144" in html
    turns = page(anna, "turns", pk, before=130)
    assert re.findall(r">\s*turn (\d+)<", turns) == [str(number) for number in range(90, 130)]
    assert f"?before={90}" in turns
    turns = page(anna, "turns", pk, before=3)
    assert "?before" not in turns
    assert "Show all 200,016 characters" in turns
    assert "ending" not in turns
    assert "ending" in page(anna, "whole_turn", pk, 2)
    assert anna.get(reverse("annotate:turns", args=["voice", pk]), {"before": "x"}).status_code == 404
    assert anna.get(reverse("annotate:whole_turn", args=["voice", pk, 301])).status_code == 404


def test_costs_do_not_grow_with_the_campaign(db: None, tmp_path: Path) -> None:
    """Three replies or ten thousand: as many queries, and a page of the same kind."""
    make(tmp_path, factories.make_sessions(3))
    anna = annotator("anna")
    few, _ = _cost(anna)
    Campaign.objects.all().delete()
    dataset = _large_dataset(10_000)
    create_campaign(
        Campaign(name="voice", dataset=dataset, persona=Persona.objects.get(), overlap=1), ["anna"]
    )
    many, large = _cost(anna)
    assert many <= few + 3  # a window of replies is looked through, once or twice
    assert large < 50_000


def _cost(client: Any) -> tuple[int, int]:
    client.get("/annotate/voice/")
    with CaptureQueriesContext(connection) as queries:
        size = len(client.get("/annotate/voice/").content)
        press(client, "on", assignment=current(client))
    return len(queries), size


def _large_dataset(replies: int) -> Dataset:
    dataset = Dataset.objects.create(name="large", session_count=replies // 100, turn_count=replies)
    require_partition(dataset.pk)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Session._meta.db_table} (dataset_id, session_id, turn_count) "
            "SELECT %s, 's' || n, 100 FROM generate_series(1, %s) n",
            [dataset.pk, replies // 100],
        )
        cursor.execute(
            f"INSERT INTO {Turn._meta.db_table} (dataset_id, session_id, turn_index, role, text, tags) "
            "SELECT s.dataset_id, s.id, n, 'assistant', 'What assistant says as number ' || n, '{}' "
            f"FROM {Session._meta.db_table} s, generate_series(1, 100) n WHERE s.dataset_id = %s",
            [dataset.pk],
        )
        # As an import does: by the statistics of other tests' few rows, plans of large joins are quadratic.
        cursor.execute("ANALYZE datasets_app_session, datasets_app_turn")
    return dataset


def test_the_case_of_a_reply_stands_beside_it(db: None, tmp_path: Path) -> None:
    rubrics = [{"criterion": f"Names the limit {EVIL}", "points": 5}]
    lines = factories.make_session("s", 2)
    lines[0]["metadata"] = {"rubrics": rubrics}
    lines[1] |= {"case_id": "late-returns", "metadata": {"context": {"excerpts": ["Within 30 days."]}}}
    campaign = make(tmp_path, lines)
    text = lease(annotator("anna"))
    shown = ("late-returns", "1 rubric", "Names the limit", "5 points", "1 source", "Within 30 days.")
    assert [value for value in shown if value not in text] == []
    assert EVIL not in text
    superuser = User.objects.create_superuser("root")
    client = Client()
    client.force_login(superuser)
    session = Session.objects.get(dataset=campaign.dataset)
    page = client.get(reverse("admin:datasets_app_session_change", args=[session.pk])).content.decode()
    assert [value for value in shown if value not in page] == []
    assert EVIL not in page


# --- a schema ---

QUALITY = """\
schema: quality
criteria:
  - key: correct
    question: Is it <b>correct</b>?
    kind: yes_no
  - key: faults
    question: What is wrong?
    kind: tags
    answers: [facts, tone]
    when: {correct: 0}
  - key: minutes
    question: How long would a person need?
    kind: number
    optional: true
"""


def test_all_criteria_are_on_one_screen(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(5), schema=import_schema(QUALITY).schema)
    anna = annotator("anna")
    html = page(anna)
    assert html.count('<fieldset class="q-criterion"') == 3
    assert "Is it &lt;b&gt;correct&lt;/b&gt;?" in html
    assert 'data-schema="quality@1"' in html
    assert 'data-do="on"' not in html
    press(anna, "label", answers='{"correct": 0, "faults": ["tone"]}')
    judged = Judgment.objects.get()
    assert judged.codes == {"correct": 0, "faults": 2}
    assert 'data-answers="{&quot;correct&quot;: 0, &quot;faults&quot;: [&quot;tone&quot;]}"' in page(anna)
    for answers in ("[", "[]", '{"correct": 7}', "{}"):
        assert press(anna, "label", answers=answers).status_code == 409
    for decision in ("on", "off"):
        assert press(anna, decision).status_code == 409
    assert Judgment.objects.count() == 1


def test_criteria_by_form_without_the_script(db: None, tmp_path: Path) -> None:
    make(tmp_path, factories.make_sessions(5), schema=import_schema(QUALITY).schema)
    anna, typed = annotator("anna"), {"script": False, "typed.minutes": "2.5"}
    press(anna, "label", **typed, **{"chosen.correct": "0", "chosen.faults": ["0", "1"]})
    assert Judgment.objects.get().codes == {"correct": 0, "faults": 3, "minutes": 2.5}
    # What was asked only after another answer is left out.
    press(anna, "label", **typed, **{"chosen.correct": "1", "chosen.faults": ["0"]})
    assert Judgment.objects.latest("pk").codes == {"correct": 1, "minutes": 2.5}
    refused = press(anna, "label", **{**typed, "typed.minutes": "long & hard"})
    assert (refused.status_code, "long &amp; hard</textarea>" in refused.content.decode()) == (409, True)


def test_a_single_question_is_answered_by_its_buttons(db: None, tmp_path: Path) -> None:
    schema = import_schema("schema: s\ncriteria: [{key: safe, question: Is it safe?, kind: yes_no}]").schema
    make(tmp_path, factories.make_sessions(5), schema=schema)
    anna = annotator("anna")
    html = page(anna)
    assert html.count('class="q-verdict q-verdict-plain"') == 2
    assert 'data-key="1"' in html
    press(anna, "label", script=False, **{"chosen.safe": "1"})
    assert Judgment.objects.get().codes == {"safe": 1}
