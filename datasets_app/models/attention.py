from django.conf import settings
from django.db import models

from datasets_app.models.columns import Record

FIRST_STEPS_KEY = "first-steps"


class AttentionState(Record):
    """What somebody does about an item under "Needs attention": it is theirs, or they put it off.

    Items are computed, so ``key`` names one without being a reference. Rows of items that are gone do no
    harm.
    """

    key = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    is_assigned = models.BooleanField(default=False)
    snoozed_until = models.DateTimeField(null=True, blank=True)

    class Meta(Record.Meta):
        constraints = [
            models.UniqueConstraint(fields=["key", "user"], name="attention_state_once"),
            models.UniqueConstraint(
                fields=["key"], condition=models.Q(is_assigned=True), name="attention_assigned_once"
            ),
        ]
