import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
application = get_wsgi_application()
# Import all pages now, so that the first request need not wait for them.
import_module(settings.ROOT_URLCONF)
