from annotations_app.models.annotation import Annotation

__all__ = ["Annotation"]
