from django.conf import settings
from django.db import models

from datasets_app.models.columns import Record


class Preferences(Record):
    """What a person has chosen under "Your account". Without a row, everything is as the browser says."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="preferences"
    )
    language = models.CharField(max_length=10, blank=True)
