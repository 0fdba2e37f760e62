from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AnnotationsConfig(AppConfig):
    name = "annotations_app"
    verbose_name = "Annotations"

    def ready(self) -> None:
        from annotations_app import tasks  # noqa: F401  (registers them)
        from annotations_app.agreement.dataset_panel import annotations_panel
        from annotations_app.demo import DEMO_DATASET
        from annotations_app.hooks import panels, session_data
        from annotations_app.hooks.announcements import announce_campaigns
        from annotations_app.hooks.label_changes import was_labeled_since
        from annotations_app.hooks.on_import import annotate_imported_turns
        from annotations_app.hooks.package import build_label_facts, write_label_files
        from annotations_app.hooks.readers import list_campaign_readers
        from annotations_app.hooks.session_labels import SESSION_LABELS, list_selection_links
        from datasets_app import hooks
        from datasets_app.access.roles import ensure_roles

        hooks.announcements.append(announce_campaigns)
        hooks.after_import.append(annotate_imported_turns)
        hooks.dataset_panels.append(annotations_panel)
        hooks.demo_pages.append("admin:annotations_app_campaign_load_demo")
        hooks.demo_datasets.append(DEMO_DATASET)
        hooks.label_pages.append(panels.list_label_pages)
        hooks.weekly_labels.append(panels.count_weekly_labels)
        hooks.label_progress.append(panels.find_label_progress)
        hooks.turn_notes.append(panels.turn_label_notes)
        hooks.session_labels.append(SESSION_LABELS)
        hooks.selection_links.append(list_selection_links)
        hooks.label_counters.append(panels.count_labels_for_persona)
        hooks.reply_access_reasons.append(list_campaign_readers)
        hooks.label_changes.append(was_labeled_since)
        hooks.label_facts.append(build_label_facts)
        hooks.package_labels.append(write_label_files)
        session_data.register_models()
        hooks.job_permissions |= {
            "add_to_campaign": "annotations_app.change_campaign",
            "create_campaign": "annotations_app.add_campaign",
            "export_annotations": "annotations_app.export_annotation",
        }
        post_migrate.connect(ensure_roles, sender=self)
