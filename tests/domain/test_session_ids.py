"""Keyed hashes of session ids, and the key they are made with."""

import hashlib
import hmac
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from alignmenter_site import env
from alignmenter_site.keys import hash_key
from datasets_app.domain.pii.session_ids import (
    fingerprint_key,
    format_key_statement,
    hash_session_id,
    is_hashed_id,
    is_key_stated,
)
from tests import preloaded
from tests.conftest import PROJECT
from tests.strategies import names

KEY = b"a key of thirty-two characters.."


@given(names)
def test_a_hash_is_the_plain_hmac_that_anyone_with_the_key_computes(session_id: str) -> None:
    expected = hmac.new(KEY, session_id.encode(), "sha256").hexdigest()
    assert hash_session_id(session_id, KEY) == expected
    assert is_hashed_id(expected)
    assert hash_session_id(session_id, KEY + b".") != expected
    assert hashlib.sha256(session_id.encode()).hexdigest() != expected


def test_known_values_stay_what_they_are() -> None:
    assert (
        hash_session_id("call-1", KEY) == "c70e197b8c2304d8f14ee1edd65f40836cf704af92bedb52bd129e12d3eca35a"
    )
    assert fingerprint_key(KEY) == "c7feed00"


def test_the_fingerprint_tells_keys_apart_and_is_no_part_of_them() -> None:
    prints = {fingerprint_key(f"{KEY!r}{number}".encode()) for number in range(1000)}
    assert len(prints) == 1000
    assert fingerprint_key(KEY) not in KEY.hex()
    assert hashlib.sha256(KEY).hexdigest()[:8] != fingerprint_key(KEY)


def test_what_was_stated_is_recognised_for_this_key_only() -> None:
    words = ["e-mail addresses replaced by placeholders", format_key_statement(KEY)]
    assert is_key_stated(KEY, words)
    assert not is_key_stated(KEY + b".", words)
    assert not is_key_stated(KEY, ["session ids replaced by keyed SHA-256 hashes"])


# --- the installation's key ---------------------------------------------------------------------


def test_the_key_of_the_environment_is_used_as_its_utf8_bytes(monkeypatch: Any) -> None:
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", " eins zwei drei vier fünf sechs sieben ")
    assert hash_key.hash_key() == "eins zwei drei vier fünf sechs sieben".encode()


@pytest.mark.parametrize("given", ["x", "x" * 31])
def test_a_short_key_is_refused_with_what_to_do(monkeypatch: Any, given: str) -> None:
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", given)
    with pytest.raises(env.EnvironmentVariableError, match="at least 32 characters, got") as refused:
        hash_key.hash_key()
    assert given * 2 not in str(refused.value)


def test_a_short_key_stops_the_start() -> None:
    done = preloaded.run("check", env=os.environ | {"ALIGNMENTER_HASH_KEY": "short"}, text=True)
    assert done.returncode != 0
    assert "ALIGNMENTER_HASH_KEY must have at least 32 characters, got 5" in done.stderr
    assert "Traceback" not in done.stderr


def test_else_one_is_generated_once_for_its_owner_only(
    monkeypatch: Any, settings: Any, tmp_path: Path
) -> None:
    monkeypatch.delenv("ALIGNMENTER_HASH_KEY", raising=False)
    settings.VAR_DIR = tmp_path / "var"
    key = hash_key.hash_key()
    path = tmp_path / "var" / "hash_key"
    assert hash_key.hash_key() == key == path.read_bytes()
    assert len(key) > 64
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_processes_that_start_at_once_have_the_same_key(tmp_path: Path) -> None:
    program = "from alignmenter_site.keys.hash_key import hash_key; print(hash_key().decode())"
    settings = {"ALIGNMENTER_VAR_DIR": str(tmp_path)}
    # No server answers here: nothing of this needs one.
    nowhere = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1"}
    running = [
        preloaded.Popen(
            *("shell", "--no-imports", "--command", program),
            cwd=PROJECT,
            env=os.environ | settings | nowhere,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    keys = {process.communicate(timeout=60)[0].strip() for process in running}
    assert keys == {(tmp_path / "hash_key").read_text()}
