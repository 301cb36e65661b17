"""Puts the librarian's admin in the place of Django's own."""

from django.contrib.admin.apps import AdminConfig


class SciRagAdminConfig(AdminConfig):
    default_site = "sci_rag_site.admin_site.SciRagAdminSite"
