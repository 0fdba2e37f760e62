"""Fifty annotators at once, over HTTP, against the web server as `make run` starts it.

    python -m benchmarks.bench_queue [--labels 20000] [--annotators 50] [--overlap 2] [--schema five]

Each of them decides, takes what comes next from the answer, and goes on until nothing is left; one press
in fifty is sent twice, as a browser does whose answer got lost. Afterwards the database is asked whether
any reply has more than its overlap, and whether any label is lost, doubled or another than was pressed.
They do so under the built-in criterion, then under ``--schema``: five criteria or a ready-made schema, whose
answers are submitted with one press; none may be stored in part.

Times are the server's own, from its access log: from the request to the end of the answer, which brings
the next reply. They are compared with a page that needs only a signed-in user, requested by as many at
once; the times of one annotator alone, before the others come, are printed too.
"""

import argparse
import http.client
import json
import random
import re
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple
from urllib.parse import urlencode

from benchmarks.bench_next_item import FIVE_CRITERIA, MAX_RATIO_OF_CRITERIA
from benchmarks.harness import PROJECT, temporary_servers, write_turns

SINGLE_ANNOTATOR_LABELS = 220  # labels by one annotator alone
COLD_LABELS = 20  # the first of them, which find nothing in any cache
BASELINE_PATH = "/password/done/"
RESEND_SHARE = 1 / 50
TIMED = ("alone", "at once")
CSRF_TOKEN = "a" * 32
RETRY_SECONDS = 0.2  # seconds, while others hold what is left


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--overlap", type=int, default=2)
    parser.add_argument("--schema", default="five", help="a ready-made schema, instead of five criteria")
    given = parser.parse_args()
    with temporary_servers() as folder:
        cookies = prepare_annotators(folder, given.labels // given.overlap, given.annotators)
        with web_server(folder) as server:
            of_built_in = measure_campaign(server, cookies, prepare_campaign(given, None), given)
            of_schema = measure_campaign(server, cookies, prepare_campaign(given, given.schema), given)
    alone, at_once = (percentile_95(of_schema[name]) / percentile_95(of_built_in[name]) for name in TIMED)
    print(
        f"queue: {given.schema} against the built-in criterion, p95, one annotator alone: ratio {alone:.2f} "
        f"(wanted: at most {MAX_RATIO_OF_CRITERIA})"
    )
    print(f"queue: the same, {given.annotators} at once: ratio {at_once:.2f}")


def prepare_annotators(folder: Path, replies: int, annotators: int) -> list[str]:
    """A dataset of so many replies, and the session cookie of each annotator."""
    from django.contrib.auth.models import Group, User
    from django.test import Client

    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Persona

    path = folder / "bench.jsonl"
    write_turns(path, 2 * replies)
    import_dataset([ImportSource(path, path.name)], name="bench")
    yaml = (PROJECT / "datasets_app" / "demo" / "default_v1.yaml").read_text()
    Persona.objects.create(persona_id="default_v1", yaml=yaml)
    group, cookies = Group.objects.get(name="annotator"), []
    for number in range(annotators):
        user = User.objects.create_user(f"annotator{number}")
        user.groups.add(group)
        client = Client()
        client.force_login(user)
        cookies.append(f"sessionid={client.cookies['sessionid'].value}; csrftoken={CSRF_TOKEN}|{user.pk}")
    return cookies


def prepare_campaign(options: Any, asked: str | None) -> Any:
    """A campaign over the dataset, for all annotators."""
    from annotations_app.campaigns.create import create_campaign
    from annotations_app.criteria.schemas import import_schema, read_ready_made, save_schema
    from annotations_app.models import Campaign
    from datasets_app.models import Dataset, Persona

    schema = None
    if asked:
        own = asked == "five"
        schema = (import_schema(FIVE_CRITERIA) if own else save_schema(read_ready_made(asked))).schema
    names = [f"annotator{number}" for number in range(options.annotators)]
    return create_campaign(
        Campaign(
            name=f"bench-{asked or 'built-in'}".replace("_", "-"),
            dataset=Dataset.objects.get(name="bench"),
            persona=Persona.objects.get(),
            overlap=options.overlap,
            schema=schema,
        ),
        names,
        # Words at random may look like personal data.
        override="a benchmark's generated text",
    )


def measure_campaign(
    server: "Server", cookies: list[str], campaign: Any, options: Any
) -> dict[str, list[float]]:
    """All of a campaign's labels, printed and checked; the milliseconds of each kind of request."""
    alone = run_in_parallel(server, cookies[:1], campaign, lambda one: one.label(SINGLE_ANNOTATOR_LABELS))
    alone_times = server.times("decide")[COLD_LABELS:]
    run_in_parallel(server, cookies, campaign, lambda one: one.look(options.labels // 20))
    bare_times = server.times(BASELINE_PATH)
    started = time.perf_counter()
    done = run_in_parallel(server, cookies, campaign, lambda one: one.label())
    took = time.perf_counter() - started
    times = {"alone": alone_times, "at once": server.times("decide"), "bare": bare_times}
    print(f"queue, {campaign.schema or 'built-in criterion'}:")
    print_results(options, took, times)
    pressed = {key: what for one in (*alone, *done) for key, what in one.pressed.items()}
    check_consistency(campaign, pressed, options.labels // options.overlap, options.overlap)
    return times


class Server(NamedTuple):
    port: int
    log: Path

    def times(self, part: str) -> list[float]:
        """Milliseconds of the requests whose line has ``part`` in it, since this was asked last."""
        found = [
            int(line.rsplit(" ", 1)[1]) / 1000
            for line in self.log.read_text().splitlines()
            if part in line and " 200 " in line
        ]
        self.log.write_text("")
        return found


@contextmanager
def web_server(folder: Path) -> Iterator[Server]:
    """The web server of `make run`, which writes down how long each request took."""
    from alignmenter_site import supervisor

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = supervisor.Address("127.0.0.1", probe.getsockname()[1])
    log = folder / "access.log"
    web = next(child for child in supervisor.build_children(PROJECT, address, folder) if child.ready)
    command = [*web.command, "--access-logfile", str(log), "--access-logformat", "%(m)s %(U)s %(s)s %(D)s"]
    process = subprocess.Popen(command)
    try:
        while not address.answers():
            time.sleep(0.1)
        yield Server(address.port, log)
    finally:
        process.terminate()
        process.wait()


class Annotator:
    """One browser: a connection that is kept, the replies it holds, and what was pressed."""

    def __init__(self, server: Server, cookie: str, campaign: Any) -> None:
        cookie, _, self.user = cookie.partition("|")
        self.headers = {
            "Cookie": cookie,
            "X-CSRFToken": CSRF_TOKEN,
            "X-Queue": self.user,
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        self.chance = random.Random(self.user)
        self.held: list[str] = []
        self.state = self.digest = ""
        self.path, self.schema = f"/annotate/{campaign.name}/", campaign.schema
        self.pressed: dict[str, tuple[int, str]] = {}

    def ask(self, method: str, path: str, body: str | None = None) -> str:
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, body, self.headers)
                answer = self.connection.getresponse()
                text = answer.read().decode()
                break
            except (http.client.RemoteDisconnected, ConnectionError):
                # A kept connection that the server had closed meanwhile.
                self.connection.close()
                if attempt == 2:
                    raise
        assert answer.status == 200, (path, answer.status, text[:200])
        return text

    def take(self, text: str) -> None:
        found = re.search(r'data-state="(\w+)" data-order="([\d,]*)"', text)
        assert found
        self.state, self.held = found[1], [pk for pk in found[2].split(",") if pk]
        if digest := re.search(r'data-digest="(\w+)"', text):
            self.digest = digest[1]

    def lease(self) -> str:
        return self.ask("POST", f"{self.path}lease/", urlencode({"persona": self.digest}))

    def label(self, count: int | None = None) -> None:
        """So many replies, or until none is left."""
        self.ask("GET", self.path)
        self.take(self.lease())
        while self.state != "finished" and count != 0:
            if not self.held:
                time.sleep(RETRY_SECONDS)
                self.take(self.lease())
                continue
            key = str(uuid.uuid4())
            sent = {"key": key, "assignment": self.held[0], "seconds": "1.5"}
            sent |= self.press(key) | {"have": ",".join(self.held), "persona": self.digest}
            body = urlencode(sent)
            if self.chance.random() < RESEND_SHARE:
                self.ask("POST", f"{self.path}decide/", body)
            self.take(self.ask("POST", f"{self.path}decide/", body))
            count = count and count - 1

    def press(self, key: str) -> dict[str, str]:
        """A decision as the page sends it; noted as the database should have it."""
        from datasets_app.domain.labels.schema import encode_answers

        if self.schema is None:
            label = self.chance.randint(0, 1)
            self.pressed[key] = (int(self.held[0]), str(label))
            return {"decision": ("off", "on")[label]}
        values = choose_answers(self.schema.content, self.chance)
        self.pressed[key] = (int(self.held[0]), spell_answers(*encode_answers(self.schema.content, values)))
        return {"decision": "label", "answers": json.dumps(values), "schema": self.schema.full_name}

    def look(self, count: int) -> None:
        for _ in range(count // 50 + 1):
            self.ask("GET", BASELINE_PATH)


def choose_answers(schema: Any, chance: random.Random) -> dict[str, Any]:
    """An answer to each question that the answers before it call for, by criterion."""
    from datasets_app.domain.labels.criterion import Kind

    values: dict[str, Any] = {}
    for question in schema.questions:
        criterion, condition = question.criterion, question.condition
        if condition and values.get(condition.key) not in [
            schema.find(condition.key).values[code] for code in condition.codes
        ]:
            continue
        if criterion.kind == Kind.TAGS:
            values[criterion.key] = [value for value in criterion.values if chance.random() < 0.5]
        elif criterion.levels:
            values[criterion.key] = chance.choice(criterion.values)
        else:
            number = chance.randint(0, 99)
            values[criterion.key] = number if criterion.kind == Kind.NUMBER else f"words {number}"
    return values


def spell_answers(codes: dict[str, Any] | None, texts: dict[str, str] | None) -> str:
    return json.dumps([codes or {}, texts or {}], sort_keys=True)


def run_in_parallel(
    server: Server, cookies: list[str], campaign: Any, work: Callable[[Annotator], None]
) -> list[Annotator]:
    annotators, failures = [Annotator(server, cookie, campaign) for cookie in cookies], []

    def run(annotator: Annotator) -> None:
        try:
            work(annotator)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=[annotator]) for annotator in annotators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return annotators


def print_results(options: Any, took: float, times: dict[str, list[float]]) -> None:
    labels = len(times["at once"])
    rate = f"{labels:,} presses in {took:.0f} s: {labels / took:.0f} a second"
    print(f"queue: {options.annotators} annotators, {rate}")
    rows = {
        "next reply, one annotator alone": times["alone"],
        f"next reply, {options.annotators} at once": times["at once"],
        f"bare page, {options.annotators} at once": times["bare"],
    }
    for name, found in rows.items():
        print(
            f"queue: {name}: p50 {median(found):.1f} ms, p95 "
            f"{percentile_95(found):.1f} ms (server's own time)"
        )
    ratio = percentile_95(times["at once"]) / percentile_95(times["bare"])
    print(f"queue: next reply against the bare page, p95: ratio {ratio:.2f}")


def percentile_95(times: list[float]) -> float:
    return quantiles(times, n=20)[-1]


def check_consistency(
    campaign: Any, submissions: dict[str, tuple[int, str]], replies: int, overlap: int
) -> None:
    """Fails with the count of what is wrong, if anything is."""
    from django.db import connection

    from annotations_app.models import CampaignItem, Decision

    decisions = Decision.objects.filter(assignment__campaign=campaign)
    kept = {
        str(key): (assignment, str(label) if campaign.schema is None else spell_answers(codes, texts))
        for key, assignment, label, codes, texts in decisions.values_list(
            "key", "assignment", "label", "codes", "texts"
        )
    }
    wrong = [key for key in kept.keys() | submissions.keys() if kept.get(key) != submissions.get(key)]
    assert not wrong, f"{len(wrong)} presses lost, invented or stored in part"
    labels = read_labels(campaign)
    assert labels == sorted(submissions.values()), "labels are not what was pressed"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE held > %s), count(*) FILTER (WHERE held < %s), "
            "count(*) FILTER (WHERE held <> people) FROM ("
            "SELECT count(*) AS held, count(DISTINCT annotator_id) AS people FROM annotations_app_assignment "
            "WHERE campaign_id = %s AND state IN ('leased', 'labelled') GROUP BY item_id) i",
            [overlap, overlap, campaign.pk],
        )
        over, under, doubled = cursor.fetchone()
    assert (over, under, doubled) == (0, 0, 0), f"{over} over, {under} under, {doubled} doubled"
    assert len(labels) == replies * overlap
    assert not CampaignItem.objects.filter(campaign=campaign).exclude(open=0).exists()
    print(
        f"queue: checked: {len(labels):,} labels on {replies:,} replies, each by exactly {overlap}; "
        "none lost, none doubled, none other than pressed"
    )


def read_labels(campaign: Any) -> list[tuple[int, str]]:
    """What counts, by assignment."""
    from annotations_app.models import Annotation, Judgment

    if campaign.schema is None:
        labels = Annotation.objects.filter(campaign=campaign, kind="label")
        return sorted((own, str(label)) for own, label in labels.values_list("assignment", "label"))
    judged = Judgment.objects.filter(campaign=campaign, kind="label")
    rows = judged.values_list("assignment", "codes", "texts")
    return sorted((own, spell_answers(codes, texts)) for own, codes, texts in rows)


if __name__ == "__main__":
    main()
