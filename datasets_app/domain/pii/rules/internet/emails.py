"""E-mail addresses, also those that are written out to escape machines: "jane [at] acme (dot) com".

Linear in the length of the text, as all rules are.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import EMAIL, Match
from datasets_app.domain.pii.word_lists import read_word_lists

# Read backwards from the @, so that a long run of letters without one costs nothing.
_LOCAL = re.compile(r"[\w.+%&'~\u0300-\u036f-]{1,64}")
# Scripts written without spaces: the words before an address are not part of it.
_LOCAL_SPACED = re.compile(r"(?:[^\W\u2e80-\u9fff\uac00-\ud7af]|[.+%&'~\u0300-\u036f-]){1,64}")
_DOMAIN = re.compile(
    r"(?:[^\W_](?:[\w\u0300-\u036f-]{0,61}[^\W_])?\.){1,8}"
    r"(?:xn--[a-zA-Z0-9-]{2,59}|[a-zA-Z]{2,63}|[^\W\d_]{2,63})"
)
_QUOTED = re.compile(r'"[^"\n]{1,64}"(?![^\s:<(])')
_BRACKETED = re.compile(r"\[(?:\d{1,3}(?:\.\d{1,3}){3}|IPv6:[0-9a-fA-F:.]{2,45})\]")
_IMAGE_NAME = re.compile(r"\dx\.(?:png|jpe?g|gif|webp|svg)$", re.IGNORECASE)  # logo@2x.png


def find_emails(text: str) -> Iterator[Match]:
    """Addresses with an @ in them."""
    at = text.find("@")
    while at >= 0:
        if domain := _DOMAIN.match(text, at + 1) or _BRACKETED.match(text, at + 1):
            before = text[max(0, at - 64) : at][::-1]
            local = _LOCAL_SPACED.match(before) or _LOCAL.match(before) or _QUOTED.match(before)
            name = local[0].rstrip(".'&%~+-") if local else ""
            if name and not _IMAGE_NAME.search(domain[0]) and not _is_account(text, at, name[::-1]):
                yield Match(EMAIL, at - len(name), domain.end())
        elif apart := _SPACED_ADDRESS.match(text, max(0, at - 1)):
            before = text[max(0, at - 65) : max(0, at - 1)][::-1]
            local = _LOCAL.match(before)
            if local and local[0][::-1].lower() not in _NON_MAILBOX_WORDS:
                yield Match(EMAIL, at - 1 - len(local[0]), apart.end())
        at = text.find("@", at + 1)


# Accounts that are the same on every machine.
_STANDARD_ACCOUNTS = read_word_lists(__file__)["standard accounts"]
_REMOTE_COMMAND = re.compile(r"\b(?:ssh|scp|sftp|mosh|rsync|ssh-copy-id)\b[^\n@]{0,60}\Z")
_URL_USER = re.compile(r"://[^\s/@]{0,100}\Z")


def _is_account(text: str, at: int, name: str) -> bool:
    """Whether it is a machine that stands behind the @: then name and password are not mail's."""
    if name == "git":
        # git@github.com:… is how every clone address begins.
        return True
    before = text[max(0, at - len(name) - 104) : at - len(name)]
    if "://" in before and _URL_USER.search(before):
        return True
    return name in _STANDARD_ACCOUNTS and _REMOTE_COMMAND.search(before) is not None


# --- written out ------------------------------------------------------------------------------

_DOT = r"(?: {0,2}[\[({<] {0,2}(?:dot|\.) {0,2}[\])}>] {0,2}| dot |\.)"
_SPELLED_DOT = r"(?: {0,2}[\[({<] {0,2}dot {0,2}[\])}>] {0,2}| dot )"
_WORD = r"[A-Za-z0-9][\w+-]{0,40}"
_SPELLED_LOCAL = rf"{_WORD}(?:(?:{_DOT}| underscore | dash | hyphen | plus ){_WORD}){{0,4}}"
_TOP_LEVEL_DOMAIN = (
    r"(?:com|net|org|edu|gov|info|biz|io|co|dev|app|ai|me|us|uk|de|fr|es|it|nl|be|at|ch|se|no|dk|fi|pl|ca"
    r"|au|nz|in|jp|br|mx|ie|eu|ru|za|local|internal|lan|corp|example|test)"
)
_AT = r" {0,2}[\[({<] {0,2}(?:at|@) {0,2}[\])}>] {0,2}"
# jane @ acme.com
_SPACED_ADDRESS = re.compile(
    rf" @ (?:[A-Za-z0-9][\w-]{{0,62}}\.){{1,5}}{_TOP_LEVEL_DOMAIN}(?![\w-])", re.IGNORECASE
)
_SPELLED_ADDRESSES = (
    # jane [at] acme.com, jane(at)acme(dot)co(dot)uk
    re.compile(rf"(?<![\w.@]){_SPELLED_LOCAL}{_AT}{_WORD}(?:{_DOT}{_WORD}){{1,4}}", re.IGNORECASE),
    # jane dot doe at acme dot com, jane@acme dot com
    re.compile(
        rf"(?<![\w.@])(?P<local>{_SPELLED_LOCAL})(?: at | ?@ ?)"
        rf"(?:{_WORD}{_DOT}){{0,3}}{_WORD}{_SPELLED_DOT}{_TOP_LEVEL_DOMAIN}(?![\w-])",
        re.IGNORECASE,
    ),
)
# "look us up at acme dot com" names no mailbox.
_NON_MAILBOX_WORDS = read_word_lists(__file__)["no mailboxes"]


def find_spelled_emails(text: str) -> Iterator[Match]:
    """Addresses whose @ and dots are words."""
    for pattern in _SPELLED_ADDRESSES:
        for match in pattern.finditer(text):
            if match.re.groups == 0 or match["local"].lower() not in _NON_MAILBOX_WORDS:
                yield Match(EMAIL, *match.span())
