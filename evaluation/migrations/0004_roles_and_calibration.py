from django.contrib.auth.management import create_permissions
from django.db import migrations

GRANTS = {
    "administrator": ("add_calibrationqueue",),
    "expert": ("add_calibrationqueue", "add_calibrationlabel"),
}


def _each(apps, alias):
    permissions = apps.get_model("auth", "Permission").objects.using(alias)
    for group in apps.get_model("auth", "Group").objects.using(alias).filter(name__in=GRANTS):
        found = permissions.filter(content_type__app_label="evaluation", codename__in=GRANTS[group.name])
        yield group, found


def grant(apps, schema_editor):
    """Give the permissions to roles that exist already; new ones get them when they are made."""
    alias = schema_editor.connection.alias
    if not apps.get_model("auth", "Group").objects.using(alias).filter(name__in=GRANTS).exists():
        return
    config = apps.get_app_config("evaluation")
    config.models_module = True
    create_permissions(config, verbosity=0, using=alias, apps=apps)
    config.models_module = None
    for group, permissions in _each(apps, alias):
        group.permissions.add(*permissions)


def take_back(apps, schema_editor):
    for group, permissions in _each(apps, schema_editor.connection.alias):
        group.permissions.remove(*permissions)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_judged_answers_and_labels")]

    operations = [migrations.RunPython(grant, take_back)]
