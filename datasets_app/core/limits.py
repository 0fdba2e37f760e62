from django.conf import settings

from datasets_app.domain.conversations.lines import Limits


def configured_limits() -> Limits:
    """How long a line, and how large an unpacked file, may be in this installation."""
    return Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)


# Names that a field suggests; others can be typed.
MAX_SUGGESTIONS = 100
