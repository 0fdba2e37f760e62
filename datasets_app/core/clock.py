"""How far the clocks of this machine and of the database are apart."""

from django.db import connection
from django.utils import timezone


def measure_clock_difference() -> float:
    """In seconds."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return abs(float((timezone.now() - cursor.fetchone()[0]).total_seconds()))
