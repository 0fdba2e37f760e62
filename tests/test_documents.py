"""What documents and docstrings name exists: files, functions, settings, commands."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from datasets_app.domain.pii.policy import ALL_KINDS
from datasets_app.domain.traces.registry import FORMATS, TEXT_FORMATS
from scripts.documents import update_documents

pytestmark = pytest.mark.xdist_group("documents")

PROJECT = Path(__file__).resolve().parent.parent
CODE = (
    "alignmenter_site",
    "alignmenter_datasets",
    "datasets_app",
    "annotations_app",
    "scripts",
    "benchmarks",
)
APPS = ("datasets_app", "annotations_app")
# What is in docs/commands.md comes from the commands, some of them Django's.
DOCUMENTS = sorted(
    {*PROJECT.glob("*.md"), *PROJECT.glob("docs/**/*.md")} - {PROJECT / "docs" / "commands.md"}
)
SETTINGS_DOCUMENT = PROJECT / "docs" / "deployment.md"
# `catalog/gates.py`, `SessionFilter`, `check_written()`, `text_scan`.
FILE = re.compile(r"[\w./-]+\.(?:py|html|js)")
NAME = re.compile(r"(?:\w+\.)*([a-z]\w*_\w+|[A-Z][a-z]+[A-Z]\w+|\w+(?=\(\)))(?:\(\))?")
# Classes of personal data as a command line names them; names of other software, and examples of values.
CLASSES = {kind.lower() for kind in ALL_KINDS}
NOT_OURS = {"de_core_news_lg", "en_core_web_lg", "messages_to_dict", "sending_queue"}


def sources(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((PROJECT / folder).rglob("*.py"))]
    assert found, folders
    return found


@cache
def words() -> frozenset[str]:
    """Every word of code, templates, scripts and data, and the names of their files."""
    folders = (*CODE, "templates", "tests")
    paths = [path for folder in folders for path in (PROJECT / folder).rglob("*.*")]
    texts = [
        path.read_text(encoding="utf-8") for path in paths if path.suffix in {".py", ".html", ".js", ".txt"}
    ]
    return frozenset(re.findall(r"\w+", "\n".join(texts))) | {path.stem for path in paths}


@cache
def files() -> list[str]:
    folders = (*CODE, "templates", "tests")
    return ["/manage.py"] + [
        path.as_posix() for folder in folders for path in (PROJECT / folder).rglob("*.*")
    ]


def in_backquotes(path: Path) -> list[str]:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)


def test_what_is_written_from_the_code_is_up_to_date() -> None:
    for path, text in update_documents():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run make docs"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(PROJECT).as_posix())
def test_files_and_names_in_a_document_exist(document: Path) -> None:
    tokens = in_backquotes(document)
    unknown = [
        token
        for token in tokens
        if FILE.fullmatch(token) and not any(file.endswith(f"/{token}") for file in files())
    ]
    names = [match for token in tokens if (match := NAME.fullmatch(token))]
    unknown += [match[0] for match in names if match[1] not in words() | NOT_OURS | CLASSES]
    assert not unknown


def test_each_format_that_is_imported_is_documented() -> None:
    assert {*FORMATS, *TEXT_FORMATS} - set(in_backquotes(PROJECT / "docs" / "formats.md")) == set()


def functions(path: Path) -> list[tuple[str, str, str]]:
    """The name, docstring and code of each function and class of a module."""
    text = path.read_text(encoding="utf-8")
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [(node.name, ast.get_docstring(node, clean=False) or "", text) for node in nodes]


def test_names_in_docstrings_exist() -> None:
    """In the module that says them, or as a function, class or field elsewhere."""
    defined = defined_names()
    unknown = [
        f"{path.relative_to(PROJECT)}: {name}: {word}"
        for path in sources(*CODE)
        for name, docstring, text in functions(path)
        for word in re.findall(r"``([a-z_]\w*)``", docstring)
        if word not in defined and not re.search(rf"\b{word}\b", text.replace(docstring, ""))
    ]
    assert not unknown


@cache
def defined_names() -> frozenset[str]:
    """Functions, fields, modules and whole strings of the product."""
    names = {path.stem for path in sources(*CODE)}
    for path in sources(*CODE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.FunctionDef():
                    names.add(node.name)
                case ast.AnnAssign(target=ast.Name(id=name)) | ast.Constant(value=str(name)):
                    names.add(name)
    return frozenset(names)


def test_every_setting_is_documented_and_no_other() -> None:
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|", SETTINGS_DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"[A-Z_]+", row)}
    code = [path.read_text(encoding="utf-8") for path in sources("alignmenter_site", *APPS)]
    read = {name for text in code for name in re.findall(r"\benv\.\w+\(\s*\"([A-Z_]+)\"", text)}
    assert read
    assert read <= documented
    assert documented <= {name for text in code for name in re.findall(r"[A-Z_]+", text)}
