"""People who label through the pages, as the pages' script does: each decision has a key, and is sent again
with the same key until it is answered."""

import random
import re
import threading
import time
import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import requests

TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 0.5
# What pages answer while the database is away.
SERVICE_UNAVAILABLE = 503
ASSIGNMENT = re.compile(r'data-assignment="(\d+)"')


class Visitor:
    """A person's browser, as far as the server can tell."""

    def __init__(self, address: str, name: str, password: str) -> None:
        self.address, self.name, self.password = address, name, password
        self.session = requests.Session()
        # Seconds of each answer, by method and path.
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.is_signed_in = False

    def sign_in(self) -> None:
        """Raises requests.RequestException, also if the password isn't accepted."""
        self.session.cookies.clear()
        self.get("/login/").raise_for_status()
        answer = self.post(
            "/login/", {"username": self.name, "password": self.password}, allow_redirects=False
        )
        if answer.status_code != 302:
            raise requests.HTTPError(f"sign-in answered {answer.status_code}", response=answer)
        self.is_signed_in = True

    def get(self, path: str, **options: Any) -> requests.Response:
        return self._measure("GET", path, **options)

    def post(self, path: str, data: dict[str, Any], **options: Any) -> requests.Response:
        headers = {"X-CSRFToken": self.session.cookies.get("csrftoken", ""), **options.pop("headers", {})}
        return self._measure("POST", path, data=data, headers=headers, **options)

    def _measure(self, method: str, path: str, **options: Any) -> requests.Response:
        start = time.perf_counter()
        answer = self.session.request(method, f"{self.address}{path}", timeout=TIMEOUT_SECONDS, **options)
        self.seconds[f"{method} {path.partition('?')[0]}"].append(time.perf_counter() - start)
        return answer


@dataclass
class Annotator:
    """Labels replies of a campaign until told to stop; ``accepted`` has what the server said it stored."""

    visitor: Visitor
    user: int
    campaign: str
    pause: tuple[float, float]
    chance: random.Random
    accepted: dict[uuid.UUID, tuple[int, int]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    unanswered: int = 0
    errors: int = 0

    def work(self, stop: threading.Event) -> None:
        """The last decision is sent until it is answered, also after ``stop``."""
        if not self.visitor.is_signed_in:
            self._insist(self.visitor.sign_in, stop)
        stop.wait(self.chance.uniform(0, 2 * self.pause[1]))  # people don't begin all at once
        self._insist(lambda: self.visitor.get(f"/annotate/{self.campaign}/").raise_for_status(), stop)
        while not stop.is_set():
            leased = self._ask("lease/", {}, stop)
            replies = ASSIGNMENT.findall(leased) if leased else []
            if not replies and stop.wait(2):
                return
            for reply in replies:
                if stop.wait(self.chance.uniform(*self.pause)):
                    return
                self._decide(int(reply))

    def _decide(self, assignment: int) -> None:
        key, label = uuid.uuid4(), self.chance.randint(0, 1)
        form = {
            "assignment": assignment,
            "key": str(key),
            "decision": "on" if label else "off",
            "seconds": "2.5",
        }
        answer = self._ask("decide/", form)
        if answer is not None:
            self.accepted[key] = (assignment, label)

    def _ask(self, path: str, form: dict[str, Any], stop: threading.Event | None = None) -> str | None:
        """The text of the answer; None if the server refused, or if told to stop."""
        headers = {"X-Queue": str(self.user)}
        while not (stop and stop.is_set()):
            try:
                answer = self.visitor.post(f"/annotate/{self.campaign}/{path}", form, headers=headers)
            except requests.RequestException:
                self.unanswered += 1
            else:
                if answer.ok:
                    return answer.text
                if answer.status_code == 409:
                    self.refused.append(answer.text)
                    return None
                if answer.status_code in (401, 403):
                    self._insist(self.visitor.sign_in, stop)
                    continue
                if answer.status_code == SERVICE_UNAVAILABLE:
                    self.unanswered += 1
                else:
                    self.errors += 1
            time.sleep(RETRY_SECONDS)
        return None

    def _insist(self, act: Any, stop: threading.Event | None) -> None:
        while not (stop and stop.is_set()):
            try:
                act()
                return
            except requests.RequestException:
                self.unanswered += 1
                time.sleep(RETRY_SECONDS)


def start_annotators(annotators: list[Annotator], stop: threading.Event) -> list[threading.Thread]:
    threads = [threading.Thread(target=annotator.work, args=(stop,)) for annotator in annotators]
    for thread in threads:
        thread.start()
    return threads
