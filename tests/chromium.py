"""Where a Chromium for the browser tests is; run as a module, it sees to it that there is one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

# Chromium without the windows that nobody sees: a page takes half the processor time.
HEADLESS_SHELL = "chromium-headless-shell"
WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# That the shell could not be installed is tried and said once in each virtual environment.
NO_SHELL = Path(sys.prefix) / ".no-headless-shell"
MAX_INSTALL_SECONDS = 300


def find_executable() -> str | None:
    """ALIGNMENTER_CHROMIUM, else a headless shell, else one with windows; None if there is none."""
    if given := os.environ.get("ALIGNMENTER_CHROMIUM"):
        return given
    return find_shell() or next(filter(None, map(shutil.which, WITH_WINDOWS)), None) or _playwright_chromium()


def find_shell() -> str | None:
    """On the PATH, else Playwright's own."""
    if found := shutil.which(HEADLESS_SHELL):
        return found
    browsers = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    names = ("chrome-headless-shell", "headless_shell")
    downloaded = (browsers.glob(f"chromium_headless_shell-*/*/{name}") for name in names)
    return max((str(path) for paths in downloaded for path in paths), default=None)


def _playwright_chromium() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if path and Path(path).exists() else None


def _install_shell() -> None:
    """Playwright's download; where that is out of reach, Debian's package, which takes root."""
    if _run_commands([sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]):
        return
    _install_package(HEADLESS_SHELL)


def _install_package(name: str) -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run_commands(["apt-get", "update"], ["apt-get", "install", "--yes", name])


def _run_commands(*commands: list[str]) -> bool:
    try:
        return all(
            subprocess.run(command, capture_output=True, timeout=MAX_INSTALL_SECONDS).returncode == 0
            for command in commands
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> None:
    if "ALIGNMENTER_CHROMIUM" not in os.environ and not find_shell() and not NO_SHELL.exists():
        print("Installing a headless Chromium for the browser tests …", flush=True)
        _install_shell()
        if not find_shell():
            NO_SHELL.touch()
            print("It can't be installed here. Browser tests take longer with another Chromium.", flush=True)
    if find_executable() is None:
        _install_package("chromium")
    if find_executable() is None:
        message = "NO CHROMIUM: the browser tests can't run. Install one, or name it in ALIGNMENTER_CHROMIUM."
        if os.environ.get("ALIGNMENTER_REQUIRE_BROWSER"):
            sys.exit(message)
        print(message + " They are SKIPPED.", flush=True)


if __name__ == "__main__":
    main()
