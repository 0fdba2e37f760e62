"""The plan of the house (docs/architecture.md), held."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest
from django.apps import apps

from datasets_app import hooks
from scripts.floors import FLOORS, SAME_FLOOR

# Each module is read once.
pytestmark = pytest.mark.xdist_group("architecture")

PROJECT = Path(__file__).resolve().parent.parent
APPS = ("datasets_app", "annotations_app")
HOUSE = ("alignmenter_site", *APPS)

# The project package is below everything or above everything, never in the middle.
SITE_BELOW = {
    "authorities_file",
    "cache",
    "client_address",
    "embedded",
    "env",
    "head_places",
    "file_storage",
    "keys",
    "local_files",
    "logs",
    "mail",
    "postgresql",
    "server_checks",
    "settings",
    "sign_in_settings",
    "web_address",
}
SITE_ABOVE = {
    "admin_pages",
    "api",
    "error_pages",
    "gunicorn_settings",
    "help",
    "middleware",
    "monitoring",
    "navigation",
    "palette",
    "port_holder",
    "sign_in",
    "supervisor",
    "urls",
    "wsgi",
}
# Who may know forms, requests and responses.
WEB = ("django.http", "django.forms", "django.shortcuts", "django.template.response", "unfold")
WEB_MODULE = re.compile(r"(pages|forms|admin|downloads|_form)(_\w+)?\.py$")
WEB_FOLDERS = (
    "datasets_app/core/web/",
    "datasets_app/admin/",
    "annotations_app/admin/",
    "annotations_app/labeling/views/",
    "datasets_app/api/",
    "annotations_app/api/",
)

LAZY = ("presidio_analyzer", "spacy", "openai")
# The only ones that know spaCy; they load it when the first name is looked for.
KNOW_SPACY = {
    "datasets_app/domain/pii/names/names.py",
    "datasets_app/domain/pii/names/name_pipeline.py",
    "datasets_app/domain/pii/network/spacy_component.py",
}
KNOWS_PRESIDIO = "datasets_app/domain/pii/presidio.py"
KNOWS_OPENAI = "datasets_app/domain/model_calls/openai_compatible.py"
NOT_IN_DOMAIN = ("django", "django_rq", "rq", "redis", "psycopg", "import_export", "unfold", *LAZY)
# Nine in ten are at most as long as the first number. What is longer than the second says why: "# Long: …".
FUNCTION_LINES, MODULE_LINES = (20, 50), (260, 400)


def modules(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]
    assert found, folders
    return found


def code_of(app: str) -> list[Path]:
    return [path for path in modules(app) if "migrations" not in path.parts]


@cache
def imports(path: Path) -> list[str]:
    """Names of the modules that a file imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found


def imports_any(path: Path, *packages: str) -> list[str]:
    return [
        name
        for name in imports(path)
        if any(name == package or name.startswith(f"{package}.") for package in packages)
    ]


def name_of(path: Path) -> str:
    return str(path.relative_to(PROJECT))


def packages_imported(path: Path, app: str) -> set[str]:
    """First components of the modules of ``app`` that a file imports: "core" of "datasets_app.core.audit"."""
    return {name.split(".")[1] for name in imports_any(path, app) if "." in name}


def package_of(path: Path) -> str:
    return path.relative_to(PROJECT).parts[1].removesuffix(".py")


@pytest.mark.parametrize("app", APPS)
def test_each_floor_imports_only_from_those_below(app: str) -> None:
    level = {package: number for number, floor in enumerate(FLOORS[app]) for package in floor.packages}
    files = [path for path in code_of(app) if path.parent.name != app or path.name != "__init__.py"]
    assert len(files) > 80
    upwards = [
        f"{name_of(path)} imports {target}"
        for path in files
        for target in packages_imported(path, app) - {package_of(path)}
        if level[target] >= level[package_of(path)] and (package_of(path), target) not in SAME_FLOOR
    ]
    assert not upwards


def test_every_named_edge_is_walked() -> None:
    walked = {
        (package_of(path), target)
        for path in code_of("datasets_app")
        for target in packages_imported(path, "datasets_app")
    }
    assert walked >= SAME_FLOOR


def test_the_project_package_is_below_or_above_never_in_the_middle() -> None:
    known = {package_of(path) for path in modules("alignmenter_site")} - {"__init__"}
    assert known == SITE_BELOW | SITE_ABOVE
    below = [path for path in modules("alignmenter_site") if package_of(path) in SITE_BELOW]
    assert not [name_of(path) for path in below if imports_any(path, *APPS)]
    for app in APPS:
        for path in code_of(app):
            allowed = (
                SITE_BELOW if package_of(path) != "management" else SITE_BELOW | {"monitoring", "supervisor"}
            )
            assert packages_imported(path, "alignmenter_site") <= allowed, name_of(path)


def test_only_pages_and_forms_know_the_web() -> None:
    knowing = [name_of(path) for app in APPS for path in code_of(app) if imports_any(path, *WEB)]
    assert len(knowing) > 20
    assert not [name for name in knowing if not (WEB_MODULE.search(name) or name.startswith(WEB_FOLDERS))]


def test_rules_know_no_framework_no_state_and_no_clock() -> None:
    wrong = {}
    for path in modules("datasets_app/domain", "annotations_app/domain"):
        refused = [name for name in NOT_IN_DOMAIN if name != "spacy" or name_of(path) not in KNOW_SPACY]
        if name_of(path) == KNOWS_PRESIDIO:
            refused.remove("presidio_analyzer")
        if name_of(path) == KNOWS_OPENAI:
            refused.remove("openai")
        above = [
            name
            for name in imports(path)
            if name.startswith(APPS) and not re.match(r"(datasets_app|annotations_app)(\.domain\b|$)", name)
        ]
        wrong[name_of(path)] = imports_any(path, *refused) + above
    assert len(wrong) > 50
    assert {name: found for name, found in wrong.items() if found} == {}


def test_rules_are_imported_in_a_moment_and_bring_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "import datasets_app.domain.conversations.reading, datasets_app.domain.quality\n"
        "import datasets_app.domain.metadata.metadata\n"
        "heavy = {'django', 'psycopg', 'presidio_analyzer', 'spacy', 'openai'} & set(sys.modules)\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_what_pip_installs_needs_nothing_but_rules() -> None:
    refused = (*NOT_IN_DOMAIN, "annotations_app", "alignmenter_site")
    installed = modules("datasets_app/command_line")
    assert installed
    assert not [name_of(path) for path in installed if imports_any(path, *refused)]


def test_datasets_never_name_annotations() -> None:
    """Migrations apart, which name tables."""
    naming = [name_of(path) for path in code_of("datasets_app") if "annotations_app" in path.read_text()]
    assert naming == []


def test_the_queue_is_known_in_one_place() -> None:
    knowing = [name_of(path) for path in modules(*APPS) if imports_any(path, "django_rq", "rq")]
    assert knowing == ["datasets_app/jobs/queue.py"]


def test_migrations_import_no_application_code_and_have_names() -> None:
    migrations = modules(*(f"{app}/migrations" for app in APPS))
    assert len(migrations) > len(APPS)
    assert not [name_of(path) for path in migrations if imports_any(path, *APPS, "alignmenter_site")]
    assert not [name_of(path) for path in migrations if "auto_" in path.name]


def find_long(blocks: dict[str, str], limits: tuple[int, int]) -> list[str]:
    """Blocks of code over the second limit without a reason, and whether over a tenth exceed the first."""
    usual, cap = limits
    lines = {name: text.count("\n") + 1 for name, text in blocks.items()}
    long = [
        f"{name}: {count} lines"
        for name, count in lines.items()
        if count > cap and not re.search(r"^ *# Long: \w", blocks[name], re.MULTILINE)
    ]
    over = sum(count > usual for count in lines.values())
    return [*long, f"{over} of {len(lines)} have over {usual} lines"] if over > len(lines) / 10 else long


def test_functions_and_modules_stay_short() -> None:
    paths = [path for path in modules(*APPS, "alignmenter_site") if "migrations" not in path.parts]
    texts = {name_of(path): path.read_text().rstrip("\n") for path in paths}
    assert len(texts) > 300
    functions = {
        f"{name}, {node.name}, line {node.lineno}": "\n".join(
            text.split("\n")[node.lineno - 1 : node.end_lineno]
        )
        for name, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert not find_long(functions, FUNCTION_LINES) + find_long(texts, MODULE_LINES)


def test_what_is_too_long_is_named() -> None:
    short, long = "x = 1", "\n".join(["x = 1"] * 6)
    named = {str(n): short for n in range(20)}
    assert not find_long(named | {"long": f"{long}\n    # Long: a table"}, (2, 5))
    assert find_long(named | {"long": long}, (2, 5)) == ["long: 6 lines"]
    assert find_long({"short": short, "long": "\n".join([short] * 3)}, (2, 5)) == ["1 of 2 have over 2 lines"]


def test_the_audit_log_has_no_foreign_keys() -> None:
    event = apps.get_model("datasets_app", "AuditEvent")
    assert not [field.name for field in event._meta.get_fields() if field.is_relation]


@cache
def module_graph() -> dict[str, set[str]]:
    """For each module of the application, those that it imports, wherever in it."""
    modules_of = {
        ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): path
        for app in HOUSE
        for path in code_of(app)
    }
    return {
        # "from its.package import module" needs the module only.
        module: {
            name for name in imports(path) if name in modules_of and not f"{module}.".startswith(f"{name}.")
        }
        for module, path in modules_of.items()
    }


def test_no_module_imports_itself_in_a_circle() -> None:
    """Nor within a function or for types only, which would hide the edge."""
    TopologicalSorter(module_graph()).prepare()


@pytest.mark.parametrize("app", APPS)
def test_no_package_of_rules_imports_itself_in_a_circle(app: str) -> None:
    domain = f"{app}.domain."
    packages: dict[str, set[str]] = {}
    for module, imported in module_graph().items():
        if module.startswith(domain):
            package = module.removeprefix(domain).split(".")[0]
            others = {name.removeprefix(domain).split(".")[0] for name in imported if name.startswith(domain)}
            packages.setdefault(package, set()).update(others - {package})
    assert packages
    TopologicalSorter(packages).prepare()


def test_commands_and_workers_start_with_neither_the_admins_pages_nor_what_searches_text() -> None:
    code = (
        "import os, sys, django\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'alignmenter_site.settings'\n"
        "django.setup()\n"
        "assert 'datasets_app.jobs.registry' in sys.modules\n"
        "heavy = {'datasets_app.admin', 'annotations_app.admin', 'openpyxl', 'numpy', 'pyarrow', 'openai'}\n"
        "heavy |= {'re2', 'spacy', 'presidio_analyzer', 'datasets_app.domain.pii.detection'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=PROJECT)


@pytest.mark.parametrize(
    ("protocol", "module"),
    [
        (hooks.Labels, "annotations_app.hooks.labels"),
        (hooks.Panels, "annotations_app.hooks.panels"),
        (hooks.Steps, "datasets_app.releasing.next_steps"),
    ],
)
def test_modules_that_are_loaded_when_used_have_all_that_datasets_take_from_them(
    protocol: type, module: str
) -> None:
    promised = {name for name in (*vars(protocol), *protocol.__annotations__) if not name.startswith("_")}
    assert promised
    assert promised <= set(dir(import_module(module)))
