"""A team's own recognizers: those of the installation, and of a command."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.recognizer_files import add_recognizers, read_recognizers


def list_installed_labels() -> tuple[str, ...]:
    """What the installation's recognizers find; nothing if their file can't be used, as a scrub will say."""
    try:
        return add_recognizer_files(Policy()).custom_labels
    except PolicyError:
        return ()


def add_recognizer_files(policy: Policy, paths: Iterable[Path] = ()) -> Policy:
    """The policy with the recognizers of the installation (ALIGNMENTER_RECOGNIZERS) and of these files.

    Raises :class:`PolicyError` for a file that can't be used. Files are read each time, so that a change
    counts from the next scrub on.
    """
    installed = [Path(settings.RECOGNIZERS_FILE)] if settings.RECOGNIZERS_FILE else []
    for path in (*installed, *paths):
        policy = add_recognizers(policy, read_recognizers(path), hash_key())
    return policy
