"""A real OpenID Connect provider, on a port of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import requests
from django.test import Client

from alignmenter_site.sign_in_settings import sign_in_settings

GROUPS = "aad-curators=curator,aad-annotators=annotator,aad-officers=privacy officer"


class Provider:
    def __init__(self, url: str) -> None:
        self.url = url

    def set_person(self, sub: str, **claims: Any) -> None:
        requests.put(f"{self.url}/users/{sub}", json=claims, timeout=10).raise_for_status()

    def authorize(self, client: Client, sub: str, address: str = "/oidc/company/login/") -> str:
        """The address of our callback, with a code, to which the provider sends the person's browser."""
        start = client.get(address)
        assert start["Location"].startswith(self.url), start
        answer = requests.post(start["Location"], data={"sub": sub}, allow_redirects=False, timeout=10)
        return answer.headers["Location"]

    def sign_in(self, client: Client, sub: str, address: str = "/oidc/company/login/") -> Any:
        """Follow the redirects there and back as a browser would; the answer of our callback."""
        back = urlsplit(self.authorize(client, sub, address))
        return client.get(f"{back.path}?{back.query}")


@contextmanager
def run_provider(settings: Any, monkeypatch: Any) -> Iterator[Provider]:
    """A provider that the application uses."""
    from oidc_provider_mock import run_server_in_thread

    with run_server_in_thread() as server:
        url = f"http://localhost:{server.server_port}"
        environment = {"URL": url, "CLIENT_ID": "datasets", "CLIENT_SECRET": "a secret", "GROUPS": GROUPS}
        for name, value in environment.items():
            monkeypatch.setenv(f"ALIGNMENTER_OIDC_{name}", value)
        for name, value in sign_in_settings("", https=False).items():
            if name.startswith(("COMPANY", "SOCIALACCOUNT")):
                setattr(settings, name, value)
        yield Provider(url)
