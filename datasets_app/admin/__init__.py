"""The admin: one file a model, and one for each group of pages.

Nothing is computed here: buttons enqueue jobs, pages show rows.
"""

import django_rq.admin  # noqa: F401  (registers what is taken back below)
from django.apps import apps
from django.contrib import admin

from datasets_app.admin import audit_event, dataset, job_run, persona, retention, session, turn, user
from datasets_app.admin.nul import plain_addresses
from datasets_app.permission_events import known_to_the_trail

__all__ = ["audit_event", "dataset", "job_run", "persona", "retention", "session", "turn", "user"]

# The queue's own pages show what the queue remembers, which is not what ran: the job pages do.
admin.site.unregister(apps.get_model("django_rq", "Dashboard"))

admin.site.admin_view = plain_addresses(known_to_the_trail(admin.site.admin_view))  # type: ignore[method-assign]
