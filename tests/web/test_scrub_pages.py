"""Scrubbing in the admin: who may, what is asked, what is shown; and no value where places are told."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.domain.pii.custom_patterns import parse_pattern
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import ALL_KINDS, Policy
from datasets_app.models import AuditEvent, Dataset, JobRun, ScrubFinding, ScrubMark, ScrubRun
from datasets_app.scrubbing import pattern_counts
from datasets_app.scrubbing.pattern_counts import describe_matches
from datasets_app.scrubbing.proposals import list_values
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

# One of each kind of place: text, tag, metadata, unknown key, session id.
VALUES = {
    "text": "canary.text@example.org",
    "second": "212-555-0147",
    "tag": "canary.tag@example.org",
    "metadata": "canary.metadata@example.org",
    "key": "198.51.100.77",
    "id": "canary.id@example.org",
}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    lines = [
        factories.make_turn(
            VALUES["id"],
            1,
            text=f"Mail {VALUES['text']} please, or call {VALUES['second']}; my zorblax is late.",
            tags=["scenario:support", VALUES["tag"]],
            metadata={"to": VALUES["metadata"]},
            origin_of_call=VALUES["key"],
        ),
        factories.make_turn("s2", 1, text="Nothing here."),
    ]
    return factories.make_dataset(tmp_path, lines, origin="production")


def address(page: str, dataset: Dataset, *more: Any) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk, *more])


def conversation(dataset: Dataset, client: Any, number: int = 0) -> str:
    session = dataset.sessions.order_by("pk")[number]
    return client.get(reverse("admin:datasets_app_session_change", args=[session.pk])).content.decode()


def answers(**changed: Any) -> dict[str, Any]:
    """The form as it is sent by somebody who changes only this."""
    return {
        "kinds": list(KINDS),
        "placeholders": "plain",
        "prefer": "recall",
        "timestamps": "keep",
        "fuzz_seconds": "86400",
        "patterns": "",
        "sample": "200",
        **changed,
    }


@pytest.fixture
def previewed(dataset: Dataset) -> Dataset:
    scrub_dataset(dataset, Policy(hash_session_ids=True), dry_run=True)
    return dataset


def test_the_page_is_in_the_order_of_its_steps(curator: Any, dataset: Dataset) -> None:
    """Without a run all lead to the settings; each of the others to a heading behind the one before."""

    def read_places() -> list[int]:
        html = curator.get(address("scrub", dataset)).content.decode()
        assert re.search(r'class="ad-badge ad-\w+">(Raw|Scrubbed)', html)
        places = re.findall(r'class="ad-step-name" href="#([a-z]+)"', html)
        assert len(places) == 5
        return [html.index(f'id="{place}"') for place in places]

    assert len(set(read_places())) == 1
    scrub_dataset(dataset, Policy(), dry_run=True)
    assert read_places() == sorted(set(read_places()))
    scrub_dataset(dataset, Policy())
    settings, results, corrections, verification, planted = read_places()
    assert settings < results < verification < corrections < planted


# --- who may ---


@pytest.mark.parametrize("role", ["superuser", "curator", "privacy officer", "lead", "viewer", "annotator"])
def test_who_may_scrub_and_mark(role: str, sign_in: Any, previewed: Dataset, empty_queue: None) -> None:
    may = role in {"superuser", "curator", "privacy officer"}
    client = sign_in(role)
    finding = ScrubFinding.objects.filter(field="text").first()
    mark = ScrubMark.objects.create(dataset=previewed, verdict="not_personal", term="Acme")
    posts: list[tuple[str, dict[str, Any]]] = [
        (address("scrub", previewed), answers(preview="1")),
        (address("mark_not_personal", previewed), {"finding": finding.pk}),
        (address("mark_missed", previewed), {"turn": "1", "words": "x", "kind": "NAME"}),
        (address("mark_take_back", previewed, mark.pk), {}),
    ]
    assert client.get(address("scrub", previewed)).status_code == (200 if may else 403)
    for where, data in posts:
        status = client.post(where, data).status_code
        assert status in ({302, 404} if may else {403}), where
    assert JobRun.objects.filter(operation="scrub_dataset").count() == may
    for where in (where for where, _ in posts[1:]):
        # The wall lets nobody through who is not staff, whatever they ask for.
        assert client.get(where).status_code == (405 if client.user.is_staff else 403)


def test_who_may_only_look_is_offered_nothing(sign_in: Any, previewed: Dataset) -> None:
    from django.contrib.auth.models import Permission

    client = sign_in("viewer")
    wanted = ["view_scrubrun", "view_scrubfinding", "view_scrubmark", "read_raw"]
    client.user.user_permissions.add(*Permission.objects.filter(codename__in=wanted))
    html = client.get(address("scrub", previewed)).content.decode()
    assert "Preview results" in html
    for hidden in ("scrub-form", "Take back", "Preview on a sample"):
        assert hidden not in html
    reading = conversation(previewed, client)
    assert "ad-found-found" in reading
    assert "Missed something?" not in reading
    assert "not-personal" not in reading


def test_without_the_permission_no_finding_is_highlighted(sign_in: Any, previewed: Dataset) -> None:
    client = sign_in("viewer")
    assert "<mark" not in conversation(previewed, client)
    assert address("scrub", previewed) not in client.get(address("change", previewed)).content.decode()


def test_marks_stay_within_their_dataset(curator: Any, previewed: Dataset, tmp_path: Path) -> None:
    other = factories.make_dataset(tmp_path, factories.make_sessions(1), "other")
    finding = ScrubFinding.objects.first()
    mark = ScrubMark.objects.create(dataset=previewed, verdict="not_personal", term="Acme")
    turn = previewed.sessions.first().turns.first()
    for where, data in (
        (address("mark_not_personal", other), {"finding": finding.pk}),
        (address("mark_missed", other), {"turn": turn.pk, "words": "Mail", "kind": "NAME"}),
        (address("mark_take_back", other, mark.pk), {}),
    ):
        assert curator.post(where, data).status_code == 404
    assert ScrubMark.objects.get() == mark


# --- the form ---


def test_the_form_asks_what_suits_the_dataset(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    html = curator.get(address("scrub", dataset)).content.decode()
    assert html.count('name="kinds"') == len(ALL_KINDS)
    assert len(re.findall(r'name="kinds"[^>]*\schecked[\s>]', html)) == len(ALL_KINDS)
    assert re.search(r'name="hash_session_ids"[^>]*\schecked[\s>]', html)
    synthetic = factories.make_dataset(tmp_path, factories.make_sessions(1), "made", origin="synthetic")
    html = curator.get(address("scrub", synthetic)).content.decode()
    assert len(re.findall(r'name="kinds"[^>]*\schecked[\s>]', html)) == len(KINDS)
    assert not re.search(r'name="hash_session_ids"[^>]*\schecked[\s>]', html)


def test_counting_the_matches_of_patterns_ends_in_time_and_says_so(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request waits for it, however many texts and patterns there are."""
    patterns, texts = [parse_pattern("ORDER=^.")], dataset.turn_count
    assert list(describe_matches(dataset, patterns)) == [f"ORDER is ^.: {texts} matches in {texts} texts"]
    monkeypatch.setattr(pattern_counts, "MAX_SECONDS", -1)
    cut = ["ORDER is ^.: 0 matches in 0 texts of 0; the others weren't counted"]
    assert list(describe_matches(dataset, patterns)) == cut


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"patterns": "ORDER=\\bORD\nBAD=(abc"}, "Line 2: The pattern BAD has a mistake at column 5"),
        ({"patterns": "no pattern"}, "Line 1: Expected LABEL=REGEX."),
        ({"patterns": "NAME=x"}, "NAME is a class already"),
        (
            {"patterns": "ORDER_NUMBER: 4711001, 4711002, 4711003"},
            "Line 1: The format of these examples (7 digits)",
        ),
        ({"patterns": "\n".join(["ORDER=x+"] * 101)}, "Give at most 100 patterns, not 101."),
        ({"kinds": []}, "Select at least one type"),
        ({"timestamps": "move", "fuzz_seconds": ""}, "Enter the maximum shift"),
        ({"sample": "0"}, "greater than or equal to 1"),
        ({"placeholders": "other"}, "Select a valid choice"),
        ({"prefer": "speed"}, "Select a valid choice"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(
    given: dict[str, Any], said: str, curator: Any, dataset: Dataset
) -> None:
    for button in ("preview", "scrub", "confirmed"):
        response = curator.post(address("scrub", dataset), answers(**given, **{button: "1"}))
        assert said in unescape(response.content.decode())
    assert not JobRun.objects.exists()


def test_the_answers_become_a_policy(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    given = answers(
        kinds=["EMAIL", "NAME"],
        placeholders="numbered",
        hash_session_ids="on",
        timestamps="move",
        fuzz_seconds="60",
        patterns="order = \\bORD-\\d+\\b\n\nUNIT==x",
        sample="7",
    )
    assert curator.post(address("scrub", dataset), given | {"preview": "1"}).status_code == 302
    job = JobRun.objects.get()
    assert (job.operation, job.parameters["dry_run"], job.parameters["sample"]) == ("scrub_dataset", True, 7)
    assert Policy.from_json(job.parameters["policy"]) == Policy(
        kinds=("EMAIL", "NAME"),
        patterns=(("ORDER", "\\bORD-\\d+\\b"), ("UNIT", "=x")),
        placeholders="numbered",
        hash_session_ids=True,
        fuzz_seconds=60,
    )


def test_a_format_learned_from_examples_is_shown_with_its_matches(
    curator: Any, dataset: Dataset, tmp_path: Path, empty_queue: None
) -> None:
    texts = ["Where are ORD-2024-00017 and ord-2024-10000?", "ORD-2023-99999 is late", "ORD-1 isn't one"]
    lines = [factories.make_turn(f"o{number}", text=text) for number, text in enumerate(texts)]
    orders = factories.make_dataset(tmp_path, lines, "orders", origin="external")
    given = answers(patterns="order_number: ORD-2024-00017, ORD-2024-00018, ORD-2023-00412")
    said = "ORDER_NUMBER is “ORD”, “-”, 4 digits, “-”, 5 digits: 3 matches in 2 texts."
    assert said in unescape(curator.post(address("scrub", orders), given | {"scrub": "1"}).content.decode())
    shown = curator.post(address("scrub", orders), given | {"preview": "1"}, follow=True)
    assert said in unescape(shown.content.decode())
    policy = Policy.from_json(JobRun.objects.get().parameters["policy"])
    assert policy.patterns == (("ORDER_NUMBER", r"(?i)\bORD\-[0-9]{4}\-[0-9]{5}\b"),)


def test_recognizers_of_the_installation_belong_to_every_scrub(
    curator: Any, dataset: Dataset, empty_queue: None, tmp_path: Path, settings: Any
) -> None:
    file = tmp_path / "own.yaml"
    settings.RECOGNIZERS_FILE = str(file)
    given = answers(preview="1")
    refused = unescape(curator.post(address("scrub", dataset), given).content.decode())
    assert "The recognizers of this installation can't be used." in refused
    assert not JobRun.objects.exists()
    file.write_text("recognizers: [{supported_entity: STAFF, deny_list: [Quibble]}]")
    assert "installation find STAFF as well" in curator.get(address("scrub", dataset)).content.decode()
    assert curator.post(address("scrub", dataset), given).status_code == 302
    stored = JobRun.objects.get().parameters
    assert Policy.from_json(stored["policy"]).custom_labels == ("STAFF",)
    assert "uibble" not in str(stored)


def test_a_scrub_of_all_is_asked_back(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    html = curator.post(address("scrub", dataset), answers(scrub="1")).content.decode()
    assert "Text is replaced permanently." in html
    assert re.search(r"Numbered placeholders|Plain\s+placeholders", html)
    assert "Scrub all 2 turns of support?" in html
    assert "No preview yet." in html
    assert not JobRun.objects.exists()
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', html)
    sent: dict[str, list[str]] = {"confirmed": ["1"]}
    for name, value in hidden:
        sent.setdefault(name, []).append(unescape(value))
    assert curator.post(address("scrub", dataset), sent).status_code == 302
    job = JobRun.objects.get()
    assert (job.parameters["dry_run"], job.parameters["sample"]) == (False, None)
    assert Policy.from_json(job.parameters["policy"]) == Policy()
    # One at a time.
    curator.post(address("scrub", dataset), sent)
    assert JobRun.objects.count() == 1


def test_a_partial_scrub_says_that_it_is_not_enough(curator: Any, dataset: Dataset) -> None:
    html = curator.post(address("scrub", dataset), answers(kinds=["EMAIL"], scrub="1")).content.decode()
    assert "will not mark the dataset as scrubbed" in html


def test_progress_tells_the_workers_and_ends_with_the_job(curator: Any, dataset: Dataset) -> None:
    job = JobRun.objects.create(operation="scrub_dataset", dataset=dataset, state="running", done=1, total=2)
    run = ScrubRun.objects.create(dataset=dataset, job_run=job, policy=Policy().as_json())
    for _ in range(2):
        JobRun.objects.create(operation="scrub_part", state="running", parameters={"scrub": run.pk})
    html = " ".join(curator.get(address("scrub", dataset)).content.decode().split())
    assert "Scrub running" in html
    response = curator.get(address("scrub_progress", dataset))
    assert "3 workers running" in response.content.decode()
    assert "50 %" in response.content.decode()
    JobRun.objects.filter(pk=job.pk).update(state="done")
    assert curator.get(address("scrub_progress", dataset))["HX-Refresh"] == "true"


def test_a_scrub_that_stopped_can_be_gone_on_with(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    job = JobRun.objects.create(operation="scrub_dataset", dataset=dataset, state="failed", error="Why.")
    ScrubRun.objects.create(dataset=dataset, job_run=job, policy=Policy().as_json(), error="Still 2 × PHONE.")
    html = curator.get(address("scrub", dataset)).content.decode()
    assert "Still 2 × PHONE." in html
    assert "Done: 0 of 0 turns" in html
    assert reverse("admin:datasets_app_jobrun_retry", args=[job.pk]) in html
    JobRun.objects.filter(pk=job.pk).update(foreground=True)
    assert "Resume scrub</button>" not in curator.get(address("scrub", dataset)).content.decode()


# --- what came of it ---


def test_findings_show_their_text_to_who_may_read_it(curator: Any, previewed: Dataset, sign_in: Any) -> None:
    from django.contrib.auth.models import Permission

    viewer = sign_in("viewer")
    wanted = ["view_scrubrun", "view_scrubfinding"]
    viewer.user.user_permissions.add(*Permission.objects.filter(codename__in=wanted))
    for query in (
        "",
        "?class=EMAIL",
        "?part=text",
        "?part=tags",
        "?part=session_id",
        "?last=1",
        "?view=values",
    ):
        html = viewer.get(address("scrub", previewed) + query).content.decode()
        assert "Findings" in html
        assert not [value for value in VALUES.values() if value in html], query
    for page in ("sharing", "jobs", "history"):
        html = curator.get(address(page, previewed)).content.decode()
        assert not [value for value in VALUES.values() if value in html], page
    html = re.sub(r"\s+", " ", curator.get(address("scrub", previewed) + "?class=EMAIL").content.decode())
    assert re.search(
        rf">Mail </span><mark [^>]*>{re.escape(VALUES['text'])}</mark>.{{1,60}}→ \[EMAIL\]", html
    )
    assert AuditEvent.objects.filter(action="read_raw_text", details__place="scrub").exists()


def test_values_are_grouped_and_kept_together(curator: Any, tmp_path: Path, empty_queue: None) -> None:
    lines = [
        factories.make_turn(f"s{n}", text=text)
        for n, text in enumerate(
            [
                "Ask Jane Fonseca.",
                "I am Jane Fonseca",
                "my name is jane fonseca",
                "Call Rajesh Patel or a@b.example",
            ]
        )
    ]
    dataset = factories.make_dataset(tmp_path, lines, origin="production")
    scrub_dataset(dataset, Policy(), dry_run=True)
    values = curator.get(address("scrub", dataset) + "?view=values").context["values"]
    jane, *others = values
    assert (jane.kind, jane.value.lower(), jane.occurrences, jane.sessions) == ("NAME", "jane fonseca", 3, 3)
    assert {(found.kind, found.value) for found in others} == {
        ("NAME", "Rajesh Patel"),
        ("EMAIL", "a@b.example"),
    }
    assert {found.kind for found in list_values(ScrubRun.objects.get(), "EMAIL")} == {"EMAIL"}
    curator.post(address("keep_values", dataset), {"finding": [found.finding for found in values]})
    kept = ScrubMark.objects.values_list("term", flat=True)  # an address takes an exemption
    assert {term.lower() for term in kept} == {"jane fonseca", "rajesh patel"}


def test_findings_are_counted_by_class_and_place(curator: Any, previewed: Dataset) -> None:
    context = curator.get(address("scrub", previewed)).context
    classes, parts = context["charts"]
    assert {row.label: row.cells[0].number for row in parts.rows}["Tags"] == 1
    assert sum(row.cells[0].number for row in classes.rows) == ScrubFinding.objects.count()
    assert max(float(row.cells[0].width) for row in classes.rows) == 100
    for chart in (classes, parts):
        for row in chart.rows:
            listed = curator.get(address("scrub", previewed) + row.cells[0].url.partition("#")[0]).context
            assert len(listed["page"].rows) == row.cells[0].number
            assert [each.label for shown in listed["charts"] for each in shown.rows if each.is_current] == [
                row.label
            ]
    assert (context["turn_share"], context["session_share"]) == (0.5, 0.5)
    for part in ("text", "tags", "metadata", "other", "session_id"):
        rows = curator.get(address("scrub", previewed), {"part": part}).context["page"].rows
        assert rows, part
        assert {row.part for row in rows} == {part}


def test_nothing_found_and_nonsense_asked(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    clean = factories.make_dataset(tmp_path, [factories.make_turn(text="Nothing here.")], "clean")
    scrub_dataset(clean, Policy(kinds=("EMAIL",)))
    html = " ".join(curator.get(address("scrub", clean)).content.decode().split())
    assert "No findings." in html
    assert "no pattern matches remain in 1 turn." in html
    assert "Not selected:" in html
    for query in ("?class=%00", "?part=x", "?after=x", "?before=EMAIL.9&class=x", "?after=%00.1"):
        assert curator.get(address("scrub", clean) + query).status_code == 200
    assert curator.get(address("scrub", clean) + "?run=999").status_code == 404


def test_a_language_that_names_are_not_measured_in_is_an_exception(curator: Any, tmp_path: Path) -> None:
    texts = ["Where is my parcel?"] * 9 + ["ሰላም፣ ጥቅሌ የት ነው?"]
    lines = [factories.make_turn(f"n{n}", text=text) for n, text in enumerate(texts)]
    dataset = factories.make_dataset(tmp_path, lines, "spoken")
    scrub_dataset(dataset, Policy())
    html = " ".join(curator.get(address("scrub", dataset)).content.decode().split())
    said = "Verified except names in Ethiopic script (1 turn): no other pattern matches remain in 10 turns."
    assert said in html


def test_more_findings_than_a_page_holds(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    lines = [
        factories.make_turn(f"n{n}", text=f"Mail me{n}@example.org or call 212-555-01{n:02d}.")
        for n in range(60)
    ]
    many = factories.make_dataset(tmp_path, lines, "many")
    scrub_dataset(many, Policy(kinds=("EMAIL", "PHONE")), dry_run=True)
    seen: list[int] = []
    query = ""
    while True:
        page = curator.get(address("scrub", many) + query).context["page"]
        seen += [row.pk for row in page.rows]
        if not page.next:
            break
        query = f"?after={page.next}"
    assert sorted(seen) == sorted(ScrubFinding.objects.values_list("pk", flat=True))
    assert len(seen) == len(set(seen)) == 120


# --- reading, marking ---


def test_values_are_highlighted_with_class_and_button(curator: Any, previewed: Dataset) -> None:
    html = conversation(previewed, curator)
    found = re.findall(
        r'<mark class="ad-found ad-found-found"[^>]*><span class="ad-sr">(\w+) found: </span>([^<]*)', html
    )
    assert ("EMAIL", VALUES["text"]) in found
    assert ("PHONE", VALUES["second"]) in found
    assert "in tags[1]" in html
    assert "in metadata.to" in html
    assert html.count('form="not-personal"') == ScrubFinding.objects.exclude(turn_index=None).count()
    assert "<mark" not in conversation(previewed, curator, 1)


def test_not_personal_is_kept_and_applied(curator: Any, previewed: Dataset, sign_in: Any) -> None:
    finding = ScrubFinding.objects.get(field="text", kind="EMAIL")
    asked = {"finding": finding.pk}
    refused = curator.post(address("mark_not_personal", previewed), asked, follow=True).content.decode()
    assert "It can stay only by an exemption" in refused
    assert not ScrubMark.objects.exists()
    root = sign_in("superuser")
    form = root.post(address("mark_not_personal", previewed), asked, follow=True)
    assert form.request["PATH_INFO"] == address("exempt", previewed)
    assert VALUES["text"] not in form.content.decode()
    where = f"{address('exempt', previewed)}?finding={finding.pk}"
    assert "This field is required." in root.post(where, {"override": " "}).content.decode()
    page = root.post(where, {"override": "our own address"}, follow=True).content.decode()
    marks = page[page.index('aria-labelledby="marks"') :].partition("</section>")[0]
    assert "our own address" in marks
    assert VALUES["text"] not in marks
    assert "ad-found-kept" in conversation(previewed, curator)
    scrub_dataset(previewed, Policy())
    turn = previewed.sessions.order_by("pk")[0].turns.get()
    assert VALUES["text"] in turn.text
    assert VALUES["second"] not in turn.text


def test_what_was_missed_is_kept_as_a_digest_and_applied(curator: Any, previewed: Dataset) -> None:
    turn = previewed.sessions.order_by("pk")[0].turns.get()
    where = address("mark_missed", previewed)
    curator.post(where, {"turn": turn.pk, "words": "  Zorblax ", "kind": "NAME"})
    mark = ScrubMark.objects.get()
    assert (mark.verdict, mark.kind, mark.words, mark.length, mark.term) == ("missed", "NAME", 1, 7, "")
    assert "NAME marked as missed: </span>zorblax<" in conversation(previewed, curator)
    page = curator.get(address("scrub", previewed)).content.decode()
    marks = page[page.index('aria-labelledby="marks"') :].partition("</section>")[0]
    assert "zorblax" not in marks.lower()
    assert "1 word, 7 characters" in " ".join(page.split())
    scrub_dataset(previewed, Policy(kinds=("EMAIL",)))
    turn.refresh_from_db()
    assert turn.text.endswith("my [NAME] is late.")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"words": "secret-word-elsewhere"}, "contain these words"),
        ({"words": "Zorb"}, "contain these words"),
        ({"words": "  "}, "Enter the words that were missed"),
        ({"words": "x" * 501}, "Enter the words that were missed"),
        ({"words": "Zorblax", "kind": "no class"}, "can&#x27;t be the label"),
    ],
)
def test_marks_that_cannot_be_are_refused(
    given: dict[str, str], said: str, curator: Any, previewed: Dataset
) -> None:
    turn = previewed.sessions.order_by("pk")[0].turns.get()
    data = {"turn": turn.pk, "kind": "NAME", **given}
    response = curator.post(address("mark_missed", previewed), data, follow=True)
    html = response.content.decode()
    assert said in html
    assert "secret-word-elsewhere" not in html
    assert not ScrubMark.objects.exists()


def test_a_mark_is_taken_back(curator: Any, previewed: Dataset) -> None:
    mark = ScrubMark.objects.create(dataset=previewed, verdict="not_personal", term="Acme")
    where = address("mark_take_back", previewed, mark.pk)
    assert where in curator.get(address("scrub", previewed)).content.decode()
    assert curator.post(where)["Location"].endswith("#marks")
    assert not ScrubMark.objects.exists()
    assert AuditEvent.objects.filter(action="remove_scrub_mark").exists()


def test_after_the_scrub_the_placeholders_are_shown(curator: Any, dataset: Dataset) -> None:
    scrub_dataset(dataset, Policy())
    html = conversation(dataset, curator)
    assert re.search(r'ad-found-placeholder"[^>]*><span class="ad-sr">EMAIL scrubbed: </span>\[EMAIL\]', html)
    assert 'form="not-personal"' not in html
    assert not [value for value in VALUES.values() if value in html]
    page = curator.get(address("scrub", dataset)).content.decode()
    assert "Verified" in page
    assert "Scrub results" in page


def test_a_long_text_is_highlighted_in_both_of_its_forms(curator: Any, tmp_path: Path) -> None:
    text = f"Mail {VALUES['text']}. " + "word " * 500 + f"Call {VALUES['second']}."
    long = factories.make_dataset(tmp_path, [factories.make_turn(text=text)], "long")
    scrub_dataset(long, Policy(kinds=("EMAIL", "PHONE")), dry_run=True)
    html = conversation(long, curator)
    assert html.count("EMAIL found: ") == 2
    assert html.count("PHONE found: ") == 1
    assert html.count('name="finding"') == 2


# --- gates, start page, badge ---


def test_production_data_leaves_only_scrubbed(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    where = address("export", dataset)
    html = curator.get(where).content.decode()
    assert "without a verified scrub" in html
    assert address("scrub", dataset) in html
    assert "Start export" not in html
    assert curator.post(where, {"format": "turns", "override": "because"}).status_code == 200
    assert not JobRun.objects.exists()
    changelist = reverse("admin:datasets_app_dataset_changelist")
    chosen = {"action": "export_selected", "_selected_action": [dataset.pk]}
    assert (
        "exported: it contains production data without a verified scrub"
        in curator.post(changelist, chosen, follow=True).content.decode()
    )
    assert not JobRun.objects.exists()
    scrub_dataset(dataset, Policy())
    assert "Start export" in curator.get(where).content.decode()
    assert curator.post(where, {"format": "turns"}).status_code == 302


def test_who_may_override_gives_a_reason(sign_in: Any, dataset: Dataset, empty_queue: None) -> None:
    client, where = sign_in("superuser"), address("export", dataset)
    assert "Export unscrubbed" in client.get(where).content.decode()
    assert "This field is required" in client.post(where, {"format": "turns"}).content.decode()
    assert client.post(where, {"format": "turns", "override": "Court order 7"}).status_code == 302
    assert JobRun.objects.get().parameters["override"] == "Court order 7"


def test_the_start_page_tells_what_waits_for_a_scrub(curator: Any, dataset: Dataset) -> None:
    def start() -> str:
        return str(curator.get(reverse("admin:index")).content.decode())

    assert "contains production data without a verified scrub" in start()
    assert address("scrub", dataset) in start()
    assert 'ad-warn">Raw' in curator.get(address("change", dataset)).content.decode()
    scrub_dataset(dataset, Policy())
    assert "must be scrubbed" not in start()
    assert "Scrubbed" in curator.get(address("change", dataset)).content.decode()


def test_the_sharing_page_names_each_item_and_its_remedy(sign_in: Any, dataset: Dataset) -> None:
    html = sign_in("viewer").get(address("sharing", dataset)).content.decode()
    assert html.count(">unknown</span>") == 6
    assert "not yet signed" in html
    assert address("scrub", dataset) not in html
    assert address("scrub", dataset) in sign_in("curator").get(address("sharing", dataset)).content.decode()


def test_a_scrub_job_is_told_in_words(curator: Any, dataset: Dataset) -> None:
    policy = Policy(allow=("Secret Project",)).as_json()
    job = JobRun.objects.create(
        operation="scrub_dataset",
        dataset=dataset,
        state="cancelled",
        parameters={"policy": policy, "dry_run": True, "sample": 9},
    )
    html = curator.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    for told in ("Preview", "e-mail addresses", "1 term", "what was finished is kept"):
        assert told in html
    assert "Secret Project" not in html
