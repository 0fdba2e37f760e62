from annotations_app.admin import annotation, campaign
from annotations_app.admin.waiting import campaigns_waiting
from datasets_app import extensions

__all__ = ["annotation", "campaign"]

# Registered here and not in AppConfig.ready(): only the pages need it, and commands start without them.
extensions.attention.append(campaigns_waiting)
