"""How far the clocks of this machine and of the database are apart."""

from django.utils import timezone

from datasets_app.core.queries import fetch_value


def measure_clock_difference() -> float:
    """In seconds."""
    return abs(float((timezone.now() - fetch_value("SELECT clock_timestamp()")).total_seconds()))
