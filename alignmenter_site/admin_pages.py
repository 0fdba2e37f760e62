"""Import the admin's pages together with the URLs, not in commands and workers.

They bring in forms, tables and workbooks: half of the start-up time.
"""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class LazyAdminConfig(SimpleAdminConfig):
    """Replaces ``django.contrib.admin``; ``urls.py`` imports the pages."""

    default = True

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_admin, checks.Tags.admin)


def check_admin(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    """Run Django's own check of the admin after importing its pages."""
    import_module(settings.ROOT_URLCONF)
    return check_admin_app(app_configs, **options)
