"""The admin: one file a model, and one for each group of pages.

Nothing is computed here: buttons enqueue jobs, pages show rows.
"""

from django.contrib import admin

from datasets_app.admin import audit_event, dataset, job_run, persona, retention, session, turn, user
from datasets_app.admin.nul import plain_addresses
from datasets_app.permission_events import known_to_the_trail

__all__ = ["audit_event", "dataset", "job_run", "persona", "retention", "session", "turn", "user"]

admin.site.admin_view = plain_addresses(known_to_the_trail(admin.site.admin_view))  # type: ignore[method-assign]
