"""Imported by a server of ``preloaded.py``: its forks need not set up Django, nor import the application."""

import os

import django
from django.db import connections
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
django.setup()
get_resolver().url_patterns  # noqa: B018  (imports all pages)
connections.close_all()
