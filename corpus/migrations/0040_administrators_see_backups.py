"""Administrators see when backups were made and tried."""

from django.contrib.auth.management import create_permissions
from django.db import migrations

ROLES = ("administrator",)
PERMISSIONS = ("view_backuprun",)


def _permissions(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    return permissions.filter(content_type__app_label="corpus", codename__in=PERMISSIONS)


def grant(apps, schema_editor):
    """Give the permissions to roles that exist already; new ones get them when they are made."""
    alias = schema_editor.connection.alias
    groups = apps.get_model("auth", "Group").objects.using(alias).filter(name__in=ROLES)
    if not groups.exists():
        return
    config = apps.get_app_config("corpus")
    config.models_module = True
    create_permissions(config, verbosity=0, using=alias, apps=apps)
    config.models_module = None
    for group in groups:
        group.permissions.add(*_permissions(apps, alias))


def take_back(apps, schema_editor):
    alias = schema_editor.connection.alias
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name__in=ROLES):
        group.permissions.remove(*_permissions(apps, alias))


class Migration(migrations.Migration):
    dependencies = [
        ("corpus", "0039_backup_runs"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(grant, take_back)]
