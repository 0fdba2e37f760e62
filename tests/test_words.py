"""The names and the prose of the product follow its language rules: see words_check.py."""

from tests.words_check import PROJECT, files, places

MAX_TEMPLATE_LINE = 120


def test_names_and_prose_read_well() -> None:
    found = places()
    assert not found, "\n".join(map(str, found))


def test_the_whole_product_is_read() -> None:
    paths = files()
    assert len(paths) > 300
    assert {".py", ".html", ".js", ".md"} == {path.suffix for path in paths}


def test_lines_of_templates_are_short() -> None:
    templates = sorted((PROJECT / "templates").rglob("*.html"))
    assert len(templates) > 50
    long_lines = [
        f"{path.relative_to(PROJECT)}:{number}"
        for path in templates
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MAX_TEMPLATE_LINE
    ]
    assert long_lines == []
