"""Export and import the metadata that people enter for datasets, as a table.

The URLs "import" and "export" of the list of datasets belong to conversations, so these pages have URLs
of their own, which DatasetAdmin.get_pages() adds.
"""

from typing import Any

from django.http import HttpRequest

from datasets_app.admin.resources import DatasetMetadataResource
from datasets_app.catalog.raw_access import list_readable
from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.tables.admin import TableAdminMixin


class DatasetMetadataAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    """Not registered for any model; DatasetAdmin uses its pages."""

    resource_classes = [DatasetMetadataResource]
    list_display = ["name"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return list_readable(request.user).order_by("name")

    def has_import_permission(self, request: HttpRequest) -> bool:
        # The model's own import permission is about conversations.
        return request.user.has_perm("datasets_app.change_dataset")

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("datasets_app.change_dataset")

    def get_export_filename(self, request: HttpRequest, queryset: Any, file_format: Any) -> str:
        return f"dataset-metadata.{file_format.get_extension()}"

    def get_metadata_pages(self) -> Pages:
        return [
            ("metadata/import/", self.import_action, "metadata_import"),
            # The confirmation page of django-import-export expects this name.
            ("metadata/process_import/", self.process_import, "process_import"),
            ("metadata/export/", self.export_action, "metadata_export"),
        ]
