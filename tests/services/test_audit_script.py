"""``make audit``: what counts as a finding, and what a missing network does."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import audit


def test_vulnerabilities_and_packages_that_nobody_knows_are_told_apart() -> None:
    audited = audit.read_report(
        [
            {"name": "good", "version": "1.0", "vulns": []},
            {"name": "bad", "version": "2.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1", "3.0"]}]},
            {"name": "worse", "version": "3.0", "vulns": [{"id": "CVE-2", "fix_versions": []}]},
            {"name": "own", "skip_reason": "not found"},
        ]
    )
    assert audited == (4, ["bad 2.0: CVE-1, fixed in 2.1, 3.0", "worse 3.0: CVE-2, not fixed yet"], 1)


def test_a_finding_fails_the_audit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reports = iter([audit.Audited(1, ["bad 2.0: CVE-1, not fixed yet"], 0), audit.Audited(2, [], 1), None])
    monkeypatch.setattr(audit, "audit_lock", lambda lock: next(reports))
    assert not audit.audit_locks()
    told = capsys.readouterr().out
    assert "locks/dev.txt: bad 2.0: CVE-1, not fixed yet" in told
    assert "locks/peers.txt: 1 of 2 packages checked" in told
    assert "locks/alignmenter.txt: not audited" in told


def test_without_a_network_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert audit.audit_lock("locks/peers.txt") is None


def test_insecure_code_is_found_and_an_answer_to_it_is_taken(tmp_path: Path) -> None:
    code = tmp_path / "insecure.py"
    command = [sys.executable, "-m", "bandit", "--quiet", "--severity-level", "medium", code]
    code.write_text('import yaml\nyaml.load("", yaml.Loader)\n')
    assert subprocess.run(command, capture_output=True).returncode == 1
    code.write_text('import yaml\nyaml.load("", yaml.Loader)  # a test # nosec B506\n')
    assert subprocess.run(command, capture_output=True).returncode == 0
