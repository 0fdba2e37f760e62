"""The plan of the house (docs/architecture.md), held."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

PROJECT = Path(__file__).resolve().parent.parent
APPS = ("datasets_app", "annotations_app")
LAZY = ("presidio_analyzer", "spacy", "openai")
# The only ones that know spaCy; they load it when the first name is looked for.
KNOW_SPACY = {"datasets_app/domain/pii/names.py", "datasets_app/domain/pii/name_pipeline.py"}
KNOWS_PRESIDIO = "datasets_app/domain/pii/presidio.py"
KNOWS_OPENAI = "datasets_app/domain/generation/openai_compatible.py"
NOT_IN_DOMAIN = ("django", "django_rq", "rq", "redis", "psycopg", "import_export", "unfold", *LAZY)
MAX_FUNCTION_LINES, MAX_MODULE_LINES = 50, 400


def modules(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]
    assert found, folders
    return found


def imports(path: Path) -> Iterator[str]:
    """Names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def imports_any(path: Path, *packages: str) -> list[str]:
    return [name for name in imports(path) if name.split(".")[0] in packages or name.startswith(packages)]


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


@pytest.mark.parametrize("path", modules("datasets_app/domain", "annotations_app/domain"), ids=name_of)
def test_rules_know_no_framework_no_state_and_no_clock(path: Path) -> None:
    refused = [name for name in NOT_IN_DOMAIN if name != "spacy" or name_of(path) not in KNOW_SPACY]
    if name_of(path) == KNOWS_PRESIDIO:
        refused.remove("presidio_analyzer")
    if name_of(path) == KNOWS_OPENAI:
        refused.remove("openai")
    assert not imports_any(path, *refused)
    above = [
        name
        for name in imports(path)
        if name.startswith(APPS) and not re.match(r"(datasets_app|annotations_app)\.domain\b", name)
    ]
    assert not above


def test_rules_are_imported_in_a_moment_and_bring_nothing_heavy() -> None:
    program = (
        "import sys, time; start = time.process_time()\n"
        "import datasets_app.domain.reading, datasets_app.domain.quality, datasets_app.domain.metadata\n"
        "print(time.process_time() - start)\n"
        "heavy = {'django', 'psycopg', 'presidio_analyzer', 'spacy', 'openai'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", modules("datasets_app/command_line"), ids=name_of)
def test_what_pip_installs_needs_nothing_but_rules(path: Path) -> None:
    assert not imports_any(path, *NOT_IN_DOMAIN, "annotations_app", "alignmenter_site")
    ours = [name for name in imports(path) if name.startswith("datasets_app")]
    assert all(name.startswith(("datasets_app.domain", "datasets_app.command_line")) for name in ours)


@pytest.mark.parametrize("path", modules("datasets_app"), ids=name_of)
def test_datasets_never_import_annotations(path: Path) -> None:
    assert not imports_any(path, "annotations_app")


@pytest.mark.parametrize(
    "path", modules(*(f"{app}/operations" for app in APPS), "datasets_app/storage"), ids=name_of
)
def test_operations_know_no_caller(path: Path) -> None:
    assert not imports_any(path, "django.http", "django.shortcuts", "argparse", "django_rq", "rq", "redis")
    assert not imports_any(path, "datasets_app.admin", "annotations_app.admin", "datasets_app.management")


def test_the_queue_is_known_in_one_place() -> None:
    knowing = [name_of(path) for path in modules(*APPS) if imports_any(path, "django_rq", "rq")]
    assert knowing == ["datasets_app/job_queue.py"]


@pytest.mark.parametrize("path", modules(*(f"{app}/migrations" for app in APPS)), ids=name_of)
def test_migrations_import_no_application_code_and_have_names(path: Path) -> None:
    assert not imports_any(path, *APPS, "alignmenter_site")
    assert "auto_" not in path.name


def test_every_task_command_and_operation_bears_the_name_of_its_verb() -> None:
    from datasets_app import job_runs

    for verb, task in job_runs._tasks.items():
        app = task.__module__.split(".")[0]
        assert (PROJECT / app / "operations" / f"{verb}.py").exists(), verb


@pytest.mark.parametrize("path", modules(*APPS, "alignmenter_site"), ids=name_of)
def test_functions_and_modules_stay_short(path: Path) -> None:
    if "migrations" in path.parts:
        return
    text = path.read_text()
    assert len(text.splitlines()) <= MAX_MODULE_LINES
    long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES
    ]
    assert not long


def test_the_audit_trail_has_no_foreign_keys() -> None:
    event = apps.get_model("datasets_app", "AuditEvent")
    assert not [field.name for field in event._meta.get_fields() if field.is_relation]
