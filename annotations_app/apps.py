from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationsConfig(AppConfig):
    name = "annotations_app"
    verbose_name = "Annotations"

    def ready(self) -> None:
        from annotations_app import tasks  # noqa: F401  (registers them)
        from annotations_app.hooks import delete_labels
        from annotations_app.hooks.on_import import annotate_imported_turns
        from annotations_app.hooks.package import label_facts
        from annotations_app.hooks.panels import annotations_panel, label_notes, labels_under
        from annotations_app.hooks.readers import readers_of
        from annotations_app.hooks.scrub_notes import TABLES, notes_of, write_notes
        from datasets_app import hooks
        from datasets_app.access.roles import ensure_roles

        hooks.after_import.append(annotate_imported_turns)
        hooks.dataset_panels.append(annotations_panel)
        hooks.turn_notes.append(label_notes)
        hooks.labels_under.append(labels_under)
        hooks.shown_replies.append(readers_of)
        hooks.label_facts.append(label_facts)
        hooks.scrubbed_beside.append(hooks.Beside(notes_of, write_notes, TABLES))
        hooks.deleted_beside.append(
            hooks.Deleted(
                delete_labels.count_labels,
                delete_labels.delete_labels,
                delete_labels.close_campaigns,
                delete_labels.delete_campaigns,
                delete_labels.TABLES,
            )
        )
        hooks.job_permissions |= {
            "create_campaign": "annotations_app.add_campaign",
            "export_annotations": "annotations_app.export_annotation",
        }
        post_migrate.connect(ensure_roles, sender=self)
