"""Addresses of models, from the environment."""

import pytest

from alignmenter_site import env


def test_addresses_are_read_and_have_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADDRESSES", raising=False)
    assert env.base_urls("ADDRESSES", ["https://a/v1"]) == ["https://a/v1"]
    monkeypatch.setenv("ADDRESSES", "https://a/v1, http://localhost:8080/v1")
    assert env.base_urls("ADDRESSES", []) == ["https://a/v1", "http://localhost:8080/v1"]


@pytest.mark.parametrize(
    "wrong",
    [
        "host/v1",
        "ftp://a/",
        "https://",
        "https://me:hunter2@a/",
        "https://a/?key=hunter2",
        "https://a:b/",
        "http://[a",
    ],
)
def test_one_that_can_not_be_stops_the_start_without_being_shown(
    wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADDRESSES", f"https://sound/v1,{wrong}")
    with pytest.raises(env.EnvironmentVariableError) as stopped:
        env.base_urls("ADDRESSES", [])
    assert "ADDRESSES: address 2 must be like https://host/v1" in str(stopped.value)
    assert "hunter2" not in str(stopped.value)
