"""The admin's frame: its title, colors and sidebar."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.templatetags.static import static
from django.urls import reverse, reverse_lazy


def _has_permissions(*permissions: str) -> Callable[[Any], bool]:
    return lambda request: request.user.has_perms(permissions)


def _item(title: str, icon: str, page: str, *permissions: str, **more: Any) -> dict[str, Any]:
    """For people with all of these permissions. ``active`` tells on which pages they are in it."""
    allowed = _has_permissions(*permissions)
    return {"title": title, "icon": icon, "link": reverse_lazy(page), "permission": allowed, **more}


def _list_item(title: str, icon: str, app: str, model: str, **more: Any) -> dict[str, Any]:
    return _item(title, icon, f"admin:{app}_{model}_changelist", f"{app}.view_{model}", **more)


def _section_of(request: Any) -> str:
    """Where the breadcrumbs of a page begin: pages about the labels of a dataset belong to datasets."""
    crumbs = getattr(request, "crumbs", None)
    return str(crumbs[0][1] or request.path) if crumbs else str(request.path)


def _is_campaign_page(request: Any) -> bool:
    return _section_of(request).startswith(reverse("admin:annotations_app_campaign_changelist"))


def _is_dataset_page(request: Any) -> bool:
    """Whether this is a page of datasets. "Generate", "Terms to keep" and "Erase a person" have entries of
    their own in the sidebar."""
    datasets, *others = (
        reverse(f"admin:datasets_app_dataset_{page}")
        for page in ("changelist", "generate", "terms", "erase_person")
    )
    return _section_of(request).startswith(datasets) and not request.path.startswith(tuple(others))


def _is_job_page(request: Any) -> bool:
    """Whether this is a page of jobs. "Requests" has an entry of its own in the sidebar."""
    jobs, requests = (reverse(f"admin:datasets_app_jobrun_{page}") for page in ("changelist", "requests"))
    return request.path.startswith(jobs) and request.path != requests


def _uses_four_eyes(request: Any) -> bool:
    return settings.FOUR_EYES and bool(request.user.has_perm("datasets_app.view_dataset"))


def _static_url(name: str) -> Callable[[Any], str]:
    return lambda request: static(f"datasets_app/{name}")


_TEAL = {
    "50": "oklch(98.2% .012 190)",
    "100": "oklch(95.4% .03 190)",
    "200": "oklch(90.5% .06 190)",
    "300": "oklch(84.5% .09 190)",
    "400": "oklch(76% .105 191)",
    "500": "oklch(67% .105 192)",
    "600": "oklch(49% .085 196)",
    "700": "oklch(43% .075 198)",
    "800": "oklch(37% .062 200)",
    "900": "oklch(32% .05 204)",
    "950": "oklch(24% .04 208)",
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Alignmenter Datasets",
    "SITE_HEADER": "Alignmenter Datasets",
    "SITE_SYMBOL": "forum",
    # There is no public site to link to.
    "SITE_URL": None,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _static_url("icon.svg")}],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "8px",
    "COLORS": {"primary": _TEAL},
    "STYLES": [_static_url("tokens.css"), _static_url("turns.css"), _static_url("app.css")],
    "SCRIPTS": [
        _static_url("app.js"),
        _static_url("turns.js"),
        _static_url("command_palette.js"),
        _static_url("log_out.js"),
        _static_url("picker.js"),
    ],
    "DASHBOARD_CALLBACK": "datasets_app.admin.home.home_context",
    "SIDEBAR": {
        "show_search": False,
        "show_all_applications": False,
        "navigation": [
            {
                "items": [
                    {"title": "Home", "icon": "space_dashboard", "link": reverse_lazy("admin:index")},
                ],
            },
            {
                "title": "Conversations",
                "items": [
                    _list_item("Datasets", "database", "datasets_app", "dataset", active=_is_dataset_page),
                    _list_item("Turns", "search", "datasets_app", "turn"),
                    _item(
                        "Generate",
                        "auto_awesome",
                        "admin:datasets_app_dataset_generate",
                        "datasets_app.view_dataset",
                        "datasets_app.generate_dataset",
                    ),
                    _list_item("Sources", "cloud_download", "datasets_app", "source"),
                    _list_item("Webhooks", "webhook", "datasets_app", "webhookendpoint"),
                    _list_item("Jobs", "autoplay", "datasets_app", "jobrun", active=_is_job_page),
                    _item(
                        "Requests",
                        "approval",
                        "admin:datasets_app_jobrun_requests",
                        permission=_uses_four_eyes,
                    ),
                ],
            },
            {
                "title": "Labels",
                "items": [
                    _item("Label replies", "keyboard", "annotate:campaigns", "annotations_app.annotate"),
                    _list_item(
                        "Campaigns", "how_to_vote", "annotations_app", "campaign", active=_is_campaign_page
                    ),
                    _list_item("Labels", "label", "annotations_app", "annotation"),
                    _list_item("Personas", "theater_comedy", "datasets_app", "persona"),
                ],
            },
            {
                "title": "Governance",
                "items": [
                    _item(
                        "Terms to keep",
                        "bookmark_added",
                        "admin:datasets_app_dataset_terms",
                        "datasets_app.view_scrubmark",
                    ),
                    _list_item("Retention rules", "auto_delete", "datasets_app", "retentionpolicy"),
                    _item(
                        "Erase a person",
                        "person_remove",
                        "admin:datasets_app_dataset_erase_person",
                        "datasets_app.erase_session",
                        "datasets_app.view_session",
                    ),
                    _item(
                        "API tokens",
                        "key",
                        "admin:datasets_app_apitoken_changelist",
                        "datasets_app.limit_access",
                    ),
                    _list_item("Audit log", "history", "datasets_app", "auditevent"),
                    _list_item("Users", "person", "auth", "user"),
                    _list_item("Roles", "group", "auth", "group"),
                ],
            },
        ],
    },
}
