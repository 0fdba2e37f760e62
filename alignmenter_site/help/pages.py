from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from alignmenter_site.help import library
from datasets_app.catalog.search import make_excerpt

# In the order in which they are listed; pages that aren't named here follow by name.
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("index", "guide")),
    ("Data", ("formats", "sources", "generation", "checks", "scrubbing", "splits")),
    ("Labels", ("annotation", "agreement")),
    ("Releases", ("releases", "sharing")),
    ("Governance", ("access", "retention", "audit", "security", "sign-in")),
    ("Programs", ("api", "webhooks")),
    ("Running it", ("deployment", "operations", "performance")),
)


@login_required
@require_safe
def show_page(request: HttpRequest, page: str = library.START_PAGE) -> HttpResponse:
    if page == "decisions":
        return _render(request, "help/decisions.html", {"page": page, "pages": _list_pages("decisions/")})
    document = library.load_document(page)
    if document is None:
        raise Http404
    contents = [section for section in document.sections if section.level == 2]
    return _render(request, "help/page.html", {"page": page, "document": document, "contents": contents})


@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").replace("\0", "").strip()[: library.MAX_QUERY_LENGTH]
    if not query:
        return redirect("help")
    hits = [
        {
            "page": hit.page,
            "title": hit.section.title or hit.document.title,
            "of": hit.document.title,
            "anchor": hit.section.anchor if hit.section.level > 1 else "",
            "excerpt": make_excerpt(hit.section.text, query, 200),
        }
        for hit in library.search(query)
    ]
    return _render(request, "help/search.html", {"query": query, "hits": hits})


@login_required
@require_safe
def show_picture(request: HttpRequest, path: str) -> FileResponse:
    picture = library.find_picture(path)
    if picture is None:
        raise Http404
    return FileResponse(picture.open("rb"), content_type=library.PICTURE_TYPES[picture.suffix])


def _list_pages(prefix: str) -> list[tuple[str, str]]:
    """(name, title) of the pages whose names begin like this."""
    names = [name for name in library.page_names() if name.startswith(prefix)]
    return [(name, document.title) for name in names if (document := library.load_document(name))]


def _list_groups() -> list[tuple[str, list[tuple[str, str]]]]:
    titles = dict(page for page in _list_pages("") if "/" not in page[0])
    groups = [
        (title, [(name, titles.pop(name)) for name in names if name in titles]) for title, names in _GROUPS
    ]
    return [*groups, ("More", [*sorted(titles.items()), ("decisions", "Decisions")])]


def _render(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    return render(request, template, {"groups": _list_groups(), **context})
