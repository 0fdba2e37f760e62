from annotations_app.admin import annotation

# Import-export pages that stand beside those of labels; loading them registers them.
from datasets_app.admin import persona, retention

__all__ = ["annotation", "persona", "retention"]
