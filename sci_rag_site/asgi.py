"""The ASGI application: the one servers run, since answers stream."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
application = get_asgi_application()
