"""The admin's pages are imported with the addresses that lead to them, and with no command or worker: they
bring forms, tables and workbooks, half of what it takes to start."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class LazyAdminConfig(SimpleAdminConfig):
    """In place of ``django.contrib.admin``; ``urls.py`` has the pages imported."""

    default = True

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_admin, checks.Tags.admin)


def check_admin(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """Django's own check of the pages, once they are there."""
    import_module(settings.ROOT_URLCONF)
    return check_admin_app(app_configs, **options)
