"""The floors of the house, from the ground up: a package imports only from the floors below its own.

``tests/test_architecture.py`` holds them, and ``make docs`` writes them into ``docs/architecture.md``.
"""

from typing import NamedTuple


class Floor(NamedTuple):
    """Packages and modules of an app by their first component; what they are, where the table of packages
    doesn't say it."""

    packages: tuple[str, ...]
    purpose: str = ""


def _floor(packages: str, purpose: str = "") -> Floor:
    return Floor(tuple(packages.split()), purpose)


FLOORS = {
    "datasets_app": (
        _floor("domain", "rules: no Django, database, clock or network"),
        _floor("command_line", "commands that pip installs without the application"),
        _floor("models hooks", "tables and querysets; what labels offer"),
        _floor("session_data", "what every column holds, and what becomes of it"),
        _floor("core", "errors, audit events, progress, files, processes; core/web: pages"),
        _floor("catalog", "datasets, personas, search, raw access; catalog/rows: SQL for turns"),
        _floor("templatetags", "filters and tags of templates, labels of values"),
        _floor("jobs", "JobRun rows, the queue, workers, recovery"),
        _floor("model_calls", "endpoints that may be called, and with which key"),
        _floor("importing checking scrubbing generating splitting exporting auditing access tables browsing"),
        _floor("releasing sources webhooks notifications", "versions; production sampling; what happened"),
        _floor("retention", "rules, dry runs, deletion, erasure"),
        _floor("backups", "backup and restore"),
        _floor("nightly housekeeping dispatch", "what the scheduler does"),
        _floor("admin", "the frame of the admin's pages"),
        _floor("downloads management", "files people download; commands"),
        _floor("api", "routes of the API, on the operations of all others"),
        _floor("apps"),
    ),
    "annotations_app": (
        _floor("domain", "rules of labeling"),
        _floor("models"),
        _floor("criteria"),
        _floor("campaigns templatetags"),
        _floor("labeling labels"),
        _floor("agreement"),
        _floor("judges"),
        _floor("calibrating cases estimates review rubrics"),
        _floor("demo", "labels of the demonstration data"),
        _floor("hooks admin"),
        _floor("urls", "addresses of the annotators' pages"),
        _floor("management api"),
        _floor("apps"),
    ),
}
# The only imports between packages of one floor.
SAME_FLOOR = {
    ("exporting", "access"),
    ("importing", "access"),
    ("access", "auditing"),
    ("scrubbing", "splitting"),
}
