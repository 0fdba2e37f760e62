"""The admin: one module per model, and one per group of pages.

Buttons start jobs and pages show rows; operations do the work.
"""

from django.contrib import admin

from datasets_app.access import admin as user
from datasets_app.access import token_pages
from datasets_app.admin import dataset, jobs, persona, retention, session, source, turn, webhook
from datasets_app.auditing import admin as audit_event
from datasets_app.core.web.null_bytes import strip_null_bytes_from_urls

__all__ = [
    "audit_event", "dataset", "jobs", "persona", "retention", "session", "source", "token_pages", "turn",
    "user", "webhook",
]  # fmt: skip

admin.site.admin_view = strip_null_bytes_from_urls(admin.site.admin_view)  # type: ignore[method-assign]
