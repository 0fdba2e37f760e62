from annotations_app.admin import annotation, campaign
from annotations_app.admin.waiting import campaigns_needing_attention
from datasets_app import hooks

__all__ = ["annotation", "campaign"]

# Registered here and not in AppConfig.ready(): only the pages need it, and commands start without them.
hooks.attention.append(campaigns_needing_attention)
