from annotations_app.admin import annotation

__all__ = ["annotation"]
