from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationsConfig(AppConfig):
    name = "annotations_app"
    verbose_name = "Annotations"

    def ready(self) -> None:
        from annotations_app.hooks import access, session_data
        from datasets_app import hooks
        from datasets_app.access.roles import ensure_roles
        from datasets_app.jobs.registry import load_tasks

        hooks.labels = hooks.load_when_used("annotations_app.hooks.labels")
        hooks.panels = hooks.load_when_used("annotations_app.hooks.panels")
        session_data.register_models()
        access.register()
        load_tasks(self)
        post_migrate.connect(ensure_roles, sender=self)
