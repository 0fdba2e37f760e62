"""Looks for known vulnerabilities in what is locked, and for insecure code: ``make audit``.

Without a network the first part says so and passes; findings of either part end it with status 1.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

# dev.txt has everything that run.txt, s3.txt and onnx.txt have, in the same versions (tests/test_locks.py).
LOCKS = ("locks/dev.txt", "locks/peers.txt", "locks/alignmenter.txt")
CODE = ("datasets_app", "annotations_app", "alignmenter_site", "scripts", "manage.py")
# What pip-audit and its libraries say of a service that they can't reach.
_UNREACHABLE = ("connect", "timed out", "resolve", "serviceerror", "proxy")


class Audited(NamedTuple):
    """``vulnerabilities`` are sentences; ``unknown`` counts packages that couldn't be looked up."""

    packages: int
    vulnerabilities: list[str]
    unknown: int


def audit_lock(lock: str) -> Audited | None:
    """None if the service of vulnerabilities can't be reached. Raises SystemExit for other failures."""
    command = ["--requirement", lock, "--disable-pip", "--no-deps", "--format", "json"]
    done = _run("pip_audit", *command, "--progress-spinner", "off")
    try:
        return read_report(json.loads(done.stdout)["dependencies"])
    except (ValueError, KeyError):
        if any(word in done.stderr.lower() for word in _UNREACHABLE):
            return None
        sys.exit(f"pip-audit failed on {lock}:\n{done.stderr}")


def read_report(packages: list[dict[str, Any]]) -> Audited:
    found = [
        f"{package['name']} {package['version']}: {item['id']}, {_describe_fix(item['fix_versions'])}"
        for package in packages
        for item in package.get("vulns", ())
    ]
    return Audited(len(packages), found, sum("skip_reason" in package for package in packages))


def _describe_fix(versions: list[str]) -> str:
    return f"fixed in {', '.join(versions)}" if versions else "not fixed yet"


def audit_locks() -> bool:
    """Whether no vulnerability is known."""
    clean = True
    for lock in LOCKS:
        if not Path(lock).exists():
            sys.exit(f"{lock} is missing: make lock")
        audited = audit_lock(lock)
        if audited is None:
            print(f"{lock}: not audited, because the service of known vulnerabilities can't be reached.")
            continue
        for vulnerability in audited.vulnerabilities:
            print(f"{lock}: {vulnerability}")
        clean &= not audited.vulnerabilities
        checked = audited.packages - audited.unknown
        print(f"{lock}: {checked} of {audited.packages} packages checked for known vulnerabilities.")
        if audited.unknown:
            print(f"{lock}: the other {audited.unknown} were not found where vulnerabilities are looked up.")
    return clean


def audit_code() -> bool:
    """Whether bandit finds nothing of medium or high severity that no comment with a reason allows."""
    done = _run("bandit", "--quiet", "--recursive", "--severity-level", "medium", *CODE)
    if done.returncode > 1:
        sys.exit(f"bandit failed:\n{done.stderr}")
    print(done.stdout if done.returncode else "Code: bandit finds nothing of medium or high severity.")
    return not done.returncode


def _run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True)


if __name__ == "__main__":
    results = [audit_locks(), audit_code()]
    sys.exit(not all(results))
