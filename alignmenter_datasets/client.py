"""The API as methods. Docs: ``docs/api.md``; each method says which scopes its token needs."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

from alignmenter_datasets import transfers
from alignmenter_datasets.connection import Connection
from alignmenter_datasets.errors import ClientError, JobFailed
from alignmenter_datasets.progress import show_progress

ENDED = frozenset({"done", "failed", "canceled"})
POLL_SECONDS = (0.1, 2.0)
PAGE_SIZE = 200

Json = dict[str, Any]


class Client:
    """A server, with the rights of a token. ``progress`` shows bars on a terminal.

    Raises :class:`ClientError`: :class:`RequestRefused` with the server's reason, :class:`ServerUnreachable`,
    :class:`JobFailed`. A busy server is asked again as it says.
    """

    def __init__(self, url: str, token: str, *, progress: bool = True, allow_http: bool = False) -> None:
        self._connection = Connection(url, token, allow_http=allow_http)
        self._progress = progress

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(self, method: str, path: str, **options: Any) -> Any:
        """Any request of the API's reference, such as ``request("GET", "/personas")``."""
        return self._connection.request(method, path, **options)

    def _ask(self, method: str, path: str, **options: Any) -> Json:
        answer: Json = self._connection.request(method, path, **options)
        return answer

    def pages(self, path: str, **query: Any) -> Iterator[Json]:
        """The items of all pages of a list."""
        asked = {name: value for name, value in query.items() if value is not None}
        asked.setdefault("limit", PAGE_SIZE)
        while True:
            page = self._connection.request("GET", path, params=asked)
            yield from page["items"]
            if page["next"] is None:
                return
            asked["after"] = page["next"]

    # --- datasets ----------------------------------------------------------------------------------

    def datasets(self) -> Iterator[Json]:
        """Those that the token can see, by name (``datasets:read``)."""
        return self.pages("/datasets")

    def dataset(self, name: str) -> Json:
        """Its origin, state and counts (``datasets:read``)."""
        return self._ask("GET", _dataset(name))

    def sessions(self, name: str, *, split: str | None = None) -> Iterator[Json]:
        """Its sessions, in the order of their import (``datasets:read``)."""
        return self.pages(f"{_dataset(name)}/sessions", split=split)

    def session_turns(self, name: str, session: int) -> Iterator[Json]:
        """One conversation, by the ``id`` of its session (``datasets:read``; raw text: ``raw:read``)."""
        return self.pages(f"{_dataset(name)}/sessions/{session}/turns")

    def turns(
        self, name: str, *, split: str | None = None, persona: str | None = None, tag: str | None = None
    ) -> Iterator[Json]:
        """All turns, one after the other, as an export has them (``datasets:read``, ``exports:write``). For a
        large dataset :meth:`pull` is better: it resumes."""
        query = {"split": split, "persona": persona, "tag": tag}
        chosen = {key: value for key, value in query.items() if value is not None}
        with self._connection.stream(f"{_dataset(name)}/turns", params=chosen) as answer:
            for line in answer.iter_lines():
                yield json.loads(line)

    # --- files in and out --------------------------------------------------------------------------

    def push(self, path: str | Path, dataset: str, *, wait: bool = True, **options: Any) -> Json:
        """Upload a file and import it into a dataset (``imports:write``); returns the job, ended unless
        ``wait`` is off.

        ``options``: ``origin``, ``format``, ``persona``, ``on_error``, ``renumber``, ``append`` and others of
        the reference. Call it again to resume an upload that broke off.
        """
        path = Path(path)
        if not path.is_file():
            raise ClientError(f"{path}: no such file.")
        asked = {"dataset": dataset, "file_name": path.name, **options}
        with show_progress(f"Uploading {path.name}", enabled=self._progress) as on_bytes:
            job = transfers.upload(self._connection, path, asked, on_bytes)
        return self.wait(job["id"]) if wait else job

    def pull(self, name: str, path: str | Path, **options: Any) -> transfers.Pulled:
        """Export a dataset into a file (``datasets:read``, ``exports:write``). An interrupted download
        resumes.

        ``options``: ``format`` (``turns``, ``openai``, ``sharegpt``, ``sessions``, ``csv``, ``parquet``),
        ``version``, ``package``, ``split``, ``persona``, ``tag``, ``gzip``.
        """
        return self.download(self.start(f"{_dataset(name)}/exports", **options), path)

    def download(self, job: Json, path: str | Path) -> transfers.Pulled:
        """The file that a job made."""
        files = [file for file in job["files"] if file["available"] and file["kind"] != "upload"]
        if not files:
            raise ClientError(f"Job {job['id']} has no file to download.")
        target, file = Path(path), files[0]
        if target.is_dir():
            target /= file["name"]
        with show_progress(f"Downloading {target.name}", enabled=self._progress) as on_bytes:
            pulled = transfers.download(
                self._connection,
                f"/jobs/{job['id']}/files/{file['id']}",
                target,
                file["size"],
                file["sha256"],
                on_bytes,
            )
        result = job["result"] or {}
        return pulled._replace(notices=(*result.get("notices", ()), *result.get("notes", ())))

    # --- work --------------------------------------------------------------------------------------

    def start(self, path: str, **parameters: Any) -> Json:
        """Start a job and wait for its end: ``start("/datasets/support/checks")``."""
        return self.wait(self._connection.request("POST", path, json=parameters)["id"])

    def check(self, name: str) -> Json:
        """Run the checks; returns the report (``datasets:read``, ``checks:write``)."""
        self.start(f"{_dataset(name)}/checks")
        return self._ask("GET", f"{_dataset(name)}/checks/latest")

    def scrub(self, name: str, **options: Any) -> Json:
        """Scrub the dataset; returns the job (``datasets:read``, ``scrubs:write``)."""
        return self.start(f"{_dataset(name)}/scrubs", **options)

    def push_run(self, report: str | Path, dataset: str, version: str) -> Json:
        """Import the report of an ``alignmenter run`` on this version (``datasets:read``, ``releases:read``,
        ``releases:write``). The same run again changes nothing."""
        folder = Path(report)
        try:
            manifest, results = (
                json.loads((folder / name).read_bytes()) for name in ("manifest.json", "results.json")
            )
        except (OSError, ValueError):
            raise ClientError(f"{folder}: no report of a finished alignmenter run.") from None
        path = f"{_dataset(dataset)}/releases/{quote(version, safe='')}/runs"
        kept = _keep_numbers(results)
        return self._ask("POST", path, json={"manifest": manifest, "results": kept})

    def agreement(self, name: str, **query: Any) -> Json:
        """How far annotators agree (``labels:read``)."""
        return self._ask("GET", f"{_dataset(name)}/agreement", params=query)

    def quality(self, name: str) -> Json:
        """Certificates of judges with whether they hold, and rates with intervals (``labels:read``)."""
        return self._ask("GET", f"{_dataset(name)}/quality")

    def jobs(self, dataset: str | None = None) -> Iterator[Json]:
        """The latest first (``datasets:read``)."""
        return self.pages("/jobs", dataset=dataset)

    def job(self, number: int) -> Json:
        return self._ask("GET", f"/jobs/{number}")

    def cancel(self, number: int) -> Json:
        return self._ask("POST", f"/jobs/{number}/cancel")

    def wait(self, number: int) -> Json:
        """Ask until a job has ended; raises JobFailed unless it is done."""
        pause, longest = POLL_SECONDS
        with show_progress("Waiting", enabled=self._progress, unit="") as on_share:
            while True:
                job = self.job(number)
                if job["state"] in ENDED:
                    break
                on_share(job["done"], job["total"] or 0)
                time.sleep(pause)
                pause = min(1.5 * pause, longest)
        if job["state"] != "done":
            raise JobFailed(job)
        return job


def _keep_numbers(results: Any) -> Any:
    """Without notes of judges and other texts, which quote conversations: what names sessions is the list of
    scored replies."""
    scores = results.get("scores", {}) if isinstance(results, dict) else {}
    return {"scores": {name: _drop_texts(scores.get(name)) for name in ("primary", "analytics")}}


def _drop_texts(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: _drop_texts(item)
        for key, item in value.items()
        if isinstance(item, int | float | dict) or key == "scores"
    }


def _dataset(name: str) -> str:
    return f"/datasets/{quote(name, safe='')}"
