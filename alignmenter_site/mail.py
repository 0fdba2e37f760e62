"""Where mail is sent from and to: one address of a server, in the words of Django's settings.

``smtp://user:password@host:587?tls=on`` begins unencrypted and turns TLS on before anything is said;
``smtps://host:465`` is TLS from the first byte. Special characters of a password are given in percent form.
"""

from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from alignmenter_site import env

TIMEOUT_SECONDS = 20
_DEFAULT_PORTS = {"smtp": 25, "smtps": 465}


def email_settings() -> dict[str, Any]:
    """The EMAIL_* settings, MAIL_TO and DEFAULT_FROM_EMAIL; nothing is sent unless a server is named."""
    url = env.text("ALIGNMENTER_SMTP_URL")
    to = env.word_list("ALIGNMENTER_MAIL_TO", [])
    sender = env.text("ALIGNMENTER_MAIL_FROM")
    if not url:
        return {"MAIL_TO": [], "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    if not to or not sender:
        raise env.EnvironmentVariableError(
            "ALIGNMENTER_SMTP_URL needs ALIGNMENTER_MAIL_TO (addresses, with commas between) and "
            "ALIGNMENTER_MAIL_FROM (the sender's address)"
        )
    return {
        "MAIL_TO": to,
        "DEFAULT_FROM_EMAIL": sender,
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_TIMEOUT": TIMEOUT_SECONDS,
        **_server_settings(url),
    }


def mail_is_configured() -> bool:
    from django.conf import settings

    return not settings.EMAIL_BACKEND.endswith("dummy.EmailBackend")


def _server_settings(url: str) -> dict[str, Any]:
    # Never repeat the address in a message: it may contain a password.
    expected = "ALIGNMENTER_SMTP_URL must be like smtp://user:password@host:587?tls=on or smtps://host"
    try:
        parts = urlsplit(url)
        port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        asked = {key: values[-1].lower() for key, values in parse_qs(parts.query).items()}
    except ValueError:
        raise env.EnvironmentVariableError(expected) from None
    tls = asked.pop("tls", "off")
    if not port or not parts.hostname or asked or tls not in {"on", "off"} or parts.path not in {"", "/"}:
        raise env.EnvironmentVariableError(expected)
    return {
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port,
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": tls == "on" and parts.scheme == "smtp",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
    }
