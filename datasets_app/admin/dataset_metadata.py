"""The facts people type about datasets, as a table in a file: for the list of datasets.

The addresses "import" and "export" of that list are those of conversations; these pages stand
beside them. DatasetAdmin.get_urls() adds ``metadata_pages(self.admin_site).get_metadata_urls()``.
"""

from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from unfold.admin import ModelAdmin

from datasets_app.admin.resources import DatasetMetadataResource
from datasets_app.models import Dataset
from datasets_app.tables.admin import TableAdminMixin

IMPORT_URL_NAME = "admin:datasets_app_dataset_metadata_import"
EXPORT_URL_NAME = "admin:datasets_app_dataset_metadata_export"


class DatasetMetadataAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    """Registered for no model: it lends its pages to DatasetAdmin."""

    resource_classes = [DatasetMetadataResource]
    list_display = ["name"]

    def get_queryset(self, request: HttpRequest) -> Any:
        return Dataset.objects.visible_to(request.user).order_by("name")

    def has_import_permission(self, request: HttpRequest) -> bool:
        # The model's own import permission is about conversations.
        return request.user.has_perm("datasets_app.change_dataset")

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("datasets_app.change_dataset")

    def get_export_filename(self, request: HttpRequest, queryset: Any, file_format: Any) -> str:
        return f"dataset-metadata.{file_format.get_extension()}"

    def get_metadata_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("metadata/import/", wrap(self.import_action), name="datasets_app_dataset_metadata_import"),
            # This name is the one that the confirmation page knows.
            path(
                "metadata/process_import/",
                wrap(self._process_import),
                name="datasets_app_dataset_process_import",
            ),
            path("metadata/export/", wrap(self.export_action), name="datasets_app_dataset_metadata_export"),
        ]

    def _process_import(self, request: HttpRequest) -> HttpResponse:
        return self.process_import(request)


def make_metadata_admin(admin_site: AdminSite) -> DatasetMetadataAdmin:
    return DatasetMetadataAdmin(Dataset, admin_site)
