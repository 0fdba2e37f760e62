"""PostgreSQL and Valkey of the application's own, for when no other servers are configured.

They listen on Unix sockets under `var/`, start when a process first asks for them and stop about two
seconds after the last such process has ended. `postgres_parameters` and `valkey_url` tell the
addresses and start nothing.

A process that uses them holds a shared lock (released by the kernel, so also when the process is
killed). A small detached process, the keeper, is the parent of the servers: it starts them, starts
them again if they die, and stops them when it can have the lock for itself.
"""

from pathlib import Path
from urllib.parse import quote

from .client import ensure
from .errors import EmbeddedServiceError
from .places import Places

__all__ = [
    "EmbeddedServiceError",
    "django_database",
    "ensure_postgres",
    "ensure_valkey",
    "postgres_parameters",
    "valkey_url",
]


def postgres_parameters(var_dir: Path) -> dict[str, str]:
    """As libpq names them: `psycopg.connect(**postgres_parameters(var))`."""
    return {
        "host": str(Places.under(var_dir).postgres_sockets),
        "dbname": "alignmenter",
        "user": "alignmenter",
    }


def django_database(var_dir: Path) -> dict[str, str]:
    """The entry in DATABASES. The backend starts the server at the first connection."""
    parameters = postgres_parameters(var_dir)
    return {
        "ENGINE": "alignmenter_site.postgresql",
        "HOST": parameters["host"],
        "PORT": "",
        "NAME": parameters["dbname"],
        "USER": parameters["user"],
        "PASSWORD": "",
        "EMBEDDED_VAR_DIR": str(var_dir),
    }


def valkey_url(var_dir: Path) -> str:
    return f"unix://{quote(str(Places.under(var_dir).valkey_socket))}"


def ensure_postgres(var_dir: Path, *, again: bool = False) -> dict[str, str]:
    """Start PostgreSQL unless it runs, and keep it for as long as this process and its forks live.

    Costs nothing after the first time in a process; `again` makes sure afresh, for when a connection
    was refused. Raises EmbeddedServiceError.
    """
    ensure("postgres", var_dir, again=again)
    return postgres_parameters(var_dir)


def ensure_valkey(var_dir: Path, *, again: bool = False) -> str:
    """The same for Valkey. The answer is its URL."""
    ensure("valkey", var_dir, again=again)
    return valkey_url(var_dir)
