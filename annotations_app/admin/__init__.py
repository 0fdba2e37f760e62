"""The admin of labels and campaigns."""

from annotations_app.admin import annotation, campaign

__all__ = ["annotation", "campaign"]
