"""Looks for what is wrong with an installation, on the machine where it runs, and says what to do."""

import os
import stat
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import django
import requests
from django.conf import settings
from django.core import checks, mail
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import DatabaseError, InterfaceError, connection
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from alignmenter_site.embedded import EmbeddedServiceError
from alignmenter_site.keys import hash_key, release_key
from alignmenter_site.mail import mail_is_configured
from alignmenter_site.monitoring import health
from datasets_app.backups.schedule import last_backup_at
from datasets_app.core.disk_space import measure_room
from datasets_app.core.errors import UserError
from datasets_app.core.queries import measure_clock_difference
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.names.names import load_name_finder
from datasets_app.domain.wording import format_count
from datasets_app.jobs import queue
from datasets_app.retention.reapply_erasures import check_erasures

MIN_POSTGRES_VERSION = 160000
MAX_CLOCK_SECONDS = 5.0
# They are made every night; one may be late, after a downtime.
MAX_BACKUP_AGE = timedelta(hours=50)
TIMEOUT_SECONDS = 10
KEY_FILES = ("secret_key", "hash_key", "release_key")
_READ_OR_WRITE_BY_OTHERS = 0o066


class Fault(Exception):
    """What is wrong and what to do, without secrets."""


class Finding(NamedTuple):
    name: str
    ok: bool
    text: str


def examine() -> Iterator[Finding]:
    """Each check in turn. Those that ask the database are left out while it can't be reached."""
    database_failed = False
    for name, check in CHECKS.items():
        if database_failed and check in _WITH_DATABASE:
            continue
        try:
            yield Finding(name, True, check())
        except Fault as fault:
            database_failed = database_failed or name == "database"
            yield Finding(name, False, str(fault))
        except Exception as error:  # a check that breaks must not hide the others
            yield Finding(name, False, f"This can't be checked ({type(error).__name__}).")


def _check_settings() -> str:
    if settings.DEBUG:
        raise Fault("Pages show settings and code when they fail. Remove ALIGNMENTER_DEBUG.")
    found = checks.run_checks(tags=[checks.Tags.security], include_deployment_checks=True)
    ours = [message for message in found if str(message.id).startswith("alignmenter.E")]
    if ours:
        raise Fault(" ".join(f"{message.msg} {message.hint or ''}".strip() for message in ours))
    return "no faults; `manage.py check --deploy` says more"


def _check_versions() -> str:
    return f"Python {sys.version.split()[0]}, Django {django.__version__}"


def _check_database() -> str:
    try:
        health.is_database_reachable()
        version = connection.connection.info.server_version
    except (DatabaseError, InterfaceError, EmbeddedServiceError) as error:
        raise Fault(
            f"The database can't be reached ({type(error.__cause__ or error).__name__}). Start it, or "
            "correct DATABASE_URL."
        ) from None
    if version < MIN_POSTGRES_VERSION:
        raise Fault(f"PostgreSQL {version // 10000} is too old. Upgrade it to 16 or later.")
    return f"PostgreSQL {version // 10000}.{version % 10000}"


def _check_migrations() -> str:
    if missing := health.list_missing_migrations():
        count = format_count(len(missing), "migration")
        raise Fault(f"The database lacks {count}, from {missing[0]} on. Run `manage.py migrate`.")
    return "all applied"


def _check_clock() -> str:
    seconds = measure_clock_difference()
    if seconds > MAX_CLOCK_SECONDS:
        raise Fault(
            f"The clocks of this machine and of the database differ by {seconds:.0f} s. Set both by NTP."
        )
    return "as the database's"


def _check_queue() -> str:
    if not queue.is_reachable():
        raise Fault("Redis or Valkey can't be reached. Start it, or correct REDIS_URL.")
    return "answers"


def _check_workers() -> str:
    count = queue.worker_count()
    if not count and queue.is_reachable():
        raise Fault("No worker runs. Start `manage.py worker`, one for each spare core.")
    return f"{count} running" if count else "unknown while the queue is away"


def _check_scheduler() -> str:
    if not queue.is_scheduler_alive() and queue.is_reachable():
        raise Fault("No scheduler runs. Start `manage.py scheduler`.")
    return "running" if queue.is_reachable() else "unknown while the queue is away"


def _check_var() -> str:
    var = Path(settings.VAR_DIR)
    if not os.access(var, os.W_OK | os.X_OK):
        raise Fault(f"{var} can't be written to. Give the account that runs the application write access.")
    if _mode(var) & _READ_OR_WRITE_BY_OTHERS:
        raise Fault(f"Other accounts can list or change {var}. Run: chmod 700 {var}")
    return str(var)


def _check_keys() -> str:
    for name in KEY_FILES:
        path = Path(settings.VAR_DIR) / name
        if path.exists() and _mode(path) & 0o077:
            raise Fault(f"Other accounts can read {path}. Run: chmod 600 {path}, and consider a new key.")
    try:
        hash_key.hash_key()
        fingerprint = release_key.fingerprint(release_key.public_key())
    except SystemExit as error:
        raise Fault(str(error)) from None
    return f"fingerprint of the release key {fingerprint}"


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _check_disk() -> str:
    room = measure_room()
    if not room:
        reserve = filesizeformat(settings.MIN_FREE_BYTES)
        raise Fault(f"Less than the reserve of {reserve} is free. Free disk space for {settings.VAR_DIR}.")
    return f"{filesizeformat(room)} free besides the reserve"


def _check_storage() -> str:
    name, content = f"doctor/{uuid4().hex}", uuid4().bytes
    try:
        stored = default_storage.save(name, ContentFile(content))
        with default_storage.open(stored) as file:
            same = file.read() == content
        default_storage.delete(stored)
    except Exception as error:  # of any storage
        raise Fault(
            f"A file can't be written, read and deleted ({type(error).__name__}). Look at "
            "ALIGNMENTER_MEDIA_ROOT or ALIGNMENTER_STORAGE and its credentials."
        ) from None
    if not same:
        raise Fault("A file is read back with another content. Look at the storage.")
    return "a file was written, read and deleted"


def _check_backup() -> str:
    if not settings.BACKUP_TO:
        return "not configured (ALIGNMENTER_BACKUP_TO)"
    # Only here, because they bring a library for encryption.
    from datasets_app.backups import clients, keys

    try:
        keys.read_recipients(settings.BACKUP_RECIPIENTS)
        clients.find_server("BACKUP")
    except UserError as error:
        raise Fault(error.message) from None
    last = last_backup_at()
    if last is None:
        raise Fault("No backup has been made yet. Run `manage.py backup`.")
    if timezone.now() - last > MAX_BACKUP_AGE:
        when = f"{last:%-d %B %Y}"
        raise Fault(
            f"The last backup was made on {when}. Run `manage.py backup`, and look at the failed job."
        )
    return f"the last one was made on {last:%-d %B %Y at %H:%M} UTC"


def _check_erasures() -> str:
    try:
        check_erasures()
    except UserError as error:
        raise Fault(error.message) from None
    return "the database knows all of them"


def _check_name_model() -> str:
    try:
        load_name_finder(tuple(settings.NAME_MODELS))
    except NameModelError as error:
        raise Fault(f"{error} Scrubs can't start; see ALIGNMENTER_NAME_MODELS.") from None
    return ", ".join(settings.NAME_MODELS)


def _check_mail() -> str:
    if not mail_is_configured():
        return "not configured"
    try:
        with mail.get_connection(timeout=TIMEOUT_SECONDS):
            return "the server answers"
    except OSError as error:  # what smtplib raises is of this kind
        raise Fault(
            f"The mail server refuses the connection ({type(error).__name__}). Look at ALIGNMENTER_SMTP_URL."
        ) from None


def _check_company_sign_in() -> str:
    if not settings.COMPANY_SIGN_IN:
        return "not configured"
    [app] = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
    issuer = app["settings"]["server_url"].removesuffix("/.well-known/openid-configuration").rstrip("/")
    try:
        answer = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=TIMEOUT_SECONDS)
        answer.raise_for_status()
        complete = {"authorization_endpoint", "token_endpoint"} <= answer.json().keys()
    except (requests.RequestException, ValueError, AttributeError) as error:
        raise Fault(
            f"The provider doesn't answer ({type(error).__name__}), so nobody can sign in by it. Look at "
            "ALIGNMENTER_OIDC_URL and at the network between."
        ) from None
    if not complete:
        raise Fault("ALIGNMENTER_OIDC_URL answers, but not as an OpenID Connect provider. Correct it.")
    return "the provider answers"


_WITH_DATABASE = (_check_migrations, _check_clock, _check_backup, _check_erasures)
CHECKS: dict[str, Callable[[], str]] = {
    "settings": _check_settings,
    "versions": _check_versions,
    "database": _check_database,
    "migrations": _check_migrations,
    "clock": _check_clock,
    "queue": _check_queue,
    "workers": _check_workers,
    "scheduler": _check_scheduler,
    "var": _check_var,
    "keys": _check_keys,
    "disk": _check_disk,
    "storage": _check_storage,
    "backup": _check_backup,
    "erasures": _check_erasures,
    "name model": _check_name_model,
    "mail": _check_mail,
    "company sign-in": _check_company_sign_in,
}
