import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.contrib import admin
from django.contrib.auth.models import User
from django.db.models import Q
from django.http import HttpRequest, JsonResponse
from django.urls import Resolver404, resolve, reverse
from django.views.decorators.http import require_safe

from annotations_app.campaigns.pages_common import visible_campaigns
from datasets_app import hooks
from datasets_app.catalog import raw_access
from datasets_app.catalog.gates import can_read_raw
from datasets_app.catalog.rows.partitions import find_visible, split_datasets
from datasets_app.core.web.dataset_page import build_dataset_tabs
from datasets_app.core.web.pages import parse_pk
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, JobRun, Persona, Session

MAX_QUERY_LENGTH = 200
MAX_PER_GROUP = 6
# A shorter beginning of a session's id would match most of them.
MIN_SESSION_PREFIX = 3
MAX_DATASETS_SEARCHED = 1_000


class Result(NamedTuple):
    """A place to go to. ``icon`` is a name of Material Symbols; "" shows none."""

    group: str
    title: str
    url: str
    detail: str = ""
    icon: str = ""


def find_results(request: HttpRequest, query: str) -> list[Result]:
    """At most MAX_PER_GROUP of each kind. Without words: actions, pages and the latest datasets."""
    words = query.replace("\0", "").strip()[:MAX_QUERY_LENGTH]
    finders = (
        (_find_jobs, _find_sessions_by_id, _find_datasets, _find_tabs, _find_campaigns, _find_personas)
        if words
        else (_find_datasets,)
    )
    found: list[Result] = []
    for find in (_find_here, *finders, _find_actions, _find_pages, *((_find_people,) if words else ())):
        found += islice(find(request, words), MAX_PER_GROUP if words else None)
    return found


# --- pages and actions ---------------------------------------------------------------------------


def _matches(title: str, words: str) -> bool:
    """Whether each word begins a word of the title: "ret rul" finds "Retention rules"."""
    starts = title.lower().split()
    return all(any(start.startswith(word) for start in starts) for word in words.lower().split())


def _find_pages(request: HttpRequest, words: str) -> Iterator[Result]:
    for group in admin.site.get_sidebar_list(request):
        for item in group["items"]:
            if item["has_permission"] and _matches(str(item["title"]), words):
                title, url = str(item["title"]), str(item["link"])
                yield Result("Pages", title, url, str(group.get("title") or ""), item["icon"])
    if _matches("Your account", words):
        yield Result(
            "Pages", "Your account", reverse("account"), "Password, second factor, language", "person"
        )


# Title, URL name, icon, permissions.
_ACTIONS = (
    ("Import a file", "admin:datasets_app_dataset_import", "upload_file", ["datasets_app.import_dataset"]),
    (
        "Generate conversations",
        "admin:datasets_app_dataset_generate",
        "auto_awesome",
        ["datasets_app.view_dataset", "datasets_app.generate_dataset"],
    ),
    ("New campaign", "admin:annotations_app_campaign_add", "how_to_vote", ["annotations_app.add_campaign"]),
    ("New persona", "admin:datasets_app_persona_add", "theater_comedy", ["datasets_app.add_persona"]),
    ("New source", "admin:datasets_app_source_add", "cloud_download", ["datasets_app.add_source"]),
    ("Label replies", "annotate:campaigns", "keyboard", ["annotations_app.annotate"]),
    ("Invite a person", "admin:auth_user_add", "person_add", ["auth.add_user"]),
)


def _find_here(request: HttpRequest, words: str) -> Iterator[Result]:
    """What can be done with the session whose page the palette was opened on."""
    try:
        place = resolve(urlsplit(request.headers.get("Referer", "")).path)
    except Resolver404:
        return
    key = parse_pk(place.kwargs.get("object_id", ""))
    if key is None or place.view_name != "admin:datasets_app_session_change":
        return
    session = find_visible(Session, key, request.user).first()
    for _, title, url in hooks.panels.list_session_links(session, request.user) if session else ():
        if _matches(title, words):
            yield Result("Actions", title, url, "", "fact_check")


def _find_actions(request: HttpRequest, words: str) -> Iterator[Result]:
    for title, name, icon, permissions in _ACTIONS:
        if _matches(title, words) and request.user.has_perms(permissions):
            yield Result("Actions", title, reverse(name), "", icon)


# --- datasets and what is in them -----------------------------------------------------------------


def _find_datasets(request: HttpRequest, words: str) -> Iterator[Result]:
    """By part of a name, names that begin with it first; without words the latest."""
    visible = Dataset.objects.visible_to(request.user)
    if words:
        others = visible.filter(name__icontains=words).exclude(name__istartswith=words).order_by("name")
        rows = [*_starting_with(visible, words), *others[:MAX_PER_GROUP]]
    else:
        rows = list(visible.order_by("-updated_at")[:MAX_PER_GROUP])
    for dataset in rows:
        yield Result(
            "Datasets" if words else "Recently updated",
            dataset.name,
            reverse("admin:datasets_app_dataset_change", args=[dataset.pk]),
            format_count(dataset.turn_count, "turn"),
            "database",
        )


def _starting_with(datasets: Any, words: str) -> Any:
    return datasets.filter(name__istartswith=words).order_by("name")[:MAX_PER_GROUP]


def _find_tabs(request: HttpRequest, words: str) -> Iterator[Result]:
    """ "support splits" opens the page "Splits" of the dataset "support"."""
    name, _, tab = words.rpartition(" ")
    if not name:
        return
    for dataset in _starting_with(Dataset.objects.visible_to(request.user), name)[:2]:
        pages = [page for group in build_dataset_tabs(request, dataset, "") for page in group["pages"]]
        for page in pages:
            if page["title"].lower().startswith(tab.lower()):
                yield Result("Datasets", page["title"], page["address"], dataset.name, "database")


def _find_sessions_by_id(request: HttpRequest, words: str) -> Iterator[Result]:
    if len(words) < MIN_SESSION_PREFIX or not request.user.has_perm("datasets_app.view_session"):
        return
    readable = raw_access.list_readable(request.user).order_by("-updated_at")[:MAX_DATASETS_SEARCHED]
    datasets = {dataset.pk: dataset for dataset in readable}
    found: list[Session] = []
    for part in split_datasets(datasets):
        rows = Session.objects.filter(dataset__in=part, session_id__startswith=words)
        found += rows.order_by("session_id")[:MAX_PER_GROUP]
        if len(found) >= MAX_PER_GROUP:
            break
    found = found[:MAX_PER_GROUP]
    _record_raw_ids(request, datasets, found)
    for session in found:
        url = reverse("admin:datasets_app_session_change", args=[session.pk])
        yield Result("Sessions", session.session_id, url, datasets[session.dataset_id].name, "forum")


def _record_raw_ids(request: HttpRequest, datasets: dict[int, Dataset], found: list[Session]) -> None:
    """Ids that came with production text count as raw text, until a scrub replaces them."""
    if not can_read_raw(request.user):
        return
    for pk in {session.dataset_id for session in found if not session.id_hashed}:
        count = sum(session.dataset_id == pk for session in found)
        raw_access.record_access(datasets[pk], request.user, place="palette", sessions=count)


# --- campaigns, personas, people, jobs -------------------------------------------------------------


def _find_campaigns(request: HttpRequest, words: str) -> Iterator[Result]:
    if not request.user.has_perm("annotations_app.view_campaign"):
        return
    for campaign in (
        visible_campaigns(request.user).filter(name__icontains=words).order_by("-id")[:MAX_PER_GROUP]
    ):
        url = reverse("admin:annotations_app_campaign_change", args=[campaign.pk])
        yield Result("Campaigns", campaign.name, url, campaign.get_status_display(), "how_to_vote")


def _find_personas(request: HttpRequest, words: str) -> Iterator[Result]:
    if not request.user.has_perm("datasets_app.view_persona"):
        return
    named = Q(persona_id__icontains=words) | Q(display_name__icontains=words)
    for persona in Persona.objects.filter(named)[:MAX_PER_GROUP]:
        url = reverse("admin:datasets_app_persona_change", args=[persona.pk])
        yield Result("Personas", str(persona), url, persona.persona_id, "theater_comedy")


def _find_people(request: HttpRequest, words: str) -> Iterator[Result]:
    if not request.user.has_perm("auth.view_user"):
        return
    named = Q(username__icontains=words) | Q(email__icontains=words)
    named |= Q(first_name__icontains=words) | Q(last_name__icontains=words)
    for user in User.objects.filter(named).order_by("username")[:MAX_PER_GROUP]:
        url = reverse("admin:auth_user_change", args=[user.pk])
        yield Result("People", user.get_full_name() or user.get_username(), url, user.email, "person")


def _find_jobs(request: HttpRequest, words: str) -> Iterator[Result]:
    """By number: "#12"."""
    number = re.fullmatch(r"(?:job )?#?([0-9]{1,18})", words, re.IGNORECASE)
    if not number or not request.user.has_perm("datasets_app.view_jobrun"):
        return
    for job in JobRun.objects.visible_to(request.user).filter(pk=int(number[1])):
        url = reverse("admin:datasets_app_jobrun_change", args=[job.pk])
        yield Result(
            "Jobs", f"{job.operation.replace('_', ' ').capitalize()} #{job.pk}", url, job.state, "autoplay"
        )


@require_safe
def search(request: HttpRequest) -> JsonResponse:
    """``{"results": [{"group", "title", "url", "detail", "icon"}]}`` for ``?q=``, in the order shown."""
    results = find_results(request, request.GET.get("q", ""))
    return JsonResponse({"results": [result._asdict() for result in results]})
