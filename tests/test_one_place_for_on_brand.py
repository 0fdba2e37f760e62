"""Only the built-in criterion's own file knows what 0 and 1 mean and what its answers are called."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import PROJECT

OWN_FILE = "datasets_app/domain/labels/on_brand.py"
APPS = ("alignmenter_datasets", "alignmenter_site", "annotations_app", "datasets_app", "scripts")
NAMES = {"On-brand", "Off-brand"}
LABEL = re.compile(r"^(?:label|decided|majority|consensus|verdict)$")
SQL = re.compile(
    r"\blabel\s*(?:=|<>|!=)\s*[01]\b|\b(?:sum|avg)\(\s*(?:\w+\.)?label\b|\b1\s*-\s*(?:\w+\.)?label\b"
)
TEMPLATE = re.compile(r"\b(?:On|Off)-brand\b(?=[<\"'])|\blabel\s*[!=]=\s*[01]\b")
SCRIPT = re.compile(r"\b(?:On|Off)-brand\b|\blabel\s*[!=]==?\s*[\"']?[01]\b|\b1\s*-\s*\w*[lL]abel\b")
# Besides: what is written in files, where 0 and 1 stand (SPEC 1.2, Alignmenter's), is read by the criterion.
REASONS = {
    "annotations_app/domain/estimates/certificates.py": "rates of a judge, under any yes/no criterion",
    "annotations_app/labeling/views/messages.py": "xgettext finds the names to translate as literals only",
}


def test_zero_and_one_are_known_in_one_place() -> None:
    found = {path: places for path, places in _search() if places}
    unknown = {path: places for path, places in found.items() if path not in REASONS}
    assert unknown == {}, f"say it by {OWN_FILE}"
    assert REASONS.keys() - found.keys() == set(), "nothing is left there"


@pytest.mark.parametrize(
    "said",
    [
        "one.label == 1",
        "known = label in (0, 1)",
        "1 - known.label",
        "sum(one.label for one in labels)",
        "table.label.sum()",
        "rows.filter(annotations__label=1)",
        "[x for label in (0, 1)]",
        "'SELECT count(*) FILTER (WHERE a.label = 1) FROM x'",
        "'SELECT sum(label) FROM x'",
        "name = 'On-brand'",
    ],
)
def test_each_way_of_knowing_is_found(said: str) -> None:
    assert list(_find_in_module(ast.parse(said)))


@pytest.mark.parametrize(
    "said",
    ["one.label == YES", "counts.update(labels=1)", "len(labels) == 1", "is_on = label == level.value"],
)
def test_what_asks_the_criterion_is_not(said: str) -> None:
    assert not list(_find_in_module(ast.parse(said)))


def _search() -> Iterator[tuple[str, list[str]]]:
    for app in APPS:
        for path in sorted((PROJECT / app).rglob("*.py")):
            name = str(path.relative_to(PROJECT))
            if "/migrations/" not in name and name != OWN_FILE:
                tree = ast.parse(path.read_text())
                yield name, [f"{line}: {what}" for line, what in _find_in_module(tree)]
        for path in sorted((PROJECT / app).rglob("*.js")):
            if "vendor" not in path.parts and not path.name.endswith(".min.js"):
                yield str(path.relative_to(PROJECT)), _find_lines(SCRIPT, path)
        for path in sorted((PROJECT / app).rglob("*.html")):
            yield str(path.relative_to(PROJECT)), _find_lines(TEMPLATE, path)
    for path in sorted((PROJECT / "templates").rglob("*.html")):
        yield str(path.relative_to(PROJECT)), _find_lines(TEMPLATE, path)


def _find_lines(pattern: re.Pattern[str], path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    return [f"{number}: {line.strip()}" for number, line in enumerate(lines, 1) if pattern.search(line)]


def _find_in_module(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            knows = node.value in NAMES or SQL.search(node.value)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            knows = any(map(_is_label, sides)) and any(map(_is_answer, sides))
        elif isinstance(node, ast.BinOp):
            knows = isinstance(node.op, ast.Sub) and _is_answer(node.left) and _mentions(node.right)
        elif isinstance(node, ast.Call):
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            knows = called in ("sum", "mean") and any(_sums(one) for one in (*node.args, node.func))
        elif isinstance(node, (ast.For, ast.comprehension)):
            knows, node = _is_label(node.target) and _is_answer(node.iter), node.iter
        elif isinstance(node, ast.keyword):
            field = (node.arg or "").rpartition("__")[2]
            knows, node = LABEL.search(field) and _is_answer(node.value), node.value
        else:
            knows = False
        if knows:
            yield node.lineno, ast.unparse(node)[:90]


def _is_label(node: ast.expr) -> bool:
    """A name or attribute that ends with "label"."""
    if isinstance(node, ast.Subscript):
        return _is_label(node.value)
    return bool(LABEL.search(getattr(node, "attr", getattr(node, "id", ""))))


def _is_answer(node: ast.expr) -> bool:
    """0 or 1, or both."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return bool(node.elts) and all(map(_is_answer, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value in (0, 1)


def _mentions(node: ast.expr) -> bool:
    return any(isinstance(one, ast.expr) and _is_label(one) for one in ast.walk(node))


def _sums(node: ast.expr) -> bool:
    """A sum of labels themselves, not of what is true of them."""
    if isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        node = node.elt
    if isinstance(node, ast.Attribute) and node.attr in ("sum", "mean"):
        node = node.value
    return _is_label(node) and getattr(node, "attr", getattr(node, "id", "")).endswith("label")
