"""Pages of people at sites where everybody has one: "twitter.com/jane", "linkedin.com/in/jane-doe"."""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.word_lists import read_word_lists

_NAME = r"(?P<name>[@$~]?_{0,3}[^\W_](?:[\w.%-]{0,60}\w)?)"
# Whatever stands behind the address is a person's, or a team's, page.
_SITES = (
    r"(?:twitter|x|instagram|facebook|fb|tiktok|threads|snapchat|pinterest|twitch|soundcloud|vk|venmo"
    r"|ko-fi|patreon"
    r"|onlyfans|medium|flickr|myspace|vimeo|keybase|tumblr|weibo|quora|dribbble|behance|kaggle|replit|cash"
    r"|linktr|paypal|letterboxd|strava|last|goodreads|codepen|trello|gravatar)\.(?:com|tv|me|net|org|io"
    r"|app|ee|fm|ca|ru)"
    r"|t\.me|fb\.me|m\.me|about\.me|wa\.me|snapchat\.com/add|(?:www\.)?paypal\.(?:me|com/paypalme)"
    r"|telegram\.me|instagr\.am"
    r"|linkedin\.com/in|linkedin\.com/pub|reddit\.com/(?:u|user)|youtube\.com/(?:c|user)|flickr\.com/"
    r"(?:photos|people)|steamcommunity\.com/(?:id|profiles)|discord\.com/users|bsky\.app/profile"
    r"|news\.ycombinator\.com/user\?id="
    r"|stackoverflow\.com/users/\d{1,9}|last\.fm/user|open\.spotify\.com/user|goodreads\.com/user/show"
    r"|facebook\.com/profile\.php\?id="
)
_PROFILE = re.compile(
    rf"(?<![\w@-])(?<!\w\.)(?:https?://)?(?:(?:www|m|mobile|old|new|[a-z]{{2}})\.)?(?:{_SITES})/?"
    rf"(?<=[/=\d]){_NAME}(?![\w@])",
    re.IGNORECASE,
)
# https://mastodon.social/@jane, youtube.com/@jane
_AT_PROFILE = re.compile(
    r"(?<![\w@.-])(?:https?://)?(?!(?:[a-z0-9-]{1,40}\.){0,2}(?:npmjs|unpkg|jsdelivr|esm|skypack|yarnpkg"
    r"|deno|jsr)\.)(?:[a-z0-9-]{1,40}\.){1,3}[a-z]{2,12}/(?:profile/)?(?P<name>@\w(?:[\w.-]{0,60}\w)?)",
    re.IGNORECASE,
)
# jane.tumblr.com
_OWN_SITE = re.compile(
    r"(?<![\w.@-])(?:https?://)?(?!(?:www|api|docs?|blog|help|support|assets|static|cdn|mail|status|shop|about|m|dev|app|engineering"
    r"|community|forums?|news|media|images?|img|pages|developers?)\.)(?P<name>[a-z0-9][a-z0-9_-]{1,40})\.(?:tumblr|substack"
    r"|itch|deviantart|bandcamp|wordpress|blogspot|livejournal|carrd|artstation|newgrounds|github|gitlab|neocities)"
    r"\.(?:com|io|co|net|org)(?![\w-]|\.\w)",
    re.IGNORECASE,
)
# Pages of the sites themselves, and kinds of pages that belong to no one.
_SITE_PAGES = read_word_lists(__file__)["site pages"]
# Every page of somebody has one of these in its address.
_OWN_SITE_HINT = re.compile(
    r"\.(?:tumblr|substack|itch|deviantart|bandcamp|wordpress|blogspot|livejournal|carrd|artstation|newgrounds"
    r"|github|gitlab|neocities)\.",
    re.IGNORECASE,
)
_OWN_SITE_BYTES = re.compile(_OWN_SITE_HINT.pattern.encode(), re.IGNORECASE)
_PAGE_BYTES = re.compile(rb"\.(?:com|me|tv|app|io|ee|fm|net|org|ca|ru|am)/|/@", re.IGNORECASE)
_SITE_NAMES = tuple(
    "twitter x instagram facebook fb tiktok threads snapchat pinterest twitch soundcloud vk venmo ko-fi "
    "patreon onlyfans medium flickr myspace vimeo keybase tumblr weibo quora dribbble behance kaggle replit "
    "cash linktr paypal letterboxd strava last goodreads codepen trello gravatar t m about wa telegram "
    "instagr linkedin reddit youtube steamcommunity discord bsky ycombinator stackoverflow spotify".split()
)


def may_hold_profile(encoded: bytes) -> bool:
    """Whether an address with a page, or of a site of somebody's own, may be in the text."""
    return _PAGE_BYTES.search(encoded) is not None or _OWN_SITE_BYTES.search(encoded) is not None


def _may_be_at_site(text: str) -> bool:
    """Whether a host is there that _PROFILE may match; some letters of other scripts are ASCII to it."""
    if _has_ascii_variants(text):
        return True
    parts = text.lower().split("/")
    return any(part.rpartition(".")[0].endswith(_SITE_NAMES) for part in parts)


def find_profiles(text: str) -> Iterator[Span]:
    """Addresses of pages, with everything before the name, to the end of the name."""
    if _OWN_SITE_HINT.search(text):
        for match in _OWN_SITE.finditer(text):
            if is_name_on_site(match["name"]):
                yield match.span()
    if "/" not in text:
        return
    patterns = [_PROFILE] if _may_be_at_site(text) else []
    if "/@" in text:
        patterns.append(_AT_PROFILE)
    for pattern in patterns:
        for match in pattern.finditer(text):
            if is_name_on_site(match["name"]):
                yield match.span()


def is_name_on_site(name: str) -> bool:
    """Whether the first part of a path is a name, and no page of the site itself."""
    return name.lower() not in _SITE_PAGES and "%" not in name and any(map(str.isalnum, name))


def _has_ascii_variants(text: str) -> bool:
    """Whether letters are in it that ``re.IGNORECASE`` takes for ASCII ones, and ``lower()`` does not."""
    return not text.isascii() and ("ſ" in text or "ı" in text or "İ" in text or "\N{KELVIN SIGN}" in text)
