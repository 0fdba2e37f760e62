"""Fifty annotators at once, over HTTP, against the web server as `make run` starts it.

    python -m benchmarks.bench_queue [--labels 20000] [--annotators 50] [--overlap 2]

Each of them decides, takes what comes next from the answer, and goes on until nothing is left; one press
in fifty is sent twice, as a browser does whose answer got lost. Afterwards the database is asked whether
any reply has more than its overlap, and whether any label is lost, doubled or another than was pressed.

Times are the server's own, from its access log: from the request to the end of the answer, which brings
the next reply. They are compared with a page that needs only a signed-in user, requested by as many at
once; the times of one annotator alone, before the others come, are printed too.
"""

import argparse
import http.client
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

from benchmarks.harness import PROJECT, temporary_servers, write_turns

SINGLE_ANNOTATOR_LABELS = 200  # labels by one annotator alone
BASELINE_PATH = "/password/done/"
RESEND_SHARE = 1 / 50
CSRF_TOKEN = "a" * 32
RETRY_SECONDS = 0.2  # seconds, while others hold what is left


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labels", type=int, default=20_000)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--overlap", type=int, default=2)
    given = parser.parse_args()
    with temporary_servers() as folder:
        cookies = prepare_campaign(folder, given.labels // given.overlap, given.annotators, given.overlap)
        with web_server(folder) as server:
            alone = run_in_parallel(
                server, cookies[:1], lambda annotator: annotator.label(SINGLE_ANNOTATOR_LABELS)
            )
            alone_times = server.times("decide")
            bare = run_in_parallel(server, cookies, lambda annotator: annotator.look(given.labels // 20))
            bare_times = server.times(BASELINE_PATH)
            started = time.perf_counter()
            done = run_in_parallel(server, cookies, lambda annotator: annotator.label())
            took = time.perf_counter() - started
            times = server.times("decide")
        pressed = {key: what for one in (*alone, *bare, *done) for key, what in one.pressed.items()}
        print_results(given, took, {"alone": alone_times, "bare": bare_times, "at once": times})
        check_consistency(pressed, given.labels // given.overlap, given.overlap)


def prepare_campaign(folder: Path, replies: int, annotators: int, overlap: int) -> list[str]:
    """A campaign of so many replies, and the session cookie of each annotator."""
    from django.contrib.auth.models import Group, User
    from django.test import Client

    from annotations_app.campaigns.create import create_campaign
    from annotations_app.campaigns.settings import CampaignSettings
    from datasets_app.importing.import_dataset import ImportSource, import_dataset
    from datasets_app.models import Dataset, Persona

    path = folder / "bench.jsonl"
    write_turns(path, 2 * replies)
    import_dataset([ImportSource(path, path.name)], name="bench")
    yaml = (PROJECT / "datasets_app" / "demo" / "default_v1.yaml").read_text()
    persona = Persona.objects.create(persona_id="default_v1", yaml=yaml)
    group, cookies = Group.objects.get(name="annotator"), []
    for number in range(annotators):
        user = User.objects.create_user(f"annotator{number}")
        user.groups.add(group)
        client = Client()
        client.force_login(user)
        cookies.append(f"sessionid={client.cookies['sessionid'].value}; csrftoken={CSRF_TOKEN}|{user.pk}")
    names = [f"annotator{number}" for number in range(annotators)]
    dataset = Dataset.objects.get(name="bench")
    create_campaign(CampaignSettings("bench", dataset, persona, names, overlap=overlap))
    return cookies


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

    def __init__(self, server: Server, cookie: str) -> None:
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
        self.pressed: dict[str, tuple[int, int]] = {}

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
        return self.ask("POST", "/annotate/bench/lease/", urlencode({"persona": self.digest}))

    def label(self, count: int | None = None) -> None:
        """So many replies, or until none is left."""
        self.ask("GET", "/annotate/bench/")
        self.take(self.lease())
        while self.state != "finished" and count != 0:
            if not self.held:
                time.sleep(RETRY_SECONDS)
                self.take(self.lease())
                continue
            key, label = str(uuid.uuid4()), self.chance.randint(0, 1)
            self.pressed[key] = (int(self.held[0]), label)
            sent = {"key": key, "assignment": self.held[0], "decision": ("off", "on")[label]}
            body = urlencode(sent | {"have": ",".join(self.held), "persona": self.digest, "seconds": "1.5"})
            if self.chance.random() < RESEND_SHARE:
                self.ask("POST", "/annotate/bench/decide/", body)
            self.take(self.ask("POST", "/annotate/bench/decide/", body))
            count = count and count - 1

    def look(self, count: int) -> None:
        for _ in range(count // 50 + 1):
            self.ask("GET", BASELINE_PATH)


def run_in_parallel(server: Server, cookies: list[str], work: Callable[[Annotator], None]) -> list[Annotator]:
    annotators, failures = [Annotator(server, cookie) for cookie in cookies], []

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


def check_consistency(submissions: dict[str, tuple[int, int]], replies: int, overlap: int) -> None:
    """Fails with the count of what is wrong, if anything is."""
    from django.db import connection

    from annotations_app.models import Annotation, CampaignItem, Decision

    kept = {
        str(key): (assignment, label)
        for key, assignment, label in Decision.objects.values_list("key", "assignment", "label")
    }
    assert kept == submissions, f"{len(kept.keys() ^ submissions.keys())} presses lost or invented"
    labels = Annotation.objects.filter(kind="label")
    found = sorted(labels.values_list("assignment", "label"))
    assert found == sorted(submissions.values()), "labels are not what was pressed"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FILTER (WHERE held > %s), count(*) FILTER (WHERE held < %s), "
            "count(*) FILTER (WHERE held <> people) FROM ("
            "SELECT count(*) AS held, count(DISTINCT annotator_id) AS people "
            "FROM annotations_app_assignment WHERE state IN ('leased', 'labelled') GROUP BY item_id) i",
            [overlap, overlap],
        )
        over, under, doubled = cursor.fetchone()
    assert (over, under, doubled) == (0, 0, 0), f"{over} over, {under} under, {doubled} doubled"
    assert labels.count() == replies * overlap
    assert not CampaignItem.objects.exclude(open=0).exists()
    print(
        f"queue: checked: {labels.count():,} labels on {replies:,} replies, each by exactly {overlap}; "
        "none lost, none doubled, none other than pressed"
    )


if __name__ == "__main__":
    main()
