"""The documentation within the application."""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from alignmenter_site.help import library, topics
from alignmenter_site.urls import urlpatterns


class Page(HTMLParser):
    """The ids and links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        found = dict(attrs)
        if "id" in found:
            self.ids.add(found["id"])
        self.links += [found[name] for name in ("href", "src") if found.get(name)]


@pytest.fixture
def reader(sign_in: Any) -> Client:
    return sign_in("annotator")  # type: ignore[no-any-return]


def test_every_link_of_the_help_leads_to_a_section(reader: Client) -> None:
    pages = {
        reverse("help_page", args=[name]): Page(
            reader.get(reverse("help_page", args=[name])).content.decode()
        )
        for name in [*library.page_names(), "decisions"]
    }
    pages[reverse("help")] = Page(reader.get(reverse("help")).content.decode())
    broken = []
    for address, page in pages.items():
        for link in page.links:
            target = urlsplit(urljoin(address, link))
            if (
                target.netloc
                or target.path in {"/", "/static"}
                or target.path.startswith(("/static/", "/account/"))
            ):
                continue
            if target.path.startswith("/help/pictures/"):
                assert reader.get(target.path).status_code == 200
            elif target.path not in pages or (
                target.fragment and target.fragment not in pages[target.path].ids
            ):
                broken.append((address, link))
    assert broken == []
    assert len(pages) > 40


def test_every_page_has_a_help_link_to_a_section_that_exists() -> None:
    names = {name for name in _url_names(urlpatterns) if name}
    assert len(names) > 100
    missing = {
        (name, topic)
        for name in [*names, *topics._TOPICS]
        for topic in [topics.find_topic(name)]
        if not _has_section(topic)
    }
    assert missing == set()
    # All models and tabs are explained somewhere: only what isn't a page of its own may fall back.
    unexplained = {name for name in names if topics.find_topic(name) == library.START_PAGE}
    pages = {name for name in unexplained if name.startswith(("datasets_app_", "annotations_app_", "auth_"))}
    assert pages == set()


def _url_names(patterns: Any) -> Any:
    for pattern in patterns:
        if hasattr(pattern, "url_patterns"):
            yield from _url_names(pattern.url_patterns)
        else:
            yield pattern.name


def _has_section(topic: str) -> bool:
    page, _, anchor = topic.partition("#")
    document = library.load_document(page)
    return document is not None and (
        not anchor or anchor in {section.anchor for section in document.sections}
    )


def test_pages_link_to_their_own_section(curator: Any, dataset: Any) -> None:
    for name, arguments, topic in (
        ("admin:index", [], "/help/guide/#home"),
        ("admin:datasets_app_dataset_splits", [dataset.pk], "/help/splits/"),
        ("admin:datasets_app_jobrun_changelist", [], "/help/guide/#jobs"),
    ):
        assert f'href="{topic}"' in curator.get(reverse(name, args=arguments)).content.decode()


def test_search_finds_sections_by_beginnings_of_words(reader: Client) -> None:
    html = reader.get(reverse("help_search"), {"q": "legal hol"}).content.decode()
    assert html.index("/help/retention/#legal-hold") > 0
    assert "Nothing about" in reader.get(reverse("help_search"), {"q": "xyzzy<b>"}).content.decode()
    assert (
        "<b>" not in reader.get(reverse("help_search"), {"q": "xyzzy<b>"}).content.decode().split("<main")[1]
    )
    assert reader.get(reverse("help_search"), {"q": " \0"}).status_code == 302
    assert library.search("e401")[0].section.title.startswith("E401")


def test_the_help_takes_an_account(client: Client, db: None) -> None:
    for address in ("/help/", "/help/access/", "/help/search/?q=a", "/help/pictures/a.png"):
        response = client.get(address)
        assert (response.status_code, response["Location"].startswith("/login/?next=/help/")) == (302, True)


@pytest.mark.parametrize(
    "path", ["nothing", "../README", "../../etc/passwd", "decisions/../access", "ACCESS", "access.md"]
)
def test_nothing_but_the_documentation_is_served(reader: Client, path: str) -> None:
    assert reader.get(f"/help/{path}/").status_code == 404
    assert reader.get(f"/help/pictures/{path}").status_code == 404


def test_markdown_is_rendered_safely() -> None:
    text = (
        "# Title & more\n\n<script>alert(1)</script> [out](https://example.org/) [code](../x.py) "
        "[page](b.md#c)\n\n"
        "[bad](javascript:alert(1))\n\n## Same\n\n## Same\n\n| a |\n| --- |\n| `b` |\n\n![p](img/p.png)\n"
    )
    known = {"b.md": "/help/b/", "img/p.png": "/help/pictures/img/p.png"}
    document = library.render_document(text, "a.md", known.get)
    assert document.title == "Title & more"
    assert [section.anchor for section in document.sections] == ["title--more", "same", "same-1"]
    assert "<script" not in document.html
    assert "javascript" not in re.sub(r">[^<]*<", "><", document.html)
    assert 'href="https://example.org/" rel="noopener noreferrer" target="_blank"' in document.html
    assert 'href="/help/b/#c"' in document.html
    assert "code</a>" not in document.html
    assert 'src="/help/pictures/img/p.png"' in document.html
    assert 'class="h-scroll" tabindex="0"' in document.html
