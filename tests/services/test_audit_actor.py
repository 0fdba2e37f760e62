"""Who a command acted as, also where the account has no name."""

import os
import pwd

import pytest

from datasets_app.core import audit


@pytest.mark.parametrize("error", [KeyError, OSError])
def test_an_account_without_a_name_is_told_by_its_number(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def nameless(uid: int) -> None:
        raise error(f"getpwuid(): uid not found: {uid}")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nameless)
    assert audit.actor_name(None) == f"command line (uid {os.getuid()})"
