"""Where a Chromium for the browser tests is; run as a module, it sees to it that there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# The first is Chromium without the windows that nobody sees: a page takes half the processor time.
HEADLESS_SHELL = "chromium-headless-shell"
EXECUTABLE_NAMES = (
    HEADLESS_SHELL,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)


def find_executable() -> str | None:
    """ALIGNMENTER_CHROMIUM, else one on the PATH, else Playwright's own; None if there is none."""
    if given := os.environ.get("ALIGNMENTER_CHROMIUM"):
        return given
    for name in EXECUTABLE_NAMES:
        if found := shutil.which(name):
            return found
    return _playwright_executable()


def _playwright_executable() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() else None


def _install_chromium() -> None:
    """Playwright's download; where that is out of reach, Debian's package, which takes root."""
    attempts = [[[sys.executable, "-m", "playwright", "install", "chromium"]]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        # Not every release has the first.
        install = ["apt-get", "install", "--yes"]
        attempts += [[["apt-get", "update"], [*install, HEADLESS_SHELL]], [[*install, "chromium"]]]
    for commands in attempts:
        if all(_run_command(command) for command in commands) and find_executable():
            return


def _run_command(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=600).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> None:
    if find_executable() is None:
        print("No Chromium for the browser tests; installing one …", flush=True)
        _install_chromium()
    if find_executable() is None:
        message = "NO CHROMIUM: the browser tests can't run. Install one, or name it in ALIGNMENTER_CHROMIUM."
        if os.environ.get("ALIGNMENTER_REQUIRE_BROWSER"):
            sys.exit(message)
        print(message + " They are SKIPPED.", flush=True)


if __name__ == "__main__":
    main()
