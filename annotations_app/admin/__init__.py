from annotations_app.admin import annotation, campaign

__all__ = ["annotation", "campaign"]
