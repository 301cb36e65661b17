"""The ASGI application: the one servers run, since answers stream."""

import os

from sci_rag_site import handler
from sci_rag_site.admission_gate import AdmissionGate
from sci_rag_site.body_limit import BodyLimit

# Imported for its effect: tasks that pages send find their broker.
from sci_rag_site.celery import app as celery_app
from sci_rag_site.headers import ProtectiveHeaders
from sci_rag_site.mcp.endpoint import McpEndpoint
from sci_rag_site.metrics.requests import RequestMeter
from sci_rag_site.upload_quota import UploadQuota
from sci_rag_site.warming import WarmedAtStart

__all__ = ["application", "celery_app"]

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sci_rag_site.settings")
_inner = BodyLimit(AdmissionGate(McpEndpoint(UploadQuota(handler.application()))))
application = WarmedAtStart(RequestMeter(ProtectiveHeaders(_inner)))
