"""PostgreSQL and Valkey of the application's own, for when no other servers are configured.

They listen on Unix sockets under `var/`, start when a process first asks for them and stop about two
seconds after the last such process has ended. `postgres_url` and `valkey_url` tell the
addresses and start nothing.

A process that uses them holds a shared lock (released by the kernel, so also when the process is
killed). A small detached process, the keeper, is the parent of the servers: it starts them, starts
them again if they die, and stops them when it can have the lock for itself.
"""

from pathlib import Path
from typing import Any
from urllib.parse import quote

from .client import ensure_service
from .errors import EmbeddedServiceError
from .places import ServicePaths

__all__ = [
    "ADMINISTRATOR",
    "OWNER_ROLE",
    "EmbeddedServiceError",
    "django_database_settings",
    "ensure_postgres",
    "ensure_valkey",
    "postgres_url",
    "valkey_url",
]

ROLE = DATABASE = "alignmenter"
# Owns the database; only `migrate` works as this role.
OWNER_ROLE = "alignmenter_owner"
ADMINISTRATOR = "postgres"


def postgres_url(var_dir: Path, role: str = ROLE) -> str:
    """As psycopg, psql and DATABASE_URL take it."""
    return f"postgresql://{role}@/{DATABASE}?host={quote(_postgres_host(var_dir), safe='')}"


def django_database_settings(var_dir: Path) -> dict[str, Any]:
    """The entry in DATABASES. The backend starts the server at the first connection."""
    return {
        "ENGINE": "alignmenter_site.postgresql",
        "HOST": _postgres_host(var_dir),
        "PORT": "",
        "NAME": DATABASE,
        "USER": ROLE,
        "PASSWORD": "",
        "OPTIONS": {},
        "EMBEDDED_VAR_DIR": str(var_dir),
        "OWNER": {"USER": OWNER_ROLE},
    }


def _postgres_host(var_dir: Path) -> str:
    return str(ServicePaths.from_var_dir(var_dir).postgres_sockets)


def valkey_url(var_dir: Path) -> str:
    return f"unix://{quote(str(ServicePaths.from_var_dir(var_dir).valkey_socket))}"


def ensure_postgres(var_dir: Path, *, recheck: bool = False) -> str:
    """Start PostgreSQL unless it runs, and keep it for as long as this process and its forks live.

    Costs nothing after the first time in a process; `recheck` makes sure afresh, for when a connection
    was refused. The answer is its URL. Raises EmbeddedServiceError.
    """
    ensure_service("postgres", var_dir, recheck=recheck)
    return postgres_url(var_dir)


def ensure_valkey(var_dir: Path, *, recheck: bool = False) -> str:
    """The same for Valkey. The answer is its URL."""
    ensure_service("valkey", var_dir, recheck=recheck)
    return valkey_url(var_dir)
