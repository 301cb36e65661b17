"""The WSGI application, for servers that cannot speak ASGI."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
application = get_wsgi_application()
