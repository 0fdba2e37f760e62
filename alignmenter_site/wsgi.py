import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
application = get_wsgi_application()
# With all pages, so that the first one asked for need not wait for them.
import_module(settings.ROOT_URLCONF)
