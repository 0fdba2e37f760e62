"""The language of a page: of annotators' pages and those of accounts what the person chose, or else what the
browser asks for. All other pages are English.
"""

from typing import Any

from django.conf import settings
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from alignmenter_site.middleware.base import Middleware
from alignmenter_site.middleware.staff_only import ACCOUNT_ROUTES
from datasets_app.models import Preferences

# In the session: the language chosen under "Your account".
CHOSEN_LANGUAGE = "language"
_TRANSLATED = tuple(f"/{route}" for route in (*ACCOUNT_ROUTES, "annotate/", "tokens/"))
# For people with the administration, these are pages of it.
_TRANSLATED_FOR_OTHERS = "/notifications/"


class LanguageMiddleware(Middleware):
    def __call__(self, request: Any) -> HttpResponseBase:
        is_translated = _is_translated(request)
        with translation.override(_find_language(request) if is_translated else settings.LANGUAGE_CODE):
            response = self.get_response(request)
        if is_translated:
            patch_vary_headers(response, ["Accept-Language"])
        return response


def _is_translated(request: Any) -> bool:
    path: str = request.path_info
    if path.startswith(_TRANSLATED_FOR_OTHERS):
        return not request.user.is_staff
    return path.startswith(_TRANSLATED)


def _find_language(request: Any) -> str:
    chosen = request.session.get(CHOSEN_LANGUAGE)
    if chosen in dict(settings.LANGUAGES):
        return str(chosen)
    return translation.get_language_from_request(request)


def find_choice(user: Any) -> str:
    """The language that a person chose; "" for that of the browser."""
    choice = Preferences.objects.filter(user=user).values_list("language", flat=True).first()
    return choice or ""


def remember(request: Any, language: str) -> None:
    """For this session, so that no page has to ask the database."""
    request.session[CHOSEN_LANGUAGE] = language
