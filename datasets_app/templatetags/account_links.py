"""Links and names on pages for signing in."""

import re

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

from alignmenter_site.sign_in_settings import PROVIDER_ID

register = template.Library()
# The first that matches: browsers name each other.
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}
_SYSTEMS = {
    "Android": "Android",
    "iPhone|iPad": "iOS",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "Linux": "Linux",
}


@register.simple_tag(takes_context=True)
def company_sign_in(context: template.Context) -> dict[str, str]:
    """The ``name`` of the company's sign-in and the ``url`` that leads there; empty without one."""
    if not settings.COMPANY_SIGN_IN:
        return {}
    url = reverse("openid_connect_login", args=[PROVIDER_ID])
    after = context.get("redirect_field_value")
    return {"name": settings.COMPANY_SIGN_IN, "url": f"{url}?{urlencode({'next': after})}" if after else url}


@register.simple_tag
def csrf_cookie_name() -> str:
    return settings.CSRF_COOKIE_NAME


@register.filter
def browser_name(user_agent: str) -> str:
    """ "Mozilla/5.0 (X11; Linux x86_64) … Chrome/140" → "Chrome on Linux"."""
    browser = next((name for key, name in _BROWSERS.items() if key in user_agent), gettext("Another program"))
    system = next((name for key, name in _SYSTEMS.items() if re.search(key, user_agent)), "")
    return (
        gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system} if system else browser
    )
