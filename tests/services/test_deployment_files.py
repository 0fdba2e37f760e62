"""The image, compose.yaml, units and Kubernetes manifests fit the application as it is."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from alignmenter_site import env
from tests.conftest import PROJECT

DEPLOYMENT = PROJECT / "docs/deployment"
SETTINGS = (PROJECT / "docs/deployment.md").read_text()
# Of other programs.
FOREIGN = {"AWS_SHARED_CREDENTIALS_FILE", "SITE", "POSTGRES_PASSWORD_FILE", "POSTGRES_INITDB_ARGS"}
FOREIGN |= {"PATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PIP_DISABLE_PIP_VERSION_CHECK"}
FOREIGN |= {"PIP_NO_CACHE_DIR"}


def load_compose() -> Any:
    return yaml.safe_load((PROJECT / "compose.yaml").read_text())


def load_manifests() -> list[Any]:
    return list(yaml.safe_load_all((DEPLOYMENT / "kubernetes/alignmenter.yaml").read_text()))


def read_units() -> dict[str, str]:
    folder = DEPLOYMENT / "systemd"
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.*") if path.is_file()}


def iterate_variables() -> Iterator[str]:
    for service in load_compose()["services"].values():
        yield from service.get("environment", {})
    for manifest in load_manifests():
        if manifest["kind"] == "ConfigMap":
            yield from manifest["data"]
    for unit in read_units().values():
        yield from re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE)
    yield from re.findall(r"^(?:ENV|   ) (\w+)=", (PROJECT / "Dockerfile").read_text(), re.MULTILINE)


def test_every_variable_is_a_documented_setting() -> None:
    names = {name for name in iterate_variables() if name not in FOREIGN}
    assert len(names) > 12
    assert [name for name in sorted(names) if f"`{name.removesuffix('_FILE')}`" not in SETTINGS] == []


def test_every_command_exists() -> None:
    files = ["Dockerfile", "compose.yaml", *(f"docs/deployment/systemd/{name}" for name in read_units())]
    text = "".join(
        (PROJECT / name).read_text() for name in [*files, "docs/deployment/kubernetes/alignmenter.yaml"]
    )
    commands = set(re.findall(r"manage\.py,? ([a-z]+)", text))
    assert commands == {"migrate", "worker", "scheduler"}
    folder = PROJECT / "datasets_app/management/commands"
    assert [name for name in commands if not (folder / f"{name}.py").exists()] == []
    # As the supervisor and docs/deployment.md start it.
    servers = re.findall(
        r"gunicorn\W+(alignmenter_site\.wsgi.*?--worker-tmp-dir\W+/dev/shm)", text, re.DOTALL
    )
    assert len(servers) == 2
    options = ("--preload", "--no-control-socket", "python:alignmenter_site.gunicorn_settings")
    assert [name for name in options for server in servers if name not in server] == []


def test_the_image_has_what_the_application_needs() -> None:
    dockerfile = (PROJECT / "Dockerfile").read_text()
    [version] = set(re.findall(r"FROM python:(\d+\.\d+)-slim-\w+", dockerfile))
    wanted = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert tuple(map(int, version.split("."))) >= tuple(map(int, wanted.removeprefix(">=").split(".")))
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", dockerfile, re.MULTILINE)
    sources = [source for line in copied for source in line.split()]
    assert {"manage.py", "templates", "locks/run.txt"} <= set(sources)
    assert [source for source in sources if not (PROJECT / source).exists()] == []
    allowed = {line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line[:1] == "!"}
    assert allowed == set(sources)
    assert dockerfile.count("\nUSER 10001:10001\n") == 1


def test_images_are_pinned_and_secrets_are_files() -> None:
    compose = load_compose()
    images = [service["image"] for service in compose["services"].values()]
    images += [
        container["image"]
        for manifest in load_manifests()
        if manifest["kind"] in ("Deployment", "Job")
        for container in manifest["spec"]["template"]["spec"]["containers"]
    ]
    # PostgreSQL's major version alone decides on the format of its files.
    pinned = re.compile(r":\d+\.\d+(\.\d+)?(-alpine)?$|^postgres:\d+-alpine$")
    assert [image for image in images if not pinned.search(image)] == []
    for name, service in compose["services"].items():
        assert set(service.get("secrets", [])) <= compose["secrets"].keys(), name
        secret = [
            value for value in service.get("environment", {}).values() if "password" in str(value).lower()
        ]
        assert [value for value in secret if not value.startswith("/run/secrets/")] == [], name


def test_every_secret_is_made_once_and_at_random(tmp_path: Path) -> None:
    script = DEPLOYMENT / "compose/make_secrets.sh"
    made = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        for _ in range(2):
            subprocess.run([script, folder], check=True, stdout=subprocess.DEVNULL)
            made.append({path.name: path.read_text() for path in folder.iterdir()})
        assert folder.stat().st_mode & 0o777 == 0o700
    assert made[0] == made[1]
    assert [name for name in made[0] if made[0][name] == made[2][name]] == []
    named = {Path(secret["file"]).name for secret in load_compose()["secrets"].values()}
    assert named <= made[0].keys()


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    """With programs that exist here in place of those that an installation has."""
    for name, text in read_units().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        text = re.sub(r"/opt/alignmenter/\.venv/bin/\w+", sys.executable, text)
        path.write_text(re.sub(r"^(User|Group|Documentation)=.*\n", "", text, flags=re.MULTILINE))
    units = [str(path).replace("@.", "@1.") for path in tmp_path.glob("*.[st]*") if path.is_file()]
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, env=os.environ
    )
    assert [line for line in done.stderr.splitlines() if "alignmenter" in line or str(tmp_path) in line] == []


def test_a_setting_is_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "secret"
    secret.write_text("  from the file\n")
    monkeypatch.setenv("TRIAL_FILE", str(secret))
    assert env.text("TRIAL") == "from the file"
    monkeypatch.setenv("TRIAL", "from the environment")
    with pytest.raises(env.EnvironmentVariableError, match="Set TRIAL or TRIAL_FILE, not both"):
        env.text("TRIAL")
    monkeypatch.delenv("TRIAL")
    secret.write_bytes(b"\xff\xfe hidden")
    with pytest.raises(env.EnvironmentVariableError, match="it is not text") as refusal:
        env.text("TRIAL")
    assert "hidden" not in str(refusal.value)
    secret.write_text(" \n")
    with pytest.raises(env.EnvironmentVariableError, match="is empty"):
        env.text("TRIAL")
    secret.unlink()
    with pytest.raises(env.EnvironmentVariableError, match="No such file or directory"):
        env.text("TRIAL")
