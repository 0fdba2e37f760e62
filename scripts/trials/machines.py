"""Machines made of network namespaces (Linux, root): each with a network interface, a name and a folder of
its own.

Packets stay within these namespaces; nothing of the machine's own network changes.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from scripts.trials.installation import PROJECT, wait_until

NETWORK = "10.77.0"
SERVICES = "alignmenter-services"
STOP_SECONDS = 40.0
RESTART_SECONDS = 2.0


class Network:
    """The machine with the services, and others on a bridge of it."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [SERVICES, *names]

    def __enter__(self) -> "Network":
        self.remove()
        for name in self.names:
            _run("ip", "netns", "add", name)
            _run("ip", "-n", name, "link", "set", "lo", "up")
        _run("ip", "-n", SERVICES, "link", "add", "bridge0", "type", "bridge")
        _run("ip", "-n", SERVICES, "addr", "add", f"{NETWORK}.1/24", "dev", "bridge0")
        _run("ip", "-n", SERVICES, "link", "set", "bridge0", "up")
        for number, name in enumerate(self.names[1:], 2):
            port = f"port{number}"
            _run("ip", "-n", SERVICES, "link", "add", port, "type", "veth", "peer", "eth0", "netns", name)
            _run("ip", "-n", SERVICES, "link", "set", port, "master", "bridge0", "up")
            _run("ip", "-n", name, "addr", "add", f"{NETWORK}.{number}/24", "dev", "eth0")
            _run("ip", "-n", name, "link", "set", "eth0", "up")
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def remove(self) -> None:
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    def address(self, name: str) -> str:
        return f"{NETWORK}.{self.names.index(name) + 1}"

    def cut_off(self, name: str) -> None:
        """Its processes go on, and nothing from or to them arrives."""
        _run("ip", "-n", SERVICES, "link", "set", f"port{self.names.index(name) + 1}", "down")

    def reconnect(self, name: str) -> None:
        _run("ip", "-n", SERVICES, "link", "set", f"port{self.names.index(name) + 1}", "up")


class Machine:
    """Programs of the application on one machine, with a folder that no other machine uses."""

    def __init__(self, name: str, folder: Path, settings: dict[str, str]) -> None:
        self.name, self.folder = name, folder / name
        self.folder.mkdir()
        self.log: IO[bytes] = (self.folder / "log").open("ab")
        self.environment = os.environ | settings | {"ALIGNMENTER_VAR_DIR": str(self.folder / "var")}
        self.stopping = threading.Event()
        self.keepers: list[threading.Thread] = []

    def start(self, *command: str) -> None:
        """Start a program, and again whenever it ends, as a process manager does: a worker ends if it can't
        reach the queue."""
        keeper = threading.Thread(target=self._keep_running, args=command)
        self.keepers.append(keeper)
        keeper.start()

    def _keep_running(self, *command: str) -> None:
        while not self.stopping.is_set():
            process = subprocess.Popen(
                inside(self.name, [sys.executable, *command]),
                cwd=PROJECT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                start_new_session=True,
            )
            while process.poll() is None and not self.stopping.wait(0.5):
                pass
            stop_process(process)
            self.stopping.wait(RESTART_SECONDS)

    def stop(self) -> None:
        self.stopping.set()
        for keeper in self.keepers:
            keeper.join()


def stop_process(process: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> None:
    process.send_signal(number)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def inside(name: str, command: Sequence[str]) -> list[str]:
    """The command in the machine's network, under the machine's host name."""
    named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', name, *command]
    return ["ip", "netns", "exec", name, *named]


class Services:
    """PostgreSQL with two roles, Valkey and an S3-compatible server (rclone), each with a password, over
    TCP."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder / "services", f"{NETWORK}.1"
        self.folder.mkdir(mode=0o711)
        self.processes: list[subprocess.Popen[bytes]] = []
        self.log: IO[bytes] = (self.folder / "log").open("ab")

    def start(self) -> dict[str, str]:
        """The settings of the machines that use them."""
        secrets = self.folder / "secrets"
        scripts = PROJECT / "docs/deployment/compose"
        _run(str(scripts / "make_secrets.sh"), str(secrets))
        password = {name: (secrets / f"{name}_password").read_text().strip() for name in _PASSWORDS}
        self._start_postgres(secrets, scripts)
        self._start_valkey(password["valkey"])
        self._start_storage(password["storage"])
        database = f"{self.address}:5432/alignmenter"
        endpoint = f"http://{self.address}:8333"
        settings = {
            "DATABASE_URL": f"postgresql://alignmenter:{password['application']}@{database}",
            "ALIGNMENTER_OWNER_DATABASE_URL": f"postgresql://alignmenter_owner:{password['owner']}@{database}",
            "REDIS_URL": f"redis://:{password['valkey']}@{self.address}:6379/0",
            "ALIGNMENTER_STORAGE": f"s3://datasets?endpoint_url={endpoint}&region_name=us-east-1",
            "AWS_SHARED_CREDENTIALS_FILE": str(secrets / "aws_credentials"),
            "SECRET_KEY_FILE": str(secrets / "secret_key"),
            "ALIGNMENTER_HASH_KEY_FILE": str(secrets / "hash_key"),
            "ALIGNMENTER_RELEASE_KEY_FILE": str(secrets / "release_key"),
            "ALIGNMENTER_HTTPS": "off",
            "ALIGNMENTER_MIN_FREE_BYTES": "0",
            "ALLOWED_HOSTS": "*",
            "LOG_LEVEL": "WARNING",
        }
        create = [sys.executable, str(scripts / "create_bucket.py"), endpoint, "datasets"]
        subprocess.run(inside(SERVICES, create), env=os.environ | settings, check=True)
        return settings

    def _start_postgres(self, secrets: Path, scripts: Path) -> None:
        from alignmenter_site.embedded.postgres import find_binaries_dir

        binaries, data = find_binaries_dir(), self.folder / "postgres"
        # PostgreSQL refuses to run as root.
        account = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        data.mkdir(mode=0o700)
        if account:
            for place in (data,):
                os.chown(place, 65534, 65534)
        initdb = [
            str(binaries / "initdb"),
            "--pgdata",
            str(data),
            "--username",
            "postgres",
            "--auth",
            "trust",
        ]
        initdb += ["--encoding", "UTF8", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"]
        subprocess.run([*initdb, "--locale", "C"], check=True, stdout=self.log, cwd="/", **account)
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write(f"host all all {NETWORK}.0/24 scram-sha-256\n")
        options = {"listen_addresses": self.address, "unix_socket_directories": str(data)}
        options |= {"shared_buffers": "256MB", "max_locks_per_transaction": "1024", "max_wal_size": "4GB"}
        command = [str(binaries / "postgres"), "-D", str(data)]
        command += [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        self._start(command, **account)
        ready = [str(binaries / "pg_isready"), "--host", str(data), "--quiet"]
        wait_until(lambda: subprocess.run(ready).returncode == 0, 60, "PostgreSQL starts")
        environment = {
            "PATH": f"{binaries}:{os.environ['PATH']}",
            "PGHOST": str(data),
            "SECRETS_DIR": str(secrets),
        }
        subprocess.run([str(scripts / "create_roles.sh")], env=environment, check=True, stdout=self.log)

    def _start_valkey(self, password: str) -> None:
        from alignmenter_site.embedded.valkey import find_server_binary

        folder = self.folder / "valkey"
        folder.mkdir()
        (folder / "conf").write_text(
            f"bind {self.address}\nport 6379\nrequirepass {password}\ndir {folder}\n"
        )
        self._start([str(find_server_binary()), str(folder / "conf")])

    def _start_storage(self, password: str) -> None:
        rclone = str(Path(sys.executable).with_name("rclone"))
        folder = self.folder / "files"
        folder.mkdir()
        environment = os.environ | {
            "RCLONE_CONFIG": "/dev/null",
            "RCLONE_AUTH_KEY": f'"alignmenter,{password}"',
        }
        self._start([rclone, "serve", "s3", "--addr", f"{self.address}:8333", str(folder)], env=environment)

    def _start(self, command: list[str], **options: object) -> None:
        if "user" in options:  # the namespace is entered as root, so another account comes after
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
            options = {}
        self.processes.append(
            subprocess.Popen(
                inside(SERVICES, command),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=self.log,
                stderr=self.log,
                start_new_session=True,
                **options,  # type: ignore[call-overload]
            )
        )

    def stop(self) -> None:
        for process in reversed(self.processes):
            stop_process(process, signal.SIGINT)  # which PostgreSQL takes for "without waiting for clients"


_PASSWORDS = ("application", "owner", "valkey", "storage")


def _run(*command: str) -> None:
    subprocess.run(command, check=True)
