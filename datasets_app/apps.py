from django.apps import AppConfig
from django.db.models.signals import post_migrate, post_save, pre_delete, pre_migrate


class DatasetsConfig(AppConfig):
    name = "datasets_app"
    verbose_name = "Datasets"

    def ready(self) -> None:
        from alignmenter_site import server_checks  # noqa: F401  (importing it registers the checks)
        from datasets_app import hooks, session_data
        from datasets_app.access.accounts import end_access
        from datasets_app.access.roles import ensure_roles, snapshot_permissions
        from datasets_app.auditing import permission_events
        from datasets_app.jobs.permissions import cancel_pending_jobs
        from datasets_app.jobs.registry import load_tasks

        load_tasks(self)
        session_data.register_models()
        hooks.next_steps = hooks.load_when_used("datasets_app.releasing.next_steps")
        permission_events.connect_signals()
        pre_migrate.connect(snapshot_permissions, sender=self)
        post_migrate.connect(ensure_roles, sender=self)
        post_save.connect(end_access, sender="auth.User")
        pre_delete.connect(cancel_pending_jobs, sender="auth.User")
