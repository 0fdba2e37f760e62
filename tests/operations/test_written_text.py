"""What people write to a scrubbed dataset is looked at as its text was; changes of exports end signatures."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.labels.import_annotations import import_annotations, import_label_rows
from annotations_app.labels.known_schemas import KnownSchemas
from annotations_app.models import Annotation, Campaign, Decision
from datasets_app.browsing.change_sessions import exclude_sessions, tag_sessions
from datasets_app.catalog import gates, text_gates
from datasets_app.catalog.edit import change_origin, edit_dataset, find_table_problems
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.models import Attestation, AuditEvent, Dataset, Session, Turn
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.changes import CHANGING_ACTIONS, PERSONA_ACTIONS
from datasets_app.releasing.sharing.checklist import (
    build_checklist,
    current_review,
)
from datasets_app.releasing.sharing.sign_review import sign_review
from datasets_app.retention.erase_session import erase_session
from datasets_app.scrubbing.marks import mark_not_personal
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from datasets_app.splitting.split_dataset import split_dataset
from tests.campaigns import lease_for, make_campaign, submit
from tests.factories import import_file, make_dataset, make_sessions, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

MAIL, NAME = "jo.roe@example.org", "Jane Fonseca"
PLANTED = {"EMAIL": f"Ask {MAIL} about it.", "NAME": f"It was {NAME} who wrote this."}
HARMLESS = "Too chatty for a refund."


class World(NamedTuple):
    dataset: Dataset
    campaign: Campaign
    turn: Turn
    client: Client
    folder: Path


@pytest.fixture
def world(tmp_path: Path) -> World:
    dataset = make_dataset(tmp_path, make_sessions(6), origin="production")
    scrub_dataset(dataset, Policy())
    dataset.refresh_from_db()
    campaign = make_campaign(dataset, "ana")
    boss = User.objects.create_superuser("boss", first_name="Dana", last_name="Ortiz")
    client = Client()
    client.force_login(boss)
    turn = Turn.objects.filter(dataset=dataset, role="assistant").order_by("pk")[0]
    return World(dataset, campaign, turn, client, tmp_path)


def sign(world: World) -> None:
    sign_review(world.dataset, actor=User.objects.get(username="boss"))
    assert current_review(world.dataset) is not None


def make_label(world: World, **fields: Any) -> Annotation:
    return Annotation.objects.create(
        dataset=world.dataset, turn=world.turn, label=1, persona_id="warm_v1", annotator="ana", **fields
    )


# --- the ways in: each raises or returns the message that says what was found, empty if nothing was --------


def tag(world: World, text: str) -> None:
    text = f"name:{NAME.replace(' ', '.')}" if NAME in text else text
    tag_sessions(world.dataset, list_keys(world), text.replace(" ", "-"))


def label_reply(world: World, text: str) -> None:
    submit(lease_for(world.campaign, "ana").current, notes=text)


def flag_reply(world: World, text: str) -> None:
    submit(lease_for(world.campaign, "ana").current, "flag", notes=text)


def change_decision(world: World, text: str) -> None:
    assignment = lease_for(world.campaign, "ana").current
    submit(assignment)
    sign(world)
    submit(assignment, notes=text)


def adjudicate_reply(world: World, text: str) -> None:
    adjudicate(world.turn, "warm_v1", label=1, reason=text, actor=None)


def add_label(world: World, text: str) -> str:
    page = reverse("admin:annotations_app_annotation_add")
    fields = {"turn": world.turn.pk, "persona_id": "warm_v1", "label": "1", "annotator": "ana"}
    return read_errors(world.client.post(page, {**fields, "notes": text}))


def correct_label(world: World, text: str) -> str:
    made = make_label(world)
    page = reverse("admin:annotations_app_annotation_change", args=[made.pk])
    return read_errors(world.client.post(page, {"label": "1", "annotator": "ana", "notes": text}))


def edit_source(world: World, text: str) -> None:
    edit_dataset(world.dataset.pk, {"source": text}, actor=None)


def edit_source_on_page(world: World, text: str) -> str:
    page = reverse("admin:datasets_app_dataset_edit", args=[world.dataset.pk])
    return read_errors(world.client.post(page, {"license": "", "source": text, "attribution": ""}))


def edit_provenance(world: World, text: str) -> None:
    edit_dataset(world.dataset.pk, {"provenance": {**world.dataset.provenance, "note": text}}, actor=None)


def preview_table(world: World, text: str) -> str:
    """What a table of metadata is refused for before it is confirmed."""
    return " ".join(find_table_problems(world.dataset, {"source": text, "license": "MIT"}).values())


def release(world: World, text: str) -> None:
    release_dataset(world.dataset, folder=world.folder, notes=text, override="A test", actor=None)


def attest(world: World, text: str) -> None:
    text_gates.attest(world.dataset, actor=None, reason=text)


def import_labels(world: World, text: str) -> str:
    line = {"text": world.turn.text, "label": 1, "persona_id": "warm_v1", "notes": text}
    return " ".join(import_annotations(write_jsonl(world.folder / "support.jsonl", [line])).warnings)


def import_other_fields(world: World, text: str) -> str:
    line = {"text": world.turn.text, "label": 1, "persona_id": "warm_v1", "guidelines": text}
    return " ".join(import_annotations(write_jsonl(world.folder / "support.jsonl", [line])).warnings)


def import_table(world: World, text: str) -> str:
    rows = {"support": [LabelRecord(world.turn.text, 1, "warm_v1", notes=text, line=1)]}
    _, found = import_label_rows(rows, KnownSchemas(), actor=None)
    return ", ".join(found)


def read_errors(response: Any) -> str:
    if response.status_code == 302:
        return ""
    form = response.context["adminform"].form if "adminform" in response.context else response.context["form"]
    return " ".join(problem for problems in form.errors.values() for problem in problems)


SINGLE_WRITES = (
    tag,
    label_reply,
    flag_reply,
    change_decision,
    adjudicate_reply,
    add_label,
    correct_label,
    edit_source,
    edit_source_on_page,
    edit_provenance,
    preview_table,
    release,
    attest,
)
BULK_WRITES = (import_labels, import_other_fields, import_table)
# They change no export: a flag removes a label only where there was one, a preview nothing; a version with
# its notes is shared by the answers of its own checklist.
UNCHANGING = (flag_reply, preview_table, release)


def write(way: Callable[[World, str], str | None], world: World, text: str) -> str:
    try:
        return way(world, text) or ""
    except UserError as refusal:
        return refusal.message


def everything_stored() -> str:
    """All text that the database has about the dataset and its labels."""
    rows = [
        *Dataset.objects.values_list("source", "provenance"),
        *Turn.objects.values_list("tags"),
        *Annotation.objects.values_list("notes", "extra"),
        *Decision.objects.values_list("notes"),
        *AuditEvent.objects.values_list("details"),
    ]
    return json.dumps([list(row) for row in rows], default=str)


@pytest.mark.parametrize(
    ("way", "kind"),
    # No address can be a tag.
    [
        pytest.param(way, kind, id=f"{way.__name__}-{kind}")
        for way in (*SINGLE_WRITES, *BULK_WRITES)
        for kind in PLANTED
        if (way, kind) != (tag, "EMAIL")
    ],
)
def test_planted_values_are_caught_in_every_way(world: World, way: Any, kind: str) -> None:
    message = write(way, world, PLANTED[kind])
    assert kind in message
    assert MAIL not in message
    assert NAME not in message
    if way in SINGLE_WRITES:
        assert "looks like personal data" in message.replace("look like", "looks like")
        stored = everything_stored()
        assert MAIL not in stored
        assert NAME not in stored
        assert NAME.replace(" ", ".") not in stored
    else:
        counted = AuditEvent.objects.get(action="import_annotations").details["personal_data"]
        assert counted == {kind: 1}
        assert gates.load_facts(world.dataset).is_raw == (kind == "EMAIL")
        titles = {
            item.title for item in build_checklist(world.dataset) if "after the scrub found" in item.reason
        }
        assert any(("Names" if kind == "NAME" else "e-mail") in title for title in titles)
        scrub_dataset(world.dataset, Policy())
        assert not gates.load_facts(world.dataset).is_raw
        assert MAIL not in everything_stored()


@pytest.mark.parametrize(
    "way", [way for way in (*SINGLE_WRITES, *BULK_WRITES) if way is not attest], ids=lambda way: way.__name__
)
def test_a_signature_ends_with_what_changes_the_export(world: World, way: Any) -> None:
    sign(world)
    assert write(way, world, "reviewed" if way is tag else HARMLESS) == ""
    assert (current_review(world.dataset) is None) == (way not in UNCHANGING)


def undo_decision(world: World) -> None:
    assignment = lease_for(world.campaign, "ana").current
    submit(assignment)
    sign(world)
    submit(assignment, "undo", notes="")


def skip_labeled_reply(world: World) -> None:
    assignment = lease_for(world.campaign, "ana").current
    submit(assignment)
    sign(world)
    submit(assignment, "skip", notes="")


def queue_again(world: World) -> None:
    submit(lease_for(world.campaign, "ana").current)
    world.campaign.persona.yaml += "# changed"
    world.campaign.persona.save()
    sign(world)
    assert requeue_stale(world.campaign, actor=None) == 1


def delete_label(world: World) -> None:
    page = reverse("admin:annotations_app_annotation_delete", args=[make_label(world).pk])
    assert world.client.post(page, {"post": "yes"}).status_code == 302


def list_keys(world: World) -> list[int]:
    return list(Session.objects.filter(dataset=world.dataset).order_by("pk").values_list("pk", flat=True))


def include_again(world: World) -> None:
    exclude_sessions(world.dataset, list_keys(world)[:1])
    sign(world)
    exclude_sessions(world.dataset, list_keys(world)[:1], include=True)


CHANGES: dict[str, Callable[[World], Any]] = {
    "undo": undo_decision,
    "skip a labeled reply": skip_labeled_reply,
    "queue stale labels again": queue_again,
    "delete a label": delete_label,
    "exclude": lambda world: exclude_sessions(world.dataset, list_keys(world)[:1]),
    "include": include_again,
    "split": lambda world: split_dataset(world.dataset, SplitSettings()),
    "erase": lambda world: erase_session(Session.objects.get(pk=list_keys(world)[0]), "Asked by letter."),
    "change the origin": lambda world: change_origin(
        world.dataset, "external", override="Agreed", actor=None
    ),
    "scrub": lambda world: scrub_dataset(world.dataset, Policy()),
    "import": lambda world: import_file(
        write_jsonl(world.folder / "more.jsonl", [make_turn("more")]), append=True
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_signature_ends_with_other_changes(world: World, change: Any) -> None:
    sign(world)
    change(world)
    assert current_review(world.dataset) is None


def test_a_signature_stays_where_no_label_was(world: World) -> None:
    sign(world)
    submit(lease_for(world.campaign, "ana").current, "skip", notes="")
    assert current_review(world.dataset) is not None


# Events of a dataset after which its exports have the same bytes.
UNCHANGING_ACTIONS = set(
    """
activate_retention add_comment add_to_campaign allow_company_sign_in backup cancel_job
discard_variant draft_variants
check create_campaign create_demo_accounts create_token deactivate_retention delete_comment
discard_campaign discard_upload download draw_scrub_audit edit_campaign edit_webhook end_calibration
end_attestation end_sessions expire_request export export_annotations export_audit export_table
finish_scrub_audit generate grant_access hold import import_grades import_judge import_retention_rules
import_run import_schema import_table invite lift_hold make_case order_replies override pull_source reissue
release request_approval restore restrict retry_job reveal_judge revoke_access revoke_token sample scrub
second_factor share_view sign_review unshare_view
verify_releases
""".split()
)


def test_each_audited_action_says_whether_it_changes_exports() -> None:
    """A new action is put in one of the two lists."""
    found = set(list_audited_actions())
    assert len(found) > 60
    assert found - set(CHANGING_ACTIONS) - set(PERSONA_ACTIONS) - UNCHANGING_ACTIONS == set()


def list_audited_actions() -> Iterator[str]:
    for path in [*Path("datasets_app").rglob("*.py"), *Path("annotations_app").rglob("*.py")]:
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if "record" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("audit.record", "audit_log.record"):
                first = node.args[0] if node.args else None
                branches = [first.body, first.orelse] if isinstance(first, ast.IfExp) else [first]
                yield from (item.value for item in branches if isinstance(item, ast.Constant))


# --- what is not personal, and where nothing was scrubbed --------------------------------------------------


def test_kept_terms_and_the_types_of_the_scrub_count_here(world: World) -> None:
    mark_not_personal(world.dataset, term=NAME, actor=None)
    text_gates.scan_and_describe(world.dataset)
    assert write(label_reply, world, PLANTED["NAME"]) == ""
    assert write(tag, world, PLANTED["NAME"]) == ""
    assert "EMAIL" in write(label_reply, world, PLANTED["EMAIL"])
    scrub_dataset(world.dataset, Policy(kinds=("EMAIL",)))
    assert write(edit_source, world, "Paid with 4111 1111 1111 1111.") == ""
    assert "EMAIL" in write(edit_source, world, PLANTED["EMAIL"])


def test_own_patterns_of_the_scrub_count_here(world: World) -> None:
    scrub_dataset(world.dataset, Policy(patterns=(("ORDER", r"\bORD-[0-9]{6}\b"),)))
    assert "(ORDER)" in write(edit_source, world, "See ORD-123456.")
    assert "(ORDER)" in write(tag, world, "ORD-123456")


def test_notes_of_a_dataset_that_was_never_scrubbed_are_its_next_scrubs(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path, make_sessions(2))
    text_gates.scan_and_describe(dataset)
    campaign = make_campaign(dataset, "ana")
    submit(lease_for(campaign, "ana").current, notes=PLANTED["EMAIL"])
    assert Annotation.objects.get().notes == PLANTED["EMAIL"]


def test_no_attestation_covers_imported_labels(world: World) -> None:
    last = gates.load_facts(world.dataset).text.last_session
    Attestation.objects.create(dataset=world.dataset, last_session=last, reason="Public")
    import_labels(world, HARMLESS)
    assert gates.load_facts(world.dataset).state == "attested"
    import_labels(world, PLANTED["EMAIL"])
    assert gates.load_facts(world.dataset).state == "raw"


def test_the_same_labels_again_are_not_counted_again(world: World) -> None:
    assert "EMAIL: 1" in import_labels(world, PLANTED["EMAIL"])
    assert import_labels(world, PLANTED["EMAIL"]) == ""
    assert gates.load_facts(world.dataset).text.found == {"EMAIL": 1}
    check_dataset(world.dataset, actor=None)  # which doesn't look at labels
    assert gates.load_facts(world.dataset).text.found == {"EMAIL": 1}
