"""Checks of `check --deploy`: connections to other machines are encrypted and ask for a password.

A Unix socket is protected by the permissions of its folder; everything else is a network.
"""

import os
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DatabaseError, connection

_DATABASE_EXAMPLE = "postgresql://user:password@host:5432/name?sslmode=verify-full&sslrootcert=system"
_REDIS_EXAMPLE = "rediss://:password@host:6380/0"
_SOCKET_HINT = "If the server is on this machine, use its Unix socket instead:"


@register(Tags.security, deploy=True)
def check_database_connections(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """TLS and a password for DATABASE_URL and ALIGNMENTER_OWNER_DATABASE_URL."""
    database = settings.DATABASES["default"]
    if database.get("EMBEDDED_VAR_DIR"):
        return []
    messages = list(_check_database("DATABASE_URL", database))
    if owner := database.get("OWNER"):
        return [*messages, *_check_database("ALIGNMENTER_OWNER_DATABASE_URL", owner)]
    return [*messages, _ONE_ROLE] if _owns_audit_log() else messages


@register(Tags.security, deploy=True)
def check_queue_connection(app_configs: Any, **_: Any) -> list[CheckMessage]:
    """TLS and a password for REDIS_URL."""
    parts = urlsplit(settings.RQ_QUEUES["default"]["URL"])
    return [] if parts.scheme == "unix" else list(_check_queue(parts))


def _check_queue(parts: SplitResult) -> Iterator[CheckMessage]:
    options = parse_qs(parts.query)
    if parts.scheme != "rediss":
        yield Error(
            "REDIS_URL connects without TLS, so others on the network can read and send messages.",
            hint=f"Write rediss://, as in {_REDIS_EXAMPLE}. {_SOCKET_HINT} unix:///path/to.sock",
            id="alignmenter.E003",
        )
    elif options.get("ssl_cert_reqs", ["required"])[-1].lower() not in {"required", "cert_required"}:
        yield Error(
            "REDIS_URL does not verify the server's certificate.",
            hint="Remove ssl_cert_reqs from REDIS_URL; name your own authority with ssl_ca_certs=/path.",
            id="alignmenter.E003",
        )
    if not (parts.password or options.get("password")):
        yield Error(
            "REDIS_URL has no password, so anyone who reaches the server can use the job queue.",
            hint=f"Set requirepass or a user on the server, and write {_REDIS_EXAMPLE}",
            id="alignmenter.E004",
        )


_ONE_ROLE = Warning(
    "The application's database role owns the audit log, so it could change the log.",
    hint="Create a second role that owns the database, and set ALIGNMENTER_OWNER_DATABASE_URL for "
    "`migrate` (docs/deployment.md, Two database roles).",
    id="alignmenter.W002",
)


def _owns_audit_log() -> bool:
    """Whether the application's role owns the audit log; true also if the database can't be asked.

    The address of the owner is known only where `migrate` is run.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_has_role(relowner, 'MEMBER') FROM pg_class"
                " WHERE oid = to_regclass('datasets_app_auditevent')"
            )
            row = cursor.fetchone()
    except DatabaseError:
        return True
    return row is None or bool(row[0])


def _check_database(variable: str, database: dict[str, Any]) -> Iterator[CheckMessage]:
    if not database["HOST"] or database["HOST"].startswith(("/", "@")):
        return
    options = database["OPTIONS"]
    mode = options.get("sslmode") or os.environ.get("PGSSLMODE", "prefer")
    if mode in {"require", "verify-ca"}:
        yield Warning(
            f"{variable} encrypts but does not verify the server's name (sslmode={mode}), so someone who "
            "controls the network can pose as the server.",
            hint=f"Write sslmode=verify-full, as in {_DATABASE_EXAMPLE}",
            id="alignmenter.W001",
        )
    elif mode != "verify-full":
        yield Error(
            f"{variable} allows a connection without TLS (sslmode={mode}), which others can read and change.",
            hint=f"Write sslmode=verify-full, as in {_DATABASE_EXAMPLE}. {_SOCKET_HINT} "
            "postgresql://user@/name?host=/folder",
            id="alignmenter.E001",
        )
    in_environment = os.environ.get("PGPASSWORD") or os.environ.get("PGPASSFILE")
    if not (database["PASSWORD"] or options.keys() & {"passfile", "sslcert"} or in_environment):
        yield Error(
            f"{variable} has no password, so anyone who reaches the server can read all data.",
            hint=f"Give the role a password, and write {_DATABASE_EXAMPLE}",
            id="alignmenter.E002",
        )
