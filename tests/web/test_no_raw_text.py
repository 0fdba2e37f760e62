"""No raw text by any door: a walk over every address, command, file, table and log as every role, before and
after a scrub, for all origins.

Who may not read raw text is shown none of it; who may leaves a read event; after a scrub nobody finds any.
"""

import logging
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.db import connection

from datasets_app.access import limit_access
from datasets_app.access.roles import ROLES
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.dispatch.dispatch_events import dispatch_events
from datasets_app.exporting.export_dataset import EXPORT_FORMATS, export_to_path
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, JobRun, Release, RetentionPolicy, ScrubMark
from datasets_app.notifications.mails import mail_due
from datasets_app.releasing import files
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.retention.warnings import mail_warnings
from datasets_app.scrubbing.marks import remove_mark
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.conftest import RunManage
from tests.environment import VAR_DIR
from tests.everything import make_user_with
from tests.operations.test_scrub_canaries import all_files, everything_in_redis
from tests.raw_dataset import RawCase, make_raw_case
from tests.raw_walk import (
    ReadCounter,
    list_addresses,
    list_answers,
    list_common_addresses,
    list_unknown_arguments,
    submit,
    visit,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ORIGINS = ("production", "external", "synthetic")
# Lower only with addresses that are taken away.
MIN_ADDRESSES, MIN_TELLING = 300, 55


class World(NamedTuple):
    """``telling`` are, by case, addresses that show its word to somebody who may do everything, and so are
    all that can show it to anybody: of the first case all of them, of each other case one of each route, as
    what they show depends on the dataset as a whole. ``sendable`` are those of the first case with a form."""

    people: dict[str, User]
    cases: list[RawCase]
    telling: list[list[str]]
    sendable: list[str]
    queue: list[str]

    @property
    def words(self) -> set[str]:
        return {case.word for case in self.cases}


def test_no_raw_text_by_any_door(
    tmp_path: Path, empty_queue: None, media_root: Path, caplog: Any, manage: RunManage, settings: Any
) -> None:
    caplog.set_level(logging.INFO)
    world = make_world(tmp_path, settings)
    visit_as_everybody(world)
    assert not refuse_copies(world.cases, world.people["curator"], tmp_path)
    assert not run_commands(manage, world.cases[0])
    assert not find_elsewhere(world.words, caplog)
    scrub(world)
    assert not visit(world.people["superuser"], world.telling[0], world.words).wrong
    assert not find_stored(world.words, media_root)
    assert not find_elsewhere(world.words, caplog)


def make_world(path: Path, settings: Any) -> World:
    people = make_people()
    cases = [make_raw_case(path, origin, people["importer"]) for origin in ORIGINS]
    request_approval(cases[0], people["superuser"], settings)
    warn_of_deletion(settings)
    assert [case.dataset.restricted for case in cases] == [True, False, False]
    words = {case.word for case in cases}
    assert raw_words(cases) == words
    own = [list_addresses(case) for case in cases]
    every = {**dict.fromkeys(list_common_addresses(), ""), **own[0]}
    known = visit(people["superuser"], every, words, reader=True)
    assert not known.wrong
    assert len(every) >= MIN_ADDRESSES
    assert len(known.telling) >= MIN_TELLING
    routes = {every[address] for address in known.telling} - {""}
    telling = [
        list({route: address for address, route in addresses.items() if route in routes}.values())
        for addresses in own[1:]
    ]
    queue = [address for address in every if address.startswith("/annotate/")]
    return World(people, cases, [known.telling, *telling], known.sendable, queue)


def make_people() -> dict[str, User]:
    people = {}
    for name in (*ROLES, "importer", "superuser"):
        people[name] = User.objects.create_user(
            name.replace(" ", "_"),
            email=f"{name.replace(' ', '_')}@example.org",
            is_staff=name != "annotator",
            is_superuser=name == "superuser",
        )
    for name in ROLES:
        people[name].groups.add(Group.objects.get(name=name))
    people["importer"].groups.add(Group.objects.get(name="curator"))
    # A role of the installation's own: everything that takes no permission to read raw text.
    people["blind"] = make_user_with(excluded=("datasets_app.read_raw",), name="blind")
    return people


def request_approval(case: RawCase, actor: User, settings: Any) -> None:
    """A job that waits for a second person, who is told by mail, and one in the queue."""
    settings.FOUR_EYES = True
    parameters = ExportParameters(format="turns", tag=f"scenario:{case.plant('tag')}", override="a test")
    runs.start_job("export_dataset", actor=actor, dataset=case.dataset, parameters=parameters)
    dispatch_events()
    mail_due()
    assert "Approval requested" in str([message.subject for message in mail.outbox])
    settings.FOUR_EYES = False
    runs.request_text_scan(case.dataset, actor=actor)
    assert JobRun.objects.filter(state="queued").exists()


def warn_of_deletion(settings: Any) -> None:
    settings.MAIL_TO = ["officer@example.org"]
    policy = RetentionPolicy.objects.create(
        position=1, pattern="*", retention="1 day", reason="a test", active=True
    )
    assert mail_warnings() == {"mailed": len(ORIGINS)}
    policy.delete()


def raw_words(cases: list[RawCase]) -> set[str]:
    raw = raw_access.find_raw(case.dataset for case in cases)
    return {case.word for case in cases if case.dataset.pk in raw}


# --- before the scrub -----------------------------------------------------------------------------------


def visit_as_everybody(world: World) -> None:
    people, words = world.people, world.words
    production, shown = world.cases[0], world.telling[0]
    # Without a grant production data is not there, raw or not.
    assert not visit(people["curator"], shown, {production.word}).wrong
    limit_access.unrestrict_dataset(production.dataset, actor=None)
    for role in ("blind", "lead", "viewer"):
        assert not visit(people[role], shown, words).wrong
    for person in (None, people["annotator"]):
        assert not visit(person, [*shown, *world.queue], words).wrong
    for addresses in world.telling[1:]:
        assert not visit(people["blind"], addresses, words).wrong
    assert not submit(people["blind"], world.sendable, words, list_answers(production))
    for role in ("curator", "privacy officer"):
        assert not visit(people[role], shown, words, reader=True).wrong
    # An override lets the members of a campaign read its replies.
    member = visit(User.objects.get(username="ana"), world.queue, words, reader=True)
    assert member.telling
    assert not member.wrong


def refuse_copies(cases: list[RawCase], curator: User, folder: Path) -> list[str]:
    """Exports of raw datasets that were not refused, in any format."""
    for case in cases:
        for format in EXPORT_FORMATS:
            with pytest.raises(UserError):
                export_to_path(case.dataset, folder / f"out.{format}", format=format, actor=curator)
        for version in ("", "1.0.0"):
            with pytest.raises(UserError):
                export_package(case.dataset, folder / "package", version=version, actor=curator)
    return [str(path) for path in (*folder.glob("out.*"), *folder.glob("package*"))]


def run_commands(manage: RunManage, case: RawCase) -> list[str]:
    """Commands that print a planted value, but don't record that somebody reads it."""
    name, wrong = case.dataset.name, []
    for command in (
        f"validate_dataset --dataset {name}",
        f"validate_dataset --dataset {name} --format json",
        f"sanitize_dataset --dataset {name} --dry-run",
        f"compare_releases {name}",
        f"compare_releases {name} --texts",
        f"agreement --dataset {name}",
        f"agreement --dataset {name} --by persona,tag,annotator --format json",
        f"who_can_see {name} --all",
        "export_audit --out -",
        "apply_retention --dry-run",
        "verify_releases",
        f"export_dataset {name} --out -",
        f"export_annotations {name} --out - --persona warm_v1",
        f"sample_dataset {name} --size 1 --out -",
        f"release_dataset {name}",
        f"split_dataset --dataset {name}",
        f"erase_session {name} none --reason none",
    ):
        with ReadCounter() as reads:
            done = manage(*command.split())
        assert "usage:" not in done.stderr, command
        found = [line for line in (done.stdout + done.stderr).splitlines() if case.word in line]
        wrong += [f"{command}: {line}" for line in found if not reads.count]
    return wrong


# --- after it -------------------------------------------------------------------------------------------


def scrub(world: World) -> None:
    for mark in ScrubMark.objects.all():  # a term that is not personal stays in the text
        remove_mark(mark, actor=None)
    for case in world.cases:
        scrub_dataset(case.dataset, parse_policy({"hash_session_ids": True}))
    assert not raw_words(world.cases)
    # What was released raw stays raw until it is destroyed.
    released = [address for address in world.telling[0] if "release" in address]
    assert not visit(world.people["lead"], released, world.words).wrong
    shown = visit(world.people["curator"], released, world.words, reader=True)
    assert shown.telling
    assert not shown.wrong
    for release in Release.objects.all():
        files.destroy_files(release, reason="a test")


def find_elsewhere(words: set[str], caplog: Any) -> list[str]:
    """Places that never hold raw text: the audit log, Django's log of changes, the queue, mail, logs."""
    places = {
        "audit log": str(list(AuditEvent.objects.values())),
        "queue": str([held for _, held in everything_in_redis()]),
        "outgoing events": _read_table("datasets_app_outgoingevent"),
        "mail": str([(message.subject, message.body) for message in mail.outbox]),
        "logs": caplog.text,
        "log of changes": _read_table("django_admin_log"),
    }
    return [f"{place}: {word}" for place, held in places.items() for word in words if word in held]


def find_stored(words: set[str], media_root: Path) -> list[str]:
    """Tables and files that hold a planted value after the scrub."""
    tables = connection.introspection.django_table_names(only_existing=True)
    places = [(table, _read_table(table).encode()) for table in tables]
    places += all_files(media_root, VAR_DIR / "tmp")
    return [f"{place}: {word}" for place, held in places for word in words if word.encode() in held]


def _read_table(table: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT t::text FROM {table} t")
        return "\n".join(str(row[0]) for row in cursor.fetchall())


def test_the_walk_knows_every_kind_of_key() -> None:
    assert not list_unknown_arguments()
