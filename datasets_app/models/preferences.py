from django.conf import settings
from django.db import models


class Preferences(models.Model):
    """What a person has chosen under "Your account". Without a row, everything is as the browser says."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="preferences"
    )
    language = models.CharField(max_length=10, blank=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"Preferences of {self.user}"
