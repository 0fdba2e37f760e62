"""Messages that installed packages show, as their translators wrote them: accounts, signing in, forms.

They speak of user names in the words of every language, and few hold one.
"""

import gettext
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

# Django and django-import-export are under BSD licenses, django-allauth under MIT.
PACKAGES = ("allauth", "django", "import_export")
LANGUAGES = {"nb": "no", "pt_BR": "pt"} | {
    code: code for code in ("da", "de", "fr", "es", "it", "nl", "pt", "pl", "sv", "fi", "cs")
}
MIN_WORDS, MAX_CHARACTERS = 3, 300
_TAG = re.compile(r"<[^<>]{1,200}>")
_USER = re.compile(r"%\((?:username|user_display)\)s|(?<=signed in as )%\(name\)s")
# Here the place of the user's name has that of the field.
_FIELD = "%(username)s and password"
_NUMBER = re.compile(r"%\(\w+\)[di]|%[di]|\{\w*(?:count|num|size|max|min)\w*\}")
_OTHER = re.compile(r"%\(\w+\)[a-z]|%[sr]|\{\w*\}")


class Message(NamedTuple):
    """``text`` is a template; ``source`` its original, which all translations share."""

    language: str
    source: str
    text: str


def read_messages() -> Iterator[Message]:
    """Each original once, and what became of it in other languages."""
    seen: set[tuple[str, str]] = set()
    for language, path in _list_catalogs():
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        for key, translation in sorted(catalog.items(), key=str):
            source = (key[0] if isinstance(key, tuple) else key).rpartition("\x04")[2]
            for spoken, text in (("en", source), (language, translation)) if source else ():
                template = _make_template(source, text)
                if template and (spoken, template) not in seen:
                    seen.add((spoken, template))
                    yield Message(spoken, source, template)


def _list_catalogs() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        spec = find_spec(package)
        folders = spec.submodule_search_locations if spec else None
        if not folders:
            raise SystemExit(f"{package} is not installed, and its messages are training data.")
        for path in sorted(Path(folders[0]).rglob("locale/*/LC_MESSAGES/*.mo")):
            if path.parts[-3] in LANGUAGES:
                yield LANGUAGES[path.parts[-3]], path


def _make_template(source: str, text: str) -> str:
    """With slots for what a message is filled with; "" of what is no sentence."""
    user = None if _FIELD in source else _USER.search(source)
    slotted = _TAG.sub("", text).replace("<", " ").replace("%%", "%")
    if user:
        slotted = slotted.replace(user[0], "<HANDLE>")
    slotted = _OTHER.sub("<company>", _NUMBER.sub("<smallnum>", slotted)).strip()
    if len(slotted.split()) < MIN_WORDS or len(slotted) > MAX_CHARACTERS:
        return ""
    return slotted
