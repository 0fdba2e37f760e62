from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationsConfig(AppConfig):
    name = "annotations_app"
    verbose_name = "Annotations"

    def ready(self) -> None:
        from annotations_app import tasks  # noqa: F401  (registers them)
        from annotations_app.label_facts import label_facts
        from annotations_app.label_keys import annotate_imported_turns
        from annotations_app.operations import delete_labels
        from annotations_app.operations.scrub_notes import TABLES, notes_of, write_notes
        from annotations_app.panels import annotations_panel, label_notes, labels_under
        from annotations_app.readers import readers_of
        from datasets_app import extensions
        from datasets_app.roles import ensure_roles

        extensions.after_import.append(annotate_imported_turns)
        extensions.dataset_panels.append(annotations_panel)
        extensions.turn_notes.append(label_notes)
        extensions.labels_under.append(labels_under)
        extensions.shown_replies.append(readers_of)
        extensions.label_facts.append(label_facts)
        extensions.scrubbed_beside.append(extensions.Beside(notes_of, write_notes, TABLES))
        extensions.deleted_beside.append(
            extensions.Deleted(
                delete_labels.count_labels,
                delete_labels.delete_labels,
                delete_labels.close_campaigns,
                delete_labels.delete_campaigns,
                delete_labels.TABLES,
            )
        )
        extensions.job_permissions |= {
            "create_campaign": "annotations_app.add_campaign",
            "export_annotations": "annotations_app.export_annotation",
        }
        post_migrate.connect(ensure_roles, sender=self)
