from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_delete, pre_migrate


class DatasetsConfig(AppConfig):
    name = "datasets_app"
    verbose_name = "Datasets"

    def ready(self) -> None:
        from datasets_app import permission_events, tasks  # noqa: F401  (registers them)
        from datasets_app.job_permissions import cancel_jobs_of
        from datasets_app.roles import ensure_roles, remember_permissions

        permission_events.connect()
        pre_migrate.connect(remember_permissions, sender=self)
        post_migrate.connect(ensure_roles, sender=self)
        pre_delete.connect(cancel_jobs_of, sender="auth.User")
