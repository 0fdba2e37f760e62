"""The admin: one file a model, and one for each group of pages.

Nothing is computed here: buttons enqueue jobs, pages show rows.
"""

from django.contrib import admin

from datasets_app.access import admin as user
from datasets_app.admin import dataset, jobs, persona, retention, session, turn
from datasets_app.auditing import admin as audit_event
from datasets_app.auditing.permission_events import known_to_the_trail
from datasets_app.core.web.null_bytes import plain_addresses

__all__ = ["audit_event", "dataset", "jobs", "persona", "retention", "session", "turn", "user"]

admin.site.admin_view = plain_addresses(known_to_the_trail(admin.site.admin_view))  # type: ignore[method-assign]
