"""A release without some of its sessions: the next patch version takes its place, and it is destroyed."""

from collections.abc import Callable
from typing import Any

from datasets_app.models import Release
from datasets_app.operations.progress import ProgressCallback, ignore


def reissue_without(
    release: Release,
    is_erased: Callable[[str], bool],
    *,
    actor: Any,
    reason: str,
    report_progress: ProgressCallback = ignore,
) -> Release | None:
    """The release that replaces ``release``, or None if nothing of it has to go."""
    raise NotImplementedError
