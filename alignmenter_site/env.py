"""Typed environment variables: an invalid value stops the start with an explanation."""

import errno
import os
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from alignmenter_site.web_address import split_address


class EnvironmentVariableError(SystemExit):
    """An invalid setting; a SystemExit, so that no traceback hides the explanation."""


def writable_directory(path: Path) -> Path:
    """The directory, created for its owner alone if missing. Raises :class:`EnvironmentVariableError`."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "no permission to write, or a read-only file system")
    except OSError as error:
        raise unusable(path, error) from None
    return path


def unusable(path: Path, error: OSError) -> EnvironmentVariableError:
    return EnvironmentVariableError(
        f"Cannot write to {path}: {error.strerror}. The application keeps its keys, its database and "
        "temporary files there. Give the account that runs it write access, or set ALIGNMENTER_VAR_DIR "
        "to a directory that it can write to."
    )


def text(name: str, default: str = "") -> str:
    """The value of a variable, or of the file that ``NAME_FILE`` names, as secrets are mounted."""
    value = os.environ.get(name, "").strip()
    file = os.environ.get(f"{name}_FILE", "").strip()
    if file and value:
        raise EnvironmentVariableError(f"Set {name} or {name}_FILE, not both")
    return (_read_secret(f"{name}_FILE", file) if file else value) or default


def _read_secret(variable: str, file: str) -> str:
    # Never repeat what is in it.
    try:
        content = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise EnvironmentVariableError(f"{variable}: cannot read {file}: {reason}") from None
    if not content:
        raise EnvironmentVariableError(f"{variable}: {file} is empty")
    return content


def integer(name: str, default: int, *, minimum: int = 0) -> int:
    raw = text(name)
    if not raw:
        return default
    try:
        value = int(raw)
    except ValueError:
        raise EnvironmentVariableError(f"{name} must be a whole number, got {raw!r}") from None
    if value < minimum:
        raise EnvironmentVariableError(f"{name} must be at least {minimum}, got {value}")
    return value


def share(name: str, default: float) -> float:
    """``1%`` or ``0.01``."""
    raw = text(name)
    number, percent = raw.removesuffix("%").rstrip(), raw.endswith("%")
    try:
        value = float(number) / (100 if percent else 1) if raw else default
    except ValueError:
        value = -1.0
    if not 0 < value <= 1:
        raise EnvironmentVariableError(f"{name} must be a share such as 1% or 0.01, got {raw!r}")
    return value


def boolean(name: str, default: bool) -> bool:
    raw = text(name).lower()
    if not raw:
        return default
    if raw in {"1", "true", "yes", "on"}:
        return True
    if raw in {"0", "false", "no", "off"}:
        return False
    raise EnvironmentVariableError(f"{name} must be on or off, got {raw!r}")


def word_list(name: str, default: list[str]) -> list[str]:
    raw = text(name)
    return [word.strip() for word in raw.split(",") if word.strip()] if raw else default


def mapping(name: str) -> dict[str, str]:
    """``a=b,c=d``; the same key may not come twice."""
    pairs = [pair.partition("=") for pair in word_list(name, [])]
    found = {key.strip(): value.strip() for key, _, value in pairs}
    if len(found) != len(pairs) or not all(found) or not all(found.values()):
        raise EnvironmentVariableError(f"{name} must be like group=role,group=role, with each group once")
    return found


def networks(name: str) -> list[IPv4Network | IPv6Network]:
    """Addresses and networks, such as 10.0.0.5 or 10.0.0.0/8."""
    try:
        return [ip_network(word) for word in word_list(name, [])]
    except ValueError:
        raise EnvironmentVariableError(
            f"{name} must be addresses or networks with commas between, such as 10.0.0.5,192.168.0.0/16"
        ) from None


def base_urls(name: str, default: list[str]) -> list[str]:
    """Base URLs: http or https, with a host, and without a user, a password, a query or a fragment."""
    addresses = word_list(name, default)
    for number, address in enumerate(addresses, 1):
        parts = split_address(address)
        if parts is None or parts.query or parts.fragment:
            raise EnvironmentVariableError(
                f"{name}: address {number} must be like https://host/v1, without user, password or query"
            )
    return addresses
