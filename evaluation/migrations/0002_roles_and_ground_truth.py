from django.contrib.auth.management import create_permissions
from django.db import migrations

_READ = ("view_question", "view_questionset", "view_evaluationrun")
_WRITE = ("add_question", "change_question", "add_questionset", "add_evaluationrun")
GRANTS = {
    "librarian": _READ,
    "administrator": (*_READ, *_WRITE),
    "expert": (*_READ, *_WRITE, "sign_question"),
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
    dependencies = [
        ("evaluation", "0001_ground_truth_and_runs"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [migrations.RunPython(grant, take_back)]
