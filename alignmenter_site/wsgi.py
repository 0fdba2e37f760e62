import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from datasets_app.domain import lazy_re

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "alignmenter_site.settings")
application = get_wsgi_application()
# Now, so that the first request need not wait for it.
import_module(settings.ROOT_URLCONF)
lazy_re.compile_waiting()
