"""Annotators' pages and those of accounts speak every language of the settings, completely."""

import ast
import re
from collections.abc import Iterator
from gettext import GNUTranslations
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import trans_real

from alignmenter_site.sign_in.adapters import mail_thread
from annotations_app.domain.flag_reasons import FLAG_REASONS
from annotations_app.labeling import lease_next
from datasets_app.access.tokens import create_token
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.models import ApiToken, Notification, OutgoingEvent, Preferences
from tests import factories
from tests.web.test_queue import annotator, make

LANGUAGES = [code for code, _ in settings.LANGUAGES if code != "en"]
PASSWORD = "a correct horse battery staple"
LOCALE = Path(settings.BASE_DIR) / "locale"
SCRIPTS = [
    *Path(settings.BASE_DIR).glob("annotations_app/static/**/*.js"),
    *Path(settings.BASE_DIR).glob("datasets_app/static/**/*.js"),
]


def read_po(language: str, domain: str) -> dict[tuple[str | None, str], list[str]]:
    """By context and msgid, the translations of a .po file: one, or one for each plural form."""
    text = (LOCALE / language / "LC_MESSAGES" / f"{domain}.po").read_text("utf-8")
    entries: dict[tuple[str | None, str], list[str]] = {}
    for block in text.split("\n\n")[1:]:
        fields: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            if match := re.match(r'(msg[a-z_]+(?:\[\d\])?) (".*")', line):
                name = match[1]
                fields[name] = ast.literal_eval(match[2])
            elif line.startswith('"'):
                fields[name] += ast.literal_eval(line)
        if "msgid" in fields:
            texts = [text for name, text in sorted(fields.items()) if name.startswith("msgstr")]
            entries[fields.get("msgctxt"), fields["msgid"]] = texts
    return entries


PLACEHOLDER = re.compile(r"%\(\w+\)s|%s|\{\w+\}|</?\w+")


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_every_string_is_translated_in_every_language(domain: str) -> None:
    every = {language: read_po(language, domain) for language in LANGUAGES}
    known = set(every["de"])
    assert len(known) > 40
    wrong = []
    for language, entries in every.items():
        assert set(entries) == known, language
        for (_, msgid), texts in entries.items():
            for text in texts:
                if not text.strip() or sorted(PLACEHOLDER.findall(text)) != sorted(
                    PLACEHOLDER.findall(msgid)
                ):
                    wrong.append((language, msgid, text))
        forms = 1 if language == "ja" else 2
        wrong += [
            (language, msgid, "") for (_, msgid), texts in entries.items() if len(texts) not in {1, forms}
        ]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    """The application reads .mo files, which are committed: where it is installed there may be no msgfmt."""
    for domain in ("django", "djangojs"):
        folder = LOCALE / language / "LC_MESSAGES"
        with (folder / f"{domain}.mo").open("rb") as file:
            compiled = GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        expected = {}
        for (context, msgid), texts in read_po(language, domain).items():
            key = f"{context}\x04{msgid}" if context else msgid
            expected |= (
                {(key, n): text for n, text in enumerate(texts)} if (key, 0) in compiled else {key: texts[0]}
            )
        assert {key: text for key, text in compiled.items() if key} == expected, (
            f"run make messages ({domain})"
        )


def test_strings_of_scripts_and_rules_are_known() -> None:
    scripts = {msgid for _, msgid in read_po("de", "djangojs")}
    used = set()
    for path in SCRIPTS:
        for literal in re.findall(r'\bn?gettext\(\s*("(?:[^"\\]|\\.)*")', path.read_text("utf-8")):
            used.add(ast.literal_eval(literal))
    assert used == scripts
    pages = {msgid for _, msgid in read_po("de", "django")}
    answers = {text for level in ON_BRAND.levels for text in (level.name, level.help)}
    assert {*FLAG_REASONS.values(), *lease_next._MESSAGES.values(), *answers} <= pages


# --- which language -----------------------------------------------------------------------------------


def html_of(client: Client, address: str, **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def test_the_browser_chooses_until_the_person_does(client: Client, db: None) -> None:
    user = User.objects.create_user("ana", password=PASSWORD)
    user.groups.add(Group.objects.get(name="annotator"))
    for accepted, lang, heading in (
        ("de-CH,de;q=0.9,en;q=0.5", "de", "Anmelden"),
        ("fr", "fr", "Se connecter"),
        ("es-MX", "es", "Iniciar sesión"),
        ("ja", "ja", "ログイン"),
        ("pt, en", "en", "Log in"),
        ("xx-nonsense;q=a", "en", "Log in"),
    ):
        html = html_of(client, "/login/", accept_language=accepted)
        assert f'<html lang="{lang}"' in html
        assert f"<h1>{heading}</h1>" in html
    sent = {"username": "ana", "password": PASSWORD}
    assert client.post("/login/", sent, headers={"accept-language": "de"}).status_code == 302
    assert "Ihr Konto" in html_of(client, "/account/", accept_language="de")
    assert client.post("/account/language/", {"language": "ja"}).status_code == 302
    assert "アカウント" in html_of(client, "/account/", accept_language="de")
    # It is the account's, not the browser's.
    other = Client()
    other.post("/login/", sent)
    assert "アカウント" in html_of(other, "/account/", accept_language="de")
    assert client.post("/account/language/", {"language": ""}).status_code == 302
    assert "Ihr Konto" in html_of(client, "/account/", accept_language="de")
    assert client.post("/account/language/", {"language": "xx"}).status_code == 404
    assert Preferences.objects.get().language == ""


def test_errors_and_mails_speak_it_too(client: Client, db: None, settings: Any) -> None:
    settings.EMAIL_HOST = "localhost"
    answer = client.post("/login/", {"username": "x", "password": "y"}, headers={"accept-language": "fr"})
    assert "Nom d’utilisateur ou mot de passe incorrect." in answer.content.decode()
    user = User.objects.create_user("ana", "ana@example.org", PASSWORD)
    client.post("/password/reset/", {"email": user.email}, headers={"accept-language": "de"})
    mail_thread.submit(int).result()
    assert ["Neues Passwort" in message.subject for message in mail.outbox] == [True]


def test_the_admin_stays_english(sign_in: Any) -> None:
    client = sign_in("superuser")
    session = client.session
    session["language"] = "de"
    session.save()
    for address in ("/admin/", "/admin/auth/user/", "/admin/datasets_app/dataset/", "/help/"):
        html = html_of(client, address, accept_language="de")
        assert '<html lang="en"' in html
        assert "Speichern" not in html
        assert "Datensätze" not in html


def test_plurals_and_numbers(db: None) -> None:
    from annotations_app.labeling.views.campaigns import _count_replies

    for language, one, many in (
        ("en", "1 reply", "12,345 replies"),
        ("de", "1 Antwort", "12.345 Antworten"),
        ("fr", "1 réponse", "12\xa0345 réponses"),
        ("ja", "応答 1 件", "応答 12,345 件"),
    ):
        with translation.override(language):
            assert (_count_replies(1), re.sub("[\u202f\xa0]", "\xa0", _count_replies(12_345))) == (one, many)
    with translation.override("fr"):
        assert _count_replies(0) == "0 réponse"


def test_scripts_get_their_strings(client: Client, db: None) -> None:
    for language, text in (("de", "Wird gespeichert"), ("ja", "\\u4fdd\\u5b58\\u4e2d"), ("en", "ngettext")):
        response = client.get(f"/account/strings/{language}.js")
        assert response.status_code == 200
        assert response["Content-Type"].startswith("text/javascript")
        assert text in response.content.decode()
    assert client.get("/account/strings/xx.js").status_code == 404


# --- nothing is left in English: a walk with marked translations --------------------------------------


class _Texts(HTMLParser):
    """What a person reads or hears of a page: text nodes, labels, titles."""

    SPOKEN = ("aria-label", "title", "placeholder", "alt")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._skipped = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        attributes = dict(attrs)
        # Names and texts of conversations, in their own language.
        self._skipped += tag in {"script", "style"}
        self.found += [attributes[name] for name in self.SPOKEN if attributes.get(name)]

    def handle_endtag(self, tag: str) -> None:
        self._skipped -= tag in {"script", "style"}

    def handle_data(self, data: str) -> None:
        if not self._skipped and data.strip():
            self.found.append(" ".join(data.split()))


@pytest.fixture
def marked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """German with every translation in brackets: text without them was not looked up, or isn't known."""
    german = trans_real.translation("de")

    class Marked:
        def __getattr__(self, name: str) -> Any:
            return getattr(german, name)

        def gettext(self, message: str) -> str:
            text = german.gettext(message)
            return f"⟦{text}⟧" if message in german._catalog else text

        def ngettext(self, singular: str, plural: str, n: int) -> str:
            text = german.ngettext(singular, plural, n)
            return f"⟦{text}⟧" if text not in {singular, plural} else text

    real = trans_real.translation
    monkeypatch.setattr(trans_real, "translation", lambda code: Marked() if code == "de" else real(code))
    yield
    translation.deactivate()


# Names, numbers, and what people typed.
_NOT_WORDS = re.compile(
    r"Alignmenter Datasets|English|Deutsch|Français|Español|日本語|anna|tone|Calm assistant|support|"
    r"127\.0\.0\.1|\bon\b|[a-z]+:(?:read|write)|nightly|aldu_\w+|[^\W\d_]{0,1}"
)


def find_untranslated(html: str) -> list[str]:
    texts = _Texts(html).found
    joined = []
    for text in texts:
        rest = re.sub("⟦[^⟧]*⟧", "", text)
        rest = _NOT_WORDS.sub("", rest)
        if re.search(r"[^\W\d_]{2,}", rest) and "⟦" not in text and "⟧" not in text:
            joined.append(text)
    return joined


def make_notified_curator(dataset: Any) -> Client:
    """Somebody who was told of everything, and has a token that was used."""
    user = User.objects.create_user("curt", password=PASSWORD, is_staff=True, is_superuser=True)
    numbers = {"sessions": 2, "turns": 1, "errors": 0, "warnings": 1, "replies": 3, "complete": True}
    for kind in OutgoingEvent.Kind.values:
        event = OutgoingEvent.objects.create(
            kind=kind,
            dataset=dataset,
            dataset_name="support",
            data={**numbers, "version": "1.0", "job": 7}
            | {"due": "2026-12-01", "step": "@", "operation": "@"},
        )
        Notification.objects.create(user=user, event=event, shown=True)
    token, _ = create_token(
        user, name="nightly", scopes=["raw:read"], days=3, datasets=None, second_factor=True
    )
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now(), last_used_from="127.0.0.1")
    client = Client()
    client.force_login(user)
    return client


def test_no_text_of_these_pages_is_left_in_english(marked: None, tmp_path: Path, db: None) -> None:
    lines = [
        factories.make_turn("s1", 1, text="@1"),
        factories.make_turn("s1", 2, role="assistant", text="@2"),
    ]
    campaign = make(tmp_path, lines)
    member = annotator("anna")
    User.objects.filter(username="anna").update(email="@")
    member.post(reverse("annotate:lease", args=[campaign.name]))
    left = {}
    queue = reverse("annotate:queue", args=[campaign.name])
    curator = make_notified_curator(campaign.dataset)
    # Within the administration, notifications are in English.
    assert (
        '<html lang="en' in curator.get("/notifications/", headers={"accept-language": "de"}).content.decode()
    )
    pages = [
        (curator, "/account/"),
        (curator, "/tokens/"),
        (Client(), "/login/"),
        (Client(), "/password/reset/"),
        (Client(), "/password/reset/sent/"),
        (Client(), "/password/reset/done/"),
        (Client(), "/password/reset/x-y/"),
        (Client(), "/login/canceled/"),
        (Client(), "/login/failed/"),
        (member, "/account/"),
        (member, "/account/sessions/"),
        (member, "/account/again/"),
        (member, "/annotate/?all"),
        (member, queue),
        (curator, "/notifications/"),
        (curator, "/notifications/settings/"),
    ]
    for client, address in pages:
        if address == "/notifications/":
            User.objects.update(is_staff=False)
        response = client.get(address, headers={"accept-language": "de"}, follow=True)
        html = response.content.decode()
        assert '<html lang="de"' in html, address
        if found := find_untranslated(html):
            left[address] = found
    assert left == {}
